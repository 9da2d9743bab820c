// The slim copy, and guesses at what a file is: see wire.h.
#include <string.h>

#include "frontend/window.h"
#include "frontend/wire.h"

static uint8_t *put_reference(uint8_t *to, uint32_t index) {
    *to++ = 9 << 3 | 2; // TensorProto.raw_data, with a length in front
    *to++ = 4;
    for (int i = 0; i < 4; i++)
        *to++ = (uint8_t)(index >> 8 * i);
    return to;
}

status wire_slim(const struct source *source, const struct wire_scan *scan, struct arena *a,
                 struct diags *d, uint8_t **bytes) {
    uint8_t *to = *bytes = arena_alloc(a, (size_t)scan->slim_bytes);
    if (!to)
        return diag_no_room(d);
    struct arena scratch = arena_make(a->mem);
    struct window w;
    status st = window_open(&w, source, &scratch, d);
    int64_t from = 0;
    for (size_t i = 0; !st && i < scan->edits.n; i++) {
        const struct wire_edit *e = &scan->edits.at[i];
        if ((st = window_copy(&w, from, e->at - from, to)))
            break;
        to += e->at - from;
        from = e->at + e->cut;
        if (e->patch == WIRE_LENGTH)
            to += wire_put_varint(to, (uint64_t)e->value);
        else if (e->patch == WIRE_REFERENCE)
            to = put_reference(to, (uint32_t)e->value);
    }
    if (!st)
        st = window_copy(&w, from, source->n_bytes - from, to);
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

const char *wire_guess(const uint8_t *bytes, size_t n) {
    static const struct {
        size_t at, n;
        const char *magic, *what;
    } signs[] = {
        {0, 4, "PK\3\4",
         "a zip archive (or a PyTorch or Keras file, which are zip archives); export it to ONNX "
         "first"},
        {0, 4, "\x89PNG", "a PNG picture"},
        {0, 3, "\xff\xd8\xff", "a JPEG picture"},
        {0, 3, "GIF", "a GIF picture"},
        {0, 4, "%PDF", "a PDF document"},
        {0, 2, "\x1f\x8b", "compressed with gzip; unpack it first"},
        {0, 4, "\x28\xb5\x2f\xfd", "compressed with zstd; unpack it first"},
        {0, 6,
         "\xfd"
         "7zXZ\0",
         "compressed with xz; unpack it first"},
        {0, 4,
         "\x7f"
         "ELF",
         "a program"},
        {0, 8, "\x89HDF\r\n\x1a\n", "an HDF5 file (Keras?); export it to ONNX first"},
        {0, 6, "\x93NUMPY", "a NumPy array"},
        {4, 4, "ORTM", "a model in ONNX Runtime's own format; use the .onnx file it was made from"},
        {4, 4, "TFL3", "a TensorFlow Lite model; export it to ONNX first"},
        {0, 4, "GGUF", "a GGUF model; export it to ONNX first"},
        {0, 7, "version", "a Git LFS pointer (the file itself was not fetched) or other text"},
        {0, 4, "mfc ", "mfc's text form; give it a name that ends in .mfc"},
        {0, 1, "{", "text (JSON?)"},
        {0, 1, "<", "text (HTML or XML?)"},
    };
    if (n == 0)
        return "empty";
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (n >= signs[i].at + signs[i].n &&
            memcmp(bytes + signs[i].at, signs[i].magic, signs[i].n) == 0)
            return signs[i].what;
    // A letter of several bytes may be cut off at the end.
    if (str_utf8_error((const char *)bytes, n) + 3 < n)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if ((bytes[i] < 0x20 && bytes[i] != '\n' && bytes[i] != '\r' && bytes[i] != '\t') ||
            bytes[i] == 0x7f)
            return NULL;
    return "text";
}
