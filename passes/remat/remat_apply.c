// A schedule becomes a graph: see remat.h. Stages: walk the tasks and append each unit of the
// cluster that runs to the new order, as the node itself or as a clone; before it the views that it
// reads, unless they exist already for the instance that it reads; then remove dead nodes, and
// promote a clone whose original is dead. With several devices each has instances of its own, and a
// value that is sent from one to another is an Identity node.
//
// Which execution is the node itself and keeps its names? The first; for a cluster that makes
// outputs of the graph the last, because its results are held to the end.
#include "passes/remat/remat.h"

#include <assert.h>
#include <string.h>

#include "ir/devices.h"
#include "passes/dead_outputs.h"
#include "solver/model/strategy.h"

struct application {
    struct graph *g;
    const struct remat *r;
    struct arena *arena;
    const uint32_t *device; // per place: its number in the model; NULL: there is one place
    size_t n_places, place; // how many; that of the present task
    uint32_t *n_runs, *run; // per cluster: executions in all, and so far
    uint32_t *n_clones;     // per node
    bool *placed;           // per node: it is in the new order
    bool *has_second;       // per value: the backward pass has instances of its own
    value_id *now[2];       // per place and value: the latest instance; [1]: for the backward pass
    size_t n_nodes, n_values; // of the original graph
    struct node *was;         // per node: the original, with its operands
    node_id *def;             // per value: the original
    VEC(value_id) stack;      // of materialize_views
    uint32_t call, *done;     // per value: the last call of materialize_views that visited it
    VEC(node_id) order;
    VEC(int32_t) task; // per node of `order`
};

static bool side_of(const struct application *p, bool backward, value_id v) {
    return backward && p->has_second[v.i];
}

static value_id *instance(const struct application *p, size_t place, bool side, value_id v) {
    return &p->now[side][place * p->n_values + v.i];
}

// ---- Clones ----

static value_id clone_value(struct application *p, value_id of, uint32_t number) {
    const char *like = str_format(p->arena, "%s/again%u", graph_value(p->g, of)->name, number);
    const char *fresh = like ? graph_fresh_name(p->g, like) : NULL;
    value_id v = fresh ? graph_add_value(p->g, fresh, graph_value(p->g, of)->type) : VALUE_NONE;
    if (v.i)
        graph_value(p->g, v)->content = graph_value(p->g, of)->content;
    return v;
}

// Appends a clone of a node that reads `in`, and sets `out` to its results.
static bool clone_node(struct application *p, node_id of, const value_id *in, value_id *out) {
    struct model *m = p->g->model;
    struct node old = *graph_node(p->g, of);
    uint32_t number = ++p->n_clones[of.i];
    for (uint32_t o = 0; o < old.n_out; o++)
        if (old.out[o].i && !(out[o] = clone_value(p, old.out[o], number)).i)
            return false;
    node_id id = graph_add_node(p->g, old.domain, old.type, (struct values){in, old.n_in},
                                (struct values){out, old.n_out});
    if (!id.i)
        return false;
    struct node *n = graph_node(p->g, id);
    struct node made = *n;
    *n = old;
    n->in = made.in;
    n->out = made.out;
    n->again = of;
    n->attrs = arena_copy(m->arena, old.attrs, old.n_attrs * sizeof *old.attrs);
    n->metadata.at =
        arena_copy(m->arena, old.metadata.at, old.metadata.n * sizeof *old.metadata.at);
    if (old.name) {
        const char *name = str_format(p->arena, "%s/again%u", old.name, number);
        n->name = name ? pool_intern(m->pool, name) : NULL;
    }
    return n->attrs && n->metadata.at && (n->name || !old.name) &&
           VEC_PUSH(p->arena, &p->order, id);
}

// Appends the node itself, or a clone of it, to the new order, reading `in`.
static bool place_node(struct application *p, node_id id, bool itself, const value_id *in,
                       bool side) {
    uint32_t n_out = graph_node(p->g, id)->n_out;
    value_id *out = ARENA_ARRAY(p->arena, value_id, n_out);
    if (!out)
        return false;
    struct node *n = graph_node(p->g, id);
    if (itself) {
        memcpy(n->in, in, n->n_in * sizeof *in);
        memcpy(out, n->out, n_out * sizeof *out);
        p->placed[id.i] = true;
        if (!VEC_PUSH(p->arena, &p->order, id))
            return false;
    } else if (!clone_node(p, id, in, out)) {
        return false;
    }
    if (p->device)
        graph_node(p->g, p->order.at[p->order.n - 1])->device = p->device[p->place];
    n = graph_node(p->g, id);
    for (uint32_t o = 0; o < n_out; o++)
        *instance(p, p->place, side, n->out[o]) = out[o];
    *instance(p, p->place, side, VALUE_NONE) = VALUE_NONE;
    return true;
}

// ---- Operands ----

static bool is_view(const struct application *p, value_id v) {
    node_id def = p->def[v.i];
    return def.i && storage_is_view(&p->r->units.storage, &p->was[def.i]);
}

static value_id latest(const struct application *p, value_id v, bool backward) {
    return *instance(p, p->place, side_of(p, backward, v), v);
}

// The present instance of the view was made from the latest instances of its operands.
static bool is_current(const struct application *p, value_id v, bool backward) {
    const struct node *was = &p->was[p->def[v.i].i];
    value_id made = latest(p, v, backward);
    if (!made.i)
        return false;
    const struct node *n = graph_node(p->g, graph_value(p->g, made)->def);
    for (uint32_t k = 0; k < was->n_in; k++)
        if (n->in[k].i != latest(p, was->in[k], backward).i)
            return false;
    return true;
}

static bool place_with(struct application *p, node_id id, bool itself, bool backward, bool side) {
    const struct node *was = &p->was[id.i];
    value_id *in = ARENA_ARRAY(p->arena, value_id, was->n_in);
    for (uint32_t k = 0; in && k < was->n_in; k++)
        in[k] = latest(p, was->in[k], backward);
    return in && place_node(p, id, itself, in, side);
}

// Appends the views that a value is made of, operands first, unless they are current.
static bool materialize_views(struct application *p, value_id v, bool backward) {
    p->stack.n = 0;
    p->call++;
    if (!VEC_PUSH(p->arena, &p->stack, v))
        return false;
    while (p->stack.n) {
        value_id top = p->stack.at[p->stack.n - 1];
        bool ready = true;
        if (is_view(p, top) && p->done[top.i] != p->call) {
            const struct node *was = &p->was[p->def[top.i].i];
            for (uint32_t k = 0; k < was->n_in && ready; k++) {
                ready = !is_view(p, was->in[k]) || p->done[was->in[k].i] == p->call;
                if (!ready && !VEC_PUSH(p->arena, &p->stack, was->in[k]))
                    return false;
            }
            node_id def = p->def[top.i];
            if (ready && !is_current(p, top, backward) &&
                !place_with(p, def, !p->placed[def.i], backward, side_of(p, backward, top)))
                return false;
        }
        if (ready) {
            p->done[top.i] = p->call;
            p->stack.n--;
        }
    }
    return true;
}

struct capturing {
    struct application *p;
    bool backward, failed;
};

static void materialize_captured(void *to, value_id v, node_id user) {
    (void)user;
    struct capturing *c = to;
    c->failed |= !materialize_views(c->p, v, c->backward);
}

// ---- The tasks ----

static bool run_unit(struct application *p, const struct remat_unit *u, bool itself) {
    const struct node *was = &p->was[u->node.i];
    for (uint32_t k = 0; k < was->n_in; k++)
        if (was->in[k].i && !materialize_views(p, was->in[k], u->backward))
            return false;
    struct capturing c = {p, u->backward, false};
    node_captured(p->g, u->node, materialize_captured, &c);
    return !c.failed && place_with(p, u->node, itself && !u->second, u->backward, u->second);
}

static bool run_cluster(struct application *p, uint32_t cluster) {
    const struct remat_clusters *cs = &p->r->clusters;
    uint32_t own = p->r->problem.keep[cluster] ? p->n_runs[cluster] - 1 : 0;
    bool ok = true;
    for (uint32_t i = cs->start[cluster]; i < cs->start[cluster + 1] && ok; i++)
        ok = run_unit(p, &p->r->units.unit[cs->member[i]], p->run[cluster] == own);
    p->run[cluster]++;
    return ok;
}

static bool send_value(struct application *p, value_id v, bool side, size_t from) {
    value_id sent = devices_send(p->g, *instance(p, from, side, v), p->device[p->place]);
    *instance(p, p->place, side, v) = sent;
    return sent.i && VEC_PUSH(p->arena, &p->order, graph_value(p->g, sent)->def);
}

// Sends all results of the cluster from one place to the present one; dead ones are removed later.
static bool send_cluster(struct application *p, uint32_t cluster, size_t from) {
    const struct remat_clusters *cs = &p->r->clusters;
    bool ok = true;
    for (uint32_t i = cs->start[cluster]; i < cs->start[cluster + 1] && ok; i++) {
        const struct remat_unit *u = &p->r->units.unit[cs->member[i]];
        const struct node *was = &p->was[u->node.i];
        for (uint32_t o = 0; o < was->n_out && ok; o++)
            if (was->out[o].i && instance(p, from, u->second, was->out[o])->i)
                ok = send_value(p, was->out[o], u->second, from);
    }
    return ok;
}

// The nodes that were added last are of this task.
static bool note_task(struct application *p, int32_t task) {
    bool ok = true;
    while (ok && p->task.n < p->order.n)
        ok = VEC_PUSH(p->arena, &p->task, task);
    return ok;
}

static bool run_tasks(struct application *p, const struct strategy *tasks) {
    for (int32_t i = 0; i < tasks->n; i++)
        p->n_runs[tasks->at[i].node] += tasks->at[i].from == TASK_RUN;
    bool ok = true;
    for (size_t i = 0; i < p->g->order.n && ok; i++) { // constants come first, in their order
        node_id id = p->g->order.at[i];
        p->placed[id.i] = p->was[id.i].op == OP_Constant;
        ok = !p->placed[id.i] || VEC_PUSH(p->arena, &p->order, id);
    }
    ok = ok && note_task(p, -1);
    for (int32_t i = 0; i < tasks->n && ok; i++) {
        const struct task *t = &tasks->at[i];
        p->place = (size_t)t->place;
        ok = t->from == TASK_RUN ? run_cluster(p, (uint32_t)t->node)
                                 : send_cluster(p, (uint32_t)t->node, (size_t)t->from);
        ok = ok && note_task(p, i);
    }
    return ok;
}

// ---- Dead nodes ----

static void mark_needed(void *to, value_id v, node_id user) {
    (void)user;
    ((bool *)to)[v.i] = true;
}

// One backward walk, so that a node with dead readers only is dead too.
static bool remove_dead(struct application *p) {
    struct graph *g = p->g;
    bool *needed = ARENA_ARRAY(p->arena, bool, g->values.n);
    if (!needed)
        return false;
    for (size_t i = 0; i < g->outputs.n; i++)
        needed[g->outputs.at[i].i] = true;
    for (size_t i = p->order.n; i-- > 0;) {
        struct node *n = graph_node(g, p->order.at[i]);
        bool any = false;
        for (uint32_t o = 0; o < n->n_out; o++)
            any |= n->out[o].i && needed[n->out[o].i];
        if (!any) {
            graph_remove_node(g, p->order.at[i]);
            continue;
        }
        dead_outputs_drop(g, n, needed);
        for (uint32_t k = 0; k < n->n_in; k++)
            needed[n->in[k].i] = true;
        node_captured(g, p->order.at[i], mark_needed, needed);
    }
    return true;
}

// The first clone of a removed node becomes the original of its other clones.
static bool promote_clones(struct application *p) {
    node_id *promoted = ARENA_ARRAY(p->arena, node_id, p->g->nodes.n);
    for (size_t i = 0; promoted && i < p->order.n; i++) {
        node_id id = p->order.at[i], of = graph_node(p->g, id)->again;
        struct node *n = graph_node(p->g, id);
        if (n->removed || !of.i || !graph_node(p->g, of)->removed)
            continue;
        n->again = promoted[of.i];
        if (!promoted[of.i].i) {
            promoted[of.i] = id;
            n->name = graph_node(p->g, of)->name;
        }
    }
    return promoted;
}

static bool set_order(struct application *p, struct arena *a, struct remat_result *out) {
    struct graph *g = p->g;
    for (size_t i = 0; i < g->order.n; i++)
        if (g->order.at[i].i < p->n_nodes && !p->placed[g->order.at[i].i]) // clones are placed
            graph_remove_node(g, g->order.at[i]);
    if (!remove_dead(p) || !promote_clones(p))
        return false;
    g->order.n = 0;
    *out = (struct remat_result){.task = ARENA_ARRAY(a, int32_t, p->order.n)};
    for (size_t i = 0; i < p->order.n && out->task; i++) {
        const struct node *n = graph_node(g, p->order.at[i]);
        if (n->removed)
            continue;
        out->task[g->order.n] = p->task.at[i];
        if (!VEC_PUSH(g->model->arena, &g->order, p->order.at[i]))
            return false;
        bool view = n->again.i && op_info(n->op)->flags & OPF_VIEW;
        out->recompute_cost += n->again.i && !view && n->cost > 0 ? n->cost : 0;
    }
    return out->task;
}

// ---- Opening ----

static void mark_seconds(struct application *p) {
    const struct graph *g = p->g;
    for (uint32_t i = 0; i < p->r->units.n; i++) {
        const struct remat_unit *u = &p->r->units.unit[i];
        const struct node *n = graph_node(g, u->node);
        for (uint32_t o = 0; u->second && o < n->n_out; o++)
            p->has_second[n->out[o].i] = true;
    }
    p->has_second[0] = false;
    for (size_t i = 0; i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        for (uint32_t k = 0; storage_is_view(&p->r->units.storage, n) && k < n->n_in; k++)
            p->has_second[n->out[0].i] |= p->has_second[n->in[k].i];
    }
}

static bool open_application(struct application *p) {
    const struct graph *g = p->g;
    size_t values = p->n_values = g->values.n;
    p->n_nodes = g->nodes.n;
    p->n_runs = ARENA_ARRAY(p->arena, uint32_t, p->r->clusters.n);
    p->run = ARENA_ARRAY(p->arena, uint32_t, p->r->clusters.n);
    p->n_clones = ARENA_ARRAY(p->arena, uint32_t, p->n_nodes);
    p->placed = ARENA_ARRAY(p->arena, bool, p->n_nodes);
    p->was = arena_copy(p->arena, g->nodes.at, p->n_nodes * sizeof *p->was);
    p->def = ARENA_ARRAY(p->arena, node_id, values);
    p->done = ARENA_ARRAY(p->arena, uint32_t, values);
    p->has_second = ARENA_ARRAY(p->arena, bool, values);
    p->now[0] = ARENA_ARRAY(p->arena, value_id, values * p->n_places);
    p->now[1] = ARENA_ARRAY(p->arena, value_id, values * p->n_places);
    if (!p->n_runs || !p->run || !p->n_clones || !p->placed || !p->was || !p->def || !p->done ||
        !p->has_second || !p->now[0] || !p->now[1])
        return false;
    for (size_t i = 0; i < g->order.n; i++) {
        struct node *was = &p->was[g->order.at[i].i];
        if (!(was->in = arena_copy(p->arena, was->in, was->n_in * sizeof *was->in)))
            return false;
    }
    for (uint32_t v = 1; v < values; v++) {
        p->def[v] = graph_value(g, (value_id){v})->def;
        bool given = !p->def[v].i || graph_node(g, p->def[v])->op == OP_Constant;
        for (size_t place = 0; given && place < p->n_places; place++)
            *instance(p, place, false, (value_id){v}) = (value_id){v};
    }
    mark_seconds(p);
    return true;
}

status remat_apply_strategy(struct graph *g, const struct remat *r, const struct remat_strategy *s,
                            struct arena *a, struct diags *d, struct remat_result *out) {
    assert(s->n_places == 1 || s->device);
    struct arena scratch = arena_make(a->mem);
    struct application p = {
        .g = g, .r = r, .arena = &scratch, .device = s->device, .n_places = s->n_places};
    bool ok = open_application(&p) && run_tasks(&p, s->tasks) && set_order(&p, a, out);
    arena_free(&scratch);
    return ok ? ST_OK : diag_out_of_memory(d);
}

status remat_apply(struct graph *g, const struct remat *r, struct steps steps, struct arena *a,
                   struct diags *d, struct remat_result *out) {
    struct arena scratch = arena_make(a->mem);
    struct strategy tasks = {.at = ARENA_ARRAY(&scratch, struct task, steps.n)};
    status st = tasks.at ? ST_OK : diag_out_of_memory(d);
    for (int32_t i = 0; i < steps.n && !st; i++)
        if (steps.at[i].kind == STEP_COMPUTE)
            tasks.at[tasks.n++] = (struct task){.node = steps.at[i].node, .from = TASK_RUN};
    if (!st)
        st = remat_apply_strategy(g, r, &(struct remat_strategy){.tasks = &tasks, .n_places = 1}, a,
                                  d, out);
    arena_free(&scratch);
    return st;
}
