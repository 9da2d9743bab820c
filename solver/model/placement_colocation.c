// Colocation: which nodes of a placement problem share a device. See placement.h.
#include "solver/model/placement.h"

bool placement_group_runs_on(const struct placement *p, int32_t group, int32_t device) {
    for (int32_t k = p->group_start[group]; k < p->group_start[group + 1]; k++)
        if (!placement_runs_on(p, p->group_nodes[k], device))
            return false;
    return true;
}

status placement_link_groups(struct arena *a, struct diags *d, const char *file,
                             struct placement *p) {
    p->group_start = ARENA_ARRAY(a, int32_t, p->n_groups + 1);
    p->group_nodes = ARENA_ARRAY(a, int32_t, p->graph.n);
    int32_t *next = ARENA_ARRAY(a, int32_t, p->n_groups);
    if (!p->group_start || !p->group_nodes || !next)
        return diag_out_of_memory(d);
    for (int32_t i = 0; i < p->graph.n; i++)
        p->group_start[p->group[i] + 1]++;
    for (int32_t g = 0; g < p->n_groups; g++) {
        p->group_start[g + 1] += p->group_start[g];
        next[g] = p->group_start[g];
    }
    for (int32_t i = 0; i < p->graph.n; i++)
        p->group_nodes[next[p->group[i]]++] = i;
    status st = ST_OK;
    for (int32_t g = 0; g < p->n_groups; g++) {
        bool somewhere = false;
        for (int32_t k = 0; k < p->n_devices; k++)
            somewhere = somewhere || placement_group_runs_on(p, g, k);
        int32_t first = p->group_nodes[p->group_start[g]];
        if (!somewhere)
            st = diag_error(d, DIAG_MALFORMED, loc_path(file, p->graph.name[first]),
                            "no device can run all nodes of its group");
    }
    return st;
}

int64_t placement_group_resident(const struct placement *p, int32_t group) {
    int64_t sum = 0;
    for (int32_t k = p->group_start[group]; k < p->group_start[group + 1]; k++)
        sum += p->resident_bytes[p->group_nodes[k]];
    return sum;
}
