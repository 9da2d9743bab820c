// The runtime model: see runtime.h. Stages:
//   1. execution order: file order, or ONNX Runtime's (ort_order.c);
//   2. storages of the graph (ir/storage), merged into the buffers that the runtime's static
//      planner allocates (runtime_alloc.c);
//   3. liveness of the buffers in that order: bytes held at each step, and their peak;
//   4. the largest buffers at the peak, for messages;
//   5. with ONNX Runtime's arena, the memory of the process after each run (ort_session.c); in the
//      browser, the memory of WebAssembly (web_session.c).
// For ONNX Runtime, the stages run a second time on a copy of the model with its fusions applied
// (runtime_fuse.c): the optimization level is the user's choice, so the peak is that of the worse
// level. tests/runtime compares the model with real runs.
#include "ir/runtime/runtime.h"

#include <assert.h>
#include <string.h>

#include "ir/base/checked.h"
#include "ir/copy.h"
#include "ir/runtime/ort_loaded.h"
#include "ir/runtime/ort_order.h"
#include "ir/runtime/ort_requests.h"
#include "ir/runtime/ort_session.h"
#include "ir/runtime/ort_shapes.h"
#include "ir/runtime/runtime_alloc.h"
#include "ir/runtime/runtime_fold.h"
#include "ir/runtime/runtime_fuse.h"
#include "ir/runtime/web_session.h"
#include "ir/storage.h"

static_assert((int)RUNTIME_RUNS == (int)ORT_SESSION_RUNS, "the same runs");

bool runtime_find(const char *name, enum runtime *out) {
    static const char *const names[] = {"ort", "ort-lean", "web", "file-order"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (enum runtime)i;
            return true;
        }
    return false;
}

// Keeps the RUNTIME_TOP largest in descending order; among equals, the first.
static void add_top(struct runtime_report *r, value_id v, int64_t n_bytes) {
    size_t i = r->n_top;
    while (i > 0 && r->top[i - 1].n_bytes < n_bytes)
        i--;
    if (i == RUNTIME_TOP)
        return;
    size_t end = r->n_top < RUNTIME_TOP ? r->n_top++ : RUNTIME_TOP - 1;
    memmove(&r->top[i + 1], &r->top[i], (end - i) * sizeof r->top[0]);
    r->top[i] = (struct runtime_tensor){v, n_bytes};
}

static void describe(const struct graph *g, const struct storage *s, const struct liveness *l,
                     struct runtime_report *r) {
    r->peak_bytes = l->peak_bytes;
    r->persistent_bytes = s->persistent_bytes;
    r->held_bytes = l->held_bytes;
    if (!r->n_order)
        return;
    r->peak_node = r->order[l->peak_step];
    r->workspace_bytes = graph_node(g, r->peak_node)->workspace_bytes;
    for (uint32_t i = 1; i < s->n; i++)
        if (!s->is_persistent[i] && l->from[i] <= l->peak_step && l->peak_step <= l->to[i])
            add_top(r, s->first[i], s->bytes[i]);
}

static status find_order(const struct graph *g, enum runtime how, struct arena *a, struct diags *d,
                         struct runtime_report *out) {
    if (runtime_is_ort(how)) {
        struct ort_order o;
        status st = ort_order(g, a, d, &o);
        out->order = o.at;
        out->n_order = o.n;
        return st;
    }
    out->order = arena_copy(a, g->order.at, g->order.n * sizeof *out->order);
    out->n_order = g->order.n;
    return out->order ? ST_OK : diag_out_of_memory(d);
}

// The peak of one optimization level: `g` is the graph after the level's fusions.
static status level_peak(const struct graph *g, enum runtime how, struct arena *a, struct diags *d,
                         struct runtime_report *out) {
    struct arena scratch = arena_make(a->mem);
    struct storage s;
    struct liveness l;
    *out = (struct runtime_report){0};
    status st = find_order(g, how, a, d, out);
    if (!st)
        st = storage_of(g, &scratch, d, &s);
    struct node_list order = {out->order, out->n_order};
    const bool *known = runtime_is_ort(how) ? ort_shapes_known(g, false, &scratch) : NULL;
    if (!st && runtime_is_ort(how))
        st = known ? runtime_alloc(g, order, known, &scratch, d, &s) : diag_out_of_memory(d);
    if (!st)
        st = liveness_of(g, &s, order, &scratch, d, &l);
    if (!st) {
        describe(g, &s, &l, out);
        out->held_bytes = arena_copy(a, l.held_bytes, out->n_order * sizeof *l.held_bytes);
        st = out->held_bytes ? ST_OK : diag_out_of_memory(d);
    }
    arena_free(&scratch);
    return st;
}

static void raise(int64_t *to, int64_t n_bytes) {
    if (n_bytes > *to)
        *to = n_bytes;
}

// What is alive at the levels that fuse nodes.
static status fused_peak(const struct model *m, struct mem *mem, struct diags *d,
                         int64_t *n_bytes) {
    struct arena scratch = arena_make(mem);
    struct model *fused = model_copy(m, &scratch);
    struct runtime_report r;
    status st = fused ? runtime_fuse(fused->graph, &scratch, d) : diag_out_of_memory(d);
    if (!st)
        st = level_peak(fused->graph, RUNTIME_ORT, &scratch, d, &r);
    *n_bytes = st ? 0 : r.peak_bytes;
    arena_free(&scratch);
    return st;
}

// A session of one level: its runs and their peak.
static status add_session(const struct model *m, enum ort_level level, struct mem *mem,
                          struct diags *d, struct runtime_report *out) {
    struct arena scratch = arena_make(mem);
    struct ort_events e;
    struct ort_session session;
    int64_t *peak = level < ORT_EXTENDED ? &out->plain_peak_bytes : &out->fused_peak_bytes;
    status st = runtime_events(m, (struct ort_setting){level, m->is_wrapped}, &scratch, d, &e);
    if (!st && ort_session_of(&e, !m->is_wrapped, &scratch, &session))
        st = diag_out_of_memory(d);
    for (int i = 0; i < RUNTIME_RUNS && !st; i++) {
        int64_t n_bytes;
        if (!checked_add(out->persistent_bytes, session.run_bytes[i], &n_bytes))
            st = diag_error(d, DIAG_LIMIT, loc_file(m->path), "the step needs over 2^63 bytes");
        raise(&out->run_bytes[i], n_bytes);
        raise(peak, n_bytes);
    }
    arena_free(&scratch);
    return st;
}

static status add_sessions(const struct model *m, struct mem *mem, struct diags *d,
                           struct runtime_report *out) {
    status st = ST_OK;
    out->plain_peak_bytes = out->fused_peak_bytes = 0;
    for (enum ort_level l = ORT_DISABLED; l < ORT_N_LEVELS && !st; l++)
        st = add_session(m, l, mem, d, out);
    return st;
}

// In WebAssembly: the size of the memory at each level.
static status add_web(const struct model *m, struct mem *mem, struct diags *d,
                      struct runtime_report *out) {
    status st = ST_OK;
    out->plain_peak_bytes = out->fused_peak_bytes = 0;
    for (enum ort_level l = ORT_DISABLED; l < ORT_N_LEVELS && !st; l++) {
        struct arena scratch = arena_make(mem);
        struct ort_events e;
        int64_t end = 0;
        st = runtime_events(m, (struct ort_setting){l, false}, &scratch, d, &e);
        if (!st && web_session_of(m->graph, &e, &scratch, &end))
            st = diag_out_of_memory(d);
        raise(l < ORT_EXTENDED ? &out->plain_peak_bytes : &out->fused_peak_bytes,
              web_memory_bytes(end));
        arena_free(&scratch);
    }
    return st;
}

status runtime_peak(const struct model *m, enum runtime how, struct arena *a, struct diags *d,
                    struct runtime_report *out) {
    assert(m && m->graph && a && d && out);
    status st = level_peak(m->graph, how, a, d, out);
    out->plain_peak_bytes = out->fused_peak_bytes = out->peak_bytes;
    if (!st && how == RUNTIME_ORT_LEAN)
        st = fused_peak(m, a->mem, d, &out->fused_peak_bytes);
    if (!st && how == RUNTIME_ORT)
        st = add_sessions(m, a->mem, d, out);
    if (!st && how == RUNTIME_WEB)
        st = add_web(m, a->mem, d, out);
    bool is_wrapped = how == RUNTIME_ORT && m->is_wrapped;
    bool has_session = how == RUNTIME_ORT || how == RUNTIME_ORT_LEAN; // web counts it in its heap
    out->session_bytes = has_session ? ort_loaded_graph_bytes(m->graph, is_wrapped) : 0;
    out->peak_bytes = out->plain_peak_bytes;
    raise(&out->peak_bytes, out->fused_peak_bytes);
    for (int i = 0; i < RUNTIME_RUNS && how != RUNTIME_ORT; i++)
        out->run_bytes[i] = out->peak_bytes;
    return st;
}

// A sum over the largest number is that number: it fits no budget.
static void add_bytes(int64_t *sum, int64_t n_bytes) {
    if (!checked_add(*sum, n_bytes, sum))
        *sum = INT64_MAX;
}

void runtime_count_session(struct runtime_report *r) {
    assert(r);
    add_bytes(&r->peak_bytes, r->session_bytes);
    add_bytes(&r->plain_peak_bytes, r->session_bytes);
    add_bytes(&r->fused_peak_bytes, r->session_bytes);
    for (int i = 0; i < RUNTIME_RUNS; i++)
        add_bytes(&r->run_bytes[i], r->session_bytes);
}

status ort_requests_of(const struct graph *g, bool is_wrapped, struct arena *a, struct diags *d,
                       struct ort_requests *out) {
    assert(g && a && d && out);
    struct ort_order o;
    struct liveness l;
    const bool *known = ort_shapes_known(g, is_wrapped, a);
    *out = (struct ort_requests){.g = g};
    status st = known ? ort_order(g, a, d, &o) : diag_out_of_memory(d);
    if (!st)
        st = storage_of(g, a, d, &out->s);
    if (st)
        return st;
    out->order = (struct node_list){o.at, o.n};
    st = runtime_alloc(g, out->order, known, a, d, &out->s);
    if (!st)
        st = liveness_of(g, &out->s, out->order, a, d, &l);
    struct ort_execution x = {g, out->order, &out->s, &l, is_wrapped ? known : NULL};
    if (!st && ort_events_of(&x, a, &out->e))
        st = diag_out_of_memory(d);
    return st;
}

status runtime_requests(const struct model *m, struct ort_setting how, struct arena *a,
                        struct diags *d, struct ort_requests *out) {
    assert(m && m->graph && how.level < ORT_N_LEVELS && a && d && out);
    bool folds = how.level > ORT_DISABLED && runtime_folds(m->graph);
    bool is_changed = folds || how.level >= ORT_EXTENDED;
    struct model *copy = is_changed ? model_copy(m, a) : NULL;
    status st = is_changed && !copy ? diag_out_of_memory(d) : ST_OK;
    if (!st && folds)
        runtime_fold(copy->graph);
    if (!st && how.level >= ORT_EXTENDED)
        st = runtime_fuse(copy->graph, a, d);
    if (!st)
        st = ort_requests_of(copy ? copy->graph : m->graph, how.is_wrapped, a, d, out);
    return st;
}

status runtime_events(const struct model *m, struct ort_setting how, struct arena *a,
                      struct diags *d, struct ort_events *out) {
    struct ort_requests r;
    status st = runtime_requests(m, how, a, d, &r);
    if (!st)
        *out = r.e;
    return st;
}

void runtime_print_top(struct str *out, const struct model *m, const struct runtime_report *r) {
    for (size_t i = 0; i < r->n_top; i++) {
        str_addf(out, "%s%s (", i ? ", " : "", graph_value(m->graph, r->top[i].value)->name);
        str_add_bytes(out, r->top[i].n_bytes);
        str_add_char(out, ')');
    }
}
