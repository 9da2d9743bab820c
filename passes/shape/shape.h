// Shape rules. A rule reads the types of a node's inputs (and, where shapes depend on values, the
// known contents of small integer tensors) and sets the types of its outputs. Models are at opset
// 17 or later (passes/upgrade.c), so a rule handles the newer forms only.
//
//     status shape_same(struct shape *s) {
//         return shape_set_like(s, 0, shape_in(s, 0));
//     }
//
// A rule that lacks information sets what it can and returns ST_OK. A contradiction is an error:
// shape_fail. To add a rule, write shape_NAME in passes/shape/shape_*.c and name it in a row of
// ir/op.def; it is declared below by itself.
#pragma once

#include "ir/graph.h"

struct shape {
    struct graph *g;
    node_id id;
    const struct node *n;
    struct arena *a;
    struct diags *d;
    int64_t opset;
};

typedef status shape_rule(struct shape *s);

// Every rule that op.def names is declared here: shape_same, shape_broadcast, …
#define OP(name, since, min_in, max_in, min_out, max_out, flags, shape, cost, shard, grad)         \
    shape_rule shape_##shape;
#include "ir/op.def"
#undef OP

// Runs the rule of one node and merges the result with the declared types of the outputs. It is the
// `infer` hook of struct builder.
status shape_infer(struct graph *g, node_id n, struct diags *d);

// Dimensions.
static inline struct dim dim_of(int64_t size) {
    return (struct dim){.size = size};
}
static inline struct dim dim_unknown(void) {
    return (struct dim){.size = DIM_UNKNOWN};
}
static inline bool dim_known(struct dim d) {
    return d.size >= 0;
}
bool dim_same(struct dim a, struct dim b); // certainly equal
// Sums and products: known when both operands are, or when one is neutral; unknown on overflow.
struct dim dim_add(struct dim a, struct dim b);
struct dim dim_mul(struct dim a, struct dim b);
bool dim_broadcast(struct dim a, struct dim b, struct dim *out); // false: they do not broadcast
struct dim dim_from_term(struct term t);                         // a negative number is unknown
struct term term_from_dim(struct dim d);
static inline struct term term_of(int64_t x) {
    return (struct term){.x = x, .known = true};
}

// Inputs. shape_in is NULL when the input is left out or its type is unknown.
const struct type *shape_in(const struct shape *s, uint32_t k);
bool shape_has(const struct shape *s, uint32_t k); // the input is not left out
const struct type *shape_ranked(const struct shape *s,
                                uint32_t k);             // shape_in with a known rank, else NULL
enum elem shape_elem(const struct shape *s, uint32_t k); // ELEM_NONE: unknown
// The elements of an integer input, from a constant or from shape arithmetic; false: not known.
bool shape_content(const struct shape *s, uint32_t k, const struct term **at, int64_t *n);
// The same when all of them are numbers, as a new array.
bool shape_numbers(const struct shape *s, uint32_t k, int64_t **at, int64_t *n);
// The elements of a constant input of any type, an initializer or the result of a Constant node.
bool shape_reals(const struct shape *s, uint32_t k, double **at, int64_t *n);
// The only element of an input of any type, also of an integer that was cast to a float.
bool shape_real(const struct shape *s, uint32_t k, double *x);
#define SHAPE_NO_INPUT UINT32_MAX // for shape_axes: the axes are an attribute in all opsets
// Axes given as input k or as attribute "axes", normalised to 0 .. rank-1. *known = false: the
// content of the input is unknown. *n = 0: no axes are given.
status shape_axes(const struct shape *s, uint32_t k, int32_t rank, int64_t **axes, int64_t *n,
                  bool *known);
status shape_axis(const struct shape *s, int64_t axis, int32_t rank,
                  int32_t *out); // one, normalised

// The dimensions of a ranked type.
static inline void shape_copy_dims(struct dim *to, const struct type *t) {
    for (int32_t i = 0; i < t->rank; i++)
        to[i] = t->dims[i];
}

// Outputs. Setting an output that the node does not have does nothing.
status shape_set(struct shape *s, uint32_t k, enum elem e, const struct dim *dims, int32_t rank);
status shape_set_unranked(struct shape *s, uint32_t k, enum elem e);
status shape_set_like(struct shape *s, uint32_t k, const struct type *t); // NULL: nothing
status shape_set_content(struct shape *s, uint32_t k, const struct term *at, int64_t n);
__attribute__((format(printf, 2, 3))) status shape_fail(const struct shape *s, const char *format,
                                                        ...);

// Shape arithmetic (shape_content.c): the contents of the outputs, as far as those of the inputs
// are known.
status shape_content_infer(struct shape *s);

// shape_demand.c: refuses a model with an unknown dimension, and reports how to bind it.
struct pass_context;
status shape_demand(struct model *m, struct pass_context *c);
