// The figures of a plan (ir/plan_facts.h), from the graph as it is written: planning calls this
// when the plan is complete, verification for a plan from a file. So both have the same figures, or
// the plan in the file is another one. Stages: the baseline step; counts and costs of the plan; its
// peak on the runtime; its devices.
#include <string.h>

#include "ir/base/checked.h"
#include "ir/base/quantity.h"
#include "ir/check/device_peaks.h"
#include "ir/devices.h"
#include "ir/keys.h"
#include "ir/runtime/ort_loaded.h"
#include "passes/plan/plan_inner.h"

#define SESSION_PART 8 // of all tensors of a step: a larger session is not counted by itself

struct figures {
    const struct model *m;
    struct arena *scratch;
    struct pass_context *c;
    struct plan_facts *f;
    struct storage storage;
    struct liveness liveness;
    struct runtime_report run;
};

bool plan_counts_session(const struct graph *step, const struct options *o) {
    const char *how = o ? options_text(o, "session") : "apart";
    int64_t tensors = 0, one;
    if (strcmp(how, "auto") != 0)
        return strcmp(how, "counted") == 0;
    for (size_t v = 1; v < step->values.n; v++)
        if (type_bytes(step->values.at[v].type, &one) && one < INT64_MAX - tensors)
            tensors += one;
    return ort_loaded_graph_bytes(step, false) <= tensors / SESSION_PART;
}

static bool has_role(const struct node *n, const char *role) {
    const char *own = pairs_get(&n->metadata, KEY_ROLE);
    return own && strcmp(own, role) == 0;
}

static status find_runtime(const struct figures *k, enum runtime *out) {
    return runtime_find(k->f->runtime, out)
               ? ST_OK
               : diag_error(k->c->diags, DIAG_MALFORMED, loc_file(k->m->path),
                            "the plan is for runtime \"%s\", which mfc does not know",
                            k->f->runtime);
}

// A session runs on one device.
static bool counts_session(const struct figures *k) {
    return !k->f->session_is_apart && k->m->device_names.n == 0;
}

// Storage, liveness and, where it is needed, the runtime model of one of the two models.
static status open_figures(struct figures *k, bool needs_run) {
    const struct graph *g = k->m->graph;
    struct arena *a = k->scratch;
    struct diags *d = k->c->diags;
    enum runtime runtime;
    status st = storage_of(g, a, d, &k->storage);
    if (!st)
        st = liveness_of(g, &k->storage, (struct node_list){g->order.at, g->order.n}, a, d,
                         &k->liveness);
    if (!st && k->f->runtime)
        st = find_runtime(k, &runtime);
    if (!st && k->f->runtime && needs_run)
        st = runtime_peak(k->m, runtime, a, d, &k->run);
    if (!st && k->f->runtime && needs_run && counts_session(k))
        runtime_count_session(&k->run);
    return st;
}

// The time that a node takes; views and constants take none.
static int64_t cost_of(const struct figures *k, const struct node *n) {
    return n->cost > 0 && storage_is_executed(&k->storage, n) ? n->cost : 0;
}

// Control nodes have no cost in a plan; from a file, where they do, no other node may pass for one.
static bool is_free(const struct node *n, int64_t overhead_cost) {
    return has_role(n, "transfer") || (has_role(n, "control") && n->cost <= overhead_cost);
}

// The cost of all nodes but transfers and control nodes; PLAN_FACTS_UNKNOWN: no node has one.
static status add_costs(const struct figures *k, int64_t *out) {
    const struct graph *g = k->m->graph;
    const struct options *o = k->c->options;
    int64_t overhead_cost = o ? (int64_t)(options_real(o, "node-overhead") * 1e3) : 0;
    int64_t sum = 0;
    bool any = false;
    for (size_t i = 0; i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        any |= n->cost > 0;
        if (!is_free(n, overhead_cost) && !checked_add(sum, cost_of(k, n), &sum))
            return diag_error(k->c->diags, DIAG_LIMIT, loc_file(k->m->path),
                              "the sum of the node costs exceeds 2^63 ns; lower the costs");
    }
    *out = any ? sum : PLAN_FACTS_UNKNOWN;
    return ST_OK;
}

static status measure_step(struct figures *k) {
    struct plan_facts *f = k->f;
    bool is_measured = plan_facts_is_known(f->baseline_bytes);
    if (!f->planned)
        f->session_is_apart = !plan_counts_session(k->m->graph, k->c->options);
    status st = open_figures(k, false);
    if (st)
        return st;
    enum runtime r;
    if (f->runtime && !is_measured && !(st = find_runtime(k, &r)) &&
        !(st = plan_baseline_run(k->m, r, k->c, k->scratch, &k->run))) {
        if (counts_session(k))
            runtime_count_session(&k->run);
        f->baseline_bytes = runtime_default_peak(&k->run);
    }
    f->n_step_nodes = (int64_t)k->m->graph->order.n;
    f->baseline_liveness_bytes = k->liveness.peak_bytes;
    return st || plan_facts_is_known(f->base_cost) ? st : add_costs(k, &f->base_cost);
}

static void count_nodes(const struct figures *k) {
    const struct graph *g = k->m->graph;
    struct plan_facts *f = k->f;
    f->n_nodes = (int64_t)g->order.n;
    f->n_recomputed = f->n_control = f->n_transfers = f->moved_bytes = 0;
    for (size_t i = 0; i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        bool again = n->again.i || has_role(n, "recomputed");
        f->n_recomputed += again && storage_is_executed(&k->storage, n);
        f->n_control += has_role(n, "control");
        if (!has_role(n, "transfer"))
            continue;
        f->n_transfers++;
        f->moved_bytes +=
            k->storage.bytes[k->storage.of[n->out[0].i]]; // fits: storage_of added all
    }
}

static status read_peaks(const struct figures *k) {
    struct plan_facts *f = k->f;
    const char *arena_bytes = pairs_get(&k->m->metadata, KEY_ARENA);
    struct str top = str_make(k->c->arena);
    f->liveness_bytes = k->liveness.peak_bytes;
    f->persistent_bytes = k->storage.persistent_bytes;
    if (arena_bytes && !quantity_parse_bytes(arena_bytes, &f->arena_bytes))
        return diag_error(k->c->diags, DIAG_MALFORMED, loc_file(k->m->path),
                          "%s is \"%s\", not a number", KEY_ARENA, arena_bytes);
    if (!f->runtime)
        return ST_OK;
    runtime_print_top(&top, k->m, &k->run);
    f->top = str_text(&top);
    f->peak_node = k->run.peak_node;
    f->peak_bytes = k->run.peak_bytes;
    if (k->m->device_names.n == 0) { // levels are of a session, which runs on one device
        f->plain_peak_bytes = k->run.plain_peak_bytes;
        f->fused_peak_bytes = k->run.fused_peak_bytes;
        if (k->run.session_bytes)
            f->session_bytes = k->run.session_bytes;
        f->first_run_bytes = k->run.run_bytes[0];
        f->later_runs_bytes = 0;
        for (int i = 1; i < RUNTIME_RUNS; i++)
            if (k->run.run_bytes[i] > f->later_runs_bytes)
                f->later_runs_bytes = k->run.run_bytes[i];
    }
    return ST_OK;
}

// One device: the peak is that on the runtime.
static status set_device(const struct figures *k) {
    struct plan_facts *f = k->f;
    f->devices = ARENA_NEW(k->c->arena, struct plan_device);
    if (!f->devices)
        return diag_out_of_memory(k->c->diags);
    f->n_devices = 1;
    f->devices[0] = (struct plan_device){
        .name = "",
        .peak_bytes = plan_facts_is_known(f->peak_bytes) ? f->peak_bytes : f->liveness_bytes,
        .memory_bytes = INT64_MAX,
        .busy_cost = f->cost,
        .n_nodes = f->n_nodes};
    return ST_OK;
}

// Several devices: the peak is that of the fullest one that executes nodes; the host's memory only
// stores.
static status set_devices(const struct figures *k) {
    const struct model *m = k->m;
    struct plan_facts *f = k->f;
    size_t n_devices = m->device_names.n;
    int64_t *peak = ARENA_ARRAY(k->c->arena, int64_t, n_devices);
    int64_t *memory = ARENA_ARRAY(k->c->arena, int64_t, n_devices);
    f->devices = ARENA_ARRAY(k->c->arena, struct plan_device, n_devices);
    if (!peak || !memory || !f->devices)
        return diag_out_of_memory(k->c->diags);
    bool has_memory = pairs_get(&m->metadata, KEY_DEVICE_MEMORY);
    if (has_memory && !devices_memory(m, memory))
        return diag_error(k->c->diags, DIAG_MALFORMED, loc_file(m->path),
                          "%s is not one number for each device", KEY_DEVICE_MEMORY);
    status st = device_peaks(m->graph, k->c->arena, k->c->diags, peak);
    if (st)
        return st;
    f->n_devices = n_devices;
    for (size_t i = 0; i < n_devices; i++)
        f->devices[i] =
            (struct plan_device){.name = m->device_names.at[i],
                                 .peak_bytes = peak[i],
                                 .memory_bytes = has_memory ? memory[i] : INT64_MAX,
                                 .busy_cost = plan_facts_is_known(f->cost) ? 0 : f->cost};
    for (size_t i = 0; i < m->graph->order.n; i++) {
        const struct node *n = graph_node(m->graph, m->graph->order.at[i]);
        if (!n->device || has_role(n, "transfer"))
            continue;
        struct plan_device *at = &f->devices[n->device - 1];
        at->n_nodes++;
        if (plan_facts_is_known(at->busy_cost))
            at->busy_cost += cost_of(k, n); // fits: a part of f->cost
    }
    f->peak_bytes = 0;
    for (size_t i = 0; i < n_devices; i++)
        if (f->devices[i].n_nodes && f->devices[i].peak_bytes > f->peak_bytes)
            f->peak_bytes = f->devices[i].peak_bytes;
    return ST_OK;
}

static status measure_plan(struct figures *k) {
    status st = open_figures(k, true);
    if (!st)
        st = read_peaks(k);
    if (!st && !plan_facts_is_known(k->f->cost))
        st = add_costs(k, &k->f->cost);
    if (st)
        return st;
    count_nodes(k);
    return k->m->device_names.n ? set_devices(k) : set_device(k);
}

status plan_figures(const struct model *step, const struct model *plan, struct pass_context *c,
                    struct plan_facts *f) {
    struct arena scratch = arena_make(c->arena->mem);
    status st = measure_step(&(struct figures){.m = step, .scratch = &scratch, .c = c, .f = f});
    arena_free(&scratch);
    if (!st)
        st = measure_plan(&(struct figures){.m = plan, .scratch = &scratch, .c = c, .f = f});
    arena_free(&scratch);
    return st;
}
