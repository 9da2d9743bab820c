// Placement problems from JSON (docs/placement.md): the graph is read as any mfc-problem, then the
// devices and links (placement_devices.c), and what each node costs and needs on each device.
#include <math.h>
#include <string.h>

#include "ir/base/checked.h"
#include "ir/base/map.h"
#include "solver/model/placement_json.h"
#include "solver/model/problem_json.h"

struct reader {
    struct arena *arena;
    struct diags *diags;
    const char *file;
    const json_t *root;
    struct placement *p;
};

static struct loc where(const struct reader *r, const char *list, size_t k) {
    const char *path = str_format(r->arena, "%s %zu", list, k);
    return loc_path(r->file, path ? path : list);
}

// ---- Nodes ----

static status scaled_cost(const struct reader *r, struct loc at, int64_t cost, double speed,
                          int64_t *out) {
    double scaled = speed == 1 ? (double)cost : ceil((double)cost / speed);
    if (cost < 0 || !(scaled <= (double)PLACEMENT_MAX_TIME))
        return diag_error(r->diags, DIAG_MALFORMED, at,
                          "a cost on a device is not 0 .. 2^40; use a larger unit of time");
    *out = (int64_t)scaled;
    return ST_OK;
}

static status node_costs(const struct reader *r, struct loc at, const json_t *node, int32_t i) {
    struct placement *p = r->p;
    const json_t *by_kind = json_object_get(node, "cost");
    bool somewhere = false;
    for (int32_t k = 0; k < p->n_devices; k++) {
        int64_t cost = p->graph.cost[i], *to = &p->cost[(int64_t)i * p->n_devices + k];
        *to = -1;
        if (json_is_object(by_kind)) {
            const json_t *value = json_object_get(by_kind, p->place[k].kind);
            if (!value)
                continue;
            json_as_int(value, &cost); // problem_of_json has seen that it is one
        }
        status st = scaled_cost(r, at, cost, p->place[k].speed, to);
        if (st != ST_OK)
            return st;
        somewhere = true;
    }
    return somewhere ? ST_OK
                     : diag_error(r->diags, DIAG_MALFORMED, at,
                                  "\"cost\" has none of the kinds of the devices: it cannot run "
                                  "anywhere");
}

static status node_group(const struct reader *r, struct loc at, struct map *groups,
                         const json_t *node, int32_t i) {
    struct placement *p = r->p;
    const json_t *value = json_object_get(node, "group");
    int64_t group = p->n_groups;
    if (value && !json_is_string(value))
        return diag_error(r->diags, DIAG_MALFORMED, at, "\"group\" is not a name");
    const char *name = value ? json_string_value(value) : NULL;
    if (!name || !map_get_text(groups, name, &group)) {
        if (name && !map_put_text(groups, name, group))
            return diag_out_of_memory(r->diags);
        p->n_groups++;
    }
    p->group[i] = (int32_t)group;
    return ST_OK;
}

// Strategies speak of nodes by their names.
static status note_name(const struct reader *r, struct map *names, int32_t i) {
    int64_t before;
    const char *name = r->p->graph.name[i];
    if (map_get_text(names, name, &before))
        return diag_error(r->diags, DIAG_MALFORMED, where(r, "node", (size_t)i),
                          "node %lld is named \"%s\" too", (long long)before, name);
    return map_put_text(names, name, i) ? ST_OK : diag_out_of_memory(r->diags);
}

static status read_node(const struct reader *r, struct map *groups, const json_t *node, int32_t i) {
    struct placement *p = r->p;
    struct loc at = where(r, "node", (size_t)i);
    status st = json_get_int(r->diags, at, node, "resident", &p->resident_bytes[i]);
    if (st == ST_OK)
        st = json_get_int(r->diags, at, node, "move", &p->move_cost[i]);
    if (st != ST_OK)
        return st;
    if (p->resident_bytes[i] < 0 || p->move_cost[i] < 0 || p->move_cost[i] > PLACEMENT_MAX_TIME)
        return diag_error(r->diags, DIAG_MALFORMED, at,
                          "\"resident\" must not be negative, and \"move\" must be 0 .. 2^40");
    p->has_sizes = p->has_sizes || p->graph.bytes[i] > 0 || p->graph.workspace[i] > 0;
    st = node_costs(r, at, node, i);
    return st == ST_OK ? node_group(r, at, groups, node, i) : st;
}

static status read_nodes(const struct reader *r) {
    struct placement *p = r->p;
    int32_t n = p->graph.n;
    p->cost = ARENA_ARRAY(r->arena, int64_t, (size_t)n * (size_t)p->n_devices);
    p->resident_bytes = ARENA_ARRAY(r->arena, int64_t, n);
    p->move_cost = ARENA_ARRAY(r->arena, int64_t, n);
    p->group = ARENA_ARRAY(r->arena, int32_t, n);
    if (!p->cost || !p->resident_bytes || !p->move_cost || !p->group)
        return diag_out_of_memory(r->diags);
    struct map groups = map_make(r->arena), names = map_make(r->arena);
    const json_t *nodes = json_object_get(r->root, "nodes");
    status worst = ST_OK;
    int64_t sum = 0;
    for (int32_t i = 0; i < n; i++) {
        status st = read_node(r, &groups, json_array_get(nodes, (size_t)i), i);
        if (st == ST_OK)
            st = note_name(r, &names, i);
        worst = st == ST_OK ? worst : st;
        if (st == ST_OK &&
            (!checked_add(sum, p->resident_bytes[i], &sum) || sum > PROBLEM_MAX_BYTES))
            return diag_error(r->diags, DIAG_MALFORMED, where(r, "node", (size_t)i),
                              "resident bytes up to this node sum to more than 2^60");
    }
    return worst;
}

status placement_time_of_json(struct arena *a, struct diags *d, const char *file,
                              const json_t *root, struct placement *p) {
    const json_t *time = json_object_get(root, "time");
    struct loc at = loc_path(file, "time");
    p->ticks = 1;
    p->time_unit = "";
    status st = json_get_int(d, at, time, "ticks", &p->ticks);
    if (st == ST_OK && json_object_get(time, "unit"))
        st = json_get_name(a, d, at, time, "unit", &p->time_unit);
    if (st == ST_OK && p->ticks < 1)
        st = diag_error(d, DIAG_MALFORMED, at, "\"ticks\" must be at least 1");
    return st;
}

static status read_root(struct reader *r) {
    status st = problem_of_json(r->arena, r->diags, r->file, r->root, &r->p->graph);
    if (st == ST_OK)
        st = placement_places_of_json(r->arena, r->diags, r->file, r->root, r->p);
    if (st == ST_OK)
        st = read_nodes(r);
    if (st == ST_OK)
        st = placement_link_groups(r->arena, r->diags, r->file, r->p);
    if (st == ST_OK)
        st = placement_time_of_json(r->arena, r->diags, r->file, r->root, r->p);
    return st == ST_OK ? placement_make_routes(r->arena, r->diags, r->file, r->p) : st;
}

status placement_read(struct arena *a, struct diags *d, const struct source *json,
                      struct placement *out) {
    *out = (struct placement){0};
    struct arena scratch = arena_make(a->mem);
    json_t *root = NULL;
    status st = json_read(&scratch, d, json, &root);
    struct reader r = {a, d, json->path, root, out};
    if (st == ST_OK)
        st = read_root(&r);
    arena_free(&scratch);
    json_decref(root);
    return st;
}
