// Placement problems from JSON (docs/placement.md): the graph is read as any mfc-problem, then the
// devices, the links between them, and what each node costs and needs on each device.
#include <math.h>
#include <string.h>

#include "ir/base/checked.h"
#include "ir/base/map.h"
#include "solver/placement.h"
#include "solver/problem_json.h"

struct reader {
    struct arena *arena;
    struct diags *diags;
    const char *file;
    const json_t *root;
    struct placement *p;
    struct map places; // name -> number
    struct map buses;  // name -> resource
};

static struct loc where(const struct reader *r, const char *list, size_t k) {
    const char *path = str_format(r->arena, "%s %zu", list, k);
    return loc_path(r->file, path ? path : list);
}

static const char *copy_text(const struct reader *r, const json_t *value) {
    return arena_copy(r->arena, json_string_value(value), json_string_length(value) + 1);
}

// ---- Devices and the host ----

static status read_name(const struct reader *r, struct loc at, const json_t *object,
                        const char *key, const char **out) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value) || json_string_length(value) == 0)
        return diag_error(r->diags, DIAG_MALFORMED, at, "\"%s\" is missing, or not a name", key);
    *out = copy_text(r, value);
    return *out ? ST_OK : diag_no_room(r->diags);
}

static status read_place(struct reader *r, struct loc at, const json_t *object, struct place *out) {
    status st[] = {
        json_get_int(r->diags, at, object, "memory", &out->memory_bytes),
        json_get_real(r->diags, at, object, "speed", &out->speed),
        json_get_int(r->diags, at, object, "power", &out->power),
    };
    for (size_t k = 0; k < sizeof st / sizeof *st; k++)
        if (st[k] != ST_OK)
            return st[k];
    if (out->memory_bytes < 0 || out->power < 0 || !(out->speed > 0) || !isfinite(out->speed))
        return diag_error(r->diags, DIAG_MALFORMED, at,
                          "\"memory\" and \"power\" must not be negative, \"speed\" must be more "
                          "than 0");
    int64_t before;
    if (map_get_text(&r->places, out->name, &before))
        return diag_error(r->diags, DIAG_MALFORMED, at, "there are two places named \"%s\"",
                          out->name);
    if (!map_put_text(&r->places, out->name, out - r->p->place))
        return diag_no_room(r->diags);
    return ST_OK;
}

static status read_devices(struct reader *r) {
    struct placement *p = r->p;
    const json_t *list = json_object_get(r->root, "devices");
    size_t n = json_array_size(list);
    if (n == 0 || n >= PLACES_MOST)
        return diag_error(r->diags, DIAG_MALFORMED, loc_file(r->file),
                          "\"devices\" must be a list of 1 to %d devices", PLACES_MOST - 1);
    p->n_devices = p->host = (int32_t)n;
    p->n_places = p->n_devices + 1;
    p->place = ARENA_ARRAY(r->arena, struct place, p->n_places);
    if (!p->place)
        return diag_no_room(r->diags);
    status worst = ST_OK;
    for (size_t k = 0; k < n; k++) {
        const json_t *device = json_array_get(list, k);
        struct place *to = &p->place[k];
        *to = (struct place){.memory_bytes = INT64_MAX, .speed = 1, .kind = "device"};
        status st = read_name(r, where(r, "device", k), device, "name", &to->name);
        if (st == ST_OK && json_object_get(device, "kind"))
            st = read_name(r, where(r, "device", k), device, "kind", &to->kind);
        if (st == ST_OK)
            st = read_place(r, where(r, "device", k), device, to);
        worst = st == ST_OK ? worst : st;
    }
    const json_t *host = json_object_get(r->root, "host");
    struct place *to = &p->place[p->host];
    *to = (struct place){.name = "host", .memory_bytes = INT64_MAX, .speed = 1};
    status st = ST_OK;
    if (json_object_get(host, "name"))
        st = read_name(r, loc_path(r->file, "host"), host, "name", &to->name);
    if (st == ST_OK)
        st = read_place(r, loc_path(r->file, "host"), host, to);
    return st == ST_OK ? worst : st;
}

// ---- Links ----

static status read_ends(const struct reader *r, struct loc at, const json_t *link,
                        struct link *out) {
    const json_t *ends = json_object_get(link, "between");
    if (json_array_size(ends) != 2)
        return diag_error(r->diags, DIAG_MALFORMED, at, "\"between\" is not a pair of places");
    for (size_t k = 0; k < 2; k++) {
        const char *name = json_string_value(json_array_get(ends, k));
        int64_t place = -1;
        if (!name || !map_get_text(&r->places, name, &place))
            return diag_error(r->diags, DIAG_MALFORMED, at,
                              "\"between\" names \"%s\", which is no device and not the host",
                              name ? name : "?");
        out->between[k] = (int32_t)place;
    }
    if (out->between[0] == out->between[1])
        return diag_error(r->diags, DIAG_MALFORMED, at, "it leads from a place to itself");
    const struct place *place = r->p->place;
    out->name =
        str_format(r->arena, "%s-%s", place[out->between[0]].name, place[out->between[1]].name);
    return out->name ? ST_OK : diag_no_room(r->diags);
}

static int32_t new_resource(const struct reader *r, const char *name) {
    r->p->resource_name[r->p->n_resources] = name;
    return r->p->n_resources++;
}

// Which resources a link takes: none if it is free, the device itself if that does the copying,
// the bus that it shares with others, or its own.
static status link_resources(struct reader *r, struct loc at, const json_t *object, bool is_free,
                             struct link *out) {
    bool duplex = true, blocking = false;
    status st = json_get_bool(r->diags, at, object, "duplex", &duplex);
    if (st == ST_OK)
        st = json_get_bool(r->diags, at, object, "blocking", &blocking);
    if (st != ST_OK)
        return st;
    const char *bus = json_string_value(json_object_get(object, "bus"));
    int32_t host = r->p->host;
    if (is_free) {
        out->resource[0] = out->resource[1] = -1;
    } else if (blocking) {
        if (out->between[0] != host && out->between[1] != host)
            return diag_error(r->diags, DIAG_MALFORMED, at,
                              "a blocking link must lead from a device to the host");
        out->resource[0] = out->resource[1] = out->between[out->between[0] == host];
    } else if (bus) {
        const char *name = copy_text(r, json_object_get(object, "bus"));
        int64_t resource = -1;
        if (!name)
            return diag_no_room(r->diags);
        if (!map_get_text(&r->buses, name, &resource)) {
            resource = new_resource(r, name);
            if (!map_put_text(&r->buses, name, resource))
                return diag_no_room(r->diags);
        }
        out->resource[0] = out->resource[1] = (int32_t)resource;
    } else {
        const struct place *place = r->p->place;
        const char *back =
            str_format(r->arena, "%s-%s", place[out->between[1]].name, place[out->between[0]].name);
        if (!back)
            return diag_no_room(r->diags);
        out->resource[0] = new_resource(r, out->name);
        out->resource[1] = duplex ? new_resource(r, back) : out->resource[0];
    }
    return ST_OK;
}

static status read_link(struct reader *r, struct loc at, const json_t *object, struct link *out) {
    bool is_free = false;
    out->bandwidth = INFINITY;
    status st = read_ends(r, at, object, out);
    if (st == ST_OK)
        st = json_get_real(r->diags, at, object, "bandwidth", &out->bandwidth);
    if (st == ST_OK)
        st = json_get_int(r->diags, at, object, "latency", &out->latency_cost);
    if (st == ST_OK)
        st = json_get_bool(r->diags, at, object, "by_node", &out->by_node);
    if (st == ST_OK)
        st = json_get_bool(r->diags, at, object, "free", &is_free);
    if (st != ST_OK)
        return st;
    bool has_bandwidth = json_object_get(object, "bandwidth") != NULL;
    if (has_bandwidth + out->by_node + is_free != 1)
        return diag_error(r->diags, DIAG_MALFORMED, at,
                          "a link has one of \"bandwidth\", \"by_node\": true or \"free\": true");
    if (!(out->bandwidth > 0) || (has_bandwidth && !isfinite(out->bandwidth)))
        return diag_error(r->diags, DIAG_MALFORMED, at,
                          "\"bandwidth\" is %g; it must be more than 0", out->bandwidth);
    if (out->latency_cost < 0 || out->latency_cost > PLACEMENT_MAX_TIME / PLACES_MOST)
        return diag_error(r->diags, DIAG_MALFORMED, at, "\"latency\" is %lld, not 0 .. 2^30",
                          (long long)out->latency_cost);
    return link_resources(r, at, object, is_free, out);
}

static status read_links(struct reader *r) {
    struct placement *p = r->p;
    const json_t *list = json_object_get(r->root, "links");
    size_t n = json_array_size(list);
    if (list && !json_is_array(list))
        return diag_error(r->diags, DIAG_MALFORMED, loc_file(r->file), "\"links\" is not a list");
    if (n > (size_t)PLACES_MOST * PLACES_MOST)
        return diag_error(r->diags, DIAG_LIMIT, loc_file(r->file), "%zu links are too many", n);
    p->link = ARENA_ARRAY(r->arena, struct link, n);
    p->resource_name = ARENA_ARRAY(r->arena, const char *, (size_t)p->n_devices + 2 * n);
    if (!p->link || !p->resource_name)
        return diag_no_room(r->diags);
    for (int32_t k = 0; k < p->n_devices; k++)
        new_resource(r, p->place[k].name);
    status worst = ST_OK;
    for (size_t k = 0; k < n; k++) {
        status st =
            read_link(r, where(r, "link", k), json_array_get(list, k), &p->link[p->n_links++]);
        worst = st == ST_OK ? worst : st;
    }
    return worst;
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
            return diag_no_room(r->diags);
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
    return map_put_text(names, name, i) ? ST_OK : diag_no_room(r->diags);
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
        return diag_no_room(r->diags);
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

// The nodes of each group, and that there is a device for each.
static status link_groups(const struct reader *r) {
    struct placement *p = r->p;
    p->group_start = ARENA_ARRAY(r->arena, int32_t, p->n_groups + 1);
    p->group_nodes = ARENA_ARRAY(r->arena, int32_t, p->graph.n);
    int32_t *next = ARENA_ARRAY(r->arena, int32_t, p->n_groups);
    if (!p->group_start || !p->group_nodes || !next)
        return diag_no_room(r->diags);
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
            st = diag_error(r->diags, DIAG_MALFORMED, where(r, "node", (size_t)first),
                            "no device can run all nodes of its group");
    }
    return st;
}

static status read_time(const struct reader *r) {
    const json_t *time = json_object_get(r->root, "time");
    struct loc at = loc_path(r->file, "time");
    r->p->ticks = 1;
    r->p->time_unit = "";
    status st = json_get_int(r->diags, at, time, "ticks", &r->p->ticks);
    if (st == ST_OK && json_object_get(time, "unit"))
        st = read_name(r, at, time, "unit", &r->p->time_unit);
    if (st == ST_OK && r->p->ticks < 1)
        st = diag_error(r->diags, DIAG_MALFORMED, at, "\"ticks\" must be at least 1");
    return st;
}

static status read_root(struct reader *r) {
    status st = problem_of_json(r->arena, r->diags, r->file, r->root, &r->p->graph);
    if (st == ST_OK)
        st = read_devices(r);
    if (st == ST_OK)
        st = read_links(r);
    if (st == ST_OK)
        st = read_nodes(r);
    if (st == ST_OK)
        st = link_groups(r);
    if (st == ST_OK)
        st = read_time(r);
    return st == ST_OK ? placement_make_routes(r->arena, r->diags, r->file, r->p) : st;
}

status placement_read(struct arena *a, struct diags *d, const struct source *json,
                      struct placement *out) {
    *out = (struct placement){0};
    struct arena scratch = arena_make(a->mem);
    json_t *root = NULL;
    status st = json_read(&scratch, d, json, &root);
    struct reader r = {a, d, json->path, root, out, map_make(&scratch), map_make(&scratch)};
    if (st == ST_OK)
        st = read_root(&r);
    arena_free(&scratch);
    json_decref(root);
    return st;
}
