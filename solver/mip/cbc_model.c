// Builds models, and computes on them what needs no solver: the violation of a point, and the
// weak-duality bound of dual values.
#include <assert.h>
#include <float.h>
#include <math.h>

#include "solver/mip/cbc.h"

void cbc_open(struct cbc_model *m, struct arena *a) {
    assert(m && a);
    *m = (struct cbc_model){.arena = a};
}

int32_t cbc_col(struct cbc_model *m, double lower, double upper, double cost, bool integer) {
    assert(lower < CBC_INF && upper > -CBC_INF && isfinite(cost));
    bool ok = VEC_PUSH(m->arena, &m->col_lower, lower) &&
              VEC_PUSH(m->arena, &m->col_upper, upper) && VEC_PUSH(m->arena, &m->col_cost, cost) &&
              VEC_PUSH(m->arena, &m->col_integer, integer ? 1 : 0);
    if (!ok || m->col_cost.n > INT32_MAX / 2) {
        m->out_of_memory = true;
        return 0;
    }
    return (int32_t)m->col_cost.n - 1;
}

void cbc_row(struct cbc_model *m, double lower, double upper) {
    assert(lower < CBC_INF && upper > -CBC_INF);
    bool ok = VEC_PUSH(m->arena, &m->row_lower, lower) &&
              VEC_PUSH(m->arena, &m->row_upper, upper) &&
              VEC_PUSH(m->arena, &m->row_start, (int32_t)m->term_col.n);
    if (!ok)
        m->out_of_memory = true;
}

void cbc_term(struct cbc_model *m, int32_t col, double value) {
    assert(m->out_of_memory || (m->row_lower.n > 0 && col >= 0 && col < cbc_n_cols(m)));
    bool ok = VEC_PUSH(m->arena, &m->term_col, col) && VEC_PUSH(m->arena, &m->term_value, value);
    if (!ok || m->term_col.n > INT32_MAX / 2)
        m->out_of_memory = true;
}

static int32_t row_end(const struct cbc_model *m, size_t row) {
    return row + 1 < m->row_start.n ? m->row_start.at[row + 1] : (int32_t)m->term_col.n;
}

bool cbc_integral(const struct cbc_model *m, const double *x) {
    for (size_t j = 0; j < m->col_cost.n; j++)
        if (m->col_integer.at[j] && !(fabs(x[j] - nearbyint(x[j])) < 1e-7))
            return false;
    return true;
}

double cbc_violation(const struct cbc_model *m, const double *x) {
    double worst = 0;
    for (size_t j = 0; j < m->col_cost.n; j++) {
        if (!isfinite(x[j]))
            return CBC_INF;
        worst = fmax(worst, fmax(m->col_lower.at[j] - x[j], x[j] - m->col_upper.at[j]));
        if (m->col_integer.at[j])
            worst = fmax(worst, fabs(x[j] - nearbyint(x[j])));
    }
    for (size_t r = 0; r < m->row_lower.n; r++) {
        double sum = 0, largest = 1;
        for (int32_t k = m->row_start.at[r]; k < row_end(m, r); k++) {
            sum += m->term_value.at[k] * x[m->term_col.at[k]];
            largest = fmax(largest, fabs(m->term_value.at[k]));
        }
        worst = fmax(worst, (m->row_lower.at[r] - sum) / largest);
        worst = fmax(worst, (sum - m->row_upper.at[r]) / largest);
    }
    return worst;
}

// A dual value counts only if the row bound of its sign is finite; else it is taken as zero.
static double usable_price(const struct cbc_model *m, size_t row, double price) {
    double side = price > 0 ? m->row_lower.at[row] : m->row_upper.at[row];
    return isfinite(price) && isfinite(side) ? price : 0;
}

// Weak duality: the minimum of price . (A x) over the row bounds plus the minimum of d . x over the
// column bounds, with reduced costs d = cost - A' price. Sums are in long double. `weight` and
// `total` sum the magnitudes of the terms; (number of additions) * LDBL_EPSILON * total bounds the
// rounding error.
double cbc_safe_bound(const struct cbc_model *m, const double *price) {
    struct arena scratch = arena_make(m->arena->mem);
    size_t n = m->col_cost.n;
    long double *d = ARENA_ARRAY(&scratch, long double, n);
    long double *weight = ARENA_ARRAY(&scratch, long double, n);
    long double sum = 0, total = 0;
    if (!d || !weight) {
        arena_free(&scratch);
        return -CBC_INF;
    }
    for (size_t j = 0; j < n; j++) {
        d[j] = m->col_cost.at[j];
        weight[j] = fabsl(d[j]);
    }
    for (size_t r = 0; r < m->row_lower.n; r++) {
        long double y = usable_price(m, r, price[r]);
        if (y == 0)
            continue;
        long double side = y * (y > 0 ? m->row_lower.at[r] : m->row_upper.at[r]);
        sum += side;
        total += fabsl(side);
        for (int32_t k = m->row_start.at[r]; k < row_end(m, r); k++) {
            long double part = y * m->term_value.at[k];
            d[m->term_col.at[k]] -= part;
            weight[m->term_col.at[k]] += fabsl(part);
        }
    }
    for (size_t j = 0; j < n; j++) {
        double reach = fmax(fabs(m->col_lower.at[j]), fabs(m->col_upper.at[j]));
        sum += d[j] * (d[j] > 0 ? m->col_lower.at[j] : m->col_upper.at[j]);
        total += weight[j] * reach; // infinite for an unbounded column: then there is no bound
    }
    long double n_sums = (long double)(m->term_col.n + n + m->row_lower.n + 8);
    long double bound = sum - total * n_sums * LDBL_EPSILON;
    arena_free(&scratch);
    return isfinite((double)bound) ? nextafter((double)bound, -CBC_INF) : -CBC_INF;
}
