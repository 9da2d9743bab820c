// Costs of operators that do little per element: elementwise ones, copies, views, lookups. Most
// are bound by memory, so what matters is how many bytes they touch.
#include "passes/cost.h"

static int64_t largest_out(const struct cost *c) {
    int64_t most = 0;
    for (uint32_t k = 0; k < c->s.n->n_out; k++)
        most = cost_out(c, k) > most ? cost_out(c, k) : most;
    return most;
}

// An operator that mfc knows nothing else about moves its operands.
void cost_unknown(struct cost *c) {
    (void)c;
}

// Reads everything and writes everything once.
void cost_copy(struct cost *c) {
    (void)c;
}

// Part of the file, not of a run.
void cost_constant(struct cost *c) {
    c->is_free = true;
    c->bytes = 0;
}

// Only looks at a shape, or gives the same bytes another one.
void cost_view(struct cost *c) {
    c->bytes = 0;
}

void cost_elementwise(struct cost *c) {
    c->flops = cost_product(c->s.n->n_in > 2 ? c->s.n->n_in - 1 : 1, largest_out(c));
}

void cost_root(struct cost *c) {
    c->flops = cost_product(COST_ROOT, largest_out(c));
}

void cost_transcendental(struct cost *c) {
    c->flops = cost_product(COST_EXP, largest_out(c));
}

void cost_power(struct cost *c) {
    c->flops = cost_product(COST_POWER, largest_out(c));
}

// The kernel blends two selections of the size of the output.
void cost_where(struct cost *c) {
    c->flops = cost_product(4, cost_out(c, 0));
    c->workspace_bytes = cost_product(2, cost_out_bytes(c, 0));
    c->bytes = cost_sum(c->bytes, cost_product(2, c->workspace_bytes));
}

void cost_random(struct cost *c) {
    c->flops = cost_product(COST_EXP, largest_out(c));
}

// Copies a part of its first operand: reads no more of it than it writes.
void cost_part(struct cost *c) {
    c->bytes = cost_sum(cost_product(2, c->out_bytes), c->in_bytes - cost_in_bytes(c, 0));
}

// Copies its first operand, then puts the updates in at the places that the indices name.
void cost_scatter(struct cost *c) {
    c->bytes = cost_sum(c->bytes, cost_in_bytes(c, 2));
    c->flops = cost_in(c, 2);
}

// Strided reads use a part of each cache line.
void cost_transpose(struct cost *c) {
    c->bytes = cost_product(2, c->bytes);
}

// About n log n comparisons.
void cost_sort(struct cost *c) {
    int64_t n = cost_in(c, 0), log = 1;
    for (int64_t x = n; x > 1; x >>= 1)
        log++;
    c->flops = cost_product(n, log);
}

// Interpolation weighs 2 neighbours a dimension, or 4.
void cost_resize(struct cost *c) {
    const char *mode = node_text(c->s.g, c->s.n, "mode", "nearest");
    c->flops = cost_product(mode[0] == 'n' ? 2 : mode[0] == 'l' ? 16 : 64, cost_out(c, 0));
    c->bytes = cost_sum(c->in_bytes, c->out_bytes);
}
