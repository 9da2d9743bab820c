// Valid inequalities on the peak while a node is *recomputed*, separated at a given point.
//
// Node i is recomputed in stage t. Besides its working set (inputs, output, workspace), memory then
// holds every j that
//
//   is needed later  (N):  next[j]                        kept at the end of the stage
//                          1                              read by t itself
//                          run[x] - keep[i] - twice[i]    read by an x that also reads i: x must
//                                                         come after the only run of i
//   and is available (A):  1 - run[j]                     held since the begin of the stage
//                          1 - keep[j] - twice[j] - sum of keep[l]
//                                                         the only run of j came before that of i,
//                                                         since i reads l_1, which reads l_2, ...,
//                                                         which reads j, and no l is kept
//
// so j occupies at least bytes_j * (N + A - 1) for any choice of N and A, and
//
//     working_set(i) * run[i] + sum over any set of j of bytes_j * (N_j + A_j - 1) <= capacity
//
// holds for every schedule and any order of recomputations within the stage. If i does not run, the
// sum is at most what is held while t runs. The separation chooses, for each j, the N and A of
// largest value at the point, and omits each j whose value is not positive.
#include "solver/mip/cut.h"

#include <assert.h>

struct peak {
    const struct cut_view *v;
    const struct cut_model *m;
    const double *x;
    struct arena *a;
    int32_t stage, node;
    double
        *path; // per node: minimum sum of keep over the l between it and `node`; infinite: no path
    int32_t *via;  // per node: its consumer on that path
    bool *read;    // per node: the stage's node reads it
    int32_t *both; // per node: a recomputed x that reads it and `node`; -1: none
    struct cut_row *row;
};

static double value(const struct peak *k, enum cut_kind kind, int32_t node) {
    int32_t col = cut_model_column(k->v, k->m, k->stage, kind, node);
    return col >= 0 ? k->x[col] : 0;
}

static bool put(struct peak *k, enum cut_kind kind, int32_t node, int64_t weight) {
    struct cut_term t = {.kind = kind, .node = node, .weight = weight};
    return VEC_PUSH(k->a, &k->row->terms, t);
}

// Shortest paths from `node` to its ancestors, in reverse topological order.
static void find_paths(struct peak *k) {
    const struct problem *p = k->v->p;
    for (int32_t j = 0; j < p->n; j++)
        k->path[j] = CBC_INF;
    k->path[k->node] = 0;
    for (int32_t l = k->node; l >= 0; l--) {
        if (k->path[l] > 0.999)
            continue;
        double here = k->path[l] + (l == k->node ? 0 : value(k, CUT_KEEP, l));
        for (int32_t e = p->in_start[l]; e < p->in_start[l + 1]; e++)
            if (!k->v->zero_size[l] && here < k->path[p->in_of[e]]) {
                k->path[p->in_of[e]] = here;
                k->via[p->in_of[e]] = l;
            }
    }
}

static void find_readers(struct peak *k) {
    const struct problem *p = k->v->p;
    const int32_t *in;
    int32_t n_in = cut_inputs(k->v, k->stage, &in);
    for (int32_t e = 0; e < n_in; e++)
        k->read[in[e]] = true;
    for (int32_t j = 0; j < p->n; j++)
        k->both[j] = -1;
    for (int32_t e = p->out_start[k->node]; e < p->out_start[k->node + 1]; e++) {
        int32_t x = p->out_of[e];
        if (x >= k->stage || value(k, CUT_RUN, x) < 0.001)
            continue;
        for (int32_t f = p->in_start[x]; f < p->in_start[x + 1]; f++)
            k->both[p->in_of[f]] = x;
    }
}

static bool put_there(struct peak *k, int32_t j, int64_t bytes, bool by_path) {
    if (!by_path)
        return put(k, CUT_RUN, j, -bytes);
    bool ok = put(k, CUT_KEEP, j, -bytes) && put(k, CUT_TWICE, j, -bytes);
    for (int32_t l = k->via[j]; ok && l != k->node; l = k->via[l])
        ok = put(k, CUT_KEEP, l, -bytes);
    return ok;
}

static bool put_needed(struct peak *k, int32_t j, int64_t bytes, bool next) {
    if (k->read[j]) {
        k->row->upper -= bytes;
        return true;
    }
    if (next)
        return put(k, CUT_NEXT, j, bytes);
    return put(k, CUT_RUN, k->both[j], bytes) && put(k, CUT_KEEP, k->node, -bytes) &&
           put(k, CUT_TWICE, k->node, -bytes);
}

// Adds j if its value is positive, and adds that to *sum.
static bool add_beside(struct peak *k, int32_t j, double *sum) {
    double next = value(k, CUT_NEXT, j), after = 0;
    if (k->both[j] >= 0)
        after = value(k, CUT_RUN, k->both[j]) - value(k, CUT_KEEP, k->node) -
                value(k, CUT_TWICE, k->node);
    double needed = k->read[j] ? 1 : next >= after ? next : after;
    double since = 1 - value(k, CUT_RUN, j);
    double by_path = 1 - value(k, CUT_KEEP, j) - value(k, CUT_TWICE, j) - k->path[j];
    double counts = needed + (since >= by_path ? since : by_path) - 1;
    int64_t bytes = k->v->p->bytes[j];
    if (counts < 1e-6 || bytes == 0)
        return true;
    *sum += counts * (double)bytes;
    return put_needed(k, j, bytes, next >= after) && put_there(k, j, bytes, by_path > since);
}

static bool is_input(const struct problem *p, int32_t i, int32_t j) {
    for (int32_t e = p->in_start[i]; e < p->in_start[i + 1]; e++)
        if (p->in_of[e] == j)
            return true;
    return false;
}

bool cut_peak_row(const struct cut_solution *at, int32_t stage, int32_t node, struct arena *a,
                  struct cut_row *out, bool *found) {
    assert(stage > 0 && node >= 0 && node < at->v->p->n);
    const struct cut_view *v = at->v;
    const struct cut_model *m = at->m;
    *found = false;
    *out = (struct cut_row){.stage = stage, .bytes = true};
    if (cut_model_find(m, stage) < 0 || cut_model_column(v, m, stage, CUT_RUN, node) < 0)
        return true;
    struct arena scratch = arena_make(a->mem);
    struct peak k = {.v = v, .m = m, .x = at->x, .a = a, .stage = stage, .node = node, .row = out};
    k.path = ARENA_ARRAY(&scratch, double, v->p->n);
    k.via = ARENA_ARRAY(&scratch, int32_t, v->p->n);
    k.read = ARENA_ARRAY(&scratch, bool, v->p->n);
    k.both = ARENA_ARRAY(&scratch, int32_t, v->p->n);
    bool ok = k.path && k.via && k.read && k.both;
    double sum = (double)cut_working_set(v, node) * value(&k, CUT_RUN, node);
    if (ok) {
        find_paths(&k);
        find_readers(&k);
        ok = put(&k, CUT_RUN, node, cut_working_set(v, node));
    }
    for (int32_t j = 0; ok && j < stage && j < v->p->n; j++)
        if (j != node && !is_input(v->p, node, j))
            ok = add_beside(&k, j, &sum);
    arena_free(&scratch);
    double capacity =
        m->capacity_col >= 0 ? at->x[m->capacity_col] / v->byte_scale : (double)v->capacity;
    *found = ok && sum > capacity * (1 + 1e-6);
    return ok;
}
