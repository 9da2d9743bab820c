// Articulation points by the depth-first search of Hopcroft and Tarjan (1973). A node is one if
// some subtree below it has no edge to an ancestor of the node; a root is one if it has two
// subtrees. The search uses an explicit stack (the parent links), since a graph may be a chain of
// millions of nodes.
#include "solver/baselines/articulation.h"

#include <assert.h>

struct search {
    const struct problem *p;
    int32_t n;                           // the search covers nodes 0 .. n-1
    int32_t *seen_at, *low, *parent, *k; // k: neighbours visited so far
    int32_t clock;
};

// Neighbour number k of v, inputs first, then consumers; -1: there are no more, -2: not covered.
static int32_t neighbour(const struct search *s, int32_t v, int32_t k) {
    const struct problem *p = s->p;
    int32_t n_in = p->in_start[v + 1] - p->in_start[v];
    int32_t n_out = p->out_start[v + 1] - p->out_start[v];
    if (k >= n_in + n_out)
        return -1;
    int32_t w = k < n_in ? p->in_of[p->in_start[v] + k] : p->out_of[p->out_start[v] + k - n_in];
    return w < s->n ? w : -2;
}

static void search_from(struct search *s, int32_t root, bool *is_point) {
    int32_t v = root, n_subtrees = 0;
    s->parent[root] = -1;
    s->seen_at[root] = s->low[root] = ++s->clock;
    while (v >= 0) {
        int32_t w = neighbour(s, v, s->k[v]++);
        if (w == -2)
            continue;
        if (w >= 0 && s->seen_at[w] == 0) {
            s->parent[w] = v;
            s->seen_at[w] = s->low[w] = ++s->clock;
            v = w;
        } else if (w >= 0) {
            if (w != s->parent[v] && s->seen_at[w] < s->low[v])
                s->low[v] = s->seen_at[w];
        } else { // v is done: update the low-link of its parent
            int32_t up = s->parent[v];
            if (up >= 0 && s->low[v] < s->low[up])
                s->low[up] = s->low[v];
            if (up == root)
                n_subtrees++;
            else if (up >= 0 && s->low[v] >= s->seen_at[up])
                is_point[up] = true;
            v = up;
        }
    }
    if (n_subtrees > 1)
        is_point[root] = true;
}

bool articulation_points(const struct problem *p, int32_t n_first, struct arena *scratch,
                         bool *is_point) {
    assert(n_first >= 0 && n_first <= p->n);
    struct arena a = arena_make(scratch->mem);
    struct search s = {.p = p,
                       .n = n_first,
                       .seen_at = ARENA_ARRAY(&a, int32_t, n_first),
                       .low = ARENA_ARRAY(&a, int32_t, n_first),
                       .parent = ARENA_ARRAY(&a, int32_t, n_first),
                       .k = ARENA_ARRAY(&a, int32_t, n_first)};
    bool ok = s.seen_at && s.low && s.parent && s.k;
    for (int32_t i = 0; ok && i < n_first; i++)
        is_point[i] = false;
    for (int32_t i = 0; ok && i < n_first; i++)
        if (s.seen_at[i] == 0)
            search_from(&s, i, is_point);
    arena_free(&a);
    return ok;
}
