// Refinement: what a program gets where its schedule exceeds the budget. At a first run, a cut
// there. At a recomputation, cuts at both ends of its stage. In a stage that has both cuts already,
// an order of its runs that fits, or rows that cut the stage off.
#include <string.h>

#include "solver/mip/ilp_state.h"

// The position that exceeds the capacity most, among those not covered by cuts; -1: none.
static int32_t worst_open(const struct ilp *s, struct sequence q, const int64_t *held,
                          const int32_t *stage, int64_t capacity) {
    int32_t worst = -1;
    for (int32_t at = 0; at < q.n; at++) {
        int32_t t = stage[at];
        bool first = q.at[at] == t;
        bool closed = s->is_cut[t] && (first || t == 0 || s->is_cut[t - 1]);
        if (held[at] > capacity && !closed && (worst < 0 || held[at] > held[worst]))
            worst = at;
    }
    return worst;
}

// Adds cuts at the worst positions, at most three per round and at some distance from each other. A
// recomputation gets cuts at both ends of its stage, so that rows can refer to the stage.
static void cut_worst(struct ilp *s, struct sequence q, int64_t *held, const int32_t *stage,
                      int64_t capacity, int32_t *n_added) {
    int32_t apart = s->view.n_steps / 20 + 1;
    while (*n_added < 3) {
        int32_t at = worst_open(s, q, held, stage, capacity);
        if (at < 0)
            break;
        int32_t t = stage[at];
        s->is_cut[t] = true;
        if (q.at[at] != t && t > 0)
            s->is_cut[t - 1] = true;
        *n_added += 1;
        for (int32_t i = 0; i < q.n; i++)
            if (stage[i] >= t - apart && stage[i] <= t + apart)
                held[i] = 0;
    }
}

// Are both ends of the stage cuts? Then rows can refer to it.
static bool is_closed(const struct ilp *s, int32_t t) {
    return t > 0 && s->is_cut[t] && s->is_cut[t - 1];
}

static int64_t capacity_of(const struct ilp *s, const struct cut_model *m, const double *x) {
    if (m->capacity_col < 0)
        return s->view.capacity;
    return (int64_t)(x[m->capacity_col] / s->view.byte_scale * (1 + 1e-9)) + 1;
}

// Replaces the runs of a stage by `order`.
static bool replace_stage(struct sequence *q, const int32_t *stage, int32_t t,
                          struct sequence order, struct arena *a) {
    int32_t first = 0, n = 0;
    while (first < q->n && stage[first] < t)
        first++;
    while (first + n < q->n && stage[first + n] == t && q->at[first + n] != t)
        n++;
    int32_t *at = ARENA_ARRAY(a, int32_t, q->n - n + order.n);
    if (!at)
        return false;
    memcpy(at, q->at, (size_t)first * sizeof *at);
    memcpy(at + first, order.at, (size_t)order.n * sizeof *at);
    memcpy(at + first + order.n, q->at + first + n, (size_t)(q->n - first - n) * sizeof *at);
    *q = (struct sequence){.at = at, .n = q->n - n + order.n};
    return true;
}

// The first closed stage after `after` in which a recomputation exceeds the capacity; -1: none.
static int32_t next_broken(const struct ilp *s, struct sequence q, const int64_t *held,
                           const int32_t *stage, int64_t capacity, int32_t after) {
    for (int32_t at = 0; at < q.n; at++)
        if (held[at] > capacity && q.at[at] != stage[at] && stage[at] > after &&
            is_closed(s, stage[at]))
            return stage[at];
    return -1;
}

// Adds rows for an infeasible closed stage: violated rows on its peaks, or else a row that cuts off
// the stage as a whole.
static bool add_stage_rows(struct ilp *s, const struct cut_model *m, const double *x,
                           const struct stage *what, int64_t capacity) {
    struct cut_solution at = {.v = &s->view, .m = m, .x = x};
    size_t before = s->rows.n;
    for (int32_t i = 0; i < what->t && i < s->view.p->n; i++) {
        struct cut_row row;
        bool found;
        if (!what->runs[i])
            continue;
        if (!cut_peak_row(&at, what->t, i, s->a, &row, &found) ||
            (found && !VEC_PUSH(s->a, &s->rows, row)))
            return false;
    }
    if (s->rows.n > before)
        return true;
    struct cut_row row;
    return stage_forbid(&s->view, what, capacity, s->a, &row) && VEC_PUSH(s->a, &s->rows, row);
}

bool ilp_repair_stages(struct ilp *s, const struct cut_model *m, const double *x,
                       struct sequence *q, struct arena *scratch) {
    int64_t capacity = capacity_of(s, m, x);
    for (int32_t t = -1;;) {
        int64_t *held;
        int32_t *stage;
        struct stage what;
        struct sequence order;
        enum stage_answer answer;
        if (!cut_profile(&s->view, *q, scratch, &held, &stage))
            return false;
        if ((t = next_broken(s, *q, held, stage, capacity, t)) < 0)
            return true;
        if (!stage_of_point(&s->view, m, x, t, scratch, &what) ||
            !stage_order(&s->view, &what, capacity, scratch, &answer, &order))
            return false;
        if (answer == STAGE_FITS && !replace_stage(q, stage, t, order, scratch))
            return false;
        if (answer == STAGE_DOES_NOT_FIT && !add_stage_rows(s, m, x, &what, capacity))
            return false;
    }
}

bool ilp_add_cuts(struct ilp *s, const struct cut_model *m, const double *x, struct sequence q,
                  struct arena *scratch, int32_t *n_added) {
    int64_t *held;
    int32_t *stage;
    *n_added = 0;
    if (!cut_profile(&s->view, q, scratch, &held, &stage))
        return false;
    cut_worst(s, q, held, stage, capacity_of(s, m, x), n_added);
    return true;
}
