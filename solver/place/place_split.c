// Contiguous splits with their transfers, by dynamic programming: the groups in a linear order are
// cut into one segment for each device, in the order of the devices, so that the largest load is
// least. The load of a segment is the time of its groups, and of the outputs that enter it and that
// leave it, each counted once, where they occupy the device itself; what occupies a link counts
// there. Devices may stay empty.
//
//     best[k][i] = min over j <= i of max(best[k - 1][j], load of groups j .. i - 1 on device k -
//     1)
//
// Segments grow one group at a time, and end when their groups run for MEANS mean loads. If the
// best split has more, or there is none, they may be as long as it is: then none that is better is
// left.
#include <assert.h>
#include <string.h>

#include "solver/place/place_split.h"

#define MEANS 3

struct split {
    const struct placement *p;
    struct arena *arena;
    const int32_t *order; // groups
    int64_t *best;        // [device * (n_groups + 1) + end]
    int32_t *from;        // likewise: where the segment begins
    // The segment at hand, per class of devices that are alike.
    int32_t n_classes, *class_of, *example; // a device of each class
    struct side {
        int64_t run, enter, leave, resident;
    } * at;
    bool *inside;       // per node
    int32_t *n_readers; // per node: its readers in the segment
    int32_t first;      // of the segment, in the order
    int64_t max_run;    // of a segment
};

static bool is_alike(const struct placement *p, int32_t a, int32_t b) {
    if (p->place[a].memory_bytes != p->place[b].memory_bytes)
        return false;
    for (int32_t v = 0; v < p->graph.n; v++)
        if (placement_cost(p, v, a) != placement_cost(p, v, b))
            return false;
    return true;
}

// The way to or from the rest: the next device, or if that goes through the host, the host.
static int32_t neighbour(const struct placement *p, int32_t device) {
    int32_t next = device + 1 < p->n_devices ? device + 1 : device - 1;
    const struct route *r = placement_route(p, device, next);
    return r->n_resources < 0 || r->via_host ? p->host : next;
}

static int64_t transfer(const struct split *s, int32_t class, int32_t node, bool enters) {
    int32_t device = s->example[class], other = neighbour(s->p, device);
    const struct route *r =
        enters ? placement_route(s->p, other, device) : placement_route(s->p, device, other);
    if (r->n_resources <= 0)
        return 0;
    return enters ? placement_transfer_cost(s->p, node, other, device)
                  : placement_transfer_cost(s->p, node, device, other);
}

static void add_transfer(struct split *s, int32_t node, int32_t enter, int32_t leave) {
    for (int32_t c = 0; c < s->n_classes; c++) {
        if (enter != 0)
            s->at[c].enter += enter * transfer(s, c, node, true);
        if (leave != 0)
            s->at[c].leave += leave * transfer(s, c, node, false);
    }
}

static void add_node(struct split *s, int32_t v) {
    const struct problem *g = &s->p->graph;
    int32_t n_out = g->out_start[v + 1] - g->out_start[v];
    for (int32_t e = g->in_start[v]; e < g->in_start[v + 1]; e++) {
        int32_t u = g->in_of[e], n_reads = g->out_start[u + 1] - g->out_start[u];
        s->n_readers[u]++;
        if (!s->inside[u])
            add_transfer(s, u, s->n_readers[u] == 1, 0);
        else if (s->n_readers[u] == n_reads)
            add_transfer(s, u, 0, -1);
    }
    s->inside[v] = true;
    add_transfer(s, v, s->n_readers[v] > 0 ? -1 : 0, s->n_readers[v] < n_out);
    for (int32_t c = 0; c < s->n_classes; c++) {
        bool runs = s->at[c].run >= 0 && placement_runs_on(s->p, v, s->example[c]);
        s->at[c].run = runs ? s->at[c].run + placement_cost(s->p, v, s->example[c]) : -1;
        s->at[c].resident += s->p->resident_bytes[v];
    }
}

// The load of the segment on a device; -1: it cannot run there.
static int64_t load_of(const struct split *s, int32_t device) {
    const struct placement *p = s->p;
    const struct side *at = &s->at[s->class_of[device]];
    const struct route *out = placement_route(p, device, neighbour(p, device));
    const struct route *in = placement_route(p, neighbour(p, device), device);
    if (at->run < 0 || at->resident + p->graph.persistent_bytes > p->place[device].memory_bytes)
        return -1;
    int64_t load = at->run, enter = at->enter, leave = at->leave;
    for (int32_t k = 0; k < in->n_resources; k++)
        load += in->resource[k] == device ? enter : 0;
    for (int32_t k = 0; k < out->n_resources; k++)
        load += out->resource[k] == device ? leave : 0;
    load = enter > load ? enter : load;
    return leave > load ? leave : load;
}

// Extends the splits that end at s->first by every segment from there.
static void extend(struct split *s) {
    const struct placement *p = s->p;
    size_t stride = (size_t)p->n_groups + 1;
    memset(s->n_readers, 0, (size_t)p->graph.n * sizeof *s->n_readers);
    memset(s->inside, 0, (size_t)p->graph.n * sizeof *s->inside);
    memset(s->at, 0, (size_t)s->n_classes * sizeof *s->at);
    for (int32_t d = 0; d < p->n_devices; d++) { // an empty segment
        size_t to = (size_t)(d + 1) * stride + (size_t)s->first;
        if (s->best[to - stride] < s->best[to]) {
            s->best[to] = s->best[to - stride];
            s->from[to] = s->first;
        }
    }
    bool some = true;
    for (int32_t k = s->first; k < p->n_groups && some; k++) {
        int32_t g = s->order[k];
        for (int32_t i = p->group_start[g]; i < p->group_start[g + 1]; i++)
            add_node(s, p->group_nodes[i]);
        some = false;
        for (int32_t d = 0; d < p->n_devices; d++) {
            int64_t before = s->best[(size_t)d * stride + (size_t)s->first];
            size_t to = (size_t)(d + 1) * stride + (size_t)k + 1;
            int64_t load = load_of(s, d), run = s->at[s->class_of[d]].run;
            some = some || (run >= 0 && run <= s->max_run);
            if (load >= 0 && before > load)
                load = before;
            if (load >= 0 && load < s->best[to]) {
                s->best[to] = load;
                s->from[to] = s->first;
            }
        }
    }
}

static bool make(struct split *s) {
    const struct placement *p = s->p;
    size_t n = ((size_t)p->n_groups + 1) * ((size_t)p->n_devices + 1);
    s->best = ARENA_ARRAY(s->arena, int64_t, n);
    s->from = ARENA_ARRAY(s->arena, int32_t, n);
    s->class_of = ARENA_ARRAY(s->arena, int32_t, p->n_devices);
    s->example = ARENA_ARRAY(s->arena, int32_t, p->n_devices);
    s->at = ARENA_ARRAY(s->arena, struct side, p->n_devices);
    s->n_readers = ARENA_ARRAY(s->arena, int32_t, p->graph.n);
    s->inside = ARENA_ARRAY(s->arena, bool, p->graph.n);
    if (!s->inside || !s->best || !s->from || !s->class_of || !s->example || !s->at ||
        !s->n_readers)
        return false;
    for (int32_t d = 0; d < p->n_devices; d++) {
        int32_t c = 0;
        while (c < s->n_classes && !is_alike(p, s->example[c], d))
            c++;
        if (c == s->n_classes)
            s->example[s->n_classes++] = d;
        s->class_of[d] = c;
    }
    return true;
}

// All splits whose segments run for at most max_run.
static int64_t search(struct split *s, int64_t max_run) {
    const struct placement *p = s->p;
    size_t stride = (size_t)p->n_groups + 1, all = stride * ((size_t)p->n_devices + 1);
    s->max_run = max_run;
    for (size_t k = 0; k < all; k++)
        s->best[k] = INT64_MAX;
    s->best[0] = 0;
    for (s->first = 0; s->first <= p->n_groups; s->first++)
        extend(s);
    return s->best[all - 1];
}

bool place_split(const struct placement *p, const int32_t *order, struct arena *scratch,
                 int32_t *device, int64_t *load) {
    assert(p->n_devices > 1 && p->n_groups > 0);
    struct split s = {.p = p, .arena = scratch, .order = order};
    int64_t mean = problem_base_cost(&p->graph) / p->n_devices;
    if (!make(&s))
        return false;
    *load = search(&s, MEANS * mean);
    if (*load > MEANS * mean)
        *load = search(&s, *load);
    int32_t end = *load == INT64_MAX ? 0 : p->n_groups;
    for (int32_t d = p->n_devices; d > 0 && end > 0; d--) {
        int32_t from = s.from[(size_t)d * ((size_t)p->n_groups + 1) + (size_t)end];
        for (int32_t k = from; k < end; k++)
            device[order[k]] = d - 1;
        end = from;
    }
    return true;
}
