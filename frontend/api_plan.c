// A plan as a struct: its figures (ir/plan_facts.h), its order, and the address of every tensor.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "backend/timeline.h"
#include "frontend/api_session.h"
#include "ir/keys.h"

// A plan on its way to the caller. Everything lives in the session's plan_arena.
struct making {
    struct mfc *session;
    struct timeline t;
    struct mfc_plan_node *nodes;
    struct mfc_plan_tensor *tensors;
    size_t n_tensors;
};

static enum mfc_role role_of(enum work w) {
    switch (w) {
    case WORK_FORWARD:
        return MFC_ROLE_FORWARD;
    case WORK_RECOMPUTE:
        return MFC_ROLE_RECOMPUTED;
    case WORK_TRANSFER:
        return MFC_ROLE_TRANSFER;
    case WORK_CONTROL:
        return MFC_ROLE_CONTROL;
    default:
        return MFC_ROLE_BACKWARD;
    }
}

// The k-th field of KEY_OFFSET: "0,,4096".
static int64_t address_of(const struct node *n, uint32_t k) {
    const char *text = pairs_get(&n->metadata, KEY_OFFSET);
    for (; text && k; k--)
        text = (text = strchr(text, ',')) ? text + 1 : NULL;
    return text && *text && *text != ',' ? strtoll(text, NULL, 10) : MFC_UNKNOWN;
}

static void add_tensors(struct making *k, const struct node *n, uint32_t step) {
    const struct graph *g = k->t.graph;
    for (uint32_t i = 0; i < n->n_out; i++) {
        if (!n->out[i].i)
            continue;
        uint32_t s = k->t.storage.of[n->out[i].i];
        k->tensors[k->n_tensors++] = (struct mfc_plan_tensor){
            .name = graph_value(g, n->out[i])->name,
            .bytes = k->t.storage.bytes[s],
            .address = address_of(n, i),
            .from = step,
            .to = k->t.liveness.to[s],
        };
    }
}

static void add_nodes(struct making *k) {
    const struct timeline *t = &k->t;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        const struct node *n = graph_node(t->graph, t->order[i]);
        size_t first = k->n_tensors;
        add_tensors(k, n, i);
        k->nodes[i] = (struct mfc_plan_node){
            .name = node_called(t->graph, t->order[i]),
            .op_type = n->type,
            .origin = node_called(t->graph, timeline_origin(t->graph, t->order[i])),
            .device = t->device_name[t->device[i]],
            .role = (int32_t)role_of(t->work[i]),
            .n_tensors = (int32_t)(k->n_tensors - first),
            .first_tensor = first,
            .cost = n->cost < 0 ? MFC_UNKNOWN : n->cost,
            .workspace_bytes = n->workspace_bytes,
        };
    }
}

static void add_figures(struct mfc_plan *out, const struct plan_facts *f) {
    out->budget_bytes = api_known(f->budget_bytes);
    out->peak_bytes = api_known(f->peak_bytes);
    out->baseline_bytes = api_known(f->baseline_bytes);
    out->persistent_bytes = api_known(f->persistent_bytes);
    out->session_bytes = api_known(f->session_bytes);
    out->arena_bytes = api_known(f->arena_bytes);
    out->cost = api_known(f->cost);
    out->base_cost = api_known(f->base_cost);
    out->bound = api_known(f->bound);
    out->min_bytes = api_known(f->min_bytes);
    out->overhead = plan_facts_overhead(f);
    out->min_overhead = plan_facts_min_overhead(f);
    out->session_in_peak = !f->session_is_apart;
    out->n_recomputed = api_known(f->n_recomputed);
    out->outcome = f->planned ? f->outcome : NULL;
    out->runtime = f->runtime;
}

static status make(struct mfc *m, struct mfc_plan **out) {
    struct arena *a = &m->plan_arena;
    struct making k = {.session = m};
    size_t n = m->model->graph->order.n, n_outputs = 0;
    struct mfc_plan *plan = ARENA_NEW(a, struct mfc_plan);
    status st = pipeline_describe(&m->pipeline, "", NULL);
    if (!st)
        st = timeline_make(m->model, a, &m->diags, &k.t);
    if (st)
        return st;
    for (size_t i = 0; i < n; i++)
        n_outputs += graph_node(m->model->graph, m->model->graph->order.at[i])->n_out;
    k.nodes = ARENA_ARRAY(a, struct mfc_plan_node, n);
    k.tensors = ARENA_ARRAY(a, struct mfc_plan_tensor, n_outputs);
    if (!plan || !k.nodes || !k.tensors)
        return diag_out_of_memory(&m->diags);
    add_figures(plan, &m->pipeline.facts);
    add_nodes(&k);
    plan->nodes = k.nodes;
    plan->n_nodes = k.t.n_steps;
    plan->tensors = k.tensors;
    plan->n_tensors = k.n_tensors;
    *out = plan;
    return ST_OK;
}

int mfc_get_plan(struct mfc *m, const struct mfc_plan **out) {
    assert(m && out);
    *out = NULL;
    status st = api_need_model(m);
    if (!st && !m->has_run)
        st = diag_error(&m->diags, DIAG_USAGE, loc_none(),
                        "there is no plan; call mfc_run(m, NULL) first");
    if (!st && !m->plan)
        st = make(m, &m->plan);
    if (!st)
        *out = m->plan;
    return api_finish(m, st);
}
