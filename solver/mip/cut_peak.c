// Rows about the peak while a node runs *again*, found for a point that violates them.
//
// Node i runs again in stage t. Besides its need (inputs, output, workspace), it finds in memory
// every j that
//
//   is needed later  (N):  next[j]                        kept at the end of the stage
//                          1                              read by t itself
//                          run[x] - keep[i] - again[i]    read by an x that also reads i: x must
//                                                         come after the only run of i
//   and was there    (A):  1 - run[j]                     held since the stage began
//                          1 - keep[j] - again[j] - sum of keep[l]
//                                                         the only run of j came before that of i,
//                                                         since i reads l_1, which reads l_2, ...,
//                                                         which reads j, and none of the l is kept
//
// so bytes_j * (N + A - 1) counts for any choice of N and A, and
//
//     need(i) * run[i] + sum over any j of bytes_j * (N_j + A_j - 1) <= room
//
// holds in every schedule, whatever it recomputes in which order within the stage. When i does not
// run, the sum is at most what is held while t runs. Each j gets the N and A of the largest value
// at the point; a j with no positive value is left out.
#include "solver/mip/cut.h"

struct peak {
    const struct cut_view *v;
    const struct cut_model *m;
    const double *x;
    struct arena *a;
    int32_t stage, node;
    double *path; // per node: least sum of keep over the l between it and `node`; infinite: no path
    int32_t *via; // per node: its consumer on that path
    bool *read;   // by the stage
    int32_t *both; // per node: an x that reads it and `node`, and runs again; -1: none
    struct cut_row *row;
};

static double value(const struct peak *k, enum cut_what what, int32_t node) {
    int32_t col = cut_model_column(k->v, k->m, k->stage, what, node);
    return col >= 0 ? k->x[col] : 0;
}

static bool put(struct peak *k, enum cut_what what, int32_t node, int64_t weight) {
    struct cut_term t = {.what = what, .node = node, .weight = weight};
    return VEC_PUSH(k->a, &k->row->terms, t);
}

// Shortest paths from `node` to its ancestors, from larger numbers to smaller ones.
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
            if (!k->v->always[l] && here < k->path[p->in_of[e]]) {
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
    bool ok = put(k, CUT_KEEP, j, -bytes) && put(k, CUT_AGAIN, j, -bytes);
    for (int32_t l = k->via[j]; ok && l != k->node; l = k->via[l])
        ok = put(k, CUT_KEEP, l, -bytes);
    return ok;
}

static bool put_needed(struct peak *k, int32_t j, int64_t bytes, bool next) {
    if (k->read[j]) {
        k->row->most -= bytes;
        return true;
    }
    if (next)
        return put(k, CUT_NEXT, j, bytes);
    return put(k, CUT_RUN, k->both[j], bytes) && put(k, CUT_KEEP, k->node, -bytes) &&
           put(k, CUT_AGAIN, k->node, -bytes);
}

// Adds j when it counts; *sum grows by what it counts for.
static bool add_beside(struct peak *k, int32_t j, double *sum) {
    double next = value(k, CUT_NEXT, j), after = 0;
    if (k->both[j] >= 0)
        after = value(k, CUT_RUN, k->both[j]) - value(k, CUT_KEEP, k->node) -
                value(k, CUT_AGAIN, k->node);
    double needed = k->read[j] ? 1 : next >= after ? next : after;
    double since = 1 - value(k, CUT_RUN, j);
    double by_path = 1 - value(k, CUT_KEEP, j) - value(k, CUT_AGAIN, j) - k->path[j];
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

bool cut_peak_row(const struct cut_view *v, const struct cut_model *m, const double *x,
                  int32_t stage, int32_t node, struct arena *a, struct cut_row *out, bool *found) {
    *found = false;
    *out = (struct cut_row){.stage = stage, .bytes = true};
    if (cut_model_find(m, stage) < 0 || cut_model_column(v, m, stage, CUT_RUN, node) < 0)
        return true;
    struct arena scratch = arena_make(a->mem);
    struct peak k = {.v = v, .m = m, .x = x, .a = a, .stage = stage, .node = node, .row = out};
    k.path = ARENA_ARRAY(&scratch, double, v->p->n);
    k.via = ARENA_ARRAY(&scratch, int32_t, v->p->n);
    k.read = ARENA_ARRAY(&scratch, bool, v->p->n);
    k.both = ARENA_ARRAY(&scratch, int32_t, v->p->n);
    bool ok = k.path && k.via && k.read && k.both;
    double sum = (double)cut_need(v, node) * value(&k, CUT_RUN, node);
    if (ok) {
        find_paths(&k);
        find_readers(&k);
        ok = put(&k, CUT_RUN, node, cut_need(v, node));
    }
    for (int32_t j = 0; ok && j < stage && j < v->p->n; j++)
        if (j != node && !is_input(v->p, node, j))
            ok = add_beside(&k, j, &sum);
    arena_free(&scratch);
    double room = m->room_col >= 0 ? x[m->room_col] / v->byte_scale : (double)v->room;
    *found = ok && sum > room * (1 + 1e-6);
    return ok;
}
