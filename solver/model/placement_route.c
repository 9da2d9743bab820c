// Routes over links: see placement.h. One Dijkstra a place, with the time of a tensor of mean size
// as the length; the host is never passed through, only reached: what goes through it is stored
// there on the way, and may be fetched from there by several.
#include <math.h>

#include "solver/model/placement.h"

struct search {
    const struct placement *p;
    double mean_bytes, mean_move;
    double *time; // per place; INFINITY: not reached
    bool *done;
    struct route *to; // the routes from the place at hand
};

static double link_time(const struct search *s, const struct link *l) {
    double work = l->by_node ? s->mean_move : s->mean_bytes / l->bandwidth;
    return (double)l->latency_cost + work;
}

// The route that goes on over one more link. False: too many links.
static bool extend(const struct route *so_far, const struct link *l, int32_t end,
                   struct route *out) {
    *out = *so_far;
    int32_t r = l->resource[end == 1 ? 0 : 1];
    bool known = r < 0;
    for (int32_t k = 0; k < out->n_resources; k++)
        known = known || out->resource[k] == r;
    if (!known && out->n_resources == ROUTE_MAX)
        return false;
    if (!known)
        out->resource[out->n_resources++] = r;
    out->latency_cost += l->latency_cost;
    out->n_by_node += l->by_node;
    if (!l->by_node && l->bandwidth < out->bandwidth)
        out->bandwidth = l->bandwidth;
    return true;
}

static void relax(struct search *s, int32_t at) {
    for (int32_t k = 0; k < s->p->n_links; k++) {
        const struct link *l = &s->p->link[k];
        for (int32_t end = 0; end < 2; end++) {
            if (l->between[1 - end] != at)
                continue;
            int32_t next = l->between[end];
            struct route longer;
            double time = s->time[at] + link_time(s, l);
            if (!s->done[next] && time < s->time[next] && extend(&s->to[at], l, end, &longer)) {
                s->time[next] = time;
                s->to[next] = longer;
            }
        }
    }
}

static void routes_from(struct search *s, int32_t from) {
    const struct placement *p = s->p;
    for (int32_t q = 0; q < p->n_places; q++) {
        s->time[q] = INFINITY;
        s->done[q] = false;
        s->to[q] = (struct route){.n_resources = -1, .bandwidth = INFINITY};
    }
    s->time[from] = 0;
    s->to[from].n_resources = 0;
    for (;;) {
        int32_t at = -1;
        for (int32_t q = 0; q < p->n_places; q++)
            if (!s->done[q] && s->time[q] < INFINITY && (at < 0 || s->time[q] < s->time[at]))
                at = q;
        if (at < 0)
            return;
        s->done[at] = true;
        if (at != p->host || from == p->host)
            relax(s, at);
    }
}

// Through the host where that is faster or the only way.
static status choose_ways(struct diags *d, const char *file, struct placement *p,
                          const double *time) {
    status st = ST_OK;
    int32_t n = p->n_places;
    for (int32_t from = 0; from < p->n_devices; from++)
        for (int32_t to = 0; to < p->n_devices; to++) {
            double stored = time[from * n + p->host] + time[p->host * n + to];
            p->route[from * n + to].via_host = stored < time[from * n + to];
            if (from < to && !(stored < INFINITY) && !(time[from * n + to] < INFINITY))
                st = diag_error(d, DIAG_MALFORMED, loc_file(file),
                                "there is no route from device \"%s\" to \"%s\": add a link "
                                "between them, or from each to the host",
                                p->place[from].name, p->place[to].name);
        }
    return st;
}

status placement_make_routes(struct arena *a, struct diags *d, const char *file,
                             struct placement *p) {
    int32_t n = p->n_places;
    p->route = ARENA_ARRAY(a, struct route, (size_t)n * (size_t)n);
    struct arena scratch = arena_make(a->mem);
    double *time = ARENA_ARRAY(&scratch, double, (size_t)n *(size_t)n);
    struct search s = {.p = p, .done = ARENA_ARRAY(&scratch, bool, n)};
    status st = ST_OK;
    if (!p->route || !time || !s.done) {
        st = diag_out_of_memory(d);
    } else {
        for (int32_t i = 0; i < p->graph.n; i++) {
            s.mean_bytes += (double)p->graph.bytes[i] / p->graph.n;
            s.mean_move += (double)p->move_cost[i] / p->graph.n;
        }
        for (int32_t from = 0; from < n; from++) {
            s.time = time + from * n;
            s.to = p->route + from * n;
            routes_from(&s, from);
        }
        st = choose_ways(d, file, p, time);
    }
    arena_free(&scratch);
    return st;
}

int64_t placement_transfer_cost(const struct placement *p, int32_t node, int32_t from, int32_t to) {
    const struct route *r = placement_route(p, from, to);
    double stream = ceil((double)p->graph.bytes[node] / r->bandwidth);
    int64_t time = stream < (double)PLACEMENT_MAX_TIME ? (int64_t)stream : PLACEMENT_MAX_TIME;
    return time + r->latency_cost + r->n_by_node * p->move_cost[node];
}
