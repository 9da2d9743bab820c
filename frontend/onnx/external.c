// External data: see external.h.
#include "frontend/onnx/external.h"

#include <assert.h>
#include <string.h>

#include "ir/base/checked.h"

struct external external_make(struct arena *a, const char *folder) {
    return (struct external){.arena = a, .folder = folder, .by_location = map_make(a)};
}

static status file_of(struct external *e, struct diags *d, struct loc where, const char *location,
                      struct external_file *out) {
    int64_t known;
    *out = (struct external_file){0};
    if (map_get_text(&e->by_location, location, &known)) {
        *out = e->files.at[known];
        return ST_OK;
    }
    struct reference r = {.folder = e->folder, .location = location, .where = where};
    status st = source_open_beneath(e->arena, d, &r, &out->source);
    out->refused = st != ST_OK;
    const char *key = arena_copy(e->arena, location, strlen(location) + 1);
    if (!key || !VEC_PUSH(e->arena, &e->files, *out)) {
        source_close(out->source);
        return diag_out_of_memory(d);
    }
    if (!map_put_text(&e->by_location, key, (int64_t)e->files.n - 1))
        return diag_out_of_memory(d);
    return st;
}

// Decimal digits only.
static bool parse_number(const char *text, int64_t *out) {
    int64_t x = 0;
    if (!*text)
        return false;
    for (; *text; text++)
        if (*text < '0' || *text > '9' || !checked_mul(x, 10, &x) ||
            !checked_add(x, *text - '0', &x))
            return false;
    *out = x;
    return true;
}

status external_find(struct external *e, struct diags *d, struct loc where, struct tensor *t) {
    const char *location = NULL, *offset_text = NULL, *length_text = NULL;
    assert(t->payload == PAYLOAD_EXTERNAL);
    for (size_t i = 0; i < t->external.n; i++) {
        const struct pair *p = &t->external.at[i];
        const char *key = p->key ? p->key : "", *value = p->value ? p->value : "";
        if (strcmp(key, "location") == 0)
            location = value;
        else if (strcmp(key, "offset") == 0)
            offset_text = value;
        else if (strcmp(key, "length") == 0)
            length_text = value;
    }
    int64_t offset = 0, length = 0, need = 0;
    if (!location || !*location)
        return diag_error(d, DIAG_EXTERNAL, where, "the external data has no location");
    if (offset_text && !parse_number(offset_text, &offset))
        return diag_error(d, DIAG_EXTERNAL, where,
                          "the offset of the external data is \"%s\", not a number of bytes",
                          offset_text);
    if (length_text && !parse_number(length_text, &length))
        return diag_error(d, DIAG_EXTERNAL, where,
                          "the length of the external data is \"%s\", not a number of bytes",
                          length_text);
    bool sized = tensor_bytes(t, &need);
    if (sized && length_text && length != need)
        return diag_error(d, DIAG_EXTERNAL, where,
                          "the external data has %lld bytes, but the tensor takes %lld",
                          (long long)length, (long long)need);
    struct external_file file;
    status st = file_of(e, d, where, location, &file);
    if (st || file.refused)
        return st;
    struct source *s = file.source;
    if (!s) {
        if (e->n_absent++ == 0)
            e->first_absent = location;
        return ST_OK;
    }
    int64_t left = s->n_bytes - offset;
    if (!length_text)
        length = sized ? need : left;
    if (offset > s->n_bytes || length > left)
        return diag_error(d, DIAG_EXTERNAL, where,
                          "the external data is bytes %lld to %lld of \"%s\", which has only %lld",
                          (long long)offset,
                          (long long)offset +
                              (length > INT64_MAX - offset ? INT64_MAX - offset : length),
                          location, (long long)s->n_bytes);
    t->data = (struct span){.source = s, .offset = offset, .n_bytes = length};
    return ST_OK;
}

void external_done(struct external *e, struct diags *d, const char *model) {
    if (e->n_absent)
        diag_warning(d, DIAG_EXTERNAL_ABSENT, loc_file(model),
                     "the external data of %zu tensors is missing (the first file: \"%s\"); the "
                     "output refers to the files without copying them",
                     e->n_absent, e->first_absent);
}
