// What the runtime model says of a written file, for comparison with the real ONNX Runtime.
//
//     predict order MODEL.onnx    the names of its nodes in the order in which they run, one a line
//     predict top MODEL.onnx      what is alive at the peak
//     predict peak MODEL.onnx     bytes: peak as written, peak with fusions, persistent memory of
//                                 both
//     predict events MODEL.onnx LEVEL   the requests of a run to the allocator, one a line
//     predict runs MODEL.onnx LEVEL     the memory of a session with default options, run by run
//
// LEVEL: the optimization level: disabled (when there is none), basic, extended or all.
#include <stdio.h>
#include <string.h>

#include "ir/runtime/runtime.h"
#include "tests/runtime/predicted.h"

struct run {
    struct arena arena;
    struct diags d;
    struct model *m;
};

static const char *name_of(const struct graph *g, const struct node *n) {
    return n->name ? n->name : graph_value(g, n->out[0])->name;
}

static status predict(struct run *r, const char *what) {
    struct runtime_report report;
    status st = runtime_peak(r->m, RUNTIME_ORT, &r->arena, &r->d, &report);
    if (st)
        return st;
    if (strcmp(what, "peak") == 0)
        printf("%lld %lld %lld\n", (long long)report.plain_peak_bytes,
               (long long)report.fused_peak_bytes, (long long)report.persistent_bytes);
    for (size_t i = 0; strcmp(what, "order") == 0 && i < report.n_order; i++)
        puts(name_of(r->m->graph, graph_node(r->m->graph, report.order[i])));
    if (strcmp(what, "top") == 0) {
        struct str s = str_make(&r->arena);
        runtime_print_top(&s, r->m, &report);
        printf("%s at %s\n", str_text(&s), node_path(r->m->graph, report.peak_node, &r->arena));
    }
    return ST_OK;
}

// One line per request: A or F, buffer, bytes, kind, operator and name of the node that makes it.
static status print_events(struct run *r, const struct ort_events *e) {
    const struct graph *g = r->m->graph;
    for (size_t i = 0; i < e->list.n; i++) {
        const struct ort_buffer *b = &e->buffers.at[e->list.at[i].buffer];
        printf("%c %u %lld %d %s %s\n", e->list.at[i].is_alloc ? 'A' : 'F', e->list.at[i].buffer,
               (long long)b->n_bytes, (int)b->kind, b->node.i ? graph_node(g, b->node)->type : "If",
               b->node.i ? name_of(g, graph_node(g, b->node)) : "");
    }
    return ST_OK;
}

// The memory of the session after each run, in bytes: without and with memory patterns.
static status print_runs(struct run *r, const struct ort_events *e) {
    struct ort_session plain, pattern;
    status st = ort_session_of(e, false, &r->arena, &plain);
    if (!st)
        st = ort_session_of(e, true, &r->arena, &pattern);
    for (int i = 0; i < ORT_SESSION_RUNS && !st; i++)
        printf("%lld %lld\n", (long long)plain.run_bytes[i], (long long)pattern.run_bytes[i]);
    return st;
}

static status answer(struct run *r, const char *path, const char *what, const char *level) {
    struct ort_events e;
    if (strcmp(what, "events") != 0 && strcmp(what, "runs") != 0) {
        r->m = predicted_model(path, &r->arena, &r->d);
        return predict(r, what);
    }
    r->m = predicted_events(path, level, &r->arena, &e);
    return strcmp(what, "runs") == 0 ? print_runs(r, &e) : print_events(r, &e);
}

int main(int n_args, char **args) {
    struct mem mem = mem_make(MEM_UNLIMITED);
    struct run r = {.arena = arena_make(&mem)};
    if (n_args < 3 || n_args > 4)
        return ST_USAGE;
    r.d = diags_make(&r.arena);
    status st = answer(&r, args[2], args[1], n_args > 3 ? args[3] : "disabled");
    model_close(r.m);
    for (size_t i = 0; st && i < r.d.list.n; i++)
        fprintf(stderr, "%s\n", r.d.list.at[i].text);
    arena_free(&r.arena);
    return (int)st;
}
