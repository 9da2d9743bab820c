// Random problems for tests: see random_problem.h.
#include "tests/oracle/random_problem.h"

#include "ir/base/rng.h"

typedef VEC(struct problem_edge) edges_vec;

static bool add_edge(struct arena *a, edges_vec *v, int32_t from, int32_t to) {
    return VEC_PUSH(a, v, ((struct problem_edge){from, to}));
}

// Every node but the first reads something, so that the problem hangs together.
static bool scatter(struct arena *a, struct rng *r, int32_t n, edges_vec *edges) {
    uint64_t percent = 10 + rng_below(r, 60);
    int32_t reach = 2 + (int32_t)rng_below(r, (uint64_t)n);
    for (int32_t v = 1; v < n; v++) {
        int32_t low = v > reach ? v - reach : 0;
        int32_t sure = low + (int32_t)rng_below(r, (uint64_t)(v - low));
        if (!add_edge(a, edges, sure, v))
            return false;
        for (int32_t u = low; u < v; u++)
            if (u != sure && rng_below(r, 100) < percent && !add_edge(a, edges, u, v))
                return false;
    }
    return true;
}

static bool mirror(struct arena *a, int32_t layers, edges_vec *edges) {
    for (int32_t i = 1; i < 2 * layers; i++) {
        bool ok = add_edge(a, edges, i - 1, i);
        int32_t partner = 2 * layers - 1 - i; // the forward node whose gradient node i is
        if (ok && i > layers)
            ok = add_edge(a, edges, partner, i);
        if (ok && i >= layers && partner > 0)
            ok = add_edge(a, edges, partner - 1, i);
        if (!ok)
            return false;
    }
    return true;
}

static int64_t spread(struct rng *r, uint64_t kind, int64_t least) {
    if (kind == 0)
        return least + (int64_t)rng_below(r, 4);
    if (kind == 1)
        return least + (int64_t)rng_below(r, 100);
    return least + ((int64_t)1 << rng_below(r, 20));
}

status random_problem(struct arena *a, struct diags *d, struct random_spec spec,
                      struct problem *out) {
    struct rng r = rng_make(spec.seed, spec.index);
    edges_vec edges = {0};
    int32_t n = 2 + (int32_t)rng_below(&r, (uint64_t)(spec.max_nodes - 1));
    bool mirrored = n >= 4 && rng_below(&r, 3) == 0;
    if (mirrored)
        n -= n % 2;
    status st = problem_alloc(a, d, n, out);
    if (st != ST_OK)
        return st;
    if (!(mirrored ? mirror(a, n / 2, &edges) : scatter(a, &r, n, &edges)))
        return diag_out_of_memory(d);
    uint64_t sizes = rng_below(&r, 3), costs = rng_below(&r, 3);
    for (int32_t i = 0; i < n; i++) {
        out->bytes[i] = spread(&r, sizes, rng_below(&r, 8) ? 1 : 0);
        out->cost[i] = spread(&r, costs, rng_below(&r, 8) ? 1 : 0);
        if (spec.plain)
            continue;
        out->workspace[i] = rng_below(&r, 4) ? 0 : spread(&r, sizes, 0);
        out->keep[i] = rng_below(&r, 6) == 0;
        out->once[i] = rng_below(&r, 10) == 0;
    }
    out->persistent_bytes = spec.plain || rng_below(&r, 2) ? 0 : spread(&r, sizes, 0);
    out->has_forward = mirrored;
    for (int32_t i = n / 2; mirrored && i < n; i++)
        out->backward[i] = true;
    return problem_link(a, d, edges.at, (int64_t)edges.n, NULL, out);
}

status random_problem_chain(struct arena *a, struct diags *d, int32_t layers, int64_t bytes,
                            int64_t cost, struct problem *out) {
    edges_vec edges = {0};
    status st = problem_alloc(a, d, 2 * (int64_t)layers, out);
    if (st != ST_OK)
        return st;
    if (!mirror(a, layers, &edges))
        return diag_out_of_memory(d);
    out->has_forward = true;
    for (int32_t i = 0; i < 2 * layers; i++) {
        out->bytes[i] = bytes;
        out->cost[i] = cost;
        out->backward[i] = i >= layers;
    }
    return problem_link(a, d, edges.at, (int64_t)edges.n, NULL, out);
}
