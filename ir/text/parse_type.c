// Parser of types and dimensions, the inverse of print_type.c, which shows the syntax. parse_enter
// bounds the nesting of types.
#include <string.h>

#include "ir/base/limits.h"
#include "ir/text/number.h"
#include "ir/text/parse.h"

bool parse_is_elem(struct token t, enum elem *out) {
    char text[16];
    int64_t x;
    if (t.kind != LEX_WORD || t.n >= sizeof text)
        return false;
    memcpy(text, t.at, t.n);
    text[t.n] = 0;
    if (elem_parse(text, out))
        return true;
    // An element type unknown to this version is written by its number: elem99.
    if (t.n > 4 && memcmp(text, "elem", 4) == 0 && number_parse_int(text + 4, t.n - 4, &x) &&
        x >= 0 && x <= INT32_MAX) {
        *out = (enum elem)x;
        return true;
    }
    return false;
}

bool parse_elem(struct parser *p, enum elem *out) {
    if (!parse_is_elem(p->t, out))
        return parse_expected(p, "an element type such as f32");
    parse_advance(p);
    return true;
}

static bool parse_dim(struct parser *p, struct dim *out, struct bytes *extra) {
    *out = (struct dim){.size = DIM_UNKNOWN};
    *extra = (struct bytes){0};
    struct token at = p->t;
    int64_t x;
    if (parse_take(p, '?')) {
        // unknown
    } else if (at.kind == LEX_WORD && number_parse_int(at.at, at.n, &x)) {
        if (x < 0)
            return parse_fail(p, &at, "a dimension cannot be negative");
        out->size = x;
        parse_advance(p);
    } else if (!parse_name(p, &out->symbol)) {
        return false;
    }
    return (!parse_take_word(p, "as") || parse_name(p, &out->denotation)) &&
           (!parse_take_word(p, "with") || parse_hex(p, extra));
}

typedef VEC(struct dim) dims_vec;

static bool parse_shape(struct parser *p, struct type *t) {
    dims_vec dims = {0};
    struct bytes *extras = NULL;
    if (!parse_want(p, '['))
        return false;
    if (parse_take(p, '*'))
        return parse_want(p, ']');
    while (!parse_at(p, ']')) {
        struct dim one;
        struct bytes extra;
        if (dims.n == LIMIT_RANK)
            return parse_fail(p, &p->t, "more than %d dimensions", LIMIT_RANK);
        if ((dims.n && !parse_want(p, ',')) || !parse_dim(p, &one, &extra))
            return false;
        if (extra.n && !extras && !(extras = ARENA_ARRAY(p->m->arena, struct bytes, LIMIT_RANK)))
            return parse_out_of_memory(p);
        if (extra.n)
            extras[dims.n] = extra;
        if (!VEC_PUSH(p->m->arena, &dims, one))
            return parse_out_of_memory(p);
    }
    t->has_shape = true;
    t->rank = (int32_t)dims.n;
    t->dims = dims.at;
    t->dim_extras = extras;
    return parse_want(p, ']');
}

bool parse_dims(struct parser *p, const int64_t **out, int32_t *rank) {
    struct type t = {0};
    struct token at = p->t;
    if (!parse_shape(p, &t))
        return false;
    int64_t *dims = ARENA_ARRAY(p->m->arena, int64_t, t.rank);
    if (!dims)
        return parse_out_of_memory(p);
    for (int32_t i = 0; i < t.rank; i++)
        dims[i] = t.dims[i].size;
    for (int32_t i = 0; i < t.rank; i++)
        if (dims[i] < 0)
            return parse_fail(p, &at, "the dimensions of a constant are numbers");
    if (!t.has_shape)
        return parse_fail(p, &at, "the dimensions of a constant are numbers");
    *out = dims;
    *rank = t.rank;
    return true;
}

static bool parse_nested(struct parser *p, struct type *t) {
    if (!parse_want(p, '('))
        return false;
    if (t->kind == TYPE_MAP && (!parse_elem(p, &t->elem) || !parse_want(p, ',')))
        return false;
    if (t->kind == TYPE_OPAQUE)
        return parse_quoted(p, &t->opaque_domain) && parse_want(p, ',') &&
               parse_quoted(p, &t->opaque_name) && parse_want(p, ')');
    return parse_type(p, &t->child) && parse_want(p, ')');
}

static bool parse_kind(struct parser *p, struct type *t) {
    static const struct {
        const char *word;
        enum type_kind kind;
    } nested[] = {
        {"seq", TYPE_SEQUENCE}, {"opt", TYPE_OPTIONAL}, {"map", TYPE_MAP}, {"opaque", TYPE_OPAQUE}};
    if (parse_take(p, '?'))
        return true;
    for (size_t i = 0; i < sizeof nested / sizeof *nested; i++)
        if (parse_take_word(p, nested[i].word)) {
            t->kind = nested[i].kind;
            return parse_nested(p, t);
        }
    t->kind = parse_take_word(p, "sparse") ? TYPE_SPARSE : TYPE_TENSOR;
    if (!parse_is_elem(p->t, &t->elem))
        return parse_expected(p, "a type such as f32[8,N]");
    parse_advance(p);
    return parse_shape(p, t);
}

static bool parse_extras(struct parser *p, struct type *t) {
    return parse_hex(p, &t->extra) &&
           (p->t.kind != LEX_HEX || (parse_hex(p, &t->inner_extra) &&
                                     (p->t.kind != LEX_HEX || parse_hex(p, &t->shape_extra))));
}

bool parse_type(struct parser *p, const struct type **out) {
    *out = NULL;
    if (parse_take_word(p, "_"))
        return true;
    struct type *t = ARENA_NEW(p->m->arena, struct type);
    if (!t)
        return parse_out_of_memory(p);
    if (!parse_enter(p))
        return false;
    bool ok = parse_kind(p, t) && (!parse_take_word(p, "as") || parse_name(p, &t->denotation)) &&
              (!parse_take_word(p, "with") || parse_extras(p, t));
    parse_leave(p);
    *out = t;
    return ok;
}
