// Decompositions: operators that are not of ai.onnx, or have no gradient rule of their own, as
// formulas of operators that have. A decomposition is called once per node and gives a value for
// each output of the node that is read. It is written with the tools of gradient rules (grad.h):
//
//     void decompose_quick_gelu(struct decompose *d) { // x sigmoid(alpha x)
//         struct grad *r = &d->tools;
//         value_id inner = grad_scale(r, r->x[0], node_real(r->n, "alpha", 1.702));
//         d->y[0] = grad_mul(r, r->x[0], BUILD(r->b, "Sigmoid", inner));
//     }
//
// A form that has no decomposition is refused by decompose_refuse, before anything is built; the
// node stays, with a warning. Nodes with the same reason share one warning.
//
// To add one, write decompose_NAME in passes/decompose/decompose_*.c, name it in a row of
// decompose.def (it is declared below by itself), and add a case: tests/kernels compares it with
// ONNX Runtime's own kernel, tests/gradient those of ai.onnx with finite differences.
#pragma once

#include "passes/grad/grad.h"

struct decompose {
    struct grad tools; // x: the inputs; n: the node
    value_id *y;       // result: a value for each output; of those that are not read, none will do
    const char *refused;
    bool keeps; // the node stays, and should: its operator has a rule for this form

    // Of quantized operators (decompose_quantized.c).
    bool trains_base; // --dequantize: quantized weights become float parameters
    bool floats;      // all that reads the results can take floats in place of quantized values
    int64_t n_frozen; // result: quantized weights that stay frozen
    value_id instead; // result: what y[0] takes the place of, if not of the node's own output
    node_id gone[2];  // result: nodes that are left out with it
    const struct uses *uses; // of the graph as it was before the pass
    bool *unit;              // per value of that graph: a scale that is 1 now
};

typedef void decompose_rule(struct decompose *d);

#define DECOMPOSE(domain, name, rule) decompose_rule decompose_##rule;
#include "passes/decompose/decompose.def"
#undef DECOMPOSE

__attribute__((format(printf, 2, 3))) void decompose_refuse(struct decompose *d, const char *format,
                                                            ...);
// Whether output k is read, or an output of the graph.
bool decompose_wants(const struct decompose *d, uint32_t k);
// Whether the inputs 0 .. n-1 that are given have known shapes; refuses the node if not.
bool decompose_has_shapes(struct decompose *d, uint32_t n);

// The only node that reads a value of the graph as it was, or none.
node_id decompose_only_user(const struct decompose *d, value_id v);
bool decompose_is_unit(const struct decompose *d, value_id v);

// ---- Building ----

// A constant tensor of numbers, with the element type of `like`.
value_id decompose_table(struct decompose *d, value_id like, const double *x, const int64_t *dims,
                         int32_t rank);
// Parts along an axis, of equal sizes or of the given ones.
void decompose_split(struct decompose *d, value_id v, int64_t axis, uint32_t n, value_id *parts);
void decompose_split_sizes(struct decompose *d, value_id v, int64_t axis, const int64_t *sizes,
                           uint32_t n, value_id *parts);
value_id decompose_concat(struct decompose *d, const value_id *parts, uint32_t n, int64_t axis);
// A quantized tensor as floats (dequantize.c); zero may be none. One scale, one for each index
// along the axis, or one for each block of it.
struct quantized {
    value_id x, scale, zero;
    int64_t axis, block;
    bool per_first; // for each index along the axis, and for each along the first dimension
};
void decompose_fix_scale(struct decompose *d, value_id scale); // it is no parameter
value_id decompose_dequantized(struct decompose *d, const struct quantized *q);
// The floats that an integer was rounded from, in its shape; an integer bias of dynamic
// quantization is added to a float now. Casts what was not rounded.
value_id decompose_unrounded(struct builder *b, value_id v);
// The elements of a constant of any size, as numbers (dequantize.c).
struct elements {
    enum elem elem;
    const uint8_t *raw; // NULL: left out, all zero
    int64_t n;
};
bool decompose_read(struct decompose *d, value_id v, struct elements *e); // false: refused
double decompose_element(const struct elements *e, int64_t i);
// A float initializer in place of quantized weights; NULL: out of memory.
value_id decompose_add_weights(struct decompose *d, value_id from, struct tensor *t);
// An activation of the fused operators: "Relu", "LeakyRelu", …, or "" for none; p: its parameters.
value_id decompose_activation(struct decompose *d, value_id x, const char *name, const double *p);
value_id decompose_gelu_of(struct decompose *d, value_id x); // exact, with Erf
// (x - mean) / sqrt(variance + eps) * scale + bias over the last axis.
value_id decompose_layer_norm_of(struct decompose *d, value_id x, value_id scale, value_id bias,
                                 double eps);
value_id decompose_rms_norm_of(struct decompose *d, value_id x, value_id scale, double eps);

// softmax(softcap(scale Q K^T) + masks) V, for queries [B,N,S,H], keys [B,M,T,H] and values
// [B,M,T,V], where M divides N.
struct attention {
    value_id q, k, v;
    double scale;       // 0: 1 / sqrt(H)
    double softcap;     // 0: none
    value_id masks[3];  // added to the scores, [B,N,S,T] or broadcast to it; none: not used
    value_id stages[4]; // results: the products, with softcap, with masks, the probabilities
};
value_id decompose_attention_of(struct decompose *d, struct attention *a);
// [B,L,N*H] as [B,N,L,H], and back.
value_id decompose_split_heads(struct decompose *d, value_id v, int64_t n);
value_id decompose_join_heads(struct decompose *d, value_id v);
// 0 where row i may see column j, i.e. j <= i + offset, and `far` elsewhere: [rows, columns].
value_id decompose_causal_mask(struct decompose *d, value_id like, const int64_t *size,
                               int64_t offset, double far);
// x rotated by the angles of its positions: x [B,N,S,H], cos and sin [B or 1,1,S,R/2]; elements
// from R on stay.
value_id decompose_rotate(struct decompose *d, value_id x, value_id cos, value_id sin,
                          bool interleaved);
