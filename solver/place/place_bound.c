// Lower bounds on the objective of a placement: when the incumbent reaches one, it is optimal and
// the search ends. Every node runs at least once, at best on its fastest device, and transfers take
// no time at best. So no strategy has
//   - a load below the mean over all devices of the total time, or below the time that the nodes of
//     one group take on the device that is fastest for them;
//   - a makespan below that, or below the longest path of the graph.
// Packing (place_pack.c) and, for few nodes, all assignments (place_least.c) raise the bound on the
// load. All of them leave out what can only add to the objective: so they hold for duplicates,
// recomputation and offload, whatever fits the memory.
#include <assert.h>
#include <math.h>

#include "solver/place/place_bound_parts.h"
#include "solver/place/place_state.h"

// The time of a group on the device that is fastest for it.
static int64_t group_time(const struct placement *p, int32_t group) {
    int64_t fastest = INT64_MAX;
    for (int32_t d = 0; d < p->n_devices; d++) {
        int64_t sum = 0;
        if (!placement_group_runs_on(p, group, d))
            continue;
        for (int32_t k = p->group_start[group]; k < p->group_start[group + 1]; k++)
            sum += placement_cost(p, p->group_nodes[k], d);
        fastest = sum < fastest ? sum : fastest;
    }
    return fastest == INT64_MAX ? 0 : fastest;
}

static int64_t load_bound(const struct placement *p) {
    int64_t total = 0, bound = 0;
    for (int32_t g = 0; g < p->n_groups; g++) {
        int64_t time = group_time(p, g);
        total += time;
        bound = time > bound ? time : bound;
    }
    int64_t mean = total / p->n_devices + (total % p->n_devices != 0);
    return mean > bound ? mean : bound;
}

// The costs of the graph are those of no device in particular: one of higher speed takes less.
static int64_t node_time(const struct placement *p, int32_t node) {
    int64_t fastest = INT64_MAX;
    for (int32_t d = 0; d < p->n_devices; d++)
        if (placement_runs_on(p, node, d) && placement_cost(p, node, d) < fastest)
            fastest = placement_cost(p, node, d);
    return fastest == INT64_MAX ? 0 : fastest;
}

// -1: out of memory.
static int64_t longest_path(const struct placement *p, struct arena *scratch) {
    const struct problem *g = &p->graph;
    int64_t *end = ARENA_ARRAY(scratch, int64_t, g->n), longest = 0;
    if (!end)
        return -1;
    for (int32_t v = 0; v < g->n; v++) {
        for (int32_t e = g->in_start[v]; e < g->in_start[v + 1]; e++)
            if (end[g->in_of[e]] > end[v])
                end[v] = end[g->in_of[e]];
        end[v] += node_time(p, v);
        longest = end[v] > longest ? end[v] : longest;
    }
    return longest;
}

bool place_bounds(const struct placement *p, struct mem *mem, struct place_bounds *out) {
    assert(p->n_devices > 0);
    struct arena scratch = arena_make(mem);
    int64_t bound = load_bound(p), least = place_bound_least(p, true, NULL);
    int64_t path = longest_path(p, &scratch);
    bool ok = path >= 0 && (least > 0 || place_bound_pack(p, mem, &bound));
    arena_free(&scratch);
    bound = least > bound ? least : bound;
    *out = (struct place_bounds){path > bound ? path : bound, bound};
    return ok;
}

double place_bound_within(const struct placement *p, const struct place_options *o,
                          const struct place_bounds *bounds) {
    int64_t least = o->allowed.duplicates ? 0 : place_bound_least(p, false, NULL);
    bool latency = o->objective.goal == MCMC_LATENCY;
    int64_t bound = latency ? bounds->makespan_cost : bounds->load_cost;
    if (o->objective.goal == MCMC_CUSTOM)
        return -INFINITY;
    return (double)(least > bound ? least : bound);
}
