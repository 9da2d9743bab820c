// Costs of operators that move data and compute nothing: copies, views, lookups. They are bound by
// memory traffic, and some by the work of finding each element.
#include "passes/cost/cost.h"

// An operator without a rule moves its operands and results.
void cost_unknown(struct cost *c) {
    (void)c;
}

// Reads everything and writes everything once.
void cost_copy(struct cost *c) {
    (void)c;
}

// Stored in the file; takes no time.
void cost_constant(struct cost *c) {
    c->is_free = true;
    c->bytes = 0;
}

// Reads a shape, or gives the same bytes another shape.
void cost_view(struct cost *c) {
    c->bytes = 0;
}

// Copies a part of its first operand: reads no more of it than it writes.
void cost_part(struct cost *c) {
    c->bytes = cost_sum(cost_product(2, c->out_bytes), c->in_bytes - cost_in_bytes(c, 0));
}

// Adjacent elements are copied as runs, except backwards or with gaps.
void cost_slice(struct cost *c) {
    int64_t *steps, n;
    cost_part(c);
    if (!shape_has(&c->s, 4) || !shape_numbers(&c->s, 4, &steps, &n))
        return;
    for (int64_t i = 0; i < n; i++)
        if (steps[i] != 1)
            c->work = cost_product(250, cost_out(c, 0));
}

// Copies its first operand, then writes the updates one by one to the positions that the indices
// give. ONNX Runtime computes all positions first, 8 bytes each: one per index, or per row of
// indices of ScatterND.
void cost_scatter(struct cost *c) {
    int64_t row = c->s.n->op == OP_ScatterND ? cost_dim(c, 1, -1) : 1;
    c->flops = cost_in(c, 2);
    c->work = cost_product(400, c->flops);
    c->bytes = cost_sum(c->bytes, cost_in_bytes(c, 2));
    c->workspace_bytes = cost_product(8, cost_in(c, 1) / (row > 0 ? row : 1));
}

// Strided reads use a part of each cache line.
void cost_transpose(struct cost *c) {
    c->bytes = cost_sum(c->bytes, c->in_bytes);
}

// About n log n comparisons.
void cost_sort(struct cost *c) {
    int64_t n = cost_in(c, 0), log = 1;
    for (int64_t x = n; x > 1; x >>= 1)
        log++;
    c->flops = cost_product(n, log);
    c->work = cost_product(16, c->flops);
}

// Interpolation weighs 2 neighbours a dimension, or 4; the kernel for 4 is slow.
void cost_resize(struct cost *c) {
    const char *mode = node_text(c->s.g, c->s.n, "mode", "nearest");
    bool nearest = mode[0] == 'n', linear = mode[0] == 'l';
    c->flops = cost_product(nearest ? 1 : linear ? 8 : 32, cost_out(c, 0));
    c->work = cost_product(nearest ? 180 : linear ? 220 : 11000, cost_out(c, 0));
}
