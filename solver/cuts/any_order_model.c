// Builds the program of several cuts for all orders (any_order_model.h): columns of first runs,
// then columns and rows per cut, then the rows of the order.
#include "solver/cuts/any_order_model.h"

#include <assert.h>
#include <string.h>

static int32_t at(const struct any_order_model *m, int32_t *cols, int32_t k, int32_t i) {
    return *cut_column(&m->cols, cols, k, i);
}

static bool has_fixed_segment(const struct any_order_model *m, int32_t i) {
    return m->earliest[i] == m->latest[i];
}

static void add_first(struct any_order_model *m) {
    for (int32_t i = 0; i < m->view->p->n; i++) {
        if (has_fixed_segment(m, i))
            continue;
        for (int32_t s = m->earliest[i]; s <= m->latest[i]; s++)
            *cut_column(&m->cols, m->first_col, s, i) = cbc_col(&m->program, 0, 1, 0, true);
        cbc_row(&m->program, 1, 1);
        for (int32_t s = m->earliest[i]; s <= m->latest[i]; s++)
            cbc_term(&m->program, at(m, m->first_col, s, i), 1);
    }
}

// Liveness across cut k. Consumers have larger numbers, so one backward pass suffices.
static void find_live(const struct any_order_model *m, int32_t k, bool *live) {
    const struct problem *p = m->view->p;
    for (int32_t i = p->n - 1; i >= 0; i--) {
        live[i] = p->keep[i];
        for (int32_t e = p->out_start[i]; e < p->out_start[i + 1] && !live[i]; e++) {
            int32_t j = p->out_of[e];
            live[i] = m->latest[j] > k || (live[j] && !p->once[j] && !m->view->zero_size[j]);
        }
        live[i] = live[i] && m->earliest[i] <= k;
    }
}

static void term(struct any_order_model *m, int32_t col, double value) {
    if (col >= 0)
        cbc_term(&m->program, col, value);
}

// Adds weight * (i has run by the end of segment s) to the row; returns it if it is a constant.
static double add_done(struct any_order_model *m, int32_t s, int32_t i, double weight) {
    if (m->latest[i] <= s)
        return weight;
    for (int32_t k = m->earliest[i]; k <= s; k++)
        term(m, at(m, m->first_col, k, i), weight);
    return 0;
}

// Opens the row available[k,i] >= lower.
static void add_available(struct any_order_model *m, int32_t k, int32_t i, double lower) {
    cbc_row(&m->program, lower, CBC_INF);
    term(m, at(m, m->cols.keep, k, i), 1);
    term(m, at(m, m->cols.run, k, i), 1);
    term(m, at(m, m->first_col, k + 1, i), 1);
}

// If i has run by the cut and j, which reads it, runs after the cut, then i is kept or recomputed
// later: later[k,i] + keep[k,i] - done[k,i] >= later[k,j] - done[k,j]. With j = -1, a consumer is
// certain to run after the cut: the right side is 0.
static void add_later(struct any_order_model *m, int32_t k, int32_t i, int32_t j) {
    cbc_row(&m->program, 0, CBC_INF);
    size_t row = m->program.row_lower.n - 1;
    term(m, at(m, m->cols.keep, k, i), 1);
    term(m, at(m, m->cols.later, k, i), 1);
    double lower = -add_done(m, k, i, -1);
    if (j >= 0) {
        term(m, at(m, m->cols.later, k, j), -1);
        lower -= add_done(m, k, j, 1);
    }
    if (!m->program.out_of_memory)
        m->program.row_lower.at[row] = lower;
}

// Rows "needed" of node i, for consumers that run after the cut, for the first time or again.
static void add_needs(struct any_order_model *m, int32_t k, int32_t i) {
    const struct problem *p = m->view->p;
    bool now = p->keep[i] && k + 1 == m->n_cuts, later = p->keep[i];
    for (int32_t e = p->out_start[i]; e < p->out_start[i + 1]; e++) {
        int32_t j = p->out_of[e];
        now = now || (has_fixed_segment(m, j) && m->earliest[j] == k + 1);
        later = later || m->earliest[j] > k;
    }
    if (now)
        add_available(m, k, i, 1);
    if (later && m->n_cuts > 1)
        add_later(m, k, i, -1);
    for (int32_t e = p->out_start[i]; e < p->out_start[i + 1]; e++) {
        int32_t j = p->out_of[e], run = at(m, m->cols.run, k, j),
                first = at(m, m->first_col, k + 1, j);
        if (!now && (run >= 0 || first >= 0)) {
            add_available(m, k, i, 0);
            term(m, run, -1);
            term(m, first, -1);
        }
        if (!later && m->n_cuts > 1 && (m->latest[j] > k || at(m, m->cols.later, k, j) >= 0))
            add_later(m, k, i, j);
    }
}

// Only a node that has run can be kept or recomputed.
static void add_done_before(struct any_order_model *m, int32_t k, int32_t i, int32_t col) {
    if (col < 0 || m->latest[i] <= k)
        return;
    cbc_row(&m->program, 0, CBC_INF);
    term(m, col, -1);
    add_done(m, k, i, 1);
}

static void add_cut(struct any_order_model *m, int32_t k) {
    const struct problem *p = m->view->p;
    int32_t q = m->cuts[k];
    for (int32_t i = 0; i < p->n; i++) {
        int32_t keep = at(m, m->cols.keep, k, i);
        if (keep < 0)
            continue;
        add_needs(m, k, i);
        add_done_before(m, k, i, keep);
        add_done_before(m, k, i, at(m, m->cols.run, k, i));
        add_done_before(m, k, i, at(m, m->cols.later, k, i));
        cut_columns_add_later(&m->cols, k, i, &m->program);
        if (k + 1 < m->n_cuts && at(m, m->cols.keep, k + 1, i) >= 0) {
            add_available(m, k, i, 0);
            term(m, at(m, m->cols.keep, k + 1, i), -1);
        }
    }
    cbc_row(&m->program, -CBC_INF,
            (double)(m->view->capacity - cut_working_set(m->view, q)) * m->view->byte_scale);
    cut_columns_add_kept(&m->cols, m->view, k, q, &m->program);
}

// By the end of each segment, the inputs of a node have run if the node has.
static void add_order(struct any_order_model *m) {
    const struct problem *p = m->view->p;
    for (int32_t i = 0; i < p->n; i++)
        for (int32_t e = p->in_start[i]; e < p->in_start[i + 1]; e++)
            for (int32_t s = m->earliest[i]; s < m->latest[p->in_of[e]]; s++) {
                cbc_row(&m->program, 0, CBC_INF);
                add_done(m, s, p->in_of[e], 1);
                add_done(m, s, i, -1);
            }
}

bool any_order_model_build(struct any_order_model *m, struct arena *a) {
    assert(m->view && m->n_cuts > 0 && m->earliest && m->latest);
    int32_t n = m->view->p->n;
    bool *live = ARENA_ARRAY(a, bool, n);
    cbc_open(&m->program, a);
    m->first_col = cut_columns_none(a, m->n_cuts + 1, n);
    if (!cut_columns_make(&m->cols, m->n_cuts, n, a) || !live || !m->first_col)
        return false;
    add_first(m);
    for (int32_t k = 0; k < m->n_cuts; k++) {
        find_live(m, k, live);
        cut_columns_add(&m->cols, m->view, k, live, m->n_cuts > 1 ? CUT_LATER : 0, &m->program);
    }
    for (int32_t k = 0; k < m->n_cuts; k++)
        add_cut(m, k);
    add_order(m);
    return !m->program.out_of_memory;
}
