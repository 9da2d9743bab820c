// The file order of the baseline step. ONNX Runtime starts from the leaves of a graph, the last one
// in the file first, and computes what each one needs (ir/runtime/ort_order.c). In the order in
// which gradients are built, the last leaf is a gradient of the first layer: it pulls in the
// forward pass and nearly all of the backward pass, and the gradients that the other layers'
// weights wait for stay alive until then. So the leaves go to the end of the file, those of the
// last layer last. That order is kept only if less is alive at the peak: a network whose large
// weights are in its last layers is better off when their gradients come last.
#include <string.h>

#include "ir/runtime/ort_order.h"
#include "ir/storage.h"
#include "passes/plan/plan_inner.h"
#include "passes/plan/step.h"

static void mark_read(void *to, value_id v, node_id user) {
    (void)user;
    ((bool *)to)[v.i] = true;
}

static bool is_leaf(const struct node *n, const bool *is_read) {
    for (uint32_t k = 0; k < n->n_out; k++)
        if (is_read[n->out[k].i])
            return false;
    return true;
}

// The leaves behind all other nodes, in reverse.
static bool leaves_last(const struct graph *g, struct arena *a, node_id *out) {
    size_t n = g->order.n, first = 0, last = n;
    bool *is_read = ARENA_ARRAY(a, bool, g->values.n);
    if (!is_read)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct node *node = graph_node(g, g->order.at[i]);
        for (uint32_t k = 0; k < node->n_in; k++)
            is_read[node->in[k].i] = true;
        node_captured(g, g->order.at[i], mark_read, is_read);
    }
    is_read[0] = false; // an omitted operand
    for (size_t i = 0; i < n; i++) {
        node_id id = g->order.at[i];
        out[is_leaf(graph_node(g, id), is_read) ? --last : first++] = id;
    }
    return true;
}

// What is alive at the peak when ONNX Runtime runs the graph in this file order.
static status liveness_peak(const struct graph *g, struct arena *a, struct diags *d,
                            int64_t *bytes) {
    struct storage s;
    struct ort_order o;
    struct liveness l;
    status st = storage_of(g, a, d, &s);
    if (!st)
        st = ort_order(g, a, d, &o);
    if (!st)
        st = liveness_of(g, &s, (struct node_list){o.at, o.n}, a, d, &l);
    *bytes = st ? 0 : l.peak_bytes;
    return st;
}

status arrange_for(struct model *m, enum runtime r, struct pass_context *c) {
    struct graph *g = m->graph;
    if (!runtime_is_ort(r) || options_flag(c->options, "inference")) // its outputs are the leaves
        return ST_OK;
    struct arena scratch = arena_make(c->arena->mem);
    size_t bytes = g->order.n * sizeof *g->order.at;
    node_id *before = arena_copy(&scratch, g->order.at, bytes),
            *after = ARENA_ARRAY(&scratch, node_id, g->order.n);
    int64_t peak_before, peak_after;
    bool fits = before && after && leaves_last(g, &scratch, after);
    status st =
        fits ? liveness_peak(g, &scratch, c->diags, &peak_before) : diag_out_of_memory(c->diags);
    if (!st) {
        memcpy(g->order.at, after, bytes);
        st = liveness_peak(g, &scratch, c->diags, &peak_after);
        if (st || peak_after >= peak_before)
            memcpy(g->order.at, before, bytes);
    }
    arena_free(&scratch);
    return st;
}

status step_arrange(struct model *m, struct pass_context *c) {
    enum runtime r;
    runtime_find(options_text(c->options, "runtime"), &r); // the option has no other values
    return arrange_for(m, r, c);
}
