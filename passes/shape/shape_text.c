// Shapes of operators on text, of decoded images, boxes, sequences and optional values.
#include "ir/base/limits.h"
#include "passes/shape/shape.h"

status shape_regex(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    return x ? shape_set(s, 0, ELEM_BOOL, x->dims, x->rank) : shape_set_unranked(s, 0, ELEM_BOOL);
}

// The parts of each text, as many as the one with the most, and their numbers.
status shape_string_split(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    if (!x || x->rank >= LIMIT_RANK)
        return ST_OK;
    struct dim dims[LIMIT_RANK];
    for (int32_t i = 0; i < x->rank; i++)
        dims[i] = x->dims[i];
    dims[x->rank] = dim_unknown();
    status st = shape_set(s, 0, ELEM_STRING, dims, x->rank + 1);
    return st ? st : shape_set(s, 1, ELEM_I64, dims, x->rank);
}

// Stopwords are removed.
status shape_string_normalizer(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    if (x && !node_attr(s->n, "stopwords"))
        return shape_set_like(s, 0, x);
    struct dim dims[] = {dim_unknown(), dim_unknown()};
    if (!x || x->rank < 1 || x->rank > 2)
        return ST_OK;
    dims[0] = x->rank == 2 ? x->dims[0] : dims[0];
    return shape_set(s, 0, ELEM_STRING, dims, x->rank);
}

status shape_tf_idf(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    const struct attr *at = node_attr(s->n, "ngram_indexes");
    struct dim dims[2];
    int32_t rank = 0;
    int64_t most = -1;
    for (size_t i = 0; at && at->kind == ATTR_INTS && i < at->n; i++)
        most = at->ints[i] > most ? at->ints[i] : most;
    if (!x || x->rank < 1 || x->rank > 2)
        return shape_set_unranked(s, 0, ELEM_F32);
    if (x->rank == 2)
        dims[rank++] = x->dims[0];
    dims[rank++] = dim_of(most + 1);
    return shape_set(s, 0, ELEM_F32, dims, rank);
}

status shape_image_decoder(struct shape *s) {
    struct dim dims[] = {dim_unknown(), dim_unknown(), dim_unknown()};
    return shape_set(s, 0, ELEM_U8, dims, 3);
}

status shape_non_max_suppression(struct shape *s) { // [selected, (batch, class, box)]
    struct dim dims[] = {dim_unknown(), dim_of(3)};
    return shape_set(s, 0, ELEM_I64, dims, 2);
}

static status set_holder(struct shape *s, enum type_kind kind, const struct type *child) {
    struct type *t = child ? ARENA_NEW(s->a, struct type) : NULL;
    if (!t)
        return child ? diag_out_of_memory(s->d) : ST_OK;
    t->kind = kind;
    t->child = child;
    return shape_set_like(s, 0, t);
}

// What a sequence holds has one element type; its shapes may differ.
static status sequence_of(struct shape *s, enum elem e) {
    return e ? set_holder(s, TYPE_SEQUENCE, type_unranked(s->a, e)) : ST_OK;
}

status shape_sequence_construct(struct shape *s) {
    return sequence_of(s, shape_elem(s, 0));
}

status shape_split_to_sequence(struct shape *s) {
    return sequence_of(s, shape_elem(s, 0));
}

status shape_sequence_empty(struct shape *s) {
    return sequence_of(s, (enum elem)node_int(s->n, "dtype", ELEM_F32));
}

// SequenceInsert, SequenceErase: a sequence of the same kind.
status shape_sequence_same(struct shape *s) {
    return shape_set_like(s, 0, shape_in(s, 0));
}

// SequenceAt, OptionalGetElement: what is inside.
status shape_element(struct shape *s) {
    const struct type *t = shape_in(s, 0);
    bool holds = t && (t->kind == TYPE_SEQUENCE || t->kind == TYPE_OPTIONAL);
    return shape_set_like(s, 0, holds ? t->child : t);
}

status shape_sequence_length(struct shape *s) {
    return shape_set(s, 0, ELEM_I64, NULL, 0);
}

status shape_concat_from_sequence(struct shape *s) {
    const struct type *t = shape_in(s, 0);
    bool known = t && t->kind == TYPE_SEQUENCE && t->child && t->child->kind == TYPE_TENSOR;
    return known ? shape_set_unranked(s, 0, t->child->elem) : ST_OK;
}

status shape_optional(struct shape *s) {
    const struct attr *type = node_attr(s->n, "type");
    return set_holder(s, TYPE_OPTIONAL,
                      shape_has(s, 0)                   ? shape_in(s, 0)
                      : type && type->kind == ATTR_TYPE ? type->type
                                                        : NULL);
}

status shape_has_element(struct shape *s) {
    return shape_set(s, 0, ELEM_BOOL, NULL, 0);
}
