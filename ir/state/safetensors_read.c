// Reads safetensors files: see safetensors.h. Stages: the length of the header, against that of the
// file; the header, as JSON with limits; each tensor, against the rest of the file; all of them,
// against each other.
#include <stdlib.h>
#include <string.h>

#include "ir/base/limits.h"
#include "ir/json/json.h"
#include "ir/state/safetensors.h"

enum { LENGTH_BYTES = 8 };

struct reading {
    const struct source *s;
    struct arena *a;
    struct diags *d;
    struct tensors *out;
    int64_t data_start, data_bytes;
};

static int64_t length_of(const uint8_t *b) {
    uint64_t n = 0;
    for (int i = LENGTH_BYTES; i-- > 0;)
        n = n << 8 | b[i];
    return n <= INT64_MAX ? (int64_t)n : INT64_MAX;
}

bool safetensors_is(const struct source *s, struct mem *mem) {
    uint8_t first[LENGTH_BYTES + 1];
    struct arena scratch = arena_make(mem);
    struct diags ignored = diags_make(&scratch);
    bool read = s->n_bytes >= (int64_t)sizeof first &&
                source_read(s, &ignored, 0, first, sizeof first) == ST_OK;
    arena_free(&scratch);
    return read && first[LENGTH_BYTES] == '{' && length_of(first) <= s->n_bytes - LENGTH_BYTES;
}

static status malformed(struct reading *r, const char *name, const char *what) {
    return diag_error(r->d, DIAG_STATE, loc_path(r->s->path, name), "%s", what);
}

// The header as a file of its own, so that its size is limited before it is parsed.
static status read_header(struct reading *r, json_t **root) {
    uint8_t length[LENGTH_BYTES];
    struct source *header;
    if (r->s->n_bytes < LENGTH_BYTES)
        return malformed(r, NULL, "not a safetensors file: it is shorter than 8 bytes");
    status st = source_read(r->s, r->d, 0, length, sizeof length);
    if (st)
        return st;
    int64_t n = length_of(length);
    if (n > r->s->n_bytes - LENGTH_BYTES)
        return malformed(
            r, NULL, "not a safetensors file, or cut off: its header would end behind the file");
    if (n > SAFETENSORS_MAX_HEADER)
        return diag_error(r->d, DIAG_LIMIT, loc_file(r->s->path),
                          "the header has %lld bytes; a safetensors file has at most %d",
                          (long long)n, SAFETENSORS_MAX_HEADER);
    struct arena scratch = arena_make(r->a->mem);
    uint8_t *text = arena_alloc(&scratch, (size_t)n);
    st = text ? source_read(r->s, r->d, LENGTH_BYTES, text, (size_t)n) : diag_out_of_memory(r->d);
    if (!st)
        st = source_memory(&scratch, r->d, text, n, &header);
    if (!st) {
        header->path = r->s->path;
        st = json_read(&scratch, r->d, header, root);
    }
    if (!st && !json_is_object(*root))
        st = malformed(r, NULL, "the header is not a JSON object");
    arena_free(&scratch);
    r->data_start = LENGTH_BYTES + n;
    r->data_bytes = r->s->n_bytes - r->data_start;
    return st;
}

static const char *keep(struct reading *r, const char *text) {
    const char *kept = arena_copy(r->a, text, strlen(text) + 1);
    if (!kept)
        diag_out_of_memory(r->d);
    return kept;
}

static status read_metadata(struct reading *r, const json_t *metadata) {
    const char *key;
    json_t *value;
    if (!json_is_object(metadata))
        return malformed(r, "__metadata__", "is not an object");
    json_object_foreach((json_t *)metadata, key, value) {
        if (!json_is_string(value))
            return malformed(r, key, "metadata must be texts");
        const char *name = keep(r, key), *text = keep(r, json_string_value(value));
        if (!name || !text || !pairs_set(&r->out->metadata, r->a, name, text))
            return diag_out_of_memory(r->d);
    }
    return ST_OK;
}

static status read_shape(struct reading *r, const json_t *shape, struct tensor *t) {
    size_t n = json_array_size(shape);
    if (!json_is_array(shape))
        return malformed(r, t->name, "has no \"shape\"");
    if (n > LIMIT_RANK)
        return malformed(r, t->name, "has more than 64 dimensions");
    int64_t *dims = ARENA_ARRAY(r->a, int64_t, n);
    if (!dims)
        return diag_out_of_memory(r->d);
    for (size_t i = 0; i < n; i++)
        if (!json_as_int(json_array_get(shape, i), &dims[i]) || dims[i] < 0)
            return malformed(r, t->name, "has a dimension that is not a number of elements");
    t->dims = dims;
    t->rank = (int32_t)n;
    return ST_OK;
}

static status read_tensor(struct reading *r, const char *name, const json_t *entry) {
    struct tensor *t = ARENA_NEW(r->a, struct tensor);
    const char *type = json_string_value(json_object_get(entry, "dtype"));
    const json_t *offsets = json_object_get(entry, "data_offsets");
    int64_t begin, end, n_bytes;
    if (!t || !(t->name = keep(r, name)))
        return diag_out_of_memory(r->d);
    if (!type)
        return malformed(r, name, "has no \"dtype\"");
    t->elem = safetensors_type(type);
    if (!t->elem)
        return diag_error(r->d, DIAG_UNSUPPORTED, loc_path(r->s->path, name),
                          "mfc does not support the element type \"%s\"", type);
    status st = read_shape(r, json_object_get(entry, "shape"), t);
    if (st)
        return st;
    if (!json_is_array(offsets) || json_array_size(offsets) != 2 ||
        !json_as_int(json_array_get(offsets, 0), &begin) ||
        !json_as_int(json_array_get(offsets, 1), &end))
        return malformed(r, name, "\"data_offsets\" are not two numbers");
    if (begin < 0 || end < begin || end > r->data_bytes)
        return malformed(r, name, "its elements would be outside of the file");
    if (!tensor_bytes(t, &n_bytes) || n_bytes != end - begin)
        return malformed(r, name, "the number of bytes is not that of shape and type");
    t->payload = PAYLOAD_RAW;
    t->data = (struct span){.source = r->s, .offset = r->data_start + begin, .n_bytes = n_bytes};
    return tensors_add(r->out, t) ? ST_OK : diag_out_of_memory(r->d);
}

// By position; empty tensors before the one that begins where they are.
static int by_offset(const void *a, const void *b) {
    const struct tensor *x = *(struct tensor *const *)a, *y = *(struct tensor *const *)b;
    if (x->data.offset != y->data.offset)
        return x->data.offset < y->data.offset ? -1 : 1;
    if (x->data.n_bytes != y->data.n_bytes)
        return x->data.n_bytes < y->data.n_bytes ? -1 : 1;
    return strcmp(x->name, y->name);
}

// A file whose tensors overlap, or with bytes that belong to none, is not what its writer meant.
static status check_cover(struct reading *r) {
    struct tensors *t = r->out;
    int64_t at = r->data_start;
    if (t->list.n)
        qsort(t->list.at, t->list.n, sizeof *t->list.at, by_offset);
    for (size_t i = 0; i < t->list.n; i++) {
        const struct tensor *x = t->list.at[i];
        if (x->data.offset < at)
            return malformed(r, x->name, "its elements overlap those of another tensor");
        if (x->data.offset > at)
            return malformed(r, x->name, "there are bytes before it that belong to no tensor");
        at += x->data.n_bytes;
        if (!map_put_text(&t->by_name, x->name, (int64_t)i)) // the order has changed
            return diag_out_of_memory(r->d);
    }
    return at == r->s->n_bytes
               ? ST_OK
               : malformed(r, NULL, "there are bytes at the end that belong to no tensor");
}

status safetensors_read(const struct source *s, struct arena *a, struct diags *d,
                        struct tensors *out) {
    struct reading r = {.s = s, .a = a, .d = d, .out = out};
    json_t *root = NULL, *entry;
    const char *name;
    *out = tensors_make(a);
    status st = read_header(&r, &root);
    if (!st)
        json_object_foreach(root, name, entry) {
            st = strcmp(name, "__metadata__") == 0 ? read_metadata(&r, entry)
                                                   : read_tensor(&r, name, entry);
            if (st)
                break;
        }
    json_decref(root);
    return st ? st : check_cover(&r);
}
