// Writes safetensors files: see safetensors.h. The sizes of all tensors are known, so the header is
// made first; then the elements are copied, each tensor from its file.
#include <stdlib.h>
#include <string.h>

#include "ir/base/checked.h"
#include "ir/json/json_write.h"
#include "ir/state/safetensors.h"

enum { LENGTH_BYTES = 8, ALIGN_BYTES = 8 };

static int by_element_size(const void *a, const void *b) {
    const struct tensor *x = *(struct tensor *const *)a, *y = *(struct tensor *const *)b;
    int p = elem_bits(x->elem), q = elem_bits(y->elem);
    return p != q ? q - p : strcmp(x->name, y->name);
}

static status add_entry(struct json_writer *w, const struct tensor *t, int64_t *offset,
                        struct diags *d) {
    int64_t n_bytes, end;
    const char *type = safetensors_type_name(t->elem);
    if (!type)
        return diag_error(d, DIAG_UNSUPPORTED, loc_path(NULL, t->name),
                          "a safetensors file has no elements of type %s", elem_text(t->elem));
    if (!tensor_bytes(t, &n_bytes) || !checked_add(*offset, n_bytes, &end))
        return diag_error(d, DIAG_LIMIT, loc_path(NULL, t->name),
                          "the tensors have too many bytes");
    json_write_object(w, t->name);
    json_write_text(w, "dtype", type);
    json_write_array(w, "shape");
    for (int32_t i = 0; i < t->rank; i++)
        json_write_int(w, NULL, t->dims[i]);
    json_write_end(w);
    json_write_array(w, "data_offsets");
    json_write_int(w, NULL, *offset);
    json_write_int(w, NULL, end);
    json_write_end(w);
    json_write_end(w);
    *offset = end;
    return ST_OK;
}

static status make_header(const struct tensors *t, struct tensor *const *sorted, struct str *out,
                          struct diags *d) {
    struct json_writer w = json_write_begin(out, JSON_WRITE_COMPACT);
    int64_t offset = 0;
    status st = ST_OK;
    if (t->metadata.n) {
        json_write_object(&w, "__metadata__");
        for (size_t i = 0; i < t->metadata.n; i++)
            json_write_text(&w, t->metadata.at[i].key, t->metadata.at[i].value);
        json_write_end(&w);
    }
    for (size_t i = 0; i < t->list.n && !st; i++)
        st = add_entry(&w, sorted[i], &offset, d);
    json_write_finish(&w);
    while (out->n % ALIGN_BYTES && !out->failed)
        str_add_char(out, ' ');
    return st || !out->failed ? st : diag_out_of_memory(d);
}

// Encodings of ONNX other than plain bytes are decoded in memory.
static status write_elements(struct output *o, const struct tensor *t, struct arena *a,
                             struct diags *d) {
    int64_t n_bytes;
    struct tensor raw;
    tensor_bytes(t, &n_bytes); // add_entry has checked it
    if (t->payload == PAYLOAD_NONE)
        return output_skip(o, d, n_bytes);
    struct arena scratch = arena_make(a->mem);
    status st = tensor_as_raw(t, &scratch, d, &raw);
    if (!st)
        st = output_copy(o, d, raw.data);
    arena_free(&scratch);
    return st;
}

static status write_file(struct output *o, const struct tensors *t, struct diags *d,
                         struct arena *a) {
    struct tensor **sorted = arena_copy(a, t->list.at, t->list.n * sizeof *sorted);
    struct str header = str_make(a);
    uint8_t length[LENGTH_BYTES];
    if (!sorted)
        return diag_out_of_memory(d);
    qsort(sorted, t->list.n, sizeof *sorted, by_element_size);
    status st = make_header(t, sorted, &header, d);
    for (int i = 0; i < LENGTH_BYTES; i++)
        length[i] = (uint8_t)((uint64_t)header.n >> 8 * i);
    if (!st)
        st = output_write(o, d, length, sizeof length);
    if (!st)
        st = output_write(o, d, str_text(&header), header.n);
    for (size_t i = 0; i < t->list.n && !st; i++)
        st = write_elements(o, sorted[i], a, d);
    return st;
}

status safetensors_write(const struct tensors *t, const char *path, struct outputs *together,
                         struct diags *d) {
    struct arena scratch = arena_make(t->arena->mem);
    struct outputs own = outputs_make(&scratch, d);
    struct output *o;
    status st = outputs_open(together ? together : &own, path, &o);
    if (!st)
        st = write_file(o, t, d, &scratch);
    if (!st)
        st = outputs_commit(&own); // holds nothing if the file is of `together`
    outputs_abort(&own);
    arena_free(&scratch);
    return st;
}
