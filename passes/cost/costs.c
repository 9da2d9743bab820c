// The pass `costs`: sets the time of every node, in nanoseconds, and its workspace. Stages: an
// estimate by the cost rule of its operator (cost_*.c) and the speed of the device (cost.h); then
// measured times; then the user's own cost model (cost_source.h).
#include "passes/cost/cost_source.h"
#include "passes/pass.h"

// The defaults are about one core of a server in ONNX Runtime's kernels: see docs/costs.md.
static const struct option_spec options[] = {
    {"Costs", 0, OPTION_GROUP, NULL, NULL, 0, 0, NULL},
    {"rate", 0, OPTION_REAL, "GFLOPS", "100", 0, INT32_MAX,
     "arithmetic of the device, in 1e9 operations per second"},
    {"bandwidth", 0, OPTION_REAL, "GBPS", "15", 0, INT32_MAX,
     "memory bandwidth of the device, in 1e9 bytes per second"},
    {"node-overhead", 0, OPTION_REAL, "US", "2", 0, INT32_MAX,
     "time that starting a node takes, in microseconds"},
    {"profile", 0, OPTION_TEXT, "FILE", NULL, 0, 0,
     "take times from this profile by ONNX Runtime (JSON)"},
    {"costs", 0, OPTION_TEXT, "FILE", NULL, 0, 0, "take costs from this cost model (JSON)"},
    {0}};

status cost_device_read(const struct options *o, struct diags *d, struct cost_device *out) {
    *out = (struct cost_device){.rate = options_real(o, "rate"),
                                .bandwidth = options_real(o, "bandwidth"),
                                .overhead = options_real(o, "node-overhead") * 1e3};
    if (out->rate > 0 && out->bandwidth > 0)
        return ST_OK;
    return diag_error(d, DIAG_USAGE, loc_none(), "--rate and --bandwidth must be more than 0");
}

static status estimate(struct cost_list *list, const struct cost_device *device) {
    const struct graph *g = list->g;
    list->n = g->order.n;
    if (!(list->at = ARENA_ARRAY(list->a, struct cost_line, list->n)))
        return diag_out_of_memory(list->d);
    for (size_t i = 0; i < list->n; i++) {
        struct cost_line *l = &list->at[i];
        l->node = g->order.at[i];
        cost_estimate(list->g, l->node, list->a, list->d, &l->estimate);
        l->time = cost_time(&l->estimate, device);
    }
    return ST_OK;
}

// The options name files, which the caller has read.
static status apply_sources(struct cost_list *list, const struct pass_context *c) {
    const struct cost_sources *s = c->costs;
    if ((options_given(c->options, "profile") && !(s && s->profile)) ||
        (options_given(c->options, "costs") && !(s && s->model)))
        return diag_error(c->diags, DIAG_INTERNAL, loc_none(),
                          "a file that --profile or --costs names was not read");
    status st = s && s->profile ? cost_profile_apply(s->profile, list) : ST_OK;
    return !st && s && s->model ? cost_model_apply(s->model, list) : st;
}

static status run(struct model *m, struct pass_context *c) {
    struct cost_list list = {.g = m->graph, .a = c->arena, .d = c->diags};
    struct cost_device device;
    status st = cost_device_read(c->options, c->diags, &device);
    if (!st)
        st = shape_demand(m, c);
    if (!st)
        st = estimate(&list, &device);
    if (!st)
        st = apply_sources(&list, c);
    if (c->costs && c->costs->measured_share)
        *c->costs->measured_share = list.measured_share;
    for (size_t i = 0; i < list.n && !st; i++) {
        struct node *n = graph_node(m->graph, list.at[i].node);
        n->cost = list.at[i].time;
        n->workspace_bytes = list.at[i].estimate.workspace_bytes;
    }
    return st;
}

const struct pass pass_costs = {
    .name = "costs",
    .summary = "estimate the time and the workspace of every node",
    .needs = FACT_TOPO | FACT_SHAPES,
    .gives = FACT_COSTS,
    .options = options,
    .run = run,
};
