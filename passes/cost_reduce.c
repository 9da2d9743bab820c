// Costs of operators that go over all elements to find something about them: reductions,
// normalizations, softmax, losses.
#include "passes/cost.h"

void cost_reduce(struct cost *c) {
    c->flops = cost_in(c, 0);
}

// Root, power, logarithm or exponential of every element.
void cost_reduce_heavy(struct cost *c) {
    c->flops = cost_product(COST_EXP, cost_in(c, 0));
}

// Two passes for mean and variance, one to apply them.
void cost_norm(struct cost *c) {
    c->flops = cost_product(8, cost_in(c, 0));
    c->bytes = cost_sum(c->bytes, cost_in_bytes(c, 0));
}

void cost_softmax(struct cost *c) {
    c->flops = cost_product(COST_EXP + 4, cost_in(c, 0));
}

// Every element is divided by a power of a sum over neighbouring channels.
void cost_lrn(struct cost *c) {
    int64_t size = node_int(c->s.n, "size", 1);
    c->flops = cost_product(cost_sum(COST_POWER, size > 0 ? size : 1), cost_in(c, 0));
    c->workspace_bytes = cost_product(2, cost_in_bytes(c, 0));
}

void cost_loss(struct cost *c) {
    c->flops = cost_product(COST_EXP + 4, cost_in(c, 0));
    c->workspace_bytes = cost_in_bytes(c, 0);
}
