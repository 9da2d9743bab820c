// The pass `steer`: see steer.h. For each of a few heights above the liveness peak, it searches
// where control nodes must act (steer_search.c), inserts them into a copy of the model
// (steer_control.c), and simulates the result at every optimization level. A smaller height needs
// more control nodes, and not every search succeeds; so the simulation of the final graph decides.
#include "passes/steer/steer.h"

#include "ir/copy.h"
#include "ir/runtime/ort_session.h"
#include "ir/runtime/runtime.h"
#include "passes/steer/steer_control.h"
#include "passes/steer/steer_search.h"

enum { SMALL_SHARE_FIRST = 200, NODE_BYTES = 10 << 10, MIN_SMALL_REGION = 4 << 20 };

#define MIN_OPSET 15 // Shape of a part of the dimensions

struct steering {
    struct model *m;
    struct pass_context *c;
    struct ort_requests requests;
    struct steer_trace trace;
    struct steer_layout layout;
    struct steer_ops best;
    struct steer_result *out;
};

// The most that any run adds to the loaded memory, over all optimization levels.
static status simulate(const struct model *m, struct mem *mem, struct diags *d, int64_t *n_bytes) {
    status st = ST_OK;
    *n_bytes = 0;
    for (enum ort_level l = ORT_DISABLED; l < ORT_N_LEVELS && !st; l++) {
        struct arena a = arena_make(mem);
        struct ort_events e;
        struct ort_session s;
        st = runtime_events(m, (struct ort_setting){l, true}, &a, d, &e);
        if (!st && ort_session_of(&e, false, &a, &s))
            st = diag_out_of_memory(d);
        for (int i = 0; i < ORT_SESSION_RUNS && !st; i++)
            if (s.run_bytes[i] > *n_bytes)
                *n_bytes = s.run_bytes[i];
        arena_free(&a);
    }
    return st;
}

static int64_t power_above(int64_t n_bytes, int64_t least) {
    while (least < n_bytes)
        least *= 2;
    return least;
}

// One height; keeps its result if it is the best so far.
static status attempt(struct steering *s, int32_t slack_permille) {
    struct arena a = arena_make(s->c->arena->mem);
    struct steer_setup setup = {.small_region_bytes =
                                    power_above(2 * s->trace.small_peak_bytes, MIN_SMALL_REGION)};
    int64_t height = s->layout.n_bytes + s->layout.n_bytes / 1000 * slack_permille;
    setup.height = (height + STEER_UNIT_BYTES - 1) / STEER_UNIT_BYTES * STEER_UNIT_BYTES;
    setup.region_bytes = power_above(setup.height, 1 << 20);
    if (setup.region_bytes - setup.height <= setup.small_region_bytes)
        setup.height = setup.region_bytes; // what is left would be taken from the small region
    struct steer_ops ops;
    int64_t n_bytes = 0;
    struct model *copy = model_copy(s->m, &a);
    status st = copy ? ST_OK : diag_out_of_memory(s->c->diags);
    if (!st && !steer_search(&s->trace, &s->layout, &setup, s->c->arena, &ops))
        st = diag_out_of_memory(s->c->diags);
    bool found = !st && ops.found;
    if (found && !st)
        st = steer_control(copy->graph, &s->requests, &s->trace, &ops, &a, s->c->diags);
    if (found && !st)
        st = simulate(copy, s->c->arena->mem, s->c->diags, &n_bytes);
    uint32_t n_nodes = copy ? (uint32_t)(copy->graph->nodes.n - s->m->graph->nodes.n) : 0;
    if (found && !st)
        pass_progress(s->c, "steer: height %lld: %lld B, %u plugs, %u holds, %u nodes",
                      (long long)setup.height, (long long)n_bytes, ops.n_plugs, ops.n_holds,
                      n_nodes);
    int64_t loaded = (int64_t)n_nodes * NODE_BYTES;
    if (!st && found && n_bytes + loaded < s->out->after_bytes + s->out->loaded_bytes) {
        s->best = ops;
        *s->out = (struct steer_result){s->out->before_bytes, n_bytes,    loaded, n_nodes,
                                        ops.n_plugs,          ops.n_holds};
    }
    arena_free(&a);
    return st;
}

status steer_model(struct model *m, struct pass_context *c, struct steer_result *out) {
    static const int32_t slacks[] = {10, 20, 30, 40, 60, 80, 110, 150, 200};
    struct steering s = {.m = m, .c = c, .out = out};
    *out = (struct steer_result){0};
    status st = simulate(m, c->arena->mem, c->diags, &out->before_bytes);
    out->after_bytes = out->before_bytes;
    if (st || model_opset(m, "") < MIN_OPSET)
        return st;
    st = ort_requests_of(m->graph, true, c->arena, c->diags, &s.requests);
    if (!st && !steer_trace_of(&s.requests, SMALL_SHARE_FIRST, c->arena, &s.trace))
        st = diag_out_of_memory(c->diags);
    if (!st)
        st = steer_layout_of(&s.trace, c->arena, c->diags, &s.layout);
    for (size_t i = 0; i < sizeof slacks / sizeof *slacks && !st && s.trace.n_big; i++)
        st = attempt(&s, slacks[i]);
    if (!st && out->n_nodes)
        st = steer_control(m->graph, &s.requests, &s.trace, &s.best, c->arena, c->diags);
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
