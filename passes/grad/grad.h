// Gradient rules. A rule is called once per node on the way back from the loss, with the gradients
// of the node's outputs, and builds those of its inputs, in ai.onnx operators only. It reads as a
// formula:
//
//     void back_sigmoid(struct grad *r) { // dx = dy * y * (1 - y)
//         value_id y = r->y[0];
//         r->dx[0] = grad_mul(r, r->dy[0], grad_mul(r, y, grad_sub(r, grad_real(r, y, 1), y)));
//     }
//
// Contributions to one value are summed by the engine. Failure sticks in the builder (build.h), so
// rules do not check. Prefer forms that keep small things alive (the output rather than the input,
// an index rather than a tensor) and that ONNX Runtime runs fast. All shapes are known and static:
// every value has its type.
#pragma once

#include "ir/build.h"
#include "passes/pass.h"
#include "passes/shape/shape.h"

struct grad {
    struct builder *b;
    struct graph *g;
    node_id id;
    const struct node *n; // the forward node
    const value_id *x;    // its inputs: n->in
    const value_id *y;    // its outputs: n->out
    const value_id *dy;   // the gradient of each output; none: nothing flows there
    value_id *dx;         // to be set, one per input; none: nothing flows there
    const bool *want;     // which of the inputs lead to something trained; building others is waste
    struct arena *a;      // scratch, until the rule returns
    uint32_t n_dy;        // as many as the node had outputs before its rule was called
    int64_t opset;        // of the model: at least 17
};

typedef void grad_rule(struct grad *r);

// Every rule that op.def names is declared here, as back_NAME. Two are special: `none`, the
// operator cannot be differentiated here, and `zero`, it carries no gradient by its nature.
#define OP(name, since, min_in, max_in, min_out, max_out, flags, shape, cost, grad)                \
    grad_rule back_##grad;
#include "ir/op.def"
#undef OP

// Is there a rule? Nodes with `none` on the way to the loss are refused, all of them at once.
enum grad_kind { GRAD_NONE, GRAD_ZERO, GRAD_RULE };
enum grad_kind grad_kind(enum op op);

// Gradients flow through float tensors, and straight through what QuantizeLinear made.
bool grad_carries(const struct graph *g, value_id v);

// What is trained (params.c): sets trained[v] for every such value, by default and by the options.
extern const struct option_spec params_options[];
status params_choose(struct model *m, struct pass_context *c, bool *trained);

// Looking.
const struct type *grad_type(const struct grad *r, value_id v);
int32_t grad_rank(const struct grad *r, value_id v);
int64_t grad_dim(const struct grad *r, value_id v, int32_t axis);
int64_t grad_elements(const struct grad *r, value_id v);
enum elem grad_elem(const struct grad *r, value_id v);
struct shape grad_shape(
    const struct grad *r); // the node as shape rules see it, for conv_window_read and the like
bool grad_has(const struct grad *r, uint32_t k); // input k is there
// The elements of an input that is a constant: false when it is not.
bool grad_ints(const struct grad *r, uint32_t k, int64_t **x, int64_t *n);
bool grad_reals(const struct grad *r, uint32_t k, double **x, int64_t *n);
// An optional output of the forward node, added when it was left out (MaxPool's indices,
// LayerNormalization's mean).
value_id grad_output(struct grad *r, uint32_t slot);
// Refuses this very node, whose operator as such has a rule.
__attribute__((format(printf, 2, 3))) void grad_refuse(struct grad *r, const char *format, ...);

// Building. Two values of equal or broadcastable shapes; a constant in the element type of `like`.
value_id grad_add(struct grad *r, value_id a, value_id b);
value_id grad_sub(struct grad *r, value_id a, value_id b);
value_id grad_mul(struct grad *r, value_id a, value_id b);
value_id grad_div(struct grad *r, value_id a, value_id b);
value_id grad_neg(struct grad *r, value_id a);
value_id grad_real(struct grad *r, value_id like, double x);
value_id grad_scale(struct grad *r, value_id a, double x); // a * x; a itself when x is 1
value_id grad_cast(struct grad *r, value_id a, enum elem e);
value_id grad_reshape(struct grad *r, value_id a, const int64_t *dims, int32_t rank);
value_id grad_reshape_like(struct grad *r, value_id a,
                           value_id like); // to the shape of `like`, which is not read
value_id grad_expand_like(struct grad *r, value_id a, value_id like);
value_id grad_transpose(struct grad *r, value_id a, const int64_t *perm);
value_id grad_swap_last(struct grad *r, value_id a); // the last two dimensions
// ReduceSum, ReduceMean, ReduceMax, …: axes as attribute or as input, as the opset wants it.
value_id grad_reduce(struct grad *r, const char *type, value_id a, const int64_t *axes, int64_t n,
                     bool keep);
// Sums over the axes along which `like` was broadcast to the shape of a, and drops them.
value_id grad_unbroadcast(struct grad *r, value_id a, value_id like);
// Zeros that are made when they are needed, so that they take no room before: in a shape, or in
// that of a value.
value_id grad_zeros_of(struct grad *r, enum elem e, const int64_t *dims, int32_t rank);
value_id grad_zeros(struct grad *r, value_id like);
// Zeros of a shape, with elements added at the places that an index names; several may name one.
value_id grad_scatter_nd(struct grad *r, const int64_t *dims, int32_t rank, value_id where,
                         value_id what);
value_id grad_scatter_elements(struct grad *r, const int64_t *dims, int32_t rank, int64_t axis,
                               value_id where, value_id what);
value_id grad_slice(struct grad *r, value_id a, int32_t axis, int64_t start, int64_t end);
value_id grad_pad(struct grad *r, value_id a, const int64_t *begin,
                  const int64_t *end); // with zeros, all axes
// Applies a matrix [n, size of the axis] (row by row, given as numbers) to every line of `a` along
// an axis.
value_id grad_along(struct grad *r, value_id a, int32_t axis, const double *matrix, int64_t n);
