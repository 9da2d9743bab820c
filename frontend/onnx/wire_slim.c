// The slim copy: see wire.h. Copies the bytes between the edits, and writes the patches.
#include "frontend/onnx/file_window.h"
#include "frontend/onnx/wire.h"

static uint8_t *put_reference(uint8_t *to, uint32_t index) {
    *to++ = 9 << 3 | 2; // TensorProto.raw_data, length-delimited
    *to++ = 4;
    for (int i = 0; i < 4; i++)
        *to++ = (uint8_t)(index >> 8 * i);
    return to;
}

status wire_slim(const struct source *source, const struct wire_scan *scan, struct arena *a,
                 struct diags *d, uint8_t **bytes) {
    uint8_t *to = *bytes = arena_alloc(a, (size_t)scan->slim_bytes);
    if (!to)
        return diag_out_of_memory(d);
    struct arena scratch = arena_make(a->mem);
    struct file_window w;
    status st = file_window_open(&w, source, &scratch, d);
    int64_t from = 0;
    for (size_t i = 0; !st && i < scan->edits.n; i++) {
        const struct wire_edit *e = &scan->edits.at[i];
        if ((st = file_window_copy(&w, from, e->at - from, to)))
            break;
        to += e->at - from;
        from = e->at + e->cut;
        if (e->patch == WIRE_LENGTH)
            to += varint_put(to, (uint64_t)e->value);
        else if (e->patch == WIRE_REFERENCE)
            to = put_reference(to, (uint32_t)e->value);
    }
    if (!st)
        st = file_window_copy(&w, from, source->n_bytes - from, to);
    arena_free(&scratch);
    return st;
}

int64_t wire_reference(const struct wire_scan *scan, const uint8_t *bytes, size_t n) {
    if (n != 4)
        return -1;
    uint32_t i = 0;
    for (int k = 0; k < 4; k++)
        i |= (uint32_t)bytes[k] << 8 * k;
    return i < scan->payloads.n ? (int64_t)i : -1;
}
