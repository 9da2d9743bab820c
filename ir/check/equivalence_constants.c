// Classes of constants: see equivalence.h. The key of a small constant is its type and its
// elements. A large one is not read for its key: two large constants are equal when they are the
// same span of the same file, or when the step has one of that name and a comparison of all bytes,
// chunk by chunk, finds no difference.
#include <string.h>

#include "ir/check/equivalence_inner.h"

#define SMALL_BYTES 4096
#define CHUNK_BYTES 65536

static bool is_raw(const struct tensor *t) {
    return t->payload == PAYLOAD_RAW || t->payload == PAYLOAD_EXTERNAL;
}

static void put_tensor_type(struct numbering *s, const struct tensor *t) {
    equiv_put(s, t->elem);
    equiv_put(s, t->rank);
    for (int32_t i = 0; i < t->rank; i++)
        equiv_put(s, t->dims[i]);
}

// The elements of a small integer tensor; NULL: it is not one, or its payload is malformed.
static const int64_t *small_ints(struct numbering *s, const struct tensor *t) {
    struct arena scratch = arena_make(s->a->mem);
    struct diags unread = diags_make(&scratch); // a malformed payload is compared by its bytes
    int64_t *x = NULL, n;
    if ((elem_is_int(t->elem) || t->elem == ELEM_BOOL) && tensor_elements(t, &n)) {
        status st = tensor_ints(t, &scratch, &unread, &x);
        if (st == ST_IO) { // no verdict about the constant
            diags_take(s->d, &unread);
            s->failed = st;
        } else if (st == ST_LIMIT || (!st && !(x = arena_copy(s->a, x, (size_t)n * sizeof *x)))) {
            s->failed = diag_out_of_memory(s->d);
        }
        x = st ? NULL : x;
    }
    arena_free(&scratch);
    return x;
}

static uint32_t fill(struct numbering *s, const struct tensor *t, const char *name,
                     const int64_t *ints, bool is_new, uint32_t class) {
    struct equiv_class *c = equiv_at(s, class);
    if (!is_new)
        return class;
    c->name = name;
    c->ints = ints;
    if (ints)
        (void)tensor_elements(t, &c->n_ints);
    if (!(c->type = tensor_type(s->a, t)))
        s->failed = diag_out_of_memory(s->d);
    return class;
}

// The value of a constant of one float.
static void set_number(struct numbering *s, const struct tensor *t, uint32_t class) {
    int64_t n;
    double *x;
    if (!elem_is_float(t->elem) || !tensor_elements(t, &n) || n != 1 || s->failed)
        return;
    struct arena scratch = arena_make(s->a->mem);
    struct diags unread = diags_make(&scratch);
    status st = tensor_reals(t, &scratch, &unread, &x);
    struct equiv_class *c = equiv_at(s, class);
    if (!st) {
        c->number = x[0];
        c->is_number = true;
    } else if (st == ST_LIMIT) {
        s->failed = diag_out_of_memory(s->d);
    }
    arena_free(&scratch);
}

static uint32_t small(struct numbering *s, const struct tensor *t, const char *name) {
    const int64_t *ints = small_ints(s, t);
    int64_t n;
    uint8_t stored[SMALL_BYTES];
    equiv_key(s, 'C');
    put_tensor_type(s, t);
    equiv_put(s, ints != NULL);
    if (ints && tensor_elements(t, &n)) {
        equiv_put_bytes(s, ints, (size_t)n * sizeof *ints);
    } else {
        equiv_put(s, is_raw(t) ? PAYLOAD_RAW : t->payload);
        if (t->data.source && !s->failed)
            s->failed = span_read(t->data, s->d, stored);
        equiv_put_bytes(s, stored, s->failed ? 0 : (size_t)t->data.n_bytes);
    }
    bool is_new;
    uint32_t class = equiv_intern(s, &is_new);
    if (is_new)
        set_number(s, t, class);
    return fill(s, t, name, ints, is_new, class);
}

static uint32_t strings(struct numbering *s, const struct tensor *t, const char *name) {
    equiv_key(s, 'T');
    put_tensor_type(s, t);
    equiv_put(s, (int64_t)t->n_strings);
    for (size_t i = 0; i < t->n_strings; i++)
        equiv_put_bytes(s, t->strings[i].at, t->strings[i].n);
    bool is_new;
    uint32_t class = equiv_intern(s, &is_new);
    return fill(s, t, name, NULL, is_new, class);
}

// Missing external data are equal when both tensors refer to the same file, offset and length.
static bool same_place(const struct pairs *a, const struct pairs *b) {
    static const char *const keys[] = {"location", "offset", "length"};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const char *of[2] = {"", ""};
        for (int w = 0; w < 2; w++) {
            const struct pairs *p = w ? b : a;
            for (size_t i = 0; i < p->n; i++)
                if (p->at[i].key && p->at[i].value && strcmp(p->at[i].key, keys[k]) == 0)
                    of[w] = p->at[i].value;
        }
        if (strcmp(of[0], of[1]) != 0)
            return false;
    }
    return true;
}

static bool same_bytes(struct numbering *s, const struct tensor *a, const struct tensor *b) {
    if (!a->data.source || !b->data.source)
        return !a->data.source && !b->data.source && a->payload == PAYLOAD_EXTERNAL &&
               b->payload == PAYLOAD_EXTERNAL && same_place(&a->external, &b->external);
    if (a->data.source == b->data.source && a->data.offset == b->data.offset)
        return a->data.n_bytes == b->data.n_bytes;
    struct arena scratch = arena_make(s->a->mem);
    char *x = arena_alloc(&scratch, CHUNK_BYTES), *y = arena_alloc(&scratch, CHUNK_BYTES);
    bool equal = a->data.n_bytes == b->data.n_bytes;
    if (!x || !y)
        s->failed = diag_out_of_memory(s->d);
    for (int64_t at = 0; at < a->data.n_bytes && equal && !s->failed; at += CHUNK_BYTES) {
        int64_t left = a->data.n_bytes - at;
        size_t n = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
        s->failed = source_read(a->data.source, s->d, a->data.offset + at, x, n);
        if (!s->failed)
            s->failed = source_read(b->data.source, s->d, b->data.offset + at, y, n);
        equal = !s->failed && memcmp(x, y, n) == 0;
    }
    arena_free(&scratch);
    return equal && !s->failed;
}

static bool equal_tensors(struct numbering *s, const struct tensor *a, const struct tensor *b) {
    bool equal = a->elem == b->elem && a->rank == b->rank &&
                 (a->payload == b->payload || (is_raw(a) && is_raw(b)));
    for (int32_t i = 0; equal && i < a->rank; i++)
        equal = a->dims[i] == b->dims[i];
    return equal && same_bytes(s, a, b);
}

static uint32_t large(struct numbering *s, const struct tensor *t, const char *name) {
    int64_t known;
    bool is_new;
    if (name && map_get_text(&s->large_by_name, name, &known) &&
        equal_tensors(s, s->large.at[known].tensor, t))
        return s->large.at[known].class;
    equiv_key(s, 'L');
    put_tensor_type(s, t);
    equiv_put(s, is_raw(t) ? PAYLOAD_RAW : t->payload);
    // A constant without data equals only itself.
    equiv_put(s, (int64_t)(t->data.source ? (uintptr_t)t->data.source : (uintptr_t)t));
    equiv_put(s, t->data.offset);
    equiv_put(s, t->data.n_bytes);
    uint32_t class = equiv_intern(s, &is_new);
    fill(s, t, name, NULL, is_new, class);
    if (s->is_step && name && !map_get_text(&s->large_by_name, name, &known)) {
        if (!map_put_text(&s->large_by_name, name, (int64_t)s->large.n) ||
            !VEC_PUSH(s->a, &s->large, (struct equiv_large){t, class}))
            s->failed = diag_out_of_memory(s->d);
    }
    return class;
}

uint32_t equiv_constant(struct numbering *s, const struct tensor *t, const char *name) {
    if (!t)
        return 0;
    const struct type *type = tensor_type(s->a, t);
    if (!type)
        s->failed = diag_out_of_memory(s->d);
    uint32_t empty = type ? equiv_empty(s, type) : 0;
    if (empty || s->failed)
        return empty;
    if (t->payload == PAYLOAD_STRINGS)
        return strings(s, t, name);
    return t->data.source && t->data.n_bytes <= SMALL_BYTES ? small(s, t, name) : large(s, t, name);
}

uint32_t equiv_sparse(struct numbering *s, const struct sparse *x, const char *name) {
    if (!x)
        return 0;
    uint32_t values = equiv_constant(s, x->values, name);
    uint32_t indices = equiv_constant(s, x->indices, name);
    bool is_new;
    equiv_key(s, 'X');
    equiv_put(s, values);
    equiv_put(s, indices);
    for (int32_t i = 0; i < x->rank; i++)
        equiv_put(s, x->dims[i]);
    uint32_t class = equiv_intern(s, &is_new);
    if (is_new)
        equiv_at(s, class)->name = name;
    return class;
}
