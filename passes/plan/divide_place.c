// Devices for the parts of a divided step, as a solution to start from: part k on device k, or
// consecutive layers on each device.
#include <math.h>

#include "ir/base/checked.h"
#include "passes/plan/divide_inner.h"
#include "passes/shard/shard.h"

// Of each cluster, from 0; -1: none.
int32_t *divide_parts_of(const struct remat *r, struct arena *a) {
    int32_t *part = ARENA_ARRAY(a, int32_t, r->clusters.n);
    for (uint32_t i = 0; part && i < r->clusters.n; i++) {
        part[i] = -1;
        for (uint32_t k = r->clusters.start[i]; k < r->clusters.start[i + 1]; k++)
            if (r->units.unit[r->clusters.member[k]].part)
                part[i] = r->units.unit[r->clusters.member[k]].part - 1;
    }
    return part;
}

static bool *on_device(const struct placement *p, bool *on, int32_t v, int32_t d) {
    return &on[(int64_t)v * p->n_devices + d];
}

static int32_t first_device(const struct placement *p, const bool *on, int32_t v) {
    int32_t d = 0;
    while (d < p->n_devices - 1 && !on[(int64_t)v * p->n_devices + d])
        d++;
    return d;
}

// What has no device yet runs on all devices that read it.
static void place_by_readers(const struct placement *p, bool *on) {
    const struct problem *g = &p->graph;
    for (int32_t v = g->n; v-- > 0;) {
        bool is_placed = false;
        for (int32_t d = 0; d < p->n_devices; d++)
            is_placed = is_placed || *on_device(p, on, v, d);
        for (int32_t e = g->out_start[v]; e < g->out_start[v + 1] && !is_placed; e++)
            for (int32_t d = 0; d < p->n_devices; d++)
                *on_device(p, on, v, d) |= *on_device(p, on, g->out_of[e], d);
        if (!is_placed && g->out_start[v] == g->out_start[v + 1])
            *on_device(p, on, v, 0) = true;
    }
}

// The operand of v that it runs with: the largest, rather one in a part, and of several such each
// in turn, so that results are made on all devices. -1: it has none.
static int32_t nearest_operand(const struct problem *g, const int32_t *part, int32_t v) {
    int32_t first = g->in_start[v], end = g->in_start[v + 1], best = -1, n_equal = 0;
    for (int pass = 0; pass < 2; pass++) {
        int32_t turn = n_equal ? v % n_equal : 0;
        for (int32_t e = first; e < end; e++) {
            int32_t u = g->in_of[e];
            bool is_better = best < 0 || g->bytes[u] > g->bytes[best] ||
                             (g->bytes[u] == g->bytes[best] && part[u] >= 0 && part[best] < 0);
            bool is_equal =
                best >= 0 && g->bytes[u] == g->bytes[best] && (part[u] >= 0) == (part[best] >= 0);
            if (pass == 1 && is_equal && turn-- == 0)
                return u;
            if (pass == 0 && (is_better || is_equal)) {
                n_equal = is_better ? 1 : n_equal + 1;
                best = is_better ? u : best;
            }
        }
    }
    return best;
}

// Part k runs on device k. What is in no part runs with its largest operand; what depends on
// parameters alone, on all devices that read it.
void divide_place_parts(const struct placement *p, const int32_t *part, bool *on) {
    const struct problem *g = &p->graph;
    for (int32_t v = 0; v < g->n; v++) {
        int32_t device = part[v] >= 0 ? part[v] % p->n_devices : -1;
        int32_t nearest = part[v] < 0 ? nearest_operand(g, part, v) : -1;
        if (nearest >= 0)
            device = first_device(p, on, nearest);
        if (device >= 0)
            *on_device(p, on, v, device) = true;
    }
    place_by_readers(p, on);
}

// In the forward pass the last layer that v reads from. In the backward pass the last one whose
// results it reads, for these were kept for it; else the first that it has gradients from. -1:
// none.
static int32_t layer_of_inputs(const struct problem *g, const int32_t *layer, int32_t v) {
    int32_t last = -1, first = -1;
    for (int32_t e = g->in_start[v]; e < g->in_start[v + 1]; e++) {
        int32_t u = g->in_of[e];
        if (!g->backward[u] && layer[u] > last)
            last = layer[u];
        else if (g->backward[u] && layer[u] >= 0 && (first < 0 || layer[u] < first))
            first = layer[u];
    }
    return last >= 0 ? last : first;
}

// Layers: the k-th cluster of the forward pass of every part is layer k, and so is its group. What
// is in none belongs where its inputs are; -1: it has none. Returns the number of layers.
static int32_t find_layers(const struct placement *p, const int32_t *part, int32_t *layer,
                           int32_t *of_group) {
    const struct problem *g = &p->graph;
    int32_t next[SHARD_MAX_WAYS] = {0}, n = 1;
    for (int32_t k = 0; k < p->n_groups; k++)
        of_group[k] = -1;
    for (int32_t v = 0; v < g->n; v++) {
        if (part[v] < 0 || g->backward[v])
            continue;
        int32_t own = next[part[v]]++, *group = &of_group[p->group[v]];
        *group = *group < 0 || own < *group ? own : *group;
        n = own >= n ? own + 1 : n;
    }
    for (int32_t v = 0; v < g->n; v++) {
        int32_t found = layer_of_inputs(g, layer, v);
        int32_t k = p->group[v];
        if (of_group[k] < 0 && p->group_start[k + 1] - p->group_start[k] > 1)
            of_group[k] = found < 0 ? 0 : found;
        layer[v] = of_group[k] >= 0 ? of_group[k] : found;
    }
    return n;
}

// Consecutive layers on each device, with even loads.
bool divide_place_stages(const struct placement *p, const int32_t *part, struct arena *scratch,
                         bool *on) {
    const struct problem *g = &p->graph;
    int32_t *layer = ARENA_ARRAY(scratch, int32_t, g->n);
    int32_t *of_group = ARENA_ARRAY(scratch, int32_t, p->n_groups);
    int64_t *cost = ARENA_ARRAY(scratch, int64_t, g->n + 1), sum = 0, before = 0;
    int32_t *device = ARENA_ARRAY(scratch, int32_t, g->n + 1);
    if (!layer || !of_group || !cost || !device)
        return false;
    int32_t n = find_layers(p, part, layer, of_group);
    for (int32_t v = 0; v < g->n; v++) {
        cost[layer[v] < 0 ? 0 : layer[v]] += g->cost[v];
        sum += g->cost[v];
    }
    for (int32_t k = 0; k < n; k++) {
        double middle = (double)before + (double)cost[k] / 2;
        device[k] = (int32_t)fmin(p->n_devices - 1, middle / (double)(sum + 1) * p->n_devices);
        before += cost[k];
    }
    for (int32_t v = 0; v < g->n; v++)
        if (layer[v] >= 0)
            *on_device(p, on, v, device[layer[v]]) = true;
    place_by_readers(p, on);
    return true;
}
