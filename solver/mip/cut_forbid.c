// From a point to a stage, and from a stage that cannot be run to a row that forbids it.
//
// The row says: something must be easier. Only nodes that are held at the beginning or may run
// count, since nothing else can be read. So one of these must hold:
//
//     keep[i] for an i that was to run, run[i] for an i that was held, again[i] for an i that was
//     to run once, more[i] for one that was to run twice, not next[i] for an i that was wanted.
//
// Whatever can be granted with the stage still impossible is left out, and so is each wanted node
// without which it is: fewer terms make the row stronger. Without that, programs with many cheap
// ways to be a little easier take thousands of rows.
#include <string.h>

#include "solver/mip/cut_stage.h"

static bool *mark(struct arena *a, int32_t n) {
    return ARENA_ARRAY(a, bool, n);
}

static bool is_on(const struct cut_view *v, const struct cut_model *m, const double *x, int32_t t,
                  enum cut_what what, int32_t i) {
    int32_t col = cut_model_column(v, m, t, what, i);
    return col >= 0 && x[col] > 0.5;
}

bool stage_of_point(const struct cut_view *v, const struct cut_model *m, const double *x, int32_t t,
                    struct arena *a, struct stage *out) {
    int32_t n = v->p->n;
    *out = (struct stage){.t = t, .held = mark(a, n), .wanted = mark(a, n)};
    out->runs = ARENA_ARRAY(a, uint8_t, n);
    if (!out->held || !out->runs || !out->wanted)
        return false;
    for (int32_t i = 0; i < t && i < n; i++) {
        out->held[i] = v->always[i] || is_on(v, m, x, t, CUT_KEEP, i);
        out->wanted[i] = is_on(v, m, x, t, CUT_NEXT, i);
        if (is_on(v, m, x, t, CUT_RUN, i))
            out->runs[i] = is_on(v, m, x, t, CUT_MORE, i)    ? STAGE_ANY
                           : is_on(v, m, x, t, CUT_AGAIN, i) ? 2
                                                             : 1;
    }
    return true;
}

static bool impossible(const struct cut_view *v, const struct stage *s, int64_t room,
                       struct arena *a, bool *yes) {
    enum stage_answer answer;
    struct sequence order;
    bool ok = stage_order(v, s, room, a, &answer, &order);
    *yes = answer == STAGE_DOES_NOT_FIT;
    return ok;
}

// Drops wanted nodes, smallest first, as long as the stage stays impossible.
static bool drop_wanted(const struct cut_view *v, struct stage *s, int64_t room, struct arena *a) {
    bool *tried = mark(a, v->p->n);
    while (tried) {
        int32_t least = -1;
        bool yes;
        for (int32_t i = 0; i < v->p->n; i++)
            if (s->wanted[i] && !tried[i] && (least < 0 || v->p->bytes[i] < v->p->bytes[least]))
                least = i;
        if (least < 0)
            return true;
        tried[least] = true;
        s->wanted[least] = false;
        if (!impossible(v, s, room, a, &yes))
            return false;
        s->wanted[least] = !yes;
    }
    return false;
}

// One thing that would make a stage easier, and what it costs.
struct grant {
    enum cut_what what; // CUT_KEEP, CUT_RUN, CUT_AGAIN or CUT_MORE
    int32_t node;
    int64_t cost;
    bool given;
};

struct grants {
    struct grant *at;
    int32_t n;
};

static void add_grant(const struct cut_view *v, struct grants *g, enum cut_what what, int32_t i) {
    int64_t cost = what == CUT_KEEP ? INT64_MAX : v->p->cost[i];
    int32_t at = g->n++;
    for (; at > 0 && g->at[at - 1].cost > cost; at--)
        g->at[at] = g->at[at - 1];
    g->at[at] = (struct grant){.what = what, .node = i, .cost = cost};
}

// All that could be granted, the cheapest first: a program escapes a row by the cheapest way left.
static bool list_grants(const struct cut_view *v, const struct stage *s, struct arena *a,
                        struct grants *out) {
    out->n = 0;
    out->at = ARENA_ARRAY(a, struct grant, (size_t)v->p->n * 2);
    for (int32_t i = 0; out->at && i < s->t && i < v->p->n; i++) {
        if (v->always[i])
            continue;
        if (!s->held[i] && s->runs[i])
            add_grant(v, out, CUT_KEEP, i);
        if (s->held[i] && !s->runs[i])
            add_grant(v, out, CUT_RUN, i);
        if (s->runs[i] && s->runs[i] < STAGE_ANY)
            add_grant(v, out, s->runs[i] == 1 ? CUT_AGAIN : CUT_MORE, i);
    }
    return out->at != NULL;
}

// What is held and runs again may be remade from things that this stage lacks: lenient.
static void give(const struct cut_view *v, struct stage *s, const struct grant *g) {
    if (g->what == CUT_KEEP) {
        s->held[g->node] = true;
    } else if (!v->p->once[g->node]) {
        s->lenient = s->lenient || g->what == CUT_RUN;
        s->runs[g->node] = STAGE_ANY;
    }
}

static bool copy_stage(const struct cut_view *v, const struct stage *s, struct arena *a,
                       struct stage *out) {
    size_t n = (size_t)v->p->n * sizeof(bool);
    *out = *s;
    out->held = arena_copy(a, s->held, n);
    out->runs = arena_copy(a, s->runs, (size_t)v->p->n * sizeof *s->runs);
    out->wanted = arena_copy(a, s->wanted, n);
    return out->held && out->runs && out->wanted;
}

// Grants what leaves the stage impossible: all runs and repetitions together, or one by one.
static bool grant(const struct cut_view *v, struct stage *s, int64_t room, struct arena *a,
                  struct grants *g) {
    struct stage easy;
    bool yes;
    if (!copy_stage(v, s, a, &easy))
        return false;
    for (int32_t k = 0; k < g->n; k++)
        if (g->at[k].what != CUT_KEEP)
            give(v, &easy, &g->at[k]);
    if (!impossible(v, &easy, room, a, &yes))
        return false;
    for (int32_t k = 0; yes && k < g->n; k++)
        g->at[k].given = g->at[k].what != CUT_KEEP;
    if (yes)
        *s = easy;
    for (int32_t k = 0; k < g->n; k++) {
        if (g->at[k].given)
            continue;
        if (!copy_stage(v, s, a, &easy))
            return false;
        give(v, &easy, &g->at[k]);
        if (!impossible(v, &easy, room, a, &yes))
            return false;
        g->at[k].given = yes;
        if (yes)
            *s = easy;
    }
    return true;
}

static bool put(struct arena *a, struct cut_row *row, enum cut_what what, int32_t i, int64_t w) {
    struct cut_term t = {.what = what, .node = i, .weight = w};
    return VEC_PUSH(a, &row->terms, t);
}

bool stage_forbid(const struct cut_view *v, const struct stage *s, int64_t room, struct arena *a,
                  struct cut_row *out) {
    struct stage easy;
    struct grants g;
    bool ok = true;
    *out = (struct cut_row){.stage = s->t, .most = -1};
    if (!copy_stage(v, s, a, &easy) || !list_grants(v, s, a, &g) || !grant(v, &easy, room, a, &g) ||
        !drop_wanted(v, &easy, room, a))
        return false;
    for (int32_t k = 0; ok && k < g.n; k++)
        if (!g.at[k].given)
            ok = put(a, out, g.at[k].what, g.at[k].node, -1);
    for (int32_t i = 0; ok && i < s->t && i < v->p->n; i++)
        if (easy.wanted[i] && !v->always[i]) {
            ok = put(a, out, CUT_NEXT, i, 1);
            out->most++;
        }
    return ok;
}
