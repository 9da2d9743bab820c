// JSON with limits: see json.h. The scan counts brackets outside strings, so that deep nesting and
// millions of values are refused by their number and not by running out of memory half way.
#include "ir/json/json.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "ir/base/limits.h"

// What jansson allocates for a small object or array, about; an upper estimate keeps the promise of
// LIMIT_FOOTPRINT.
#define BYTES_PER_VALUE 400

// jansson frees without a size, and the gate needs it.
struct gated {
    size_t n_bytes;
    max_align_t bytes[];
};

static struct mem *gate; // jansson's hooks have no context

static void *gate_alloc(size_t n) {
    size_t n_bytes = sizeof(struct gated) + n;
    struct gated *b = n_bytes > n ? mem_resize(gate, NULL, 0, n_bytes) : NULL;
    if (!b) {
        errno = ENOMEM; // as of malloc; see json_read
        return NULL;
    }
    b->n_bytes = n_bytes;
    return b->bytes;
}

static void gate_free(void *block) {
    if (!block)
        return;
    struct gated *b = (void *)((char *)block - offsetof(struct gated, bytes));
    mem_resize(gate, b, b->n_bytes, 0);
}

void json_use_gate(struct mem *mem) {
    gate = mem;
    json_set_alloc_funcs(gate_alloc, gate_free);
}

static status scan(struct diags *d, const struct source *s, const char *text, size_t n) {
    int depth = 0;
    int64_t n_values = 0, n_nodes = 0, line = 1;
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        if (c == '\n')
            line++;
        if (quoted) {
            if (c == '\\')
                i++;
            else if (c == '"')
                quoted = false;
            continue;
        }
        if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            n_values++;
            if (++depth > LIMIT_WIRE_DEPTH)
                return diag_error(d, DIAG_LIMIT, loc_line(s->path, line, 0),
                                  "values are nested more than %d deep", LIMIT_WIRE_DEPTH);
            if (c == '{' && depth == 3 && ++n_nodes > LIMIT_SOLVER_NODES)
                return diag_error(d, DIAG_LIMIT, loc_line(s->path, line, 0),
                                  "more than %d nodes; that many are taken at most",
                                  LIMIT_SOLVER_NODES);
        } else if (c == '}' || c == ']') {
            depth--;
        }
    }
    if (n_values > LIMIT_FOOTPRINT / BYTES_PER_VALUE)
        return diag_error(d, DIAG_LIMIT, loc_file(s->path),
                          "%lld objects and arrays are more than mfc will load",
                          (long long)n_values);
    return ST_OK;
}

status json_read(struct arena *scratch, struct diags *d, const struct source *s, json_t **out) {
    char *text = NULL;
    *out = NULL;
    status st = source_text(s, scratch, d, LIMIT_JSON_BYTES, &text);
    if (st != ST_OK)
        return st;
    size_t n = (size_t)s->n_bytes;
    st = scan(d, s, text, n);
    if (st != ST_OK)
        return st;
    json_error_t error;
    errno = 0; // jansson reports most failed allocations as a syntax error
    *out = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error);
    if (!*out && (errno == ENOMEM || json_error_code(&error) == json_error_out_of_memory))
        return diag_out_of_memory(d);
    if (!*out)
        return diag_error(d, DIAG_MALFORMED, loc_line(s->path, error.line, error.column),
                          "not valid JSON: %s", error.text);
    return ST_OK;
}

bool json_as_int(const json_t *value, int64_t *out) {
    if (json_is_integer(value)) {
        *out = json_integer_value(value);
        return true;
    }
    double x = json_is_real(value) ? json_real_value(value) : NAN;
    if (!(fabs(x) <= 0x1p53) || x != floor(x))
        return false;
    *out = (int64_t)x;
    return true;
}

status json_check_format(struct diags *d, const char *file, const json_t *root,
                         const char *format) {
    const char *says = json_string_value(json_object_get(root, "format"));
    if (!says || strcmp(says, format) != 0)
        return diag_error(d, DIAG_MALFORMED, loc_file(file),
                          "not a %s file: an object with \"format\": \"%s\" is expected", format,
                          format);
    int64_t version = 0;
    if (!json_as_int(json_object_get(root, "version"), &version) || version != 1)
        return diag_error(d, DIAG_MALFORMED, loc_file(file), "only version 1 of %s is known",
                          format);
    return ST_OK;
}

status json_get_int(struct diags *d, struct loc where, const json_t *object, const char *key,
                    int64_t *out) {
    const json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value) || json_as_int(value, out))
        return ST_OK;
    return diag_error(d, DIAG_MALFORMED, where, "\"%s\" is not an integer that fits in 64 bits",
                      key);
}

status json_get_real(struct diags *d, struct loc where, const json_t *object, const char *key,
                     double *out) {
    const json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value))
        return ST_OK;
    if (!json_is_number(value))
        return diag_error(d, DIAG_MALFORMED, where, "\"%s\" is not a number", key);
    *out = json_number_value(value);
    return ST_OK;
}

status json_get_bool(struct diags *d, struct loc where, const json_t *object, const char *key,
                     bool *out) {
    const json_t *value = json_object_get(object, key);
    if (!value)
        return ST_OK;
    if (!json_is_boolean(value))
        return diag_error(d, DIAG_MALFORMED, where, "\"%s\" is neither true nor false", key);
    *out = json_is_true(value);
    return ST_OK;
}

status json_get_name(struct arena *a, struct diags *d, struct loc where, const json_t *object,
                     const char *key, const char **out) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value) || json_string_length(value) == 0)
        return diag_error(d, DIAG_MALFORMED, where, "\"%s\" is missing, or not a name", key);
    *out = arena_copy(a, json_string_value(value), json_string_length(value) + 1);
    return *out ? ST_OK : diag_out_of_memory(d);
}
