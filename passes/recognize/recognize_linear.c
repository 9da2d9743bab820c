// A linear layer: MatMul of any number of rows with a matrix, which exporters transpose first, and
// the Add of a bias. It becomes Gemm between two Reshapes: the bias costs no pass over the result,
// and the gradient of the weights comes out in their own layout.
#include "ir/base/limits.h"
#include "passes/recognize/recognize.h"

// A matrix as it is stored: the operand of the Transpose that swaps its dimensions.
static value_id stored(const struct recognize *r, value_id w, bool *is_transposed) {
    const struct node *t = recognize_made_by(r, w, OP_Transpose);
    const struct attr *perm = t ? node_attr(t, "perm") : NULL;
    *is_transposed = t && (!perm || perm->ints[0] == 1);
    return *is_transposed ? t->in[0] : w;
}

static bool is_bias(const struct recognize *r, value_id v, int64_t n, enum elem e) {
    const struct type *t = recognize_type(r, v);
    return t && t->rank == 1 && t->dims[0].size == n && t->elem == e;
}

static bool has_elements(const struct type *t) {
    int64_t n;
    return type_elements(t, &n) && n > 0;
}

static bool to_gemm(struct recognize *r, const struct node *product, value_id bias) {
    value_id x = product->in[0], y = graph_node(r->g, r->id)->out[0];
    const struct type *in = recognize_type(r, x), *out = recognize_type(r, y);
    bool is_transposed;
    value_id w = stored(r, product->in[1], &is_transposed);
    struct attrs at = ATTRS(attr_int("transB", is_transposed));
    if (in->rank == 2)
        return recognize_become(r, OP_Gemm, VALUES(x, w, bias), at);
    int64_t dims[LIMIT_RANK], n_rows = 1;
    for (int32_t i = 0; i < out->rank; i++)
        dims[i] = out->dims[i].size;
    for (int32_t i = 0; i < in->rank - 1; i++)
        n_rows *= in->dims[i].size; // fits: it has a known number of elements
    value_id rows = build_ints(&r->b, (int64_t[]){n_rows, in->dims[in->rank - 1].size}, 2);
    value_id flat = BUILD(&r->b, "Reshape", x, rows);
    value_id gemm = build_op(&r->b, "Gemm", VALUES(flat, w, bias), at);
    value_id shape = build_ints(&r->b, dims, out->rank);
    return recognize_become(r, OP_Reshape, VALUES(gemm, shape), NO_ATTRS);
}

bool recognize_linear(struct recognize *r, const struct node *n) {
    const struct type *out = recognize_type(r, n->out[0]);
    if (n->op != OP_Add || !out || out->rank < 2 || !elem_is_float(out->elem) || !has_elements(out))
        return false;
    for (int k = 0; k < 2; k++) {
        const struct node *product = recognize_made_by(r, n->in[k], OP_MatMul);
        const struct type *x = product ? recognize_type(r, product->in[0]) : NULL,
                          *w = product ? recognize_type(r, product->in[1]) : NULL;
        if (x && w && x->rank == out->rank && w->rank == 2 && has_elements(x) &&
            recognize_read_once(r, n->in[k]) &&
            is_bias(r, n->in[1 - k], out->dims[out->rank - 1].size, out->elem))
            return to_gemm(r, product, n->in[1 - k]);
    }
    return false;
}
