// Costs of products: MatMul, Gemm, Einsum, attention and recurrent layers.
#include "passes/cost.h"
#include "passes/einsum.h"

// A multiplication and an addition per output element and inner index.
static void product(struct cost *c, int64_t inner) {
    c->flops = cost_product(2, cost_product(cost_out(c, 0), inner));
}

void cost_matmul(struct cost *c) {
    product(c, cost_dim(c, 0, -1));
}

void cost_gemm(struct cost *c) {
    product(c, cost_dim(c, 0, node_int(c->s.n, "transA", 0) ? 0 : 1));
}

// One multiplication and addition for every combination of the letters. With three and more terms
// the runtime contracts them in pairs, which is less than this for all but the smallest.
void cost_einsum(struct cost *c) {
    struct einsum e;
    bool known;
    if (einsum_read(&c->s, &e, &known) || !known)
        return;
    int64_t n = c->s.n->n_in > 1 ? 2 : 1;
    for (int i = 0; i < EINSUM_LETTERS; i++)
        n = e.seen[i] ? cost_product(n, e.letter[i].size) : n;
    for (int32_t i = 0; i < e.n_dots; i++)
        n = cost_product(n, e.dots[i].size);
    c->flops = n;
}

// Scores Q K^T, their softmax, and P V, for every head of the queries. The runtime keeps the
// scores while it runs.
void cost_attention(struct cost *c) {
    const struct type *q = shape_ranked(&c->s, 0);
    bool split = q && q->rank == 4;
    int64_t heads = split ? cost_dim(c, 0, 1) : node_int(c->s.n, "q_num_heads", 1);
    int64_t past = shape_has(&c->s, 4) ? cost_dim(c, 4, 2) : 0;
    int64_t keys = cost_sum(past, cost_dim(c, 1, -2));
    int64_t rows = cost_product(cost_product(cost_dim(c, 0, 0), heads), cost_dim(c, 0, -2));
    int64_t scores = cost_product(rows, keys);
    heads = heads > 0 ? heads : 1;
    int64_t kv_heads = node_int(c->s.n, "kv_num_heads", heads);
    int64_t wide_q = cost_dim(c, 0, -1) / (split ? 1 : heads);
    int64_t wide_v = cost_dim(c, 2, -1) / (split || kv_heads < 1 ? 1 : kv_heads);
    c->flops = cost_product(scores, cost_sum(COST_EXP, 2 * cost_sum(wide_q, wide_v)));
    c->workspace_bytes = cost_product(scores, cost_elem_bytes(c, 0));
}

// Per step, example and direction: one product of the input and one of the state for each gate.
void cost_rnn(struct cost *c) {
    int64_t gates = cost_dim(c, 1, 1), hidden = cost_dim(c, 2, -1), in = cost_dim(c, 1, -1);
    int64_t cells = cost_product(cost_product(cost_dim(c, 0, 0), cost_dim(c, 0, 1)),
                                 cost_product(cost_dim(c, 1, 0), gates));
    c->flops = cost_product(cells, 2 * cost_sum(cost_sum(in, hidden), COST_EXP / 2));
    c->workspace_bytes = cost_product(cells, cost_elem_bytes(c, 0));
}
