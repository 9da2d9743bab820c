// Cost rules: the operations, the memory traffic and the workspace of a node, and from them its
// time by the roofline model (Williams, Waterman and Patterson, 2009): a kernel is bound by
// arithmetic or by memory traffic, and starting it takes some time,
//
//     time = overhead + max(work / rate, bytes / bandwidth).
//
// `flops` are mathematical operations, `work` those of the kernel: an exponential is one flop and
// many operations, and a convolution also unfolds its input. A rule is called with all shapes
// known. Initially `bytes` counts every operand and every result once; the rule sets what differs:
//
//     void cost_reduce(struct cost *c) {
//         c->flops = cost_in(c, 0);
//         c->work = cost_product(10, c->flops);
//     }
//
// Numbers that overflow saturate at INT64_MAX. To add a rule, write cost_NAME in
// passes/cost/cost_*.c and name it in a row of ir/op.def; it is declared below by itself.
#pragma once

#include "ir/base/options.h"
#include "passes/shape/shape.h"

// The limit of a node, so that the sum over a graph fits: 2^50 ns are 13 days.
#define COST_MAX ((int64_t)1 << 50)

// The device that nodes run on.
struct cost_device {
    double rate;      // floating point operations per nanosecond
    double bandwidth; // bytes per nanosecond
    double overhead;  // nanoseconds per node
};

// The device of --rate, --bandwidth and --node-overhead (pass costs), which node.cost refers to.
status cost_device_read(const struct options *o, struct diags *d, struct cost_device *out);

struct cost {
    struct shape s; // the node, as shape rules see it
    int64_t in_bytes, out_bytes;
    int64_t flops, bytes;    // set by the rule
    int64_t work;            // operations of the kernel; at least flops
    int64_t workspace_bytes; // allocated by the kernel while it runs
    bool is_free;            // takes no time: the runtime removes it
};

typedef void cost_rule(struct cost *c);

// Every rule that op.def names is declared here: cost_conv, cost_elementwise, …
#define OP(name, since, min_in, max_in, min_out, max_out, flags, shape, cost, shard, grad)         \
    cost_rule cost_##cost;
#include "ir/op.def"
#undef OP

// Runs the rule of a node whose operands have static shapes. The arena is for scratch.
void cost_estimate(struct graph *g, node_id n, struct arena *a, struct diags *d, struct cost *out);
// Rounds nanoseconds to an integer from 1 to COST_MAX.
int64_t cost_round(double time);
// Its time on the device; 0: the node is free.
int64_t cost_time(const struct cost *c, const struct cost_device *device);

// n sums of `inner` products each (cost_matmul.c).
void cost_inner_product(struct cost *c, int64_t n, int64_t inner);

// Elements and bytes of an operand or result; 0: it is left out.
int64_t cost_in(const struct cost *c, uint32_t k);
int64_t cost_out(const struct cost *c, uint32_t k);
int64_t cost_in_bytes(const struct cost *c, uint32_t k);
int64_t cost_out_bytes(const struct cost *c, uint32_t k);
// Dimension `axis` of operand k; negative axes count from the end. 1: it has no such axis.
int64_t cost_dim(const struct cost *c, uint32_t k, int32_t axis);
int64_t cost_elem_bytes(const struct cost *c, uint32_t k); // of one element of operand k

// Of non-negative numbers, saturating at INT64_MAX.
int64_t cost_product(int64_t a, int64_t b);
int64_t cost_sum(int64_t a, int64_t b);
