// Sharding rules: along which dimensions an operator may be divided into parts. A rule gives equal
// labels to dimensions of operands and results that are divided together. The part of an operator
// for a range of a label reads that range of every operand with the label and the other operands
// whole. Results with the label are concatenated; those without it are joined as the label says.
//
//     void shard_matmul(struct shard_rule *r) {    // [M, K] by [K, N]
//         uint32_t m = shard_label(r, SHARD_CONCAT, M), k = shard_label(r, SHARD_SUM, K);
//         shard_in(r, 0, 0, m); shard_in(r, 0, 1, k); shard_in(r, 1, 0, k); shard_out(r, 0, 0, m);
//
// A label counts in units: [N, A] reshaped to [N A] has the label N on both, with units of 1 and
// of A elements. A label of windows (Conv along space) reads a halo.
//
// To add a rule, write shard_NAME in passes/shard/shard_*.c and name it in a row of ir/op.def; it
// is declared below by itself. Types of operands and results are static when a rule is called.
#pragma once

#include "ir/base/limits.h"
#include "passes/shape/conv_window.h"

enum { SHARD_LABELS = 32 };

enum shard_join {
    SHARD_CONCAT, // every result has the label
    SHARD_SUM,
    SHARD_MAX,
    SHARD_MIN,
    SHARD_PRODUCT,
    SHARD_MEAN,    // parts compute sums; their sum is divided by the number of elements
    SHARD_CHAIN,   // a part takes the result of the one before it as its first operand
    SHARD_MOMENTS, // BatchNormalization: mean and variance are joined, then applied to each part
};

struct shard_label {
    enum shard_join join;
    int64_t extent;     // units
    int32_t window;     // spatial dimension whose windows it counts; -1: none
    int64_t n_mean;     // SHARD_MEAN: elements that a result is the mean of
    bool local_indices; // the second result, or operand, of a part holds positions in the part
};

struct shard_dim {
    uint32_t label; // 0: the dimension is not divided
    int64_t unit;   // its elements for each unit of the label
};

struct shard_rule {
    struct shape *s; // the node, its operands and constants
    struct arena *a;
    uint32_t n_labels;
    struct shard_label label[SHARD_LABELS + 1]; // [0] is unused
    struct shard_dim (*in)[LIMIT_RANK], (*out)[LIMIT_RANK];
    struct conv_window window;
    const char *why; // no label: the reason
    bool failed;     // out of memory
};

typedef void shard_rule_fn(struct shard_rule *r);

#define OP(name, since, min_in, max_in, min_out, max_out, flags, shape, cost, shard, grad)         \
    shard_rule_fn shard_##shard;
#include "ir/op.def"
#undef OP

// The rule of a node, applied. ST_LIMIT: out of memory.
status shard_rule_of(struct graph *g, node_id n, struct arena *a, struct diags *d,
                     struct shard_rule *out);

// For rules. A label of fewer than two units is of no use, and is 0, which marks nothing.
uint32_t shard_label(struct shard_rule *r, enum shard_join join, int64_t extent);
void shard_in(struct shard_rule *r, uint32_t k, int32_t dim, uint32_t label);
void shard_out(struct shard_rule *r, uint32_t k, int32_t dim, uint32_t label);
void shard_in_units(struct shard_rule *r, uint32_t k, int32_t dim, struct shard_dim x);
void shard_out_units(struct shard_rule *r, uint32_t k, int32_t dim, struct shard_dim x);

// NULL: left out.
const struct type *shard_in_type(const struct shard_rule *r, uint32_t k);
const struct type *shard_out_type(const struct shard_rule *r, uint32_t k);
static inline int64_t shard_size(const struct type *t, int32_t dim) {
    return t->dims[dim].size;
}

// A new label for a dimension that the first operand and the first result have in common.
uint32_t shard_both(struct shard_rule *r, int32_t dim);
// The attribute, normalized.
int32_t shard_axis(const struct shard_rule *r, const char *name, int64_t otherwise, int32_t rank);
