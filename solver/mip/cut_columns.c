// The columns that every program of cuts has (cut.h): keep, run and later per cut and node, and the
// rows that are the same whether first runs follow the given order (cut_model.c) or any
// (any_order_model.c).
#include <assert.h>
#include <string.h>

#include "solver/mip/cut.h"

int32_t *cut_columns_none(struct arena *a, int32_t n_cuts, int32_t n) {
    size_t n_cells = (size_t)n_cuts * (size_t)n;
    int32_t *cols = ARENA_ARRAY(a, int32_t, n_cells);
    if (cols)
        memset(cols, -1, n_cells * sizeof *cols);
    return cols;
}

bool cut_columns_make(struct cut_columns *c, int32_t n_cuts, int32_t n, struct arena *a) {
    *c = (struct cut_columns){.n = n, .n_cuts = n_cuts};
    c->keep = cut_columns_none(a, n_cuts, n);
    c->run = cut_columns_none(a, n_cuts, n);
    c->later = cut_columns_none(a, n_cuts, n);
    return c->keep && c->run && c->later;
}

void cut_columns_add(struct cut_columns *c, const struct cut_view *v, int32_t k, const bool *live,
                     int flags, struct cbc_model *to) {
    const struct problem *p = v->p;
    bool integer = !(flags & CUT_CONTINUOUS);
    assert(k >= 0 && k < c->n_cuts);
    for (int32_t i = 0; i < p->n; i++) {
        if (!live[i] || v->zero_size[i])
            continue;
        double cost = flags & CUT_MIN_BUDGET ? 0 : (double)p->cost[i] * v->cost_scale;
        *cut_column(c, c->keep, k, i) = cbc_col(to, 0, 1, 0, integer);
        if (p->once[i])
            continue;
        *cut_column(c, c->run, k, i) = cbc_col(to, 0, 1, cost, integer);
        if (flags & CUT_LATER)
            *cut_column(c, c->later, k, i) = cbc_col(to, 0, 1, 0, false);
    }
}

void cut_columns_add_kept(const struct cut_columns *c, const struct cut_view *v, int32_t k,
                          int32_t q, struct cbc_model *to) {
    for (int32_t i = 0; i < v->p->n; i++) {
        int32_t keep = *cut_column(c, c->keep, k, i);
        if (keep >= 0 && i != q && !cut_reads(v, q, i))
            cbc_term(to, keep, (double)v->p->bytes[i] * v->byte_scale);
    }
}

void cut_columns_add_later(const struct cut_columns *c, int32_t k, int32_t i,
                           struct cbc_model *to) {
    int32_t later = *cut_column(c, c->later, k, i);
    if (later < 0)
        return;
    cbc_row(to, 0, CBC_INF);
    cbc_term(to, later, -1);
    for (int32_t l = k; l < c->n_cuts; l++) {
        int32_t run = *cut_column(c, c->run, l, i);
        if (run >= 0)
            cbc_term(to, run, 1);
    }
}
