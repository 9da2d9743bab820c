// Problems with modes from JSON: see modal.h and docs/placement.md. The graph is read as any
// mfc-problem, the devices as in any placement problem; then the modes, and the bytes of edges.
#include "solver/modal/modal.h"

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
    struct modal *p;
    struct map names;
    int64_t sum_bytes, sum_cost; // so far, of everything
};

static struct loc where(const struct reader *r, const char *list, size_t k) {
    const char *path = str_format(r->arena, "%s %zu", list, k);
    return loc_path(r->file, path ? path : list);
}

static status note_bytes(struct reader *r, struct loc at, int64_t bytes) {
    bool fits = bytes >= 0 && checked_add(r->sum_bytes, bytes, &r->sum_bytes) &&
                r->sum_bytes <= MODAL_MAX_BYTES;
    return fits ? ST_OK
                : diag_error(r->diags, DIAG_MALFORMED, at,
                             "it has negative bytes, or all up to here sum to more than 2^50");
}

static status note_cost(struct reader *r, struct loc at, int64_t cost) {
    bool fits = checked_add(r->sum_cost, cost, &r->sum_cost) && r->sum_cost <= MODAL_MAX_TIME;
    return fits ? ST_OK
                : diag_error(r->diags, DIAG_MALFORMED, at,
                             "costs up to this node sum to more than 2^48; use a larger unit");
}

// ---- Modes ----

static status read_cost(struct reader *r, struct loc at, const json_t *mode, struct mode *out) {
    const struct placement *places = &r->p->places;
    int64_t *cost = ARENA_ARRAY(r->arena, int64_t, places->n_devices);
    const json_t *given = json_object_get(mode, "cost");
    int32_t n_on = 0;
    int64_t largest = 0;
    if (!cost)
        return diag_out_of_memory(r->diags);
    for (int32_t k = 0; k < places->n_devices; k++) {
        const json_t *value =
            json_is_object(given) ? json_object_get(given, places->place[k].kind) : given;
        int64_t x = 0;
        cost[k] = -1;
        if (!value && json_is_object(given))
            continue;
        double scaled = json_as_int(value, &x) ? ceil((double)x / places->place[k].speed) : -1;
        if (x < 0 || !(scaled >= 0) || scaled > (double)PLACEMENT_MAX_TIME)
            return diag_error(r->diags, DIAG_MALFORMED, at,
                              "\"cost\" of a mode on a device is not 0 .. 2^40");
        cost[k] = (int64_t)scaled;
        largest = int64_max(largest, cost[k]);
        n_on++;
    }
    out->cost = cost;
    return n_on >= out->degree
               ? note_cost(r, at, largest)
               : diag_error(r->diags, DIAG_MALFORMED, at,
                            "a mode of degree %d can run on %d devices only", out->degree, n_on);
}

// {"node": bytes, ...} for neighbours of the node.
static status read_neighbours(struct reader *r, struct loc at, const json_t *given,
                              const int32_t *of, int32_t n, const int64_t **out) {
    int64_t *bytes = given ? ARENA_ARRAY(r->arena, int64_t, n) : NULL;
    const char *name;
    json_t *value;
    *out = bytes;
    if (given && !bytes)
        return diag_out_of_memory(r->diags);
    json_object_foreach((json_t *)given, name, value) {
        int64_t v = -1, x = -1;
        int32_t k = 0;
        map_get_text(&r->names, name, &v);
        while (k < n && of[k] != v)
            k++;
        if (k == n || !json_as_int(value, &x))
            return diag_error(r->diags, DIAG_MALFORMED, at,
                              "\"%s\" is no neighbour of the node, or its bytes are no integer",
                              name);
        status st = note_bytes(r, at, bytes[k] = x);
        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}

static status read_sizes(struct reader *r, struct loc at, const json_t *mode, struct mode *out) {
    const struct {
        const char *key;
        int64_t *to;
    } of[] = {{"resident", &out->resident_bytes},
              {"stash", &out->stash_bytes},
              {"workspace", &out->workspace_bytes},
              {"exchange", &out->exchange_bytes}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        status st = json_get_int(r->diags, at, mode, of[k].key, of[k].to);
        if (st != ST_OK)
            return st;
        if ((st = note_bytes(r, at, *of[k].to)) != ST_OK)
            return st;
    }
    return ST_OK;
}

static status read_mode(struct reader *r, struct loc at, const json_t *mode, int32_t node,
                        struct mode *out) {
    const struct problem *g = &r->p->graph;
    int64_t degree = 1;
    out->stash_bytes = g->bytes[node];
    status st = json_get_name(r->arena, r->diags, at, mode, "name", &out->name);
    if (st == ST_OK)
        st = json_get_int(r->diags, at, mode, "degree", &degree);
    if (st == ST_OK && (degree < 1 || degree >= PLACES_MAX))
        st = diag_error(r->diags, DIAG_MALFORMED, at, "\"degree\" is %lld, not 1 .. %d",
                        (long long)degree, PLACES_MAX - 1);
    out->degree = (int32_t)degree;
    if (st == ST_OK)
        st = read_sizes(r, at, mode, out);
    if (st == ST_OK && degree <= r->p->places.n_devices) // larger ones are never chosen
        st = read_cost(r, at, mode, out);
    if (st == ST_OK)
        st = read_neighbours(r, at, json_object_get(mode, "receive"), &g->in_of[g->in_start[node]],
                             g->in_start[node + 1] - g->in_start[node], &out->receive);
    if (st == ST_OK)
        st = read_neighbours(r, at, json_object_get(mode, "send"), &g->out_of[g->out_start[node]],
                             g->out_start[node + 1] - g->out_start[node], &out->send);
    return st;
}

static status check_modes(const struct reader *r, struct loc at, int32_t node) {
    const struct modal *p = r->p;
    bool fits = false;
    for (int32_t m = p->mode_start[node]; m < p->mode_start[node + 1]; m++) {
        fits |= p->mode[m].degree <= p->places.n_devices;
        for (int32_t k = p->mode_start[node]; k < m; k++)
            if (strcmp(p->mode[k].name, p->mode[m].name) == 0)
                return diag_error(r->diags, DIAG_MALFORMED, at, "there are two modes named \"%s\"",
                                  p->mode[m].name);
    }
    return fits ? ST_OK
                : diag_error(r->diags, DIAG_MALFORMED, at,
                             "no mode runs on as few as the %d devices there are",
                             p->places.n_devices);
}

static status read_modes(struct reader *r) {
    struct modal *p = r->p;
    const json_t *nodes = json_object_get(r->root, "nodes");
    int32_t n = p->graph.n, n_modes = 0;
    p->mode_start = ARENA_ARRAY(r->arena, int32_t, n + 1);
    if (!p->mode_start)
        return diag_out_of_memory(r->diags);
    for (int32_t v = 0; v < n; v++) {
        size_t here = json_array_size(json_object_get(json_array_get(nodes, (size_t)v), "modes"));
        if (here < 1 || here > MODAL_MAX_MODES)
            return diag_error(r->diags, DIAG_MALFORMED, where(r, "node", (size_t)v),
                              "\"modes\" is not a list of 1 to %d modes; where one node has modes, "
                              "all have",
                              MODAL_MAX_MODES);
        p->mode_start[v + 1] = n_modes += (int32_t)here;
    }
    p->mode = ARENA_ARRAY(r->arena, struct mode, n_modes);
    if (!p->mode)
        return diag_out_of_memory(r->diags);
    for (int32_t v = 0; v < n; v++) {
        const json_t *list = json_object_get(json_array_get(nodes, (size_t)v), "modes");
        struct loc at = where(r, "node", (size_t)v);
        status st = ST_OK;
        for (int32_t k = 0; k < modal_n_modes(p, v) && st == ST_OK; k++) {
            struct mode *m = &p->mode[p->mode_start[v] + k];
            st = read_mode(r, at, json_array_get(list, (size_t)k), v, m);
            p->max_degree = m->degree > p->max_degree ? m->degree : p->max_degree;
        }
        if (st == ST_OK)
            st = check_modes(r, at, v);
        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}

// ---- Edges ----

static int32_t find_edge(const struct modal *p, const json_t *list) {
    const struct problem *g = &p->graph;
    int64_t from = -1, to = -1;
    if (!json_as_int(json_array_get(list, 0), &from) ||
        !json_as_int(json_array_get(list, 1), &to) || to < 0 || to >= g->n)
        return -1;
    for (int32_t e = g->in_start[to]; e < g->in_start[to + 1]; e++)
        if (g->in_of[e] == from)
            return e;
    return -1;
}

static int32_t find_mode(const struct modal *p, int32_t node, const json_t *name) {
    const char *text = json_string_value(name);
    for (int32_t m = 0; text && m < modal_n_modes(p, node); m++)
        if (strcmp(p->mode[p->mode_start[node] + m].name, text) == 0)
            return m;
    return -1;
}

// [producer, reader, bytes]
static status read_transfer(struct reader *r, const json_t *item, size_t k) {
    int32_t e = find_edge(r->p, item);
    int64_t bytes = -1;
    if (e < 0 || !json_as_int(json_array_get(item, 2), &bytes))
        return diag_error(r->diags, DIAG_MALFORMED, where(r, "transfer", k),
                          "it is not [producer, reader, bytes] of an edge");
    r->p->edge_bytes[e] = bytes;
    return note_bytes(r, where(r, "transfer", k), bytes);
}

// [producer, reader, its mode, its mode, bytes]
static status read_reshard(struct reader *r, const json_t *item, size_t k) {
    struct modal *p = r->p;
    int32_t e = find_edge(p, item), from = -1, to = -1, v = 0;
    int64_t bytes = -1;
    while (e >= 0 && p->graph.in_start[v + 1] <= e)
        v++;
    if (e >= 0) {
        from = find_mode(p, p->graph.in_of[e], json_array_get(item, 2));
        to = find_mode(p, v, json_array_get(item, 3));
    }
    if (from < 0 || to < 0 || !json_as_int(json_array_get(item, 4), &bytes))
        return diag_error(r->diags, DIAG_MALFORMED, where(r, "reshard", k),
                          "it is not [producer, reader, mode, mode, bytes] of an edge");
    int32_t n = modal_n_modes(p, v);
    if (!p->reshard[e])
        p->reshard[e] = ARENA_ARRAY(r->arena, int64_t, modal_n_modes(p, p->graph.in_of[e]) * n);
    if (!p->reshard[e])
        return diag_out_of_memory(r->diags);
    p->reshard[e][from * n + to] = bytes;
    return note_bytes(r, where(r, "reshard", k), bytes);
}

static status read_list(struct reader *r, const char *key,
                        status (*read)(struct reader *, const json_t *, size_t)) {
    const json_t *list = json_object_get(r->root, key), *item;
    size_t k;
    status st = ST_OK;
    if (list && !json_is_array(list))
        return diag_error(r->diags, DIAG_MALFORMED, loc_file(r->file), "\"%s\" is not a list", key);
    json_array_foreach((json_t *)list, k, item) {
        if (st == ST_OK)
            st = read(r, item, k);
    }
    return st;
}

static status read_edges(struct reader *r) {
    struct modal *p = r->p;
    const struct problem *g = &p->graph;
    p->edge_bytes = ARENA_ARRAY(r->arena, int64_t, g->n_edges);
    p->out_edge = ARENA_ARRAY(r->arena, int32_t, g->n_edges);
    p->reshard = ARENA_ARRAY(r->arena, int64_t *, g->n_edges);
    int32_t *next = ARENA_ARRAY(r->arena, int32_t, g->n);
    if (!p->edge_bytes || !p->out_edge || !p->reshard || !next)
        return diag_out_of_memory(r->diags);
    for (int32_t v = 0; v < g->n; v++) // out_of lists the readers of a node in the order of in_of
        for (int32_t e = g->in_start[v]; e < g->in_start[v + 1]; e++) {
            int32_t u = g->in_of[e];
            p->edge_bytes[e] = g->bytes[u];
            p->out_edge[g->out_start[u] + next[u]++] = e;
        }
    status st = ST_OK;
    for (int32_t v = 0; v < g->n && st == ST_OK; v++)
        for (int32_t e = g->out_start[v]; e < g->out_start[v + 1] && st == ST_OK; e++)
            st = note_bytes(r, where(r, "node", (size_t)v), g->bytes[v]);
    if (st == ST_OK)
        st = read_list(r, "transfers", read_transfer);
    if (st == ST_OK)
        st = read_list(r, "reshard", read_reshard);
    if (st == ST_OK && (double)r->sum_bytes / p->bandwidth > (double)MODAL_MAX_TIME)
        st = diag_error(r->diags, DIAG_MALFORMED, loc_path(r->file, "network"),
                        "transfers would take more than 2^48 units of time; use a larger unit");
    return st;
}

// ---- The rest ----

static status read_network(const struct reader *r) {
    struct modal *p = r->p;
    const json_t *network = json_object_get(r->root, "network");
    struct loc at = loc_path(r->file, "network");
    p->bandwidth = INFINITY;
    p->n_samples = -1;
    status st = json_get_real(r->diags, at, network, "bandwidth", &p->bandwidth);
    if (st == ST_OK)
        st = json_get_bool(r->diags, at, network, "blocking", &p->blocks);
    if (st == ST_OK)
        st = json_get_bool(r->diags, loc_file(r->file), r->root, "disjoint", &p->is_disjoint);
    if (st == ST_OK)
        st = json_get_int(r->diags, loc_file(r->file), r->root, "samples", &p->n_samples);
    if (st != ST_OK)
        return st;
    if (!(p->bandwidth > 0) || p->n_samples < -1 || p->n_samples > MODAL_MAX_SAMPLES)
        return diag_error(r->diags, DIAG_MALFORMED, at,
                          "\"bandwidth\" must be more than 0, and \"samples\" 0 .. %d",
                          MODAL_MAX_SAMPLES);
    return p->places.n_links == 0
               ? ST_OK
               : diag_error(r->diags, DIAG_MALFORMED, loc_path(r->file, "links"),
                            "devices of a problem with modes are joined by a \"network\"");
}

static status note_names(struct reader *r) {
    const struct problem *g = &r->p->graph;
    int64_t before;
    for (int32_t v = 0; v < g->n; v++) {
        if (map_get_text(&r->names, g->name[v], &before))
            return diag_error(r->diags, DIAG_MALFORMED, where(r, "node", (size_t)v),
                              "node %lld is named \"%s\" too", (long long)before, g->name[v]);
        if (!map_put_text(&r->names, g->name[v], v))
            return diag_out_of_memory(r->diags);
    }
    return ST_OK;
}

static status read_root(struct reader *r) {
    struct modal *p = r->p;
    status st = problem_of_json(r->arena, r->diags, r->file, r->root, &p->graph);
    if (st == ST_OK)
        st = placement_places_of_json(r->arena, r->diags, r->file, r->root, &p->places);
    if (st == ST_OK)
        st = placement_time_of_json(r->arena, r->diags, r->file, r->root, &p->places);
    if (st == ST_OK)
        st = read_network(r);
    if (st == ST_OK)
        st = note_names(r);
    if (st == ST_OK)
        st = read_modes(r);
    return st == ST_OK ? read_edges(r) : st;
}

status modal_read(struct arena *a, struct diags *d, const struct source *json, struct modal *out) {
    *out = (struct modal){0};
    struct arena scratch = arena_make(a->mem);
    json_t *root = NULL;
    status st = json_read(&scratch, d, json, &root);
    struct reader r = {a, d, json->path, root, out, map_make(&scratch), 0, 0};
    if (st == ST_OK)
        st = read_root(&r);
    json_decref(root);
    arena_free(&scratch);
    return st;
}

status modal_is(struct mem *mem, struct diags *d, const struct source *json, bool *out) {
    struct arena scratch = arena_make(mem);
    json_t *root = NULL;
    status st = json_read(&scratch, d, json, &root);
    *out = st == ST_OK && problem_has_modes(root);
    json_decref(root);
    arena_free(&scratch);
    return st;
}

int64_t modal_reshard_bytes(const struct modal *p, int32_t edge, int32_t from_mode,
                            int32_t to_mode) {
    if (!p->reshard[edge])
        return 0;
    int32_t v = 0, w = p->graph.n; // whose mode it is
    while (w - v > 1) {
        int32_t half = v + (w - v) / 2;
        if (p->mode_start[half] <= to_mode)
            v = half;
        else
            w = half;
    }
    int32_t from = from_mode - p->mode_start[p->graph.in_of[edge]];
    return p->reshard[edge][from * modal_n_modes(p, v) + to_mode - p->mode_start[v]];
}

int64_t modal_move_time(const struct modal *p, int64_t bytes, int64_t share) {
    return (int64_t)ceil((double)bytes / ((double)share * p->bandwidth));
}
