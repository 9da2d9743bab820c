// Costs of products: MatMul, Gemm, Einsum, attention and recurrent layers.
#include "ir/storage.h"
#include "passes/cost/cost.h"
#include "passes/shape/einsum.h"

// Work of starting and storing an inner product: short ones are slower per element.
enum { OUTPUT_WORK = 50, EXP_WORK = 50 };

void cost_inner_product(struct cost *c, int64_t n, int64_t inner) {
    c->flops = cost_product(2, cost_product(n, inner));
    c->work = cost_sum(c->flops, cost_product(OUTPUT_WORK, n));
}

void cost_matmul(struct cost *c) {
    if (storage_is_unwritten(c->s.g, c->s.n)) { // no elements to multiply: nothing is written
        c->bytes = 0;
        return;
    }
    cost_inner_product(c, cost_out(c, 0), cost_dim(c, 0, -1));
}

void cost_gemm(struct cost *c) {
    cost_inner_product(c, cost_out(c, 0), cost_dim(c, 0, node_int(c->s.n, "transA", 0) ? 0 : 1));
}

// One multiplication and addition for every combination of the letters; with three and more terms
// the runtime contracts them in pairs, which is less. It transposes operands and result in
// copies.
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
    c->work = cost_sum(n, cost_product(OUTPUT_WORK, cost_out(c, 0)));
    c->workspace_bytes = c->bytes;
    c->bytes = cost_product(2, c->bytes);
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
    c->flops = cost_product(scores, cost_product(2, cost_sum(wide_q, wide_v)));
    c->work = cost_sum(c->flops, cost_product(scores, OUTPUT_WORK + EXP_WORK));
    c->workspace_bytes = cost_product(scores, cost_elem_bytes(c, 0));
}

// Per step, example and direction: one product of the input and one of the state for each gate.
void cost_rnn(struct cost *c) {
    int64_t gates = cost_dim(c, 1, 1), hidden = cost_dim(c, 2, -1), in = cost_dim(c, 1, -1);
    int64_t cells = cost_product(cost_product(cost_dim(c, 0, 0), cost_dim(c, 0, 1)),
                                 cost_product(cost_dim(c, 1, 0), gates));
    c->flops = cost_product(cells, cost_product(2, cost_sum(in, hidden)));
    c->work = cost_sum(c->flops, cost_product(cells, OUTPUT_WORK));
    // The gates of all steps, and of one more.
    int64_t one = cost_dim(c, 0, 0) > 0 ? cells / cost_dim(c, 0, 0) : 0;
    c->workspace_bytes = cost_product(cost_sum(cells, one), cost_elem_bytes(c, 0));
}
