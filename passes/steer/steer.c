// Steering: see steer.h. For each of a few heights above the liveness peak, it searches where
// control nodes must act (steer_search.c), inserts them into a copy of the model (steer_control.c),
// and simulates the result at every optimization level. A smaller height needs more control nodes,
// and not every search succeeds; so the simulation of the final graph decides. The search follows
// the requests of all levels side by side; where that finds nothing, those of the graph as it is
// written alone.
#include "passes/steer/steer.h"

#include "ir/copy.h"
#include "ir/runtime/ort_loaded.h"
#include "ir/runtime/ort_session.h"
#include "ir/runtime/runtime.h"
#include "passes/steer/steer_control.h"
#include "passes/steer/steer_search.h"

enum { SMALL_SHARE = 200, MIN_SMALL_REGION = 4 << 20, TABLE_SHARE = 32 };

#define MIN_OPSET 15         // Shape of a part of the dimensions
#define MAX_STEPS 2000000000 // of all searches: some seconds

struct steering {
    struct model *m;
    struct pass_context *c;
    struct ort_requests requests[ORT_N_LEVELS];
    struct steer_lanes lanes;
    struct steer_layout layout[STEER_MAX_LANES];
    struct steer_ops best;
    uint32_t best_lanes; // that the best search has followed
    int64_t steps;       // of work that are left
    struct steer_result *out;
};

// The most that any run adds to the loaded memory, over all optimization levels, and the memory of
// the session for the graph.
static status simulate(const struct model *m, struct mem *mem, struct diags *d, int64_t *n_bytes) {
    status st = ST_OK;
    int64_t most = 0;
    for (enum ort_level l = ORT_DISABLED; l < ORT_N_LEVELS && !st; l++) {
        struct arena a = arena_make(mem);
        struct ort_events e;
        struct ort_session s;
        st = runtime_events(m, (struct ort_setting){l, true}, &a, d, &e);
        if (!st && ort_session_of(&e, false, &a, &s))
            st = diag_out_of_memory(d);
        for (int i = 0; i < ORT_SESSION_RUNS && !st; i++)
            if (s.run_bytes[i] > most)
                most = s.run_bytes[i];
        arena_free(&a);
    }
    *n_bytes = most + ort_loaded_graph_bytes(m->graph, true);
    return st;
}

static int64_t power_above(int64_t n_bytes, int64_t least) {
    while (least < n_bytes)
        least *= 2;
    return least;
}

// The regions for a height that is so much above that of the layouts.
static struct steer_setup choose_setup(const struct steering *s, int32_t slack_permille) {
    int64_t height = 0, small = 0;
    for (uint32_t x = 0; x < s->lanes.n; x++) {
        if (s->layout[x].n_bytes > height)
            height = s->layout[x].n_bytes;
        if (s->lanes.trace[x].small_peak_bytes > small)
            small = s->lanes.trace[x].small_peak_bytes;
    }
    struct steer_setup setup = {.small_region_bytes = power_above(2 * small, MIN_SMALL_REGION)};
    height += height / 1000 * slack_permille;
    setup.height = (height + STEER_UNIT_BYTES - 1) / STEER_UNIT_BYTES * STEER_UNIT_BYTES;
    setup.region_bytes = power_above(setup.height, 1 << 20);
    if (setup.region_bytes - setup.height <= setup.small_region_bytes)
        setup.height = setup.region_bytes; // what is left would be taken from the small region
    return setup;
}

// What a session needs if its arena keeps to the regions.
static int64_t planned_bytes(const struct steering *s, const struct steer_setup *setup,
                             const struct graph *g) {
    int64_t plain = 0;
    for (uint32_t x = 0; x < s->lanes.n; x++)
        if (s->lanes.trace[x].plain_peak_bytes > plain)
            plain = s->lanes.trace[x].plain_peak_bytes;
    return setup->height + setup->region_bytes / TABLE_SHARE + 2 * setup->small_region_bytes +
           plain + ort_loaded_graph_bytes(g, true);
}

// One height; keeps its result if it is the best so far. `*as_planned`: no other height is better.
static status attempt(struct steering *s, int32_t slack_permille, bool *as_planned) {
    struct arena a = arena_make(s->c->arena->mem);
    struct diags *d = s->c->diags;
    struct steer_setup setup = choose_setup(s, slack_permille);
    struct steer_ops ops;
    int64_t n_bytes = 0;
    struct model *copy = model_copy(s->m, &a);
    status st = copy ? ST_OK : diag_out_of_memory(d);
    if (!st && !steer_search(&s->lanes, s->layout, &setup, &s->steps, s->c->arena, &ops))
        st = diag_out_of_memory(d);
    bool found = !st && ops.found;
    if (found)
        st = steer_control(copy->graph, &s->lanes, &ops, &a, d);
    if (found && !st)
        st = simulate(copy, s->c->arena->mem, d, &n_bytes);
    uint32_t n_nodes = copy ? (uint32_t)(copy->graph->nodes.n - s->m->graph->nodes.n) : 0;
    if (found && !st)
        pass_progress(s->c, "steer: height %lld: %lld B, %u plugs, %u holds, %u nodes",
                      (long long)setup.height, (long long)n_bytes, ops.n_plugs, ops.n_holds,
                      n_nodes);
    *as_planned = found && !st && n_bytes <= planned_bytes(s, &setup, copy->graph);
    if (!st && found && n_bytes < s->out->after_bytes) {
        s->best = ops;
        s->best_lanes = s->lanes.n;
        *s->out =
            (struct steer_result){s->out->before_bytes, n_bytes, n_nodes, ops.n_plugs, ops.n_holds};
    }
    arena_free(&a);
    return st;
}

// The requests at the levels that may differ: level basic folds, extended and all fuse.
static status make_lanes(struct steering *s) {
    struct arena *a = s->c->arena;
    struct steer_weight weight = {SMALL_SHARE, -1};
    struct steer_lanes *l = &s->lanes;
    status st = ST_OK;
    for (enum ort_level level = ORT_DISABLED; level < ORT_N_LEVELS && !st; level++) {
        struct ort_requests *r = &s->requests[level];
        struct ort_setting how = {level, true};
        st = runtime_requests(s->m, how, a, s->c->diags, r);
        if (st || (level == ORT_BASIC && r->g == s->m->graph))
            continue; // folds nothing
        if (!steer_trace_of(r, weight, a, &l->trace[l->n]))
            return diag_out_of_memory(s->c->diags);
        weight.small_bytes = l->trace[0].small_bytes;
        st = steer_layout_of(&l->trace[l->n], a, s->c->diags, &s->layout[l->n]);
        l->n++;
    }
    return st;
}

// The heights, from the smallest.
static status search(struct steering *s) {
    static const int32_t slacks[] = {10, 20, 30, 40, 60, 80, 110, 150, 200};
    bool as_planned = false;
    status st = steer_gaps_find(&s->lanes, s->c->arena) ? ST_OK : diag_out_of_memory(s->c->diags);
    for (size_t i = 0; i < sizeof slacks / sizeof *slacks && !st && !as_planned; i++)
        if (s->steps > 0 && !(s->c->stop && stop_raised(s->c->stop)))
            st = attempt(s, slacks[i], &as_planned);
    return st;
}

status steer_model(struct model *m, struct pass_context *c, struct steer_result *out) {
    struct steering s = {.m = m, .c = c, .steps = MAX_STEPS, .out = out};
    *out = (struct steer_result){0};
    status st = simulate(m, c->arena->mem, c->diags, &out->before_bytes);
    out->after_bytes = out->before_bytes;
    if (st || model_opset(m, "") < MIN_OPSET)
        return st;
    st = make_lanes(&s);
    if (st || !s.lanes.trace[0].n_big)
        return st;
    uint32_t n_lanes = s.lanes.n;
    st = search(&s);
    struct steer_lanes all = s.lanes;
    s.lanes.n = 1;
    if (!st && !out->n_nodes && n_lanes > 1)
        st = search(&s);
    if (!st && out->n_nodes)
        st = steer_control(m->graph, s.best_lanes == 1 ? &s.lanes : &all, &s.best, c->arena,
                           c->diags);
    return st;
}

static status run(struct model *m, struct pass_context *c) {
    struct steer_result r;
    status st = steer_model(m, c, &r);
    if (!st)
        pass_progress(c, "steer: %lld B instead of %lld B, %u plugs, %u holds, %u control nodes",
                      (long long)r.after_bytes, (long long)r.before_bytes, r.n_plugs, r.n_holds,
                      r.n_nodes);
    return st;
}

const struct pass pass_steer = {
    .name = "steer",
    .summary = "make ONNX Runtime's arena keep to a layout",
    .needs = FACT_TOPO | FACT_SHAPES | FACT_COSTS,
    .run = run,
};
