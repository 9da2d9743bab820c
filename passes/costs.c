// Costs: every node gets the time that it takes, in nanoseconds, and the bytes that it allocates
// while it runs. The time comes from the cost rule of its operator (cost_*.c) and the speed of the
// device (cost.h).
#include "ir/pass.h"
#include "passes/cost.h"

// About what one core of a present-day server does in ONNX Runtime's kernels; see docs/costs.md.
static const struct option_spec options[] = {
    {"rate", 0, OPTION_REAL, "GFLOPS", "100", 0, INT32_MAX,
     "arithmetic of the device, in 1e9 operations per second"},
    {"bandwidth", 0, OPTION_REAL, "GBPS", "15", 0, INT32_MAX,
     "memory bandwidth of the device, in 1e9 bytes per second"},
    {"node-overhead", 0, OPTION_REAL, "US", "2", 0, INT32_MAX,
     "time that starting a node takes, in microseconds"},
    {0}};

static status read_device(const struct pass_context *c, struct cost_device *out) {
    *out = (struct cost_device){.rate = options_real(c->options, "rate"),
                                .bandwidth = options_real(c->options, "bandwidth"),
                                .overhead = options_real(c->options, "node-overhead") * 1e3};
    if (out->rate > 0 && out->bandwidth > 0)
        return ST_OK;
    return diag_error(c->diags, DIAG_USAGE, loc_none(),
                      "--rate and --bandwidth must be more than 0");
}

static status run(struct model *m, struct pass_context *c) {
    struct graph *g = m->graph;
    struct cost_device device;
    status st = read_device(c, &device);
    if (!st)
        st = shape_demand(m, c);
    for (size_t i = 0; i < g->order.n && !st; i++) {
        struct node *n = graph_node(g, g->order.at[i]);
        struct cost cost;
        cost_estimate(g, g->order.at[i], c->arena, c->diags, &cost);
        n->cost = cost_time(&cost, &device);
        n->workspace_bytes = cost.workspace_bytes;
    }
    return st;
}

const struct pass pass_costs = {
    .name = "costs",
    .summary = "give every node its time and the bytes that it needs while it runs",
    .needs = FACT_TOPO | FACT_SHAPES,
    .gives = FACT_COSTS,
    .options = options,
    .run = run,
};
