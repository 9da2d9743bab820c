// Types: see type.h.
#include "ir/type.h"

#include <assert.h>
#include <string.h>

#include "ir/base/checked.h"

static const struct {
    const char *text;
    int bits;
    char class;
} elems[ELEM_LIMIT_] = {
#define ELEM(name, onnx, text, bits, class) [onnx] = {text, bits, #class[0]},
#include "ir/elem.def"
#undef ELEM
};

static bool elem_known(enum elem e) {
    return (int)e > 0 && e < ELEM_LIMIT_;
}

const char *elem_text(enum elem e) {
    return elem_known(e) ? elems[e].text : NULL;
}

bool elem_parse(const char *text, enum elem *e) {
    for (int i = 1; i < ELEM_LIMIT_; i++)
        if (elems[i].text && strcmp(elems[i].text, text) == 0) {
            *e = (enum elem)i;
            return true;
        }
    return false;
}

int elem_bits(enum elem e) {
    return elem_known(e) ? elems[e].bits : 0;
}

bool elem_is_float(enum elem e) {
    return elem_known(e) && elems[e].class == 'F';
}

bool elem_is_int(enum elem e) {
    return elem_known(e) && (elems[e].class == 'I' || elems[e].class == 'U');
}

const struct type *type_tensor(struct arena *a, enum elem e, const struct dim *dims, int32_t rank) {
    assert(rank >= 0);
    struct type *t = ARENA_NEW(a, struct type);
    struct dim *copy = arena_copy(a, dims, (size_t)rank * sizeof *dims);
    if (!t || !copy)
        return NULL;
    *t = (struct type){
        .kind = TYPE_TENSOR, .elem = e, .has_shape = true, .rank = rank, .dims = copy};
    return t;
}

const struct type *type_static(struct arena *a, enum elem e, const int64_t *dims, int32_t rank) {
    assert(rank >= 0);
    struct dim *d = ARENA_ARRAY(a, struct dim, rank);
    struct type *t = ARENA_NEW(a, struct type);
    if (!d || !t)
        return NULL;
    for (int32_t i = 0; i < rank; i++)
        d[i].size = dims[i];
    *t = (struct type){.kind = TYPE_TENSOR, .elem = e, .has_shape = true, .rank = rank, .dims = d};
    return t;
}

const struct type *type_unranked(struct arena *a, enum elem e) {
    struct type *t = ARENA_NEW(a, struct type);
    if (t)
        *t = (struct type){.kind = TYPE_TENSOR, .elem = e};
    return t;
}

static bool dim_equal(struct dim a, struct dim b) {
    return a.size == b.size &&
           (a.symbol == b.symbol || (a.symbol && b.symbol && strcmp(a.symbol, b.symbol) == 0));
}

bool type_equal(const struct type *a, const struct type *b) {
    for (; a && b; a = a->child, b = b->child) {
        if (a->kind != b->kind || a->elem != b->elem || a->has_shape != b->has_shape ||
            a->rank != b->rank)
            return false;
        for (int32_t i = 0; i < a->rank; i++)
            if (!dim_equal(a->dims[i], b->dims[i]))
                return false;
    }
    return a == b; // both NULL
}

bool type_is_static(const struct type *t) {
    if (!t || t->kind != TYPE_TENSOR || !t->has_shape)
        return false;
    for (int32_t i = 0; i < t->rank; i++)
        if (t->dims[i].size < 0)
            return false;
    return true;
}

bool type_elements(const struct type *t, int64_t *n) {
    *n = 1;
    if (!type_is_static(t))
        return false;
    for (int32_t i = 0; i < t->rank; i++)
        if (t->dims[i].size == 0) {
            *n = 0; // even if the product of the other dimensions overflows
            return true;
        }
    for (int32_t i = 0; i < t->rank; i++)
        if (!checked_mul(*n, t->dims[i].size, n))
            return false;
    return true;
}

bool type_bytes(const struct type *t, int64_t *n_bytes) {
    int64_t n, bits;
    if (!type_elements(t, &n) || elem_bits(t->elem) == 0 ||
        !checked_mul(n, elem_bits(t->elem), &bits))
        return false;
    *n_bytes = bits / 8 + (bits % 8 != 0);
    return true;
}

static void print_tensor(struct str *out, const struct type *t) {
    const char *e = elem_text(t->elem);
    if (e)
        str_add(out, e);
    else
        str_addf(out, "elem%d", (int)t->elem);
    if (!t->has_shape) {
        str_add(out, "[*]");
        return;
    }
    str_add_char(out, '[');
    for (int32_t i = 0; i < t->rank; i++) {
        if (i)
            str_add_char(out, ',');
        if (t->dims[i].size >= 0)
            str_addf(out, "%lld", (long long)t->dims[i].size);
        else if (t->dims[i].symbol)
            str_add(out, t->dims[i].symbol);
        else
            str_add_char(out, '?');
    }
    str_add_char(out, ']');
}

void type_print(struct str *out, const struct type *t) {
    static const char *const opening[] = {
        [TYPE_SEQUENCE] = "seq(", [TYPE_OPTIONAL] = "opt(", [TYPE_MAP] = "map("};
    size_t n_open = 0;
    for (; t && (t->kind == TYPE_SEQUENCE || t->kind == TYPE_OPTIONAL || t->kind == TYPE_MAP);
         t = t->child) {
        str_add(out, opening[t->kind]);
        n_open++;
        if (t->kind == TYPE_MAP)
            str_addf(out, "%s, ", elem_text(t->elem) ? elem_text(t->elem) : "?");
    }
    if (!t || t->kind == TYPE_NONE)
        str_add_char(out, '?');
    else if (t->kind == TYPE_OPAQUE)
        str_addf(out, "opaque(%s.%s)", t->opaque_domain ? t->opaque_domain : "",
                 t->opaque_name ? t->opaque_name : "");
    else {
        if (t->kind == TYPE_SPARSE)
            str_add(out, "sparse ");
        print_tensor(out, t);
    }
    while (n_open--)
        str_add_char(out, ')');
}

const char *pairs_get(const struct pairs *p, const char *key) {
    for (size_t i = 0; i < p->n; i++)
        if (p->at[i].key && strcmp(p->at[i].key, key) == 0)
            return p->at[i].value;
    return NULL;
}

bool pairs_set(struct pairs *p, struct arena *a, const char *key, const char *value) {
    assert(p && a && key);
    size_t i = 0;
    while (i < p->n && !(p->at[i].key && strcmp(p->at[i].key, key) == 0))
        i++;
    size_t n = i < p->n ? p->n : p->n + 1;
    struct pair *at = ARENA_ARRAY(a, struct pair, n);
    if (!at)
        return false;
    if (p->n)
        memcpy(at, p->at, p->n * sizeof *at);
    at[i].key = key;
    at[i].value = value;
    *p = (struct pairs){at, n};
    return true;
}
