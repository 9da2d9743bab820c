// Gradient rules. A rule is called once per node, in reverse order, with the gradients of the
// node's outputs. It builds those of its inputs, in ai.onnx operators only, and reads as a formula:
//
//     void back_sigmoid(struct grad *r) { // dx = dy * y * (1 - y)
//         value_id y = r->y[0];
//         r->dx[0] = grad_mul(r, r->dy[0], grad_mul(r, y, grad_sub(r, grad_real(r, y, 1), y)));
//     }
//
// The engine (grad.c) sums the contributions to one value. Errors stick in the builder (build.h),
// so rules do not check for them. All shapes are known. Prefer formulas that keep small tensors
// alive (the output rather than the input, an index rather than a tensor) and that ONNX Runtime
// runs fast.
//
// To add a rule, write back_NAME in passes/grad/grad_*.c, name it in a row of ir/op.def (it is
// declared below by itself), and add a case to tests/gradient, which compares it with finite
// differences.
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
    const value_id *dy;   // the gradient of each output; none: zero
    value_id *dx;         // result: the gradient of each input; none: zero
    const bool *want;     // which inputs depend on a trained value; the others need no gradient
    struct arena *a;      // scratch, freed when the rule returns
    uint32_t n_dy;        // of dy: the outputs before the rule added any
    int64_t opset;        // of the model: at least 17
    bool wide_sums;       // --accumulate-type float32: reductions of 16-bit floats are in float32
};

typedef void grad_rule(struct grad *r);

// Every rule that op.def names is declared here, as back_NAME. Two are special: `none`, the
// operator is not differentiable here, and `zero`, it carries no gradient by its nature.
#define OP(name, since, min_in, max_in, min_out, max_out, flags, shape, cost, shard, grad)         \
    grad_rule back_##grad;
#include "ir/op.def"
#undef OP

// Values that carry gradients: float tensors, and results of QuantizeLinear (straight-through).
bool grad_carries(const struct graph *g, value_id v);

// The operator has a rule that builds gradients.
bool grad_has_rule(enum op op);

// params.c: sets trained[v] for every value to train, by default and by the options.
extern const struct option_spec params_options[];
status params_choose(struct model *m, struct pass_context *c, bool *trained);

// ---- Inspecting ----

const struct type *grad_type(const struct grad *r, value_id v);
int32_t grad_rank(const struct grad *r, value_id v);
int64_t grad_dim(const struct grad *r, value_id v, int32_t axis);
int64_t grad_elements(const struct grad *r, value_id v);
enum elem grad_elem(const struct grad *r, value_id v);
// The node as shape rules see it, for conv_window_read and the like.
struct shape grad_shape(const struct grad *r);
bool grad_has(const struct grad *r, uint32_t k); // input k is not left out
// The elements of a constant input; false: it is not constant.
bool grad_ints(const struct grad *r, uint32_t k, int64_t **x, int64_t *n);
bool grad_reals(const struct grad *r, uint32_t k, double **x, int64_t *n);
// An optional output of the forward node, added when it was left out (MaxPool's indices,
// LayerNormalization's mean).
value_id grad_output(struct grad *r, uint32_t slot);
// Refuses this node, though its operator has a rule.
__attribute__((format(printf, 2, 3))) void grad_refuse(struct grad *r, const char *format, ...);

// ---- Building ----

// Operands have equal or broadcastable shapes; constants have the element type of `like`.
value_id grad_add(struct grad *r, value_id a, value_id b);
value_id grad_sub(struct grad *r, value_id a, value_id b);
value_id grad_mul(struct grad *r, value_id a, value_id b);
value_id grad_div(struct grad *r, value_id a, value_id b);
value_id grad_neg(struct grad *r, value_id a);
value_id grad_real(struct grad *r, value_id like, double x);
value_id grad_scale(struct grad *r, value_id a, double x); // a * x; a itself if x is 1
value_id grad_cast(struct grad *r, value_id a, enum elem e);
value_id grad_reshape(struct grad *r, value_id a, const int64_t *dims, int32_t rank);
// To the shape of `like`, whose elements are not read.
value_id grad_reshape_like(struct grad *r, value_id a, value_id like);
value_id grad_expand_like(struct grad *r, value_id a, value_id like);
value_id grad_transpose(struct grad *r, value_id a, const int64_t *perm);
value_id grad_swap_last(struct grad *r, value_id a); // the last two dimensions
// ReduceSum, ReduceMean, ReduceMax, …: axes as attribute or as input, depending on the opset; in
// the element type that --accumulate-type asks for.
value_id grad_reduce(struct grad *r, const char *type, value_id a, const int64_t *axes, int64_t n,
                     bool keep);
// Sums over the axes along which `like` was broadcast to the shape of a.
value_id grad_unbroadcast(struct grad *r, value_id a, value_id like);
// Zeros in the shape of a value, made by a node when they are needed and not stored in the file.
value_id grad_zeros(struct grad *r, value_id like);
// Zeros of a shape, with elements added at the positions that an index gives; positions may repeat.
value_id grad_scatter_nd(struct grad *r, const int64_t *dims, int32_t rank, value_id where,
                         value_id what);
value_id grad_scatter_elements(struct grad *r, const int64_t *dims, int32_t rank, int64_t axis,
                               value_id where, value_id what);
value_id grad_slice(struct grad *r, value_id a, int32_t axis, int64_t start, int64_t end);
// With zeros, on all axes.
value_id grad_pad(struct grad *r, value_id a, const int64_t *begin, const int64_t *end);
// Applies a matrix [n, size of the axis], given row by row, to every line of `a` along an axis.
value_id grad_along(struct grad *r, value_id a, int32_t axis, const double *matrix, int64_t n);
