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

enum { SMALL_SHARE = 100, MIN_SMALL_REGION = 4 << 20, TABLE_SHARE = 32 };

#define MIN_OPSET     15        // Shape of a part of the dimensions
#define MAX_STEPS     200000000 // of all searches: some seconds
#define ATTEMPT_STEPS 60000000  // of one

struct steering {
    struct model *m;
    struct pass_context *c;
    struct ort_requests requests[ORT_N_LEVELS];
    struct steer_lanes lanes;
    struct steer_layout layout[STEER_MAX_LANES];
    int64_t steps; // of work that are left
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
    return setup->height + setup->region_bytes / TABLE_SHARE + 3 * setup->small_region_bytes +
           plain + ort_loaded_graph_bytes(g, true);
}

// Searches at one height, and inserts what is found into the graph of `m`.
static status insert(struct steering *s, struct model *m, const struct steer_setup *setup,
                     struct steer_ops *ops) {
    int64_t steps = ATTEMPT_STEPS;
    struct arena *a = s->c->arena;
    if (!steer_search(&s->lanes, s->layout, setup, &steps, a, ops))
        return diag_out_of_memory(s->c->diags);
    s->steps -= ATTEMPT_STEPS - steps;
    return ops->found ? steer_control(m->graph, &s->lanes, ops, a, s->c->diags) : ST_OK;
}

// One height; keeps its result if it is the best so far. `*as_planned`: no other height is better.
static status attempt(struct steering *s, int32_t slack_permille, bool *as_planned) {
    struct arena a = arena_make(s->c->arena->mem);
    struct steer_setup setup = choose_setup(s, slack_permille);
    struct steer_ops ops = {0};
    struct model *copy = model_copy(s->m, &a);
    int64_t n_bytes = INT64_MAX;
    status st = copy ? insert(s, copy, &setup, &ops) : diag_out_of_memory(s->c->diags);
    if (ops.found && !st)
        st = simulate(copy, s->c->arena->mem, s->c->diags, &n_bytes);
    if (!st)
        pass_progress(s->c,
                      "steer: height %lld in %u lanes: %lld B, %u plugs, %u holds, %lld steps left",
                      (long long)setup.height, s->lanes.n, ops.found ? (long long)n_bytes : -1LL,
                      ops.n_plugs, ops.n_holds, (long long)s->steps);
    *as_planned = ops.found && !st && n_bytes <= planned_bytes(s, &setup, copy->graph);
    if (!st && n_bytes < s->out->after_bytes)
        *s->out = (struct steer_result){.before_bytes = s->out->before_bytes,
                                        .after_bytes = n_bytes,
                                        .n_nodes =
                                            (uint32_t)(copy->graph->nodes.n - s->m->graph->nodes.n),
                                        .n_plugs = ops.n_plugs,
                                        .n_holds = ops.n_holds,
                                        .recipe = {s->lanes.n, slack_permille}};
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

// The heights, from the smallest: success is not monotone, and a search that fails is short.
static status search(struct steering *s) {
    static const int32_t slacks[] = {10, 20, 30, 40, 60, 80, 110, 150, 200, 270, 350, 450};
    bool as_planned = false;
    status st = steer_gaps_find(&s->lanes, s->c->arena) ? ST_OK : diag_out_of_memory(s->c->diags);
    for (size_t i = 0; i < sizeof slacks / sizeof *slacks && !st && !as_planned; i++)
        if (s->steps > 0 && !(s->c->stop && stop_now(s->c->stop)))
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
    st = search(&s);
    if (!st && !out->n_nodes && s.lanes.n > 1) {
        s.lanes.n = 1;
        st = search(&s);
    }
    return st || !out->n_nodes ? st : steer_repeat(m, c, out->recipe);
}

status steer_repeat(struct model *m, struct pass_context *c, struct steer_recipe recipe) {
    struct steering s = {.m = m, .c = c, .steps = MAX_STEPS};
    struct steer_ops ops;
    status st = recipe.n_lanes ? make_lanes(&s) : ST_OK;
    if (st || !recipe.n_lanes)
        return st;
    s.lanes.n = recipe.n_lanes;
    struct steer_setup setup = choose_setup(&s, recipe.slack_permille);
    if (!steer_gaps_find(&s.lanes, c->arena))
        return diag_out_of_memory(c->diags);
    return insert(&s, m, &setup, &ops);
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

static const struct option_spec options[] = {
    {"Budget", 0, OPTION_GROUP, NULL, NULL, 0, 0, NULL},
    {"steer", 0, OPTION_CHOICE, "on|off", "on", 0, 0,
     "whether plans for ONNX Runtime get control nodes that keep its arena to a layout "
     "(docs/runtime.md)"},
    {0}};

const struct pass pass_steer = {
    .name = "steer",
    .summary = "make ONNX Runtime's arena keep to a layout",
    .needs = FACT_TOPO | FACT_SHAPES | FACT_COSTS,
    .options = options,
    .run = run,
};
