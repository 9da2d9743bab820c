// A sequence as a problem: see sequence_problem.h.
#include "solver/model/sequence_problem.h"

static bool allocate(const struct problem *p, struct sequence s, struct arena *a,
                     struct problem *out) {
    size_t n = (size_t)s.n;
    int64_t n_edges = 0;
    for (int32_t t = 0; t < s.n; t++)
        n_edges += p->in_start[s.at[t] + 1] - p->in_start[s.at[t]];
    if (n_edges > INT32_MAX)
        return false;
    *out = (struct problem){.n = s.n,
                            .cost = ARENA_ARRAY(a, int64_t, n),
                            .bytes = ARENA_ARRAY(a, int64_t, n),
                            .workspace = ARENA_ARRAY(a, int64_t, n),
                            .keep = ARENA_ARRAY(a, bool, n),
                            .once = ARENA_ARRAY(a, bool, n),
                            .persistent_bytes = p->persistent_bytes,
                            .n_edges = (int32_t)n_edges,
                            .in_start = ARENA_ARRAY(a, int32_t, n + 1),
                            .in_of = ARENA_ARRAY(a, int32_t, n_edges),
                            .out_start = ARENA_ARRAY(a, int32_t, n + 2),
                            .out_of = ARENA_ARRAY(a, int32_t, n_edges)};
    return out->cost && out->bytes && out->workspace && out->keep && out->once && out->in_start &&
           out->in_of && out->out_start && out->out_of;
}

// Readers by a counting sort: `next` is one entry ahead of the starts, so that they are in place
// when all readers are.
static void link_readers(struct problem *u) {
    int32_t *next = u->out_start + 1;
    for (int32_t e = 0; e < u->n_edges; e++)
        next[u->in_of[e] + 1]++;
    for (int32_t t = 0; t < u->n; t++)
        next[t + 1] += next[t];
    for (int32_t t = 0; t < u->n; t++)
        for (int32_t e = u->in_start[t]; e < u->in_start[t + 1]; e++)
            u->out_of[next[u->in_of[e]]++] = t;
}

bool unroll(const struct problem *p, struct sequence s, struct arena *a, struct problem *out) {
    int32_t *latest = ARENA_ARRAY(a, int32_t, p->n), n_edges = 0;
    if (!latest || !allocate(p, s, a, out))
        return false;
    for (int32_t t = 0; t < s.n; t++) {
        int32_t v = s.at[t];
        out->cost[t] = p->cost[v];
        out->bytes[t] = p->bytes[v];
        out->workspace[t] = p->workspace[v];
        out->once[t] = p->once[v];
        for (int32_t k = p->in_start[v]; k < p->in_start[v + 1]; k++)
            out->in_of[n_edges++] = latest[p->in_of[k]];
        out->in_start[t + 1] = n_edges;
        latest[v] = t;
    }
    for (int32_t v = 0; v < p->n; v++)
        out->keep[latest[v]] = p->keep[v];
    link_readers(out);
    return true;
}
