// From a solution of a cut model to a sequence, and back.
//
// The sequence follows the first runs in the given order. Before each, its missing inputs are
// recomputed, ancestors first. At a cut, missing tensors that the solution keeps are recomputed,
// and all tensors that it does not keep are evicted. Frees are implicit: sequence.h frees every
// tensor after its last use.
#include "solver/mip/cut.h"

#include <assert.h>

struct realize {
    const struct cut_view *v;
    struct arena *a;
    bool *held;
    int32_t *stack; // of nodes to recompute; at most n deep, since inputs have smaller numbers
    int32_t *next;  // per stack level: the next input to visit
    VEC(int32_t) out;
};

static bool emit(struct realize *r, int32_t i) {
    r->held[i] = true;
    return VEC_PUSH(r->a, &r->out, i);
}

// Recomputes i after its missing ancestors: depth first, with an explicit stack.
static bool recompute(struct realize *r, int32_t i) {
    const struct problem *p = r->v->p;
    int32_t depth = 0;
    if (r->held[i])
        return true;
    r->stack[0] = i;
    r->next[0] = p->in_start[i];
    while (depth >= 0) {
        int32_t at = r->stack[depth];
        if (r->next[depth] < p->in_start[at + 1]) {
            int32_t j = p->in_of[r->next[depth]++];
            if (!r->held[j]) {
                r->stack[++depth] = j;
                r->next[depth] = p->in_start[j];
            }
        } else {
            if (!r->held[at] && !emit(r, at))
                return false;
            depth--;
        }
    }
    return true;
}

static double value_of(const int32_t *cols, const double *x, size_t at) {
    return cols[at] >= 0 ? x[cols[at]] : 0;
}

// Recomputes missing tensors that the solution keeps at cut k, before the cut's node runs.
static bool reach_cut(struct realize *r, const struct cut_model *m, const double *x,
                      double threshold, int32_t k) {
    size_t row = (size_t)k * (size_t)r->v->p->n;
    for (int32_t i = 0; i < m->cuts.at[k] && i < r->v->p->n; i++)
        if (value_of(m->cols.keep, x, row + (size_t)i) > threshold && !recompute(r, i))
            return false;
    return true;
}

static void evict(struct realize *r, const struct cut_model *m, const double *x, double threshold,
                  int32_t k) {
    const struct problem *p = r->v->p;
    size_t row = (size_t)k * (size_t)p->n;
    for (int32_t i = 0; i < p->n; i++)
        r->held[i] = r->held[i] &&
                     (r->v->zero_size[i] || value_of(m->cols.keep, x, row + (size_t)i) > threshold);
}

static bool run_step(struct realize *r, int32_t t) {
    const int32_t *in;
    int32_t n_in = cut_inputs(r->v, t, &in);
    for (int32_t e = 0; e < n_in; e++)
        if (!recompute(r, in[e]))
            return false;
    return t == r->v->p->n || emit(r, t);
}

bool cut_realize(const struct cut_view *v, const struct cut_model *m, const double *x,
                 double threshold, struct arena *a, struct sequence *out) {
    assert(v && m && x && a && out);
    struct arena scratch = arena_make(a->mem);
    struct realize r = {.v = v, .a = a};
    r.held = ARENA_ARRAY(&scratch, bool, v->p->n);
    r.stack = ARENA_ARRAY(&scratch, int32_t, v->p->n + 1);
    r.next = ARENA_ARRAY(&scratch, int32_t, v->p->n + 1);
    bool ok = r.held && r.stack && r.next;
    int32_t k = 0;
    for (int32_t t = 0; ok && t < v->n_steps; t++) {
        bool at_cut = k < m->cuts.n && m->cuts.at[k] == t;
        ok = (!at_cut || reach_cut(&r, m, x, threshold, k)) && run_step(&r, t);
        if (at_cut)
            evict(&r, m, x, threshold, k++);
    }
    arena_free(&scratch);
    *out = (struct sequence){.at = r.out.at, .n = (int32_t)r.out.n};
    return ok;
}

// Sets the column of node i at cut k to 1, if there is one.
static void set(const int32_t *cols, int32_t n, int32_t k, int32_t i, double *point) {
    int32_t col = cols[(size_t)k * (size_t)n + (size_t)i];
    if (col >= 0)
        point[col] = 1;
}

// The second and third run in a stage have columns of their own if a lazy row uses them.
static void set_run(const struct cut_view *v, const struct cut_model *m, int32_t k, int32_t stage,
                    int32_t i, double *point) {
    int32_t col = m->cols.run[(size_t)k * (size_t)v->p->n + (size_t)i];
    int32_t twice = cut_model_column(v, m, stage, CUT_TWICE, i);
    int32_t thrice = cut_model_column(v, m, stage, CUT_THRICE, i);
    if (thrice >= 0 && point[twice] > 0)
        point[thrice] = 1;
    if (col >= 0 && point[col] > 0 && twice >= 0)
        point[twice] = 1;
    set(m->cols.run, v->p->n, k, i, point);
}

static void set_later(const struct cut_view *v, const struct cut_model *m, double *point) {
    for (int32_t i = 0; i < v->p->n; i++) {
        bool later = false;
        for (int32_t k = m->cuts.n - 1; k >= 0; k--) {
            int32_t run = m->cols.run[(size_t)k * (size_t)v->p->n + (size_t)i];
            later = later || (run >= 0 && point[run] > 0);
            if (later)
                set(m->cols.later, v->p->n, k, i, point);
        }
    }
}

static bool set_capacity(const struct cut_view *v, const struct cut_model *m, struct sequence s,
                         struct arena *scratch, double *point) {
    int64_t *held, capacity = 0;
    int32_t *stage;
    if (!cut_profile(v, s, scratch, &held, &stage))
        return false;
    for (int32_t at = 0; at < s.n; at++)
        capacity = held[at] > capacity ? held[at] : capacity;
    point[m->capacity_col] = (double)capacity * v->byte_scale;
    return true;
}

// State of cut_model_point: the point, and the positions of the k cuts passed so far.
struct replay {
    const struct cut_view *v;
    const struct cut_model *m;
    double *point;
    int32_t *cut_at;
    int32_t k;
};

// Tensor i, made at position made_at, is read now: it is kept at every cut in between.
static void set_kept(const struct replay *r, int32_t made_at, int32_t i) {
    for (int32_t l = r->k - 1; l >= 0 && r->cut_at[l] >= made_at; l--)
        set(r->m->cols.keep, r->v->p->n, l, i, r->point);
}

bool cut_model_point(const struct cut_view *v, const struct cut_model *m, struct sequence s,
                     struct arena *a, double **x) {
    const struct problem *p = v->p;
    struct arena scratch = arena_make(a->mem);
    int32_t *instance = ARENA_ARRAY(&scratch, int32_t, p->n); // 1 + position, 0: none yet
    struct replay r = {.v = v,
                       .m = m,
                       .point = ARENA_ARRAY(a, double, cbc_n_cols(&m->program) + 1),
                       .cut_at = ARENA_ARRAY(&scratch, int32_t, m->cuts.n + 1)};
    bool ok = instance && r.cut_at && r.point;
    int32_t n_first = 0; // first runs so far
    for (int32_t at = 0; ok && at < s.n; at++) {
        int32_t i = s.at[at];
        bool first = !instance[i];
        for (int32_t e = p->in_start[i]; e < p->in_start[i + 1]; e++)
            set_kept(&r, instance[p->in_of[e]] - 1, p->in_of[e]);
        if (!first && r.k > 0)
            set_run(v, m, r.k - 1, n_first, i, r.point);
        instance[i] = at + 1;
        if (first && r.k < m->cuts.n && m->cuts.at[r.k] == n_first)
            r.cut_at[r.k++] = at;
        n_first += first;
    }
    for (int32_t e = 0; ok && e < v->n_keep; e++)
        set_kept(&r, instance[v->keep[e]] - 1, v->keep[e]);
    if (ok)
        set_later(v, m, r.point);
    if (ok && m->capacity_col >= 0)
        ok = set_capacity(v, m, s, &scratch, r.point);
    arena_free(&scratch);
    *x = r.point;
    return ok;
}
