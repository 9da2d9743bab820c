// From graph and devices to a placement problem: see placement_problem.h. Stages: the graph of
// clusters; the time of each on each device; the persistent storages of each cluster, and with them
// the groups of clusters that share a device; routes for tensors of the sizes of this graph.
#include "passes/remat/placement_problem.h"

#include <assert.h>

#include "ir/base/checked.h"
#include "ir/base/map.h"

#define EVERYWHERE_PART    256 // of persistent memory: smaller storages are on every device
#define EVERYWHERE_READERS 8   // and so are those with more readers

struct making {
    struct graph *g;
    const struct remat *r;
    const struct cost_device *speed;
    const int32_t *part; // of each cluster, or NULL
    uint32_t n_parts;    // of a divided step; else 1
    struct pass_context *c;
    struct placement *out;
    uint32_t *reader, *n_readers; // per storage: the first cluster that reads it; how many do
    uint32_t *seen;               // per storage: 1 + the last cluster found to read it
    uint32_t *parent;             // per cluster: union-find forest of the groups
};

// ---- Costs ----

static status add_costs(struct making *k, uint32_t cluster, const struct cost_device *reference) {
    struct placement *p = k->out;
    const struct remat_clusters *cs = &k->r->clusters;
    int64_t *cost = &p->cost[(int64_t)cluster * p->n_devices];
    for (uint32_t i = cs->start[cluster]; i < cs->start[cluster + 1]; i++) {
        const struct remat_unit *u = &k->r->units.unit[cs->member[i]];
        struct cost estimate;
        cost_estimate(k->g, u->node, k->c->arena, k->c->diags, &estimate);
        int64_t here = cost_time(&estimate, reference);
        for (int32_t d = 0; d < p->n_devices; d++) {
            int64_t there = cost_time(&estimate, &k->speed[d]), time;
            if (!checked_muldiv(u->cost, there, here > 0 ? here : 1, &time) ||
                !checked_add(cost[d], time, &cost[d]) || cost[d] > PLACEMENT_MAX_TIME)
                return diag_error(
                    k->c->diags, DIAG_LIMIT, loc_file(k->g->model->path),
                    "%s takes more than 2^40 ns on device %s, the limit of what can be placed",
                    p->graph.name[cluster], p->place[d].name);
        }
    }
    int64_t fastest = INT64_MAX;
    for (int32_t d = 0; d < p->n_devices; d++)
        fastest = cost[d] < fastest ? cost[d] : fastest;
    p->graph.cost[cluster] = fastest;
    return ST_OK;
}

// ---- Persistent memory ----

// The first cluster of a group.
static uint32_t first_of(struct making *k, uint32_t cluster) {
    while (k->parent[cluster] != cluster)
        cluster = k->parent[cluster] = k->parent[k->parent[cluster]];
    return cluster;
}

struct reading {
    struct making *k;
    uint32_t cluster;
};

static void note_read(void *to, value_id v, node_id user) {
    struct reading *at = to;
    struct making *k = at->k;
    uint32_t s = k->r->units.storage.of[v.i];
    (void)user;
    if (!s || !k->r->units.storage.is_persistent[s] || k->seen[s] == at->cluster + 1)
        return;
    k->seen[s] = at->cluster + 1;
    if (!k->n_readers[s]++)
        k->reader[s] = at->cluster;
}

static void each_read(const struct making *k, uint32_t cluster, visit_use *visit, void *context) {
    const struct remat_clusters *cs = &k->r->clusters;
    for (uint32_t i = cs->start[cluster]; i < cs->start[cluster + 1]; i++) {
        node_id id = k->r->units.unit[cs->member[i]].node;
        const struct node *n = graph_node(k->g, id);
        for (uint32_t in = 0; in < n->n_in; in++)
            if (n->in[in].i)
                visit(context, n->in[in], id);
        node_captured(k->g, id, visit, context);
    }
}

static bool is_everywhere(const struct making *k, uint32_t s) {
    const struct storage *all = &k->r->units.storage;
    return !k->n_readers[s] || k->n_readers[s] > EVERYWHERE_READERS * k->n_parts ||
           all->bytes[s] < all->persistent_bytes / EVERYWHERE_PART;
}

static void join_readers(void *to, value_id v, node_id user) {
    struct reading *at = to;
    struct making *k = at->k;
    uint32_t s = k->r->units.storage.of[v.i];
    (void)user;
    if (!s || !k->r->units.storage.is_persistent[s] || is_everywhere(k, s))
        return;
    uint32_t a = first_of(k, k->reader[s]), b = first_of(k, at->cluster);
    k->parent[a > b ? a : b] = a > b ? b : a;
}

static int32_t part_of(const struct making *k, uint32_t cluster) {
    return k->part ? k->part[cluster] : 0;
}

// With parts: the first reader of a storage in each part holds it, and so does every reader that is
// in none; readers of the same part are joined.
struct holding {
    struct making *k;
    uint32_t cluster;
    struct map *first; // of (storage, part): 1 + cluster
    bool failed;
};

static void hold_in_part(void *to, value_id v, node_id user) {
    struct holding *at = to;
    struct making *k = at->k;
    const struct storage *all = &k->r->units.storage;
    uint32_t s = all->of[v.i];
    (void)user;
    if (!s || !all->is_persistent[s] || is_everywhere(k, s) || k->seen[s] == at->cluster + 1)
        return;
    k->seen[s] = at->cluster + 1;
    int64_t key = (int64_t)s * REMAT_MAX_PARTS + part_of(k, at->cluster) + 1, before;
    if (part_of(k, at->cluster) < 0 || !map_get_int(at->first, key, &before)) {
        k->out->resident_bytes[at->cluster] += all->bytes[s];
        at->failed |= !map_put_int(at->first, key, at->cluster);
        return;
    }
    uint32_t a = first_of(k, (uint32_t)before), b = first_of(k, at->cluster);
    k->parent[a > b ? a : b] = a > b ? b : a;
}

static bool hold_in_parts(struct making *k) {
    const struct storage *all = &k->r->units.storage;
    struct arena scratch = arena_make(k->c->arena->mem);
    struct map first = map_make(&scratch);
    struct holding at = {k, 0, &first, false};
    for (uint32_t s = 1; s < all->n; s++) {
        k->seen[s] = 0;
        if (all->is_persistent[s] && !is_everywhere(k, s))
            k->out->graph.persistent_bytes -= all->bytes[s];
    }
    for (; at.cluster < k->r->clusters.n; at.cluster++)
        each_read(k, at.cluster, hold_in_part, &at);
    arena_free(&scratch);
    return !at.failed;
}

// Moves the bytes of each storage that has a device of its own from persistent_bytes, which counts
// on every device, to its first reader; then numbers the groups.
static bool assign_persistent(struct making *k) {
    const struct storage *all = &k->r->units.storage;
    struct placement *p = k->out;
    for (uint32_t i = 0; i < k->r->clusters.n; i++) {
        k->parent[i] = i;
        each_read(k, i, note_read, &(struct reading){k, i});
    }
    if (k->part && !hold_in_parts(k))
        return false;
    for (uint32_t s = 1; s < all->n && !k->part; s++)
        if (all->is_persistent[s] && !is_everywhere(k, s)) {
            p->resident_bytes[k->reader[s]] += all->bytes[s];
            p->graph.persistent_bytes -= all->bytes[s];
        }
    for (uint32_t i = 0; i < k->r->clusters.n && !k->part; i++)
        each_read(k, i, join_readers, &(struct reading){k, i});
    int32_t *number = p->group;
    for (uint32_t i = 0; i < k->r->clusters.n; i++) {
        uint32_t first = first_of(k, i); // <= i
        number[i] = first == i ? p->n_groups++ : number[first];
    }
    return true;
}

// ---- The problem ----

static bool open_making(struct making *k) {
    struct placement *p = k->out;
    size_t n = k->r->clusters.n, n_storages = k->r->units.storage.n;
    struct arena *a = k->c->arena;
    p->cost = ARENA_ARRAY(a, int64_t, n * (size_t)p->n_devices);
    p->graph.cost = ARENA_ARRAY(a, int64_t, n);
    p->resident_bytes = ARENA_ARRAY(a, int64_t, n);
    p->move_cost = ARENA_ARRAY(a, int64_t, n);
    p->group = ARENA_ARRAY(a, int32_t, n);
    k->reader = ARENA_ARRAY(a, uint32_t, n_storages);
    k->n_readers = ARENA_ARRAY(a, uint32_t, n_storages);
    k->seen = ARENA_ARRAY(a, uint32_t, n_storages);
    k->parent = ARENA_ARRAY(a, uint32_t, n);
    return p->cost && p->graph.cost && p->resident_bytes && p->move_cost && p->group && k->reader &&
           k->n_readers && k->seen && k->parent;
}

status placement_problem_make(struct graph *g, const struct remat *r, const struct rig *rig,
                              const int32_t *part, struct pass_context *c, struct placement *out) {
    assert(rig->places.n_devices > 0 && rig->cost);
    *out = rig->places;
    out->graph = r->problem;
    out->n_groups = 0;
    out->has_sizes = true;
    struct making k = {
        .g = g, .r = r, .speed = rig->cost, .part = part, .n_parts = 1, .c = c, .out = out};
    struct cost_device reference;
    status st = cost_device_read(c->options, c->diags, &reference);
    for (uint32_t i = 0; i < r->units.n; i++)
        k.n_parts = (uint32_t)int64_max(k.n_parts, r->units.unit[i].part);
    if (!st && !open_making(&k))
        st = diag_out_of_memory(c->diags);
    for (uint32_t i = 0; i < r->clusters.n && !st; i++)
        st = add_costs(&k, i, &reference);
    if (st)
        return st;
    if (!assign_persistent(&k))
        return diag_out_of_memory(c->diags);
    st = placement_link_groups(c->arena, c->diags, g->model->path, out);
    return st ? st : placement_make_routes(c->arena, c->diags, g->model->path, out);
}

// ---- Times of a placed graph ----

status placement_problem_set_times(struct graph *g, const struct placement *places,
                                   const struct cost_device *speed, struct pass_context *c) {
    struct cost_device reference;
    status st = cost_device_read(c->options, c->diags, &reference);
    for (size_t i = 0; i < g->order.n && !st; i++) {
        struct node *n = graph_node(g, g->order.at[i]);
        struct cost estimate;
        int64_t time;
        if (!n->device || (int32_t)n->device > places->n_devices || n->cost <= 0)
            continue;
        cost_estimate(g, g->order.at[i], c->arena, c->diags, &estimate);
        int64_t here = cost_time(&estimate, &reference);
        int64_t there = cost_time(&estimate, &speed[n->device - 1]);
        if (checked_muldiv(n->cost, there, here > 0 ? here : 1, &time))
            n->cost = time;
    }
    return st;
}
