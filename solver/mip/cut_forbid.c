// From a solution to a stage, and from an infeasible stage to a row that cuts it off: a
// combinatorial Benders cut (Codato and Fischetti, 2006).
//
// The row requires at least one relaxation of the stage. Only nodes that are held at its begin or
// may run matter, since no other tensor can be read. The relaxations are:
//
//     keep[i]      for an i that is recomputed and not held
//     run[i]       for an i that is held and not recomputed
//     twice[i]     for an i that may run once
//     thrice[i]    for an i that may run twice
//     not next[i]  for an i that is required at the end
//
// The row is strengthened by a deletion filter: a relaxation that leaves the stage infeasible is
// applied and its term omitted, and so is a requirement without which the stage stays infeasible.
// Fewer terms make a stronger row; without this step some programs need thousands of rows.
#include <assert.h>
#include <string.h>

#include "solver/mip/cut_stage.h"

static bool *mark(struct arena *a, int32_t n) {
    return ARENA_ARRAY(a, bool, n);
}

static bool is_on(const struct cut_view *v, const struct cut_model *m, const double *x, int32_t t,
                  enum cut_kind kind, int32_t i) {
    int32_t col = cut_model_column(v, m, t, kind, i);
    return col >= 0 && x[col] > 0.5;
}

bool stage_of_point(const struct cut_view *v, const struct cut_model *m, const double *x, int32_t t,
                    struct arena *a, struct stage *out) {
    assert(t > 0 && t < v->n_steps);
    int32_t n = v->p->n;
    *out = (struct stage){.t = t, .held = mark(a, n), .required = mark(a, n)};
    out->runs = ARENA_ARRAY(a, uint8_t, n);
    if (!out->held || !out->runs || !out->required)
        return false;
    for (int32_t i = 0; i < t && i < n; i++) {
        out->held[i] = v->zero_size[i] || is_on(v, m, x, t, CUT_KEEP, i);
        out->required[i] = is_on(v, m, x, t, CUT_NEXT, i);
        if (is_on(v, m, x, t, CUT_RUN, i))
            out->runs[i] = is_on(v, m, x, t, CUT_THRICE, i)  ? STAGE_ANY
                           : is_on(v, m, x, t, CUT_TWICE, i) ? 2
                                                             : 1;
    }
    return true;
}

static bool infeasible(const struct cut_view *v, const struct stage *s, int64_t capacity,
                       struct arena *a, bool *yes) {
    enum stage_answer answer;
    struct sequence order;
    bool ok = stage_order(v, s, capacity, a, &answer, &order);
    *yes = answer == STAGE_DOES_NOT_FIT;
    return ok;
}

// Drops requirements, smallest tensor first, as long as the stage stays infeasible.
static bool drop_required(const struct cut_view *v, struct stage *s, int64_t capacity,
                          struct arena *a) {
    bool *tried = mark(a, v->p->n);
    while (tried) {
        int32_t smallest = -1;
        bool yes;
        for (int32_t i = 0; i < v->p->n; i++)
            if (s->required[i] && !tried[i] &&
                (smallest < 0 || v->p->bytes[i] < v->p->bytes[smallest]))
                smallest = i;
        if (smallest < 0)
            return true;
        tried[smallest] = true;
        s->required[smallest] = false;
        if (!infeasible(v, s, capacity, a, &yes))
            return false;
        s->required[smallest] = !yes;
    }
    return false;
}

// One relaxation of a stage, and its cost in the objective.
struct relaxation {
    enum cut_kind kind; // CUT_KEEP, CUT_RUN, CUT_TWICE or CUT_THRICE
    int32_t node;
    int64_t cost;
    bool applied;
};

struct relaxations {
    struct relaxation *at;
    int32_t n;
};

static void add_relaxation(const struct cut_view *v, struct relaxations *g, enum cut_kind kind,
                           int32_t i) {
    int64_t cost = kind == CUT_KEEP ? INT64_MAX : v->p->cost[i];
    int32_t at = g->n++;
    for (; at > 0 && g->at[at - 1].cost > cost; at--)
        g->at[at] = g->at[at - 1];
    g->at[at] = (struct relaxation){.kind = kind, .node = i, .cost = cost};
}

// All relaxations, cheapest first: the optimum of the program satisfies a row at minimum cost.
static bool list_relaxations(const struct cut_view *v, const struct stage *s, struct arena *a,
                             struct relaxations *out) {
    out->n = 0;
    out->at = ARENA_ARRAY(a, struct relaxation, (size_t)v->p->n * 2);
    for (int32_t i = 0; out->at && i < s->t && i < v->p->n; i++) {
        if (v->zero_size[i])
            continue;
        if (!s->held[i] && s->runs[i])
            add_relaxation(v, out, CUT_KEEP, i);
        if (s->held[i] && !s->runs[i])
            add_relaxation(v, out, CUT_RUN, i);
        if (s->runs[i] && s->runs[i] < STAGE_ANY)
            add_relaxation(v, out, s->runs[i] == 1 ? CUT_TWICE : CUT_THRICE, i);
    }
    return out->at != NULL;
}

// A held node that may also be recomputed may read inputs that this stage lacks: lenient.
static void apply(const struct cut_view *v, struct stage *s, const struct relaxation *g) {
    if (g->kind == CUT_KEEP) {
        s->held[g->node] = true;
    } else if (!v->p->once[g->node]) {
        s->lenient = s->lenient || g->kind == CUT_RUN;
        s->runs[g->node] = STAGE_ANY;
    }
}

static bool copy_stage(const struct cut_view *v, const struct stage *s, struct arena *a,
                       struct stage *out) {
    size_t n = (size_t)v->p->n * sizeof(bool);
    *out = *s;
    out->held = arena_copy(a, s->held, n);
    out->runs = arena_copy(a, s->runs, (size_t)v->p->n * sizeof *s->runs);
    out->required = arena_copy(a, s->required, n);
    return out->held && out->runs && out->required;
}

// Applies relaxations that leave the stage infeasible: first all runs at once, then one by one.
static bool relax_stage(const struct cut_view *v, struct stage *s, int64_t capacity,
                        struct arena *a, struct relaxations *g) {
    struct stage relaxed;
    bool yes;
    if (!copy_stage(v, s, a, &relaxed))
        return false;
    for (int32_t k = 0; k < g->n; k++)
        if (g->at[k].kind != CUT_KEEP)
            apply(v, &relaxed, &g->at[k]);
    if (!infeasible(v, &relaxed, capacity, a, &yes))
        return false;
    for (int32_t k = 0; yes && k < g->n; k++)
        g->at[k].applied = g->at[k].kind != CUT_KEEP;
    if (yes)
        *s = relaxed;
    for (int32_t k = 0; k < g->n; k++) {
        if (g->at[k].applied)
            continue;
        if (!copy_stage(v, s, a, &relaxed))
            return false;
        apply(v, &relaxed, &g->at[k]);
        if (!infeasible(v, &relaxed, capacity, a, &yes))
            return false;
        g->at[k].applied = yes;
        if (yes)
            *s = relaxed;
    }
    return true;
}

static bool put(struct arena *a, struct cut_row *row, enum cut_kind kind, int32_t i, int64_t w) {
    struct cut_term t = {.kind = kind, .node = i, .weight = w};
    return VEC_PUSH(a, &row->terms, t);
}

bool stage_forbid(const struct cut_view *v, const struct stage *s, int64_t capacity,
                  struct arena *a, struct cut_row *out) {
    struct stage relaxed;
    struct relaxations g;
    bool ok = true;
    *out = (struct cut_row){.stage = s->t, .upper = -1};
    if (!copy_stage(v, s, a, &relaxed) || !list_relaxations(v, s, a, &g) ||
        !relax_stage(v, &relaxed, capacity, a, &g) || !drop_required(v, &relaxed, capacity, a))
        return false;
    for (int32_t k = 0; ok && k < g.n; k++)
        if (!g.at[k].applied)
            ok = put(a, out, g.at[k].kind, g.at[k].node, -1);
    for (int32_t i = 0; ok && i < s->t && i < v->p->n; i++)
        if (relaxed.required[i] && !v->zero_size[i]) {
            ok = put(a, out, CUT_NEXT, i, 1);
            out->upper++;
        }
    return ok;
}
