// Reduction of programs with fixed columns: see cbc_reduce.h.
#include "solver/mip/cbc_reduce.h"

#include <assert.h>

#define ROW_SLACK 1e-9 // a row whose worst violation is at max this is redundant

static bool is_fixed(const struct cbc_model *m, int32_t col) {
    return m->col_lower.at[col] >= m->col_upper.at[col];
}

static bool add_columns(const struct cbc_model *whole, const double *initial, struct arena *a,
                        struct cbc_reduced *out, int32_t *number) {
    int32_t n = cbc_n_cols(whole);
    out->col = ARENA_ARRAY(a, int32_t, n);
    out->initial = ARENA_ARRAY(a, double, n);
    if (!out->col || !out->initial)
        return false;
    for (int32_t j = 0; j < n; j++) {
        number[j] = -1;
        if (is_fixed(whole, j)) {
            out->constant += whole->col_cost.at[j] * whole->col_lower.at[j];
            continue;
        }
        number[j] = cbc_col(&out->program, whole->col_lower.at[j], whole->col_upper.at[j],
                            whole->col_cost.at[j], whole->col_integer.at[j]);
        out->col[number[j]] = j;
        out->initial[number[j]] = initial[j];
    }
    return !out->program.out_of_memory;
}

// Adds the row with terms from .. to-1 of the whole program, unless the column bounds imply it.
static void add_row(const struct cbc_model *whole, int32_t row, int32_t from, int32_t to,
                    const int32_t *number, struct cbc_model *out) {
    double lower = whole->row_lower.at[row], upper = whole->row_upper.at[row], min = 0, max = 0;
    for (int32_t k = from; k < to; k++) {
        int32_t j = whole->term_col.at[k];
        double value = whole->term_value.at[k];
        double low = value * whole->col_lower.at[j], high = value * whole->col_upper.at[j];
        if (number[j] < 0) {
            lower -= low;
            upper -= low;
        } else {
            min += fmin(low, high);
            max += fmax(low, high);
        }
    }
    if (min >= lower - ROW_SLACK && max <= upper + ROW_SLACK)
        return;
    cbc_row(out, lower, upper);
    for (int32_t k = from; k < to; k++)
        if (number[whole->term_col.at[k]] >= 0)
            cbc_term(out, number[whole->term_col.at[k]], whole->term_value.at[k]);
}

bool cbc_reduce(const struct cbc_model *whole, const double *initial, struct arena *a,
                struct cbc_reduced *out) {
    assert(!whole->out_of_memory && initial);
    int32_t *number = ARENA_ARRAY(a, int32_t, cbc_n_cols(whole)), n_rows = cbc_n_rows(whole);
    *out = (struct cbc_reduced){.whole = whole};
    cbc_open(&out->program, a);
    if (!number || !add_columns(whole, initial, a, out, number))
        return false;
    for (int32_t i = 0; i < n_rows; i++) {
        int32_t to = i + 1 < n_rows ? whole->row_start.at[i + 1] : (int32_t)whole->term_col.n;
        add_row(whole, i, whole->row_start.at[i], to, number, &out->program);
    }
    return !out->program.out_of_memory;
}

bool cbc_expand(const struct cbc_reduced *reduced, struct arena *a, struct cbc_answer *answer) {
    const struct cbc_model *whole = reduced->whole;
    answer->objective += reduced->constant;
    answer->bound += reduced->constant;
    answer->price = NULL;
    if (!answer->x)
        return true;
    double *x = ARENA_ARRAY(a, double, cbc_n_cols(whole));
    for (int32_t j = 0; x && j < cbc_n_cols(whole); j++)
        x[j] = whole->col_lower.at[j];
    for (int32_t k = 0; x && k < cbc_n_cols(&reduced->program); k++)
        x[reduced->col[k]] = answer->x[k];
    answer->x = x;
    return x != NULL;
}
