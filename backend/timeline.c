// The timeline of a plan: see timeline.h. Stages: classify the steps (kind of work, device); set
// their times; classify the storages; add up the memory in use at each step, device by device.
#include "backend/timeline.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/checked.h"
#include "ir/devices.h"
#include "ir/keys.h"

const char *timeline_holder_name(enum holder h) {
    static const char *const names[] = {"parameters and inputs", "activations", "recomputed",
                                        "gradients", "workspace"};
    return names[h];
}

const char *timeline_work_name(enum work w) {
    static const char *const names[] = {"forward", "backward", "recompute", "transfer", "control"};
    return names[w];
}

node_id timeline_origin(const struct graph *g, node_id n) {
    node_id again = graph_node(g, n)->again;
    return again.i ? again : n;
}

static bool has_role(const struct node *n, const char *role) {
    const char *actual = pairs_get(&n->metadata, KEY_ROLE);
    return actual && strcmp(actual, role) == 0;
}

// The nodes that the loss (the first output) depends on, and the originals of recomputed ones. The
// order is topological, so one backward walk suffices.
static bool *find_forward(const struct timeline *t, struct arena *a) {
    const struct graph *g = t->graph;
    bool *forward = ARENA_ARRAY(a, bool, g->nodes.n);
    if (!forward || !g->outputs.n)
        return forward;
    forward[graph_value(g, g->outputs.at[0])->def.i] = true;
    for (size_t i = t->n_steps; i-- > 0;) {
        const struct node *n = graph_node(g, t->order[i]);
        if (!forward[t->order[i].i])
            continue;
        forward[n->again.i] = true;
        // The first input of a control node is data; the others only delay it.
        uint32_t n_read = has_role(n, "control") && n->n_in ? 1 : n->n_in;
        for (uint32_t k = 0; k < n_read; k++)
            forward[graph_value(g, n->in[k])->def.i] = true;
    }
    return forward;
}

// The second execution of a view or a constant is no recomputation: it costs nothing.
static enum work work_of(const struct node *n, bool is_first, bool is_forward) {
    if (has_role(n, "control"))
        return WORK_CONTROL;
    if (has_role(n, "transfer"))
        return WORK_TRANSFER;
    return !is_first ? WORK_RECOMPUTE : is_forward ? WORK_FORWARD : WORK_BACKWARD;
}

// Numbers the devices that have nodes in the order of the model's list, with unplaced nodes first.
static bool number_devices(struct timeline *t, struct arena *a) {
    const struct graph *g = t->graph;
    size_t n_names = g->model->device_names.n;
    uint32_t *number = ARENA_ARRAY(a, uint32_t, n_names + 1);
    int64_t *has = ARENA_ARRAY(a, int64_t, n_names + 1);
    t->device_name = ARENA_ARRAY(a, const char *, n_names + 1);
    t->device_bytes = ARENA_ARRAY(a, int64_t, n_names + 1);
    t->computes = ARENA_ARRAY(a, bool, n_names + 1);
    if (!number || !has || !t->device_name || !t->device_bytes || !t->computes)
        return false;
    bool is_known = devices_memory(g->model, has);
    for (uint32_t i = 0; i < t->n_steps; i++) {
        uint32_t k = graph_node(g, t->order[i])->device;
        number[k <= n_names ? k : 0] = 1;
    }
    for (size_t k = 0; k <= n_names; k++)
        if (number[k]) {
            t->device_name[t->n_devices] = k ? g->model->device_names.at[k - 1] : "";
            t->device_bytes[t->n_devices] = k && is_known ? has[k - 1] : INT64_MAX;
            number[k] = t->n_devices++;
        }
    for (uint32_t i = 0; i < t->n_steps; i++) {
        uint32_t k = graph_node(g, t->order[i])->device;
        t->device[i] = number[k <= n_names ? k : 0];
    }
    if (!t->n_devices)
        t->device_name[t->n_devices++] = "";
    t->device_bytes[0] = t->device_bytes[0] ? t->device_bytes[0] : INT64_MAX;
    return true;
}

// The first of several executions counts as the original, even when it is a clone of the node.
static bool describe_steps(struct timeline *t, struct arena *a) {
    const struct graph *g = t->graph;
    bool *is_forward = find_forward(t, a), *ran = ARENA_ARRAY(a, bool, g->nodes.n);
    if (!is_forward || !ran || !number_devices(t, a))
        return false;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        node_id id = t->order[i];
        const struct node *n = graph_node(g, id);
        t->step_of[id.i] = i;
        node_id origin = timeline_origin(g, id);
        t->work[i] = work_of(n, !ran[origin.i] || !storage_is_executed(&t->storage, n),
                             is_forward[origin.i]);
        ran[origin.i] = true;
        t->computes[t->device[i]] |= t->work[i] != WORK_TRANSFER;
        t->has_costs = t->has_costs || n->cost > 0;
    }
    return true;
}

struct ready {
    const struct timeline *t;
    int64_t at;
};

static void wait_for(void *to, value_id v, node_id user) {
    struct ready *r = to;
    node_id def = graph_value(r->t->graph, v)->def;
    (void)user;
    if (def.i && r->t->end[r->t->step_of[def.i]] > r->at)
        r->at = r->t->end[r->t->step_of[def.i]];
}

// "START END", in nanoseconds.
static bool parse_time(const char *text, int64_t *start, int64_t *end) {
    char *after;
    *start = strtoll(text, &after, 10);
    if (after == text || *after != ' ')
        return false;
    text = after + 1;
    *end = strtoll(text, &after, 10);
    return after != text && !*after && *start >= 0 && *start <= *end;
}

// The simulated times of a placed plan. False: some node that takes time has none.
static bool read_times(struct timeline *t) {
    for (uint32_t i = 0; i < t->n_steps; i++) {
        const struct node *n = graph_node(t->graph, t->order[i]);
        const char *text = pairs_get(&n->metadata, KEY_TIME);
        int64_t start = 0, end = 0;
        if (text ? !parse_time(text, &start, &end)
                 : n->cost > 0 && storage_is_executed(&t->storage, n))
            return false;
        t->start[i] = start;
        t->end[i] = end;
        t->span = end > t->span ? end : t->span;
    }
    for (uint32_t i = 0; i < t->n_steps; i++) {
        int64_t cost = t->end[i] - t->start[i];
        if (t->work[i] != WORK_TRANSFER && !checked_add(t->cost, cost, &t->cost))
            return false;
    }
    return t->span > 0;
}

// False: the costs are too large to add up.
static bool set_times(struct timeline *t, int64_t *device_free, int64_t *link_free) {
    const struct graph *g = t->graph;
    t->cost = t->span = 0;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        const struct node *n = graph_node(g, t->order[i]);
        int64_t cost = !t->has_costs                                        ? 1
                       : n->cost > 0 && storage_is_executed(&t->storage, n) ? n->cost
                                                                            : 0;
        bool is_sent = t->work[i] == WORK_TRANSFER && t->n_devices > 1;
        int64_t *lane = is_sent ? &link_free[t->device[i]] : &device_free[t->device[i]];
        struct ready r = {t, *lane};
        for (uint32_t k = 0; k < n->n_in && t->n_devices > 1; k++)
            wait_for(&r, n->in[k], t->order[i]);
        if (t->n_devices > 1)
            node_captured(g, t->order[i], wait_for, &r);
        t->start[i] = r.at;
        if (!checked_add(r.at, cost, &t->end[i]) ||
            (!is_sent && !checked_add(t->cost, cost, &t->cost)))
            return false;
        *lane = t->end[i];
        if (t->end[i] > t->span)
            t->span = t->end[i];
    }
    return true;
}

static void set_holders(struct timeline *t) {
    static const enum holder of_work[] = {
        [WORK_FORWARD] = HOLDER_ACTIVATION,   [WORK_BACKWARD] = HOLDER_GRADIENT,
        [WORK_RECOMPUTE] = HOLDER_RECOMPUTED, [WORK_TRANSFER] = HOLDER_ACTIVATION,
        [WORK_CONTROL] = HOLDER_ACTIVATION,
    };
    for (uint32_t s = 1; s < t->storage.n; s++) {
        node_id def = graph_value(t->graph, t->storage.first[s])->def;
        t->holder[s] = t->storage.is_persistent[s] || !def.i ? HOLDER_PERSISTENT
                                                             : of_work[t->work[t->step_of[def.i]]];
    }
}

// The device of a storage: that of the node that computes it.
static uint32_t device_of(const struct timeline *t, uint32_t s) {
    node_id def = graph_value(t->graph, t->storage.first[s])->def;
    return def.i ? t->device[t->step_of[def.i]] : 0;
}

// Persistent storages count on every device that reads them. `seen` has, per storage, 1 + the last
// device for which it was counted.
static int64_t persistent_on(const struct timeline *t, uint32_t device, uint32_t *seen) {
    const struct graph *g = t->graph;
    int64_t sum = 0;
    if (t->n_devices == 1)
        return t->storage.persistent_bytes;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        const struct node *n = graph_node(g, t->order[i]);
        for (uint32_t k = 0; t->device[i] == device && k < n->n_in; k++) {
            uint32_t s = t->storage.of[n->in[k].i];
            if (s && t->storage.is_persistent[s] && seen[s] != device + 1) {
                seen[s] = device + 1;
                sum += t->storage.bytes[s]; // fits: a part of storage.persistent_bytes
            }
        }
    }
    return sum;
}

// `change` has a row of zeros for each step and one more. All sums fit because those of liveness_of
// do.
static void add_device(struct timeline *t, uint32_t device, int64_t (*change)[HOLDER_COUNT_],
                       uint32_t *seen) {
    const struct liveness *l = &t->liveness;
    for (uint32_t s = 1; s < t->storage.n; s++)
        if (!t->storage.is_persistent[s] && l->from[s] <= l->to[s] && device_of(t, s) == device) {
            change[l->from[s]][t->holder[s]] += t->storage.bytes[s];
            if (l->to[s] < t->n_steps)
                change[l->to[s] + 1][t->holder[s]] -= t->storage.bytes[s];
        }
    int64_t sum[HOLDER_COUNT_] = {[HOLDER_PERSISTENT] = persistent_on(t, device, seen)};
    for (uint32_t i = 0; i < t->n_steps; i++) {
        for (int h = 0; h < HOLDER_COUNT_; h++)
            sum[h] += change[i][h];
        if (t->device[i] != device)
            continue;
        memcpy(t->held[i], sum, sizeof sum);
        t->held[i][HOLDER_WORKSPACE] = graph_node(t->graph, t->order[i])->workspace_bytes;
        for (int h = 0; h < HOLDER_COUNT_; h++)
            t->held_bytes[i] += t->held[i][h];
    }
}

static bool sum_memory(struct timeline *t, struct arena *a) {
    uint32_t *seen = ARENA_ARRAY(a, uint32_t, t->storage.n);
    size_t n_rows = (size_t)t->n_steps + 1;
    int64_t(*change)[HOLDER_COUNT_] = arena_array(a, n_rows, sizeof *change);
    if (!seen || !change)
        return false;
    for (uint32_t device = 0; device < t->n_devices; device++) {
        memset(change, 0, n_rows * sizeof *change);
        add_device(t, device, change, seen);
    }
    bool found = false;
    for (uint32_t i = 0; i < t->n_steps; i++)
        if (t->computes[t->device[i]] &&
            (!found || t->held_bytes[i] > t->held_bytes[t->peak_step])) {
            t->peak_step = i;
            found = true;
        }
    return true;
}

status timeline_make(const struct model *m, struct arena *a, struct diags *d,
                     struct timeline *out) {
    return timeline_make_in(m, m->graph->order.at, m->graph->order.n, a, d, out);
}

status timeline_make_in(const struct model *m, const node_id *order, size_t n, struct arena *a,
                        struct diags *d, struct timeline *out) {
    const struct graph *g = m->graph;
    struct timeline *t = out;
    *t = (struct timeline){.graph = g, .order = order, .n_steps = (uint32_t)n};
    status st = storage_of(g, a, d, &t->storage);
    if (st == ST_OK)
        st = liveness_of(g, &t->storage, (struct node_list){order, n}, a, d, &t->liveness);
    if (st != ST_OK)
        return st;
    t->work = ARENA_ARRAY(a, enum work, t->n_steps);
    t->device = ARENA_ARRAY(a, uint32_t, t->n_steps);
    t->start = ARENA_ARRAY(a, int64_t, t->n_steps);
    t->end = ARENA_ARRAY(a, int64_t, t->n_steps);
    t->step_of = ARENA_ARRAY(a, uint32_t, g->nodes.n);
    t->holder = ARENA_ARRAY(a, enum holder, t->storage.n);
    t->held = arena_array(a, (size_t)t->n_steps, sizeof *t->held);
    t->held_bytes = ARENA_ARRAY(a, int64_t, t->n_steps);
    if (!t->work || !t->device || !t->start || !t->end || !t->step_of || !t->holder || !t->held ||
        !t->held_bytes || !describe_steps(t, a))
        return diag_out_of_memory(d);
    int64_t *device_free = ARENA_ARRAY(a, int64_t, t->n_devices);
    int64_t *link_free = ARENA_ARRAY(a, int64_t, t->n_devices);
    if (!device_free || !link_free)
        return diag_out_of_memory(d);
    if (t->n_devices > 1 && read_times(t))
        t->has_costs = true;
    else if (!set_times(t, device_free, link_free))
        return diag_error(d, DIAG_LIMIT, loc_file(m->path),
                          "the sum of the node costs exceeds 2^63 ns; lower the costs");
    set_holders(t);
    return sum_memory(t, a) ? ST_OK : diag_out_of_memory(d);
}

size_t timeline_held(const struct timeline *t, uint32_t step, uint32_t *out, size_t max) {
    assert(step < t->n_steps);
    const struct liveness *l = &t->liveness;
    size_t n = 0;
    for (uint32_t s = 1; s < t->storage.n; s++) {
        if (t->storage.is_persistent[s] || l->from[s] > step || l->to[s] < step ||
            !t->storage.bytes[s] || device_of(t, s) != t->device[step])
            continue;
        // Insertion into a short sorted list.
        size_t kept = n < max ? n : max, at = kept;
        while (at > 0 && t->storage.bytes[out[at - 1]] < t->storage.bytes[s])
            at--;
        if (kept == max && kept)
            kept--;
        if (at <= kept && max) {
            memmove(out + at + 1, out + at, (kept - at) * sizeof *out);
            out[at] = s;
        }
        n++;
    }
    return n;
}
