// Devices, the host and the links between them from JSON (docs/placement.md): what a placement
// problem has beside its graph, and what a rig file has alone.
#include <math.h>

#include "ir/base/map.h"
#include "solver/model/placement_json.h"

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

// ---- Devices and the host ----

static status read_place(struct reader *r, struct loc at, const json_t *object,
                         struct placement_place *out) {
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
        return diag_out_of_memory(r->diags);
    return ST_OK;
}

static status read_devices(struct reader *r) {
    struct placement *p = r->p;
    const json_t *list = json_object_get(r->root, "devices");
    size_t n = json_array_size(list);
    if (n == 0 || n >= PLACES_MAX)
        return diag_error(r->diags, DIAG_MALFORMED, loc_file(r->file),
                          "\"devices\" must be a list of 1 to %d devices", PLACES_MAX - 1);
    p->n_devices = p->host = (int32_t)n;
    p->n_places = p->n_devices + 1;
    p->place = ARENA_ARRAY(r->arena, struct placement_place, p->n_places);
    if (!p->place)
        return diag_out_of_memory(r->diags);
    status worst = ST_OK;
    for (size_t k = 0; k < n; k++) {
        const json_t *device = json_array_get(list, k);
        struct placement_place *to = &p->place[k];
        *to = (struct placement_place){.memory_bytes = INT64_MAX, .speed = 1, .kind = "device"};
        status st =
            json_get_name(r->arena, r->diags, where(r, "device", k), device, "name", &to->name);
        if (st == ST_OK && json_object_get(device, "kind"))
            st =
                json_get_name(r->arena, r->diags, where(r, "device", k), device, "kind", &to->kind);
        if (st == ST_OK)
            st = read_place(r, where(r, "device", k), device, to);
        worst = st == ST_OK ? worst : st;
    }
    const json_t *host = json_object_get(r->root, "host");
    struct placement_place *to = &p->place[p->host];
    *to = (struct placement_place){.name = "host", .memory_bytes = INT64_MAX, .speed = 1};
    status st = ST_OK;
    if (json_object_get(host, "name"))
        st = json_get_name(r->arena, r->diags, loc_path(r->file, "host"), host, "name", &to->name);
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
    const struct placement_place *place = r->p->place;
    out->name =
        str_format(r->arena, "%s-%s", place[out->between[0]].name, place[out->between[1]].name);
    return out->name ? ST_OK : diag_out_of_memory(r->diags);
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
    const char *bus = NULL;
    if (json_object_get(object, "bus"))
        st = json_get_name(r->arena, r->diags, at, object, "bus", &bus);
    if (st != ST_OK)
        return st;
    int32_t host = r->p->host;
    if (is_free) {
        out->resource[0] = out->resource[1] = -1;
    } else if (blocking) {
        if (out->between[0] != host && out->between[1] != host)
            return diag_error(r->diags, DIAG_MALFORMED, at,
                              "a blocking link must lead from a device to the host");
        out->resource[0] = out->resource[1] = out->between[out->between[0] == host];
    } else if (bus) {
        int64_t resource = -1;
        if (!map_get_text(&r->buses, bus, &resource)) {
            resource = new_resource(r, bus);
            if (!map_put_text(&r->buses, bus, resource))
                return diag_out_of_memory(r->diags);
        }
        out->resource[0] = out->resource[1] = (int32_t)resource;
    } else {
        const struct placement_place *place = r->p->place;
        const char *back =
            str_format(r->arena, "%s-%s", place[out->between[1]].name, place[out->between[0]].name);
        if (!back)
            return diag_out_of_memory(r->diags);
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
    if (out->latency_cost < 0 || out->latency_cost > PLACEMENT_MAX_TIME / PLACES_MAX)
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
    if (n > (size_t)PLACES_MAX * PLACES_MAX)
        return diag_error(r->diags, DIAG_LIMIT, loc_file(r->file), "%zu links are too many", n);
    p->link = ARENA_ARRAY(r->arena, struct link, n);
    p->resource_name = ARENA_ARRAY(r->arena, const char *, (size_t)p->n_devices + 2 * n);
    if (!p->link || !p->resource_name)
        return diag_out_of_memory(r->diags);
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

status placement_places_of_json(struct arena *a, struct diags *d, const char *file,
                                const json_t *root, struct placement *p) {
    struct arena scratch = arena_make(a->mem);
    struct reader r = {a, d, file, root, p, map_make(&scratch), map_make(&scratch)};
    status st = read_devices(&r);
    if (st == ST_OK)
        st = read_links(&r);
    arena_free(&scratch);
    return st;
}
