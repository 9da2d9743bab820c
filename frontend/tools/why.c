// Why a plan keeps or recomputes a node: see why.h. Stages: find the node by name; list its
// executions; find the gap in which its results are evicted, or could be; evaluate the alternative.
#include "frontend/tools/why.h"

#include <string.h>

#include "ir/base/checked.h"
#include "ir/keys.h"

status why_link(struct model *plan, struct diags *d) {
    struct graph *g = plan->graph;
    struct arena scratch = arena_make(plan->arena->mem);
    struct map by_name = map_make(&scratch);
    bool ok = true;
    for (size_t i = 0; i < g->order.n && ok; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        const char *role = pairs_get(&n->metadata, KEY_ROLE);
        if (n->name && (!role || strcmp(role, "recomputed") != 0))
            ok = map_put_text(&by_name, n->name, g->order.at[i].i);
    }
    for (size_t i = 0; i < g->order.n && ok; i++) {
        struct node *n = graph_node(g, g->order.at[i]);
        const char *role = pairs_get(&n->metadata, KEY_ROLE);
        if (role && strcmp(role, "control") == 0)
            n->cost = 0;
        const char *origin = pairs_get(&n->metadata, KEY_ORIGIN);
        int64_t of;
        if (!n->again.i && role && strcmp(role, "recomputed") == 0 && origin &&
            map_get_text(&by_name, origin, &of))
            n->again = (node_id){(uint32_t)of};
    }
    arena_free(&scratch);
    return ok ? ST_OK : diag_out_of_memory(d);
}

// ---- By name ----

static status unknown(const struct graph *g, const char *name, struct diags *d) {
    const char *near = NULL;
    size_t nearest = STR_NEAR;
    for (size_t i = 1; i < g->values.n; i++)
        if (g->values.at[i].name && str_is_nearer(name, g->values.at[i].name, &nearest))
            near = g->values.at[i].name;
    for (size_t i = 0; i < g->order.n; i++) {
        const char *known = graph_node(g, g->order.at[i])->name;
        if (known && str_is_nearer(name, known, &nearest))
            near = known;
    }
    return diag_error(d, DIAG_USAGE, loc_file(g->model->path),
                      "the plan has no node or value \"%s\"%s%s%s; `mfc convert PLAN -` lists them",
                      name, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

// Looks for a value first, because value names are unique. NODE_NONE: the name is of persistent
// memory, or unknown.
static node_id find_node(const struct graph *g, const char *name, value_id *value) {
    *value = graph_find(g, name);
    if (value->i && graph_value(g, *value)->def.i)
        return graph_value(g, *value)->def;
    for (size_t i = 0; i < g->order.n && !value->i; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        if (n->name && strcmp(n->name, name) == 0)
            return g->order.at[i];
    }
    return NODE_NONE;
}

// ---- Executions ----

// Whether an execution of the node computes a storage.
static bool is_result_of(const struct timeline *t, uint32_t s, node_id origin) {
    node_id def = s ? graph_value(t->graph, t->storage.first[s])->def : NODE_NONE;
    return def.i && !t->storage.is_persistent[s] && timeline_origin(t->graph, def).i == origin.i;
}

static status add_run(const struct timeline *t, uint32_t step, struct arena *a, struct diags *d,
                      struct why *w) {
    const struct node *n = graph_node(t->graph, t->graph->order.at[step]);
    struct why_run run = {.step = step,
                          .held_to = step,
                          .stage = pairs_get(&n->metadata, KEY_STAGE),
                          .device = t->device_name[t->device[step]]};
    int64_t sum = 0;
    for (uint32_t k = 0; k < n->n_out; k++) {
        uint32_t s = n->out[k].i ? t->storage.of[n->out[k].i] : 0;
        if (!s || t->storage.first[s].i != n->out[k].i)
            continue;
        sum += t->storage.bytes[s]; // fits: storage_of has added all of them up
        w->is_persistent |= t->storage.is_persistent[s];
        w->is_output |= t->storage.is_output[s];
        if (t->liveness.from[s] <= t->liveness.to[s] && t->liveness.to[s] > run.held_to)
            run.held_to = t->liveness.to[s];
    }
    if (!w->runs.n) {
        w->bytes = sum;
        w->cost = t->end[step] - t->start[step];
    }
    return VEC_PUSH(a, &w->runs, run) ? ST_OK : diag_out_of_memory(d);
}

static status add_moves(const struct timeline *t, struct arena *a, struct diags *d, struct why *w) {
    const struct graph *g = t->graph;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        if (t->work[i] == WORK_TRANSFER && n->n_in && n->in[0].i &&
            is_result_of(t, t->storage.of[n->in[0].i], w->node) &&
            !VEC_PUSH(a, &w->moved_to, t->device_name[t->device[i]]))
            return diag_out_of_memory(d);
    }
    return ST_OK;
}

// ---- The alternative ----

// The peak of the device of step `at`, over the steps from `from` to `to`.
static int64_t peak_between(const struct timeline *t, uint32_t at, uint32_t from, uint32_t to) {
    int64_t peak = 0;
    for (uint32_t i = from; i <= to && i < t->n_steps; i++)
        if (t->device[i] == t->device[at] && t->held_bytes[i] > peak)
            peak = t->held_bytes[i];
    return peak;
}

// Keeps the gap with the highest peak; `at` is a step on the device of the results.
static void offer_gap(const struct timeline *t, struct why *w, uint32_t at, struct why_gap gap) {
    if (gap.from > gap.to)
        return;
    gap.held_bytes = peak_between(t, at, gap.from, gap.to);
    if (w->gap.from > w->gap.to || gap.held_bytes > w->gap.held_bytes)
        w->gap = gap;
}

// Gaps between executions on one device, in which keeping would add to the memory in use.
static void find_gap_between(const struct timeline *t, struct why *w) {
    for (size_t k = 1; k < w->runs.n; k++) {
        const struct why_run *run = &w->runs.at[k - 1], *next = &w->runs.at[k];
        if (next->step > 0 && t->device[run->step] == t->device[next->step])
            offer_gap(t, w, run->step,
                      (struct why_gap){.from = run->held_to + 1, .to = next->step - 1});
    }
}

struct use_search {
    const struct timeline *t;
    node_id origin;
    bool found;
};

static void check_use(void *to, value_id v, node_id user) {
    struct use_search *r = to;
    (void)user;
    r->found |= v.i && is_result_of(r->t, r->t->storage.of[v.i], r->origin);
}

static bool reads(const struct timeline *t, uint32_t step, node_id origin) {
    node_id id = t->graph->order.at[step];
    const struct node *n = graph_node(t->graph, id);
    struct use_search r = {t, origin, false};
    for (uint32_t k = 0; k < n->n_in; k++)
        check_use(&r, n->in[k], id);
    node_captured(t->graph, id, check_use, &r);
    return r.found;
}

// Gaps between two uses, in which eviction would reduce the memory in use.
static void find_gap_within(const struct timeline *t, struct why *w) {
    uint32_t last = w->runs.at[0].step;
    for (uint32_t i = last + 1; i < t->n_steps && i <= w->runs.at[0].held_to; i++) {
        if (!reads(t, i, w->node))
            continue;
        offer_gap(t, w, w->runs.at[0].step, (struct why_gap){.from = last + 1, .to = i - 1});
        last = i;
    }
}

// The nodes that must be recomputed before step `at`: the node itself and, transitively, those
// whose results are not in memory then.
struct second_run {
    const struct timeline *t;
    uint32_t at;
    bool *needed; // per node
    VEC(node_id) todo;
    struct arena *arena;
    bool failed;
};

static void need(void *to, value_id v, node_id user) {
    struct second_run *r = to;
    const struct timeline *t = r->t;
    uint32_t s = v.i ? t->storage.of[v.i] : 0;
    (void)user;
    if (!s || t->storage.is_persistent[s])
        return;
    if (t->liveness.from[s] < r->at && t->liveness.to[s] >= r->at)
        return;
    node_id def = graph_value(t->graph, t->storage.first[s])->def;
    if (!def.i || r->needed[def.i])
        return;
    r->needed[def.i] = true;
    r->failed |= !VEC_PUSH(r->arena, &r->todo, def);
}

static status cost_of_second_run(const struct timeline *t, struct arena *a, struct diags *d,
                                 struct why *w) {
    struct second_run r = {.t = t, .at = w->gap.to + 1, .arena = a};
    node_id first = t->graph->order.at[w->runs.at[0].step];
    r.needed = ARENA_ARRAY(a, bool, t->graph->nodes.n);
    if (!r.needed || !VEC_PUSH(a, &r.todo, first))
        return diag_out_of_memory(d);
    r.needed[first.i] = true;
    for (size_t i = 0; i < r.todo.n && !r.failed; i++) {
        const struct node *n = graph_node(t->graph, r.todo.at[i]);
        uint32_t step = t->step_of[r.todo.at[i].i];
        w->recompute_cost += t->end[step] - t->start[step]; // fits: a part of t->cost
        w->n_dependencies += i > 0 && t->work[step] != WORK_CONTROL;
        for (uint32_t k = 0; k < n->n_in; k++)
            need(&r, n->in[k], r.todo.at[i]);
        node_captured(t->graph, r.todo.at[i], need, &r);
    }
    return r.failed ? diag_out_of_memory(d) : ST_OK;
}

static status evaluate_alternative(const struct timeline *t, struct arena *a, struct diags *d,
                                   struct why *w) {
    uint32_t at = w->runs.at[0].step;
    w->peak_bytes = w->alternative_peak_bytes = peak_between(t, at, 0, t->n_steps);
    if (w->runs.n > 1) {
        find_gap_between(t, w);
        for (size_t k = 1; k < w->runs.n; k++)
            w->recompute_cost += w->cost; // fits: a part of t->cost
        int64_t with;
        if (w->gap.from <= w->gap.to && checked_add(w->gap.held_bytes, w->bytes, &with) &&
            with > w->peak_bytes)
            w->alternative_peak_bytes = with;
        return ST_OK;
    }
    find_gap_within(t, w);
    if (w->gap.from > w->gap.to)
        return ST_OK;
    int64_t peak = 0;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        bool is_evicted = i >= w->gap.from && i <= w->gap.to;
        if (t->device[i] != t->device[at])
            continue;
        int64_t held = t->held_bytes[i] - (is_evicted ? w->bytes : 0);
        peak = held > peak ? held : peak;
    }
    w->alternative_peak_bytes = peak;
    return cost_of_second_run(t, a, d, w);
}

status why_find(const struct timeline *t, const char *name, struct arena *a, struct diags *d,
                struct why *out) {
    const struct graph *g = t->graph;
    value_id v;
    node_id id = find_node(g, name, &v);
    *out = (struct why){.gap = {1, 0, 0}};
    status st = why_find_parts(t, name, a, d, out);
    if (st)
        return st;
    out->name = name;
    if (!id.i && out->parts.n)
        return ST_OK;
    if (!id.i && !v.i)
        return unknown(g, name, d);
    uint32_t s = v.i ? t->storage.of[v.i] : 0;
    if (!id.i || (s && t->storage.is_persistent[s])) {
        out->type = id.i ? graph_node(g, id)->type : NULL;
        out->is_persistent = true;
        out->bytes = s ? t->storage.bytes[s] : 0;
        return ST_OK;
    }
    out->node = timeline_origin(g, id);
    const struct node *n = graph_node(g, out->node);
    out->name = node_called(g, out->node);
    out->type = n->type;
    out->is_random = op_info(n->op)->flags & OPF_RANDOM;
    for (uint32_t i = 0; i < t->n_steps && !st; i++)
        if (timeline_origin(g, g->order.at[i]).i == out->node.i) {
            out->is_control |= t->work[i] == WORK_CONTROL;
            st = add_run(t, i, a, d, out);
        }
    uint32_t made = n->n_out && n->out[0].i ? t->storage.of[n->out[0].i] : 0;
    if (made && t->storage.first[made].i != n->out[0].i)
        out->view_of = graph_value(g, t->storage.first[made])->name;
    if (!st)
        st = add_moves(t, a, d, out);
    bool has_alternative = !out->view_of && !out->is_control && !out->is_persistent;
    return !st && has_alternative ? evaluate_alternative(t, a, d, out) : st;
}
