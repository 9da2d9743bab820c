// Checkmate's "last node" baseline: each stage keeps only the output of the previous node and
// recomputes all other ancestors that its node needs. This gives the smallest memory of any fixed
// rule, at a cost that grows with the square of the graph.
#include "solver/methods.h"

#define MAX_RUNS ((int64_t)1 << 26) // no plan for graphs whose schedule would be longer

// Marks the nodes that must run for v: v and its ancestors, up to tensors in memory.
static int64_t mark_needed(const struct problem *p, int32_t v, int32_t *needed_for,
                           int32_t *lowest) {
    int64_t n = 1;
    needed_for[v] = v + 1;
    *lowest = v;
    for (int32_t u = v; u >= *lowest; u--) {
        if (needed_for[u] != v + 1)
            continue;
        for (int32_t k = p->in_start[u]; k < p->in_start[u + 1]; k++) {
            int32_t w = p->in_of[k];
            bool held = w == v - 1 || p->keep[w] || p->once[w];
            if (held || needed_for[w] == v + 1)
                continue;
            needed_for[w] = v + 1;
            n++;
            if (w < *lowest)
                *lowest = w;
        }
    }
    return n;
}

status baseline_last_node(struct solve_run *r) {
    const struct problem *p = r->p;
    int32_t *needed_for = ARENA_ARRAY(r->arena, int32_t, p->n);
    VEC(int32_t) out = {0};
    if (!needed_for)
        return diag_out_of_memory(r->diags);
    for (int32_t v = 0; v < p->n && !stop_now(r->stop); v++) {
        int32_t lowest;
        int64_t n = mark_needed(p, v, needed_for, &lowest);
        if ((int64_t)out.n + n > MAX_RUNS)
            return ST_NO_PLAN;
        for (int32_t u = lowest; u <= v; u++)
            if (needed_for[u] == v + 1 && !VEC_PUSH(r->arena, &out, u))
                return diag_out_of_memory(r->diags);
    }
    struct sequence s = {out.at, (int32_t)out.n};
    solve_offer(r, s, 'B');
    return ST_OK;
}
