// From a point to a stage, and from a stage that cannot be run to a row that forbids it.
//
// The row says: something must be easier. Only nodes that are held at the beginning or may run
// count, since nothing else can be read. So one of these must hold:
//
//     keep[i] for an i that was to run, run[i] for an i that was held, again[i] for an i that was
//     to run, not next[i] for an i that was wanted.
//
// Each kind is left out when the stage cannot be run even with all of that kind granted, and each
// wanted node when it cannot be run without it: fewer terms make the row stronger.
#include <string.h>

#include "solver/cut_stage.h"

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
    *out = (struct stage){.t = t, .held = mark(a, n), .may_run = mark(a, n), .wanted = mark(a, n)};
    out->again = mark(a, n);
    if (!out->held || !out->may_run || !out->wanted || !out->again)
        return false;
    for (int32_t i = 0; i < t && i < n; i++) {
        out->held[i] = v->always[i] || is_on(v, m, x, t, CUT_KEEP, i);
        out->may_run[i] = is_on(v, m, x, t, CUT_RUN, i);
        out->wanted[i] = is_on(v, m, x, t, CUT_NEXT, i);
        out->again[i] = is_on(v, m, x, t, CUT_AGAIN, i);
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

// Grants runs of what is held, and repetitions, if the stage stays impossible. What is held may
// then be remade from things that this stage lacks.
static bool grant_runs(const struct cut_view *v, struct stage *s, int64_t room, struct arena *a,
                       bool *granted) {
    struct stage easy = *s;
    easy.may_run = mark(a, v->p->n);
    easy.again = mark(a, v->p->n);
    easy.lenient = true;
    if (!easy.may_run || !easy.again)
        return false;
    for (int32_t i = 0; i < s->t && i < v->p->n; i++) {
        easy.may_run[i] = s->may_run[i] || (s->held[i] && !v->always[i] && !v->p->once[i]);
        easy.again[i] = easy.may_run[i];
    }
    if (!impossible(v, &easy, room, a, granted))
        return false;
    if (*granted)
        *s = easy;
    return true;
}

static bool put(struct arena *a, struct cut_row *row, enum cut_what what, int32_t i, int64_t w) {
    struct cut_term t = {.what = what, .node = i, .weight = w};
    return VEC_PUSH(a, &row->terms, t);
}

bool stage_forbid(const struct cut_view *v, const struct stage *s, int64_t room, struct arena *a,
                  struct cut_row *out) {
    struct stage easy = *s;
    size_t n = (size_t)v->p->n * sizeof(bool);
    bool granted, ok = true;
    *out = (struct cut_row){.stage = s->t, .most = -1};
    easy.wanted = arena_copy(a, s->wanted, n);
    if (!easy.wanted || !grant_runs(v, &easy, room, a, &granted) || !drop_wanted(v, &easy, room, a))
        return false;
    for (int32_t i = 0; ok && i < s->t && i < v->p->n; i++) {
        if (v->always[i])
            continue;
        if (!s->held[i] && s->may_run[i])
            ok = put(a, out, CUT_KEEP, i, -1);
        if (ok && !granted && s->held[i] && !s->may_run[i])
            ok = put(a, out, CUT_RUN, i, -1);
        if (ok && !granted && s->may_run[i] && !s->again[i])
            ok = put(a, out, CUT_AGAIN, i, -1);
        if (ok && easy.wanted[i]) {
            ok = put(a, out, CUT_NEXT, i, 1);
            out->most++;
        }
    }
    return ok;
}
