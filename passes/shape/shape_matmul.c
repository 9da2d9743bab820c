// Shapes of products: MatMul, Gemm, Einsum, and their quantized forms.
#include "passes/shape/shape.h"

#include <string.h>

#include "ir/base/limits.h"
#include "passes/shape/einsum.h"

static status inner_mismatch(struct shape *s, struct dim a, struct dim b) {
    return shape_fail(s, "inner dimensions %lld and %lld differ", (long long)a.size,
                      (long long)b.size);
}

static status matmul(struct shape *s, uint32_t ka, uint32_t kb, enum elem e) {
    const struct type *a = shape_ranked(s, ka), *b = shape_ranked(s, kb);
    if (!a || !b)
        return shape_set_unranked(s, 0, e);
    if (a->rank == 0 || b->rank == 0)
        return shape_fail(s, "the operands must have at least one dimension");
    struct dim ia = a->dims[a->rank - 1], ib = b->dims[b->rank == 1 ? 0 : b->rank - 2];
    if (dim_known(ia) && dim_known(ib) && ia.size != ib.size)
        return inner_mismatch(s, ia, ib);
    // An operand of rank 1 is a row or a column; its added dimension is removed from the result.
    int32_t batch_a = a->rank > 2 ? a->rank - 2 : 0, batch_b = b->rank > 2 ? b->rank - 2 : 0;
    int32_t batch = batch_a > batch_b ? batch_a : batch_b, rank = 0;
    struct dim dims[LIMIT_RANK + 2];
    for (; rank < batch; rank++) {
        struct dim x = rank >= batch - batch_a ? a->dims[rank - (batch - batch_a)] : dim_of(1);
        struct dim y = rank >= batch - batch_b ? b->dims[rank - (batch - batch_b)] : dim_of(1);
        if (!dim_broadcast(x, y, &dims[rank]))
            return shape_fail(s, "batch dimensions %lld and %lld do not broadcast",
                              (long long)x.size, (long long)y.size);
    }
    if (a->rank > 1)
        dims[rank++] = a->dims[a->rank - 2];
    if (b->rank > 1)
        dims[rank++] = b->dims[b->rank - 1];
    return shape_set(s, 0, e, dims, rank);
}

status shape_matmul(struct shape *s) {
    enum elem a = shape_elem(s, 0), b = shape_elem(s, 1);
    if (a && b && a != b)
        return shape_fail(s, "the operands have the element types %s and %s", elem_text(a),
                          elem_text(b));
    return matmul(s, 0, 1, a ? a : b);
}

status shape_matmul_integer(struct shape *s) {
    return matmul(s, 0, 1, ELEM_I32);
}

status shape_qlinear_matmul(struct shape *s) {
    return matmul(s, 0, 3, shape_elem(s, 7));
}

status shape_gemm(struct shape *s) {
    const struct type *a = shape_ranked(s, 0), *b = shape_ranked(s, 1), *c = shape_ranked(s, 2);
    if (!a || !b)
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    if (a->rank != 2 || b->rank != 2)
        return shape_fail(s, "both operands must be matrices, but have ranks %d and %d", a->rank,
                          b->rank);
    bool ta = node_int(s->n, "transA", 0) != 0, tb = node_int(s->n, "transB", 0) != 0;
    struct dim ia = a->dims[!ta], ib = b->dims[tb];
    if (dim_known(ia) && dim_known(ib) && ia.size != ib.size)
        return inner_mismatch(s, ia, ib);
    struct dim dims[] = {a->dims[ta], b->dims[!tb]};
    for (int32_t i = 0; c && i < c->rank; i++) {
        struct dim have = c->dims[c->rank - 1 - i], want = i < 2 ? dims[1 - i] : dim_of(1);
        if (dim_known(have) && dim_known(want) && have.size != 1 && have.size != want.size)
            return shape_fail(s, "the third input does not broadcast to the product");
    }
    return shape_set(s, 0, a->elem, dims, 2);
}

// Without "->" the output is the ellipsis and the letters that occur once, in alphabetical order.
static void einsum_implicit(const char *equation, char *out) {
    int count[128] = {0};
    for (const char *c = equation; *c; c++)
        if (einsum_is_letter(*c))
            count[(int)*c]++;
    if (strstr(equation, "..."))
        out = stpcpy(out, "...");
    for (int c = 'A'; c <= 'z'; c++)
        if (count[c] == 1)
            *out++ = (char)c;
    *out = 0;
}

status shape_einsum(struct shape *s) {
    const char *equation = node_text(s->g, s->n, "equation", "");
    struct einsum e;
    bool known;
    status st = einsum_read(s, &e, &known);
    if (st || !known)
        return st ? st : shape_set_unranked(s, 0, shape_elem(s, 0));
    char implicit[64];
    const char *out = strstr(equation, "->");
    if (out)
        out += 2;
    else
        einsum_implicit(equation, implicit);
    struct dim dims[LIMIT_RANK + 64];
    int32_t rank = 0;
    for (const char *c = out ? out : implicit; *c; c++) {
        if (strncmp(c, "...", 3) == 0) {
            for (int32_t i = 0; i < e.n_dots; i++)
                dims[rank++] = e.dots[i];
            c += 2;
        } else if (einsum_is_letter(*c) && e.seen[(int)*c]) {
            if (rank == LIMIT_RANK)
                return shape_fail(s, "the output of \"%s\" has too many dimensions", equation);
            dims[rank++] = e.letter[(int)*c];
        } else if (*c != ' ') {
            return shape_fail(s, "the output of \"%s\" has a '%c' that no input has", equation, *c);
        }
    }
    return shape_set(s, 0, shape_elem(s, 0), dims, rank);
}

status shape_det(struct shape *s) {
    const struct type *t = shape_ranked(s, 0);
    if (t && t->rank < 2)
        return shape_fail(s, "the input must have at least two dimensions");
    return t ? shape_set(s, 0, t->elem, t->dims, t->rank - 2)
             : shape_set_unranked(s, 0, shape_elem(s, 0));
}
