// Routes over links: see placement.h. One Dijkstra a place, with the time of a tensor of mean size
// as the length; the host is never passed through, only reached: what goes through it is stored
// there on the way, and may be fetched from there by several.
#include <math.h>

#include "solver/model/placement.h"

// A link as it leaves a place: towards between[end].
struct way_out {
    const struct link *link;
    int32_t end;
};

struct search {
    const struct placement *p;
    struct way_out *way; // in the order of the links
    int32_t *start;      // the ways out of place q: way[start[q] ..]
    double min_time;     // of a link
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
    for (int32_t k = s->start[at]; k < s->start[at + 1]; k++) {
        const struct link *l = s->way[k].link;
        int32_t end = s->way[k].end, next = l->between[end];
        struct route longer;
        double time = s->time[at] + link_time(s, l);
        if (!s->done[next] && time < s->time[next] && extend(&s->to[at], l, end, &longer)) {
            s->time[next] = time;
            s->to[next] = longer;
        }
    }
}

// The place nearest to the start that is not done; -1: none is left, or no route to those left can
// become shorter, because each would go on from here by one more link. Devices that are all linked
// with each other so end after the first step.
static int32_t nearest(const struct search *s) {
    int32_t at = -1;
    double max_time = 0;
    for (int32_t q = 0; q < s->p->n_places; q++) {
        if (s->done[q])
            continue;
        if (s->time[q] > max_time)
            max_time = s->time[q];
        if (s->time[q] < INFINITY && (at < 0 || s->time[q] < s->time[at]))
            at = q;
    }
    return at >= 0 && s->time[at] + s->min_time >= max_time ? -1 : at;
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
    for (int32_t at = from; at >= 0; at = nearest(s)) {
        s->done[at] = true;
        if (at != p->host || from == p->host)
            relax(s, at);
    }
}

static bool list_ways_out(struct search *s, struct arena *a) {
    const struct placement *p = s->p;
    s->way = ARENA_ARRAY(a, struct way_out, 2 * (size_t)p->n_links);
    s->start = ARENA_ARRAY(a, int32_t, p->n_places + 1);
    int32_t *next = ARENA_ARRAY(a, int32_t, p->n_places + 1);
    if (!s->way || !s->start || !next)
        return false;
    for (int32_t k = 0; k < 2 * p->n_links; k++)
        s->start[p->link[k / 2].between[k % 2] + 1]++;
    for (int32_t q = 0; q < p->n_places; q++)
        next[q + 1] = s->start[q + 1] += s->start[q];
    s->min_time = INFINITY;
    for (int32_t k = 0; k < 2 * p->n_links; k++) {
        const struct link *l = &p->link[k / 2];
        double time = link_time(s, l);
        s->way[next[l->between[1 - k % 2]]++] = (struct way_out){l, k % 2};
        s->min_time = time < s->min_time ? time : s->min_time;
    }
    return true;
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
    for (int32_t i = 0; i < p->graph.n; i++) {
        s.mean_bytes += (double)p->graph.bytes[i] / p->graph.n;
        s.mean_move += (double)p->move_cost[i] / p->graph.n;
    }
    if (!p->route || !time || !s.done || !list_ways_out(&s, &scratch)) {
        st = diag_out_of_memory(d);
    } else {
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
