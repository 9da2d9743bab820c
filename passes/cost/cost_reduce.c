// Costs of reductions, normalizations, softmax and losses. The factors are operations per element,
// measured by bench/costs.
#include "passes/cost/cost.h"

void cost_reduce(struct cost *c) {
    int64_t each = 10;
    switch (c->s.n->op) {
    case OP_GlobalLpPool:
        each = 600;
        break;
    case OP_ReduceLogSumExp:
        each = 430;
        break;
    case OP_ArgMax:
    case OP_ArgMin:
    case OP_ReduceL1:
    case OP_ReduceL2:
    case OP_ReduceLogSum:
    case OP_ReduceProd:
    case OP_ReduceSumSquare:
        each = 75;
        break;
    default:
        break;
    }
    c->flops = cost_in(c, 0);
    c->work = cost_product(each, c->flops);
}

// Mean, variance, and their use.
void cost_norm(struct cost *c) {
    c->flops = cost_product(8, cost_in(c, 0));
    c->work = cost_product(50, cost_in(c, 0));
}

// For an axis other than the last, the kernel works on a transposed copy and transposes the result.
void cost_softmax(struct cost *c) {
    const struct type *x = shape_ranked(&c->s, 0);
    int64_t axis = node_int(c->s.n, "axis", -1);
    bool last = !x || axis == -1 || axis == x->rank - 1;
    c->flops = cost_product(4, cost_in(c, 0));
    c->work = cost_product(last ? 50 : 1200, cost_in(c, 0));
    c->workspace_bytes = last ? 0 : cost_product(2, cost_in_bytes(c, 0));
}

// Every element is divided by a power of a sum over neighbouring channels: the powers and one
// example's squares, padded with zero channels, are kept.
void cost_lrn(struct cost *c) {
    int64_t size = node_int(c->s.n, "size", 1), n = cost_in(c, 0), channels = cost_dim(c, 0, 1);
    int64_t rows = cost_product(cost_dim(c, 0, 0), channels), place = rows > 0 ? n / rows : 0;
    size = size > 0 ? size : 1;
    c->flops = cost_product(cost_sum(2, size), n);
    c->work = cost_product(2800, n);
    c->workspace_bytes = cost_sum(
        cost_in_bytes(c, 0),
        cost_product(cost_product(cost_sum(channels, size - 1), place), cost_elem_bytes(c, 0)));
}

// The runtime inlines it: log-probabilities, and the selection from them.
void cost_loss(struct cost *c) {
    c->flops = cost_product(4, cost_in(c, 0));
    c->work = cost_product(60, cost_in(c, 0));
    c->workspace_bytes = cost_in_bytes(c, 0);
}
