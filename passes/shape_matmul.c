// Shapes of products: MatMul, Gemm, Einsum and their kin.
#include "passes/shape.h"

#include <string.h>

#include "ir/base/limits.h"

static status inner_mismatch(struct shape *s, struct dim a, struct dim b) {
    return shape_fail(s, "inner dimensions %lld and %lld differ", (long long)a.size,
                      (long long)b.size);
}

static status matmul(struct shape *s, uint32_t ka, uint32_t kb, enum elem e) {
    const struct type *a = shape_ranked(s, ka), *b = shape_ranked(s, kb);
    if (!a || !b)
        return shape_set_unranked(s, 0, e);
    if (a->rank == 0 || b->rank == 0)
        return shape_fail(s, "a factor has no dimensions");
    struct dim ia = a->dims[a->rank - 1], ib = b->dims[b->rank == 1 ? 0 : b->rank - 2];
    if (dim_known(ia) && dim_known(ib) && ia.size != ib.size)
        return inner_mismatch(s, ia, ib);
    // A factor of rank 1 is a row or a column, and leaves no dimension of its own.
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
        return shape_fail(s, "the factors are %s and %s", elem_text(a), elem_text(b));
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
        return shape_fail(s, "both factors must be matrices, but have ranks %d and %d", a->rank,
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

// Einsum's equation, one dimension per letter; "…" stands for letters that are broadcast. The rule
// keeps a dimension for each of the 52 letters and one list for the ellipsis.
struct einsum {
    struct dim letter[128];
    bool seen[128];
    struct dim dots[LIMIT_RANK];
    int32_t n_dots;
    const char *at;
};

static int32_t count_term(const char *at, bool *dots) {
    int32_t n = 0;
    for (*dots = false; *at && *at != ',' && strncmp(at, "->", 2) != 0; at++)
        if (*at == '.')
            *dots = true;
        else if (*at != ' ')
            n++;
    return n;
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static status einsum_input(struct shape *s, struct einsum *e, const struct type *t) {
    bool dots;
    int32_t n = count_term(e->at, &dots), i = 0;
    if (dots ? t->rank < n : t->rank != n)
        return shape_fail(s, "an input has rank %d, but its term in the equation has %d letters",
                          t->rank, n);
    for (; *e->at && *e->at != ',' && strncmp(e->at, "->", 2) != 0; e->at++) {
        if (*e->at == '.' && strncmp(e->at, "...", 3) == 0) {
            int32_t extra = t->rank - n, shift = extra > e->n_dots ? extra - e->n_dots : 0;
            for (int32_t k = e->n_dots; shift && k-- > 0;)
                e->dots[k + shift] = e->dots[k];
            for (int32_t k = 0; k < shift; k++)
                e->dots[k] = dim_of(1);
            e->n_dots += shift;
            for (int32_t k = 0; k < extra; k++, i++)
                if (!dim_broadcast(e->dots[e->n_dots - extra + k], t->dims[i],
                                   &e->dots[e->n_dots - extra + k]))
                    return shape_fail(s, "the dimensions under \"...\" do not broadcast");
            e->at += 2;
        } else if (is_letter(*e->at)) {
            int c = *e->at;
            if (!e->seen[c])
                e->letter[c] = t->dims[i];
            else if (!dim_broadcast(e->letter[c], t->dims[i], &e->letter[c]))
                return shape_fail(s, "dimension '%c' is both %lld and %lld", c,
                                  (long long)e->letter[c].size, (long long)t->dims[i].size);
            e->seen[c] = true;
            i++;
        } else if (*e->at != ' ') {
            return shape_fail(s, "the equation has a '%c'", *e->at);
        }
    }
    return ST_OK;
}

// Without "->" the output is the ellipsis and the letters that occur once, in alphabetical order.
static void einsum_implicit(const char *equation, char *out) {
    int count[128] = {0};
    for (const char *c = equation; *c; c++)
        if (is_letter(*c))
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
    struct einsum e = {.at = equation};
    for (uint32_t k = 0; k < s->n->n_in; k++) {
        const struct type *t = shape_ranked(s, k);
        if (!t)
            return shape_set_unranked(s, 0, shape_elem(s, 0));
        status st = einsum_input(s, &e, t);
        if (st)
            return st;
        if (*e.at == ',')
            e.at++;
        else if (k + 1 < s->n->n_in)
            return shape_fail(s, "the equation \"%s\" has fewer terms than there are inputs",
                              equation);
    }
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
        } else if (is_letter(*c) && e.seen[(int)*c]) {
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
        return shape_fail(s, "needs at least a matrix");
    return t ? shape_set(s, 0, t->elem, t->dims, t->rank - 2)
             : shape_set_unranked(s, 0, shape_elem(s, 0));
}
