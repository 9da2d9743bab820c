// Cost rules: what a node computes, moves and needs besides its operands, and from that a time by
// the roofline model (Williams, Waterman and Patterson, 2009): a kernel is bound by arithmetic or
// by memory, and starting it takes a moment of its own,
//
//     time = overhead + max(work / rate, bytes / bandwidth).
//
// `flops` are the operations of the mathematics, `work` those of the kernel: an exponential is one
// operation there and many here, and so is what a convolution does to lay its input out. A rule is
// called with all shapes known. It finds in `bytes` all operands read and all results written once,
// and changes what is otherwise:
//
//     void cost_reduce(struct cost *c) {
//         c->flops = cost_in(c, 0);
//         c->work = cost_product(10, c->flops);
//     }
//
// Numbers that overflow stay at INT64_MAX: such a node is out of all proportion anyway.
#pragma once

#include "ir/base/options.h"
#include "passes/shape/shape.h"

// No node takes longer, so that the sum over a graph fits: 2^50 ns are 13 days.
#define COST_MOST ((int64_t)1 << 50)

// The device that nodes run on.
struct cost_device {
    double rate;      // floating point operations per nanosecond
    double bandwidth; // bytes per nanosecond
    double overhead;  // nanoseconds per node
};

// The device of --rate, --bandwidth and --node-overhead (pass costs), which node.cost is about.
status cost_device_read(const struct options *o, struct diags *d, struct cost_device *out);

struct cost {
    struct shape s; // the node, and what shape rules know about it
    int64_t in_bytes, out_bytes;
    int64_t flops, bytes;    // set by the rule
    int64_t work;            // operations that its time is worth; never less than flops
    int64_t workspace_bytes; // what the kernel allocates while it runs
    bool is_free;            // takes no time at all: it is gone when the step runs
};

typedef void cost_rule(struct cost *c);

// Every rule that op.def names is declared here: cost_conv, cost_elementwise, …
#define OP(name, since, min_in, max_in, min_out, max_out, flags, shape, cost, grad)                \
    cost_rule cost_##cost;
#include "ir/op.def"
#undef OP

// Runs the rule of a node whose operands have static shapes. The arena is for scratch.
void cost_estimate(struct graph *g, node_id n, struct arena *a, struct diags *d, struct cost *out);
// Nanoseconds as they are kept: whole, at least 1, at most COST_MOST.
int64_t cost_round(double time);
// What the device takes for it; 0 when the node is free.
int64_t cost_time(const struct cost *c, const struct cost_device *device);

// n sums of `inner` products each (cost_matmul.c).
void cost_inner_product(struct cost *c, int64_t n, int64_t inner);

// Elements and bytes of an operand or result; 0 when it is left out.
int64_t cost_in(const struct cost *c, uint32_t k);
int64_t cost_out(const struct cost *c, uint32_t k);
int64_t cost_in_bytes(const struct cost *c, uint32_t k);
int64_t cost_out_bytes(const struct cost *c, uint32_t k);
// Dimension `axis` of operand k; negative axes count from the end. 1 when there is none such.
int64_t cost_dim(const struct cost *c, uint32_t k, int32_t axis);
int64_t cost_elem_bytes(const struct cost *c, uint32_t k); // of one element of operand k

// Of numbers that are not negative: INT64_MAX when the result does not fit.
int64_t cost_product(int64_t a, int64_t b);
int64_t cost_sum(int64_t a, int64_t b);
