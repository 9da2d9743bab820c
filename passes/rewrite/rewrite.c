// Rewrite: makes the planned order of the graph hold on a runtime. A runtime that executes the file
// in file order needs nothing else. ONNX Runtime chooses an order of its own
// (ir/runtime/ort_order.h), merges nodes that compute the same, and keeps buffers for reuse. So it
// gets control dependencies, built from standard operators that its optimizer cannot remove
// (rewrite_anchor.c). One walk along the order; each node
//
//   1. if heavy (rewrite_heavy.c), is made to run after the previous heavy node: unless it depends
//      on that one anyway, one of its operands becomes an alias that exists only after that node;
//   2. if heavy or recomputed, and if it would be merged into a duplicate (rewrite_duplicates.c),
//      gets such an alias too, which makes it a different expression;
//   3. with --runtime-shapes hidden, if it makes something big whose shape ONNX Runtime would
//      infer, gets the operand that the shape is inferred from as an alias. Then the memory planner
//      matches no shapes and keeps no buffer longer than needed, and nothing big is folded into a
//      constant.
//
// Besides, dead outputs are dropped (rewrite_dead_outputs.c), random Dropouts are protected from
// removal (rewrite_masks.c), running statistics from being overwritten (rewrite_statistics.c),
// nodes are protected from fusions that the baseline step does not have (rewrite_fusions.c), and
// every node is labelled with its role (rewrite_label.c).
//
// The dependencies of 1 are the smallest set that fixes the order of the heavy nodes. Let u, v be
// consecutive heavy nodes. A path from u to v passes light nodes only, since a heavy one on it
// would stand between them. So whether v already runs after u does not depend on what is added for
// other pairs. If it does not, some topological order has v before u, and this pair needs a
// dependency. If all consecutive pairs are ordered, all heavy nodes are, whatever the runtime does
// with the rest, as long as its optimizer leaves heavy nodes and dependencies in place.
//
// The operand that becomes an alias is the one that was made earliest: producers and consumers that
// are adjacent stay adjacent, and the runtime can still fuse them.
#include "passes/rewrite/rewrite.h"

#include <string.h>

#include "ir/keys.h"
#include "ir/runtime/ort_loaded.h"
#include "ir/runtime/runtime.h"
#include "passes/shape/shape.h"

static const struct option_spec options[] = {
    {"Budget", 0, OPTION_GROUP, NULL, NULL, 0, 0, NULL},
    {"runtime", 0, OPTION_CHOICE, "ort|ort-lean|web|file-order", "ort", 0, 0,
     "what the step will run on: ONNX Runtime with its default options, or without its arena "
     "(docs/runtime.md), or a runtime that runs nodes in file order"},
    {"session", 0, OPTION_CHOICE, "auto|counted|apart", "auto", 0, 0,
     "whether the budget and all peaks count what ONNX Runtime's session holds for nodes and "
     "names; auto: unless the tensors of the step are small beside it"},
    {"runtime-shapes", 0, OPTION_CHOICE, "hidden|known", "hidden", 0, 0,
     "whether ONNX Runtime may know the shapes of big tensors and plan to reuse their memory"},
    {0}};

static bool is_weight(const struct graph *g, value_id v) {
    const struct value *at = graph_value(g, v);
    return at->init || at->sparse_init || (at->def.i && graph_node(g, at->def)->op == OP_Constant);
}

// The operand to replace by an alias; n_in: none can be.
static uint32_t choose_operand(const struct rewrite *r, const struct node *n) {
    uint32_t best = n->n_in, best_place = 0;
    uint32_t n_in = n->op == OP_Reshape ? 1 : n->n_in; // see starts_view_chain
    for (uint32_t k = 0; k < n_in; k++) {
        value_id v = n->in[k];
        if (!rewrite_can_anchor(r->g, v))
            continue;
        node_id def = graph_value(r->g, v)->def;
        uint32_t place = is_weight(r->g, v) ? UINT32_MAX : def.i < r->n_nodes ? r->place[def.i] : 0;
        if (best == n->n_in || place < best_place) {
            best = k;
            best_place = place;
        }
    }
    return best;
}

// Adding nodes moves the array of nodes, but not their lists of operands: functions that add nodes
// work on a copy of the node.

// Makes the node run after the latest heavy one; false: none of its operands can be an alias.
static bool add_dependency(struct rewrite *r, node_id id) {
    struct node n = *graph_node(r->g, id);
    uint32_t k = choose_operand(r, &n);
    if (k == n.n_in)
        return false;
    value_id token = r->heavy.i ? rewrite_token(r, r->heavy) : rewrite_hiding_token(r);
    if (!token.i)
        return false;
    n.in[k] = rewrite_anchor(r, n.in[k], token);
    return true;
}

static bool makes_heavy(const struct rewrite *r, node_id id) {
    const struct node *n = graph_node(r->g, id);
    for (uint32_t k = 0; k < n->n_out; k++)
        if (rewrite_is_heavy_value(r, n->out[k]))
            return true;
    return false;
}

// ONNX Runtime replaces a chain of views that starts with a Reshape and ends in a known shape by
// one Reshape, and fails to load the model when the shape of the first one is not a constant.
static bool starts_view_chain(const struct rewrite *r, const struct node *n) {
    const struct uses *uses = &r->uses;
    if (n->op != OP_Reshape || graph_value(r->g, n->out[0])->is_output ||
        uses->start[n->out[0].i + 1] != uses->start[n->out[0].i] + 1)
        return false;
    enum op reader = graph_node(r->g, uses->node[uses->start[n->out[0].i]])->op;
    return reader == OP_Reshape || reader == OP_Squeeze || reader == OP_Unsqueeze;
}

// The node reads an alias, of which ONNX Runtime knows neither shape nor value. All readers of a
// value share one. False: there is no alias.
static bool read_hidden(struct rewrite *r, struct node *n, uint32_t k) {
    value_id v = n->in[k], token = rewrite_hiding_token(r);
    if (token.i && !r->alias[v.i].i)
        r->alias[v.i] = rewrite_anchor(r, v, token);
    if (token.i && !r->b.failed)
        n->in[k] = r->alias[v.i];
    return token.i;
}

static void hide_shape(struct rewrite *r, node_id id) {
    struct node n = *graph_node(r->g, id);
    uint32_t k = ort_shapes_operand(r->g, id);
    if (k == n.n_in || n.in[k].i >= r->n_vals || !rewrite_can_anchor(r->g, n.in[k]) ||
        starts_view_chain(r, &n))
        return;
    bool is_first = !r->alias[n.in[k].i].i;
    r->n_hidden += read_hidden(r, &n, k) && is_first;
}

// Of a constant matrix each product would hold a copy of its own, packed for its kernel.
static void hide_matrix(struct rewrite *r, node_id id) {
    struct node n = *graph_node(r->g, id);
    int64_t n_bytes;
    if (ort_packs(r->g, &n, &n_bytes) && n_bytes > r->light_bytes)
        read_hidden(r, &n, 1);
}

static void rewrite_node(struct rewrite *r, node_id id) {
    struct node n = *graph_node(r->g, id);
    bool heavy = rewrite_is_heavy(r, id), is_view = op_info(n.op)->flags & OPF_VIEW;
    uint32_t reach = rewrite_reach(r, id);
    rewrite_read_masks(r, id);
    rewrite_copy_statistics(r, id);
    bool early = heavy && reach < r->n_heavy;
    bool duplicate = !is_view && rewrite_duplicate(r, id).i && (heavy || n.again.i);
    if (early || duplicate) {
        bool done = add_dependency(r, id);
        r->n_dependencies += early && done;
        r->n_unmerged += duplicate && !early && done;
        r->n_unordered += !done;
        reach = done ? r->n_heavy : reach;
    }
    rewrite_prevent_fusion(r, id);
    if (r->hides_shapes && makes_heavy(r, id) && ort_shapes_inferred(r->g, id, r->known, r->n_vals))
        hide_shape(r, id);
    hide_matrix(r, id);
    bool inferred = ort_shapes_inferred(r->g, id, r->known, r->n_vals);
    for (uint32_t k = 0; k < n.n_out; k++)
        r->known[n.out[k].i] |= inferred;
    if (heavy) {
        r->heavy = id;
        reach = ++r->n_heavy;
    }
    r->reach[id.i] = reach;
}

static status walk(struct rewrite *r) {
    struct graph *g = r->g;
    size_t n = g->order.n;
    node_id *old = arena_copy(r->c->arena, g->order.at, n * sizeof *old);
    if (!old)
        return diag_out_of_memory(r->c->diags);
    for (size_t i = 0; i < n; i++)
        r->place[old[i].i] = (uint32_t)i + 1;
    for (size_t i = 0; i < n && !r->b.failed; i++) {
        size_t before = g->order.n; // control nodes are added behind it
        rewrite_node(r, old[i]);
        for (size_t k = before; k < g->order.n && !r->b.failed; k++)
            if (!VEC_PUSH(r->c->arena, &r->order, g->order.at[k]))
                return diag_out_of_memory(r->c->diags);
        if (!VEC_PUSH(r->c->arena, &r->order, old[i]))
            return diag_out_of_memory(r->c->diags);
    }
    if (!r->b.failed)
        memcpy(g->order.at, r->order.at, r->order.n * sizeof *r->order.at);
    return r->b.failed;
}

static status prepare(struct rewrite *r) {
    struct arena *a = r->c->arena;
    struct graph *g = r->g;
    status st = rewrite_drop_dead_outputs(r);
    if (!st)
        st = rewrite_add_masks(r);
    if (!st && !graph_uses(g, a, &r->uses))
        st = diag_out_of_memory(r->c->diags);
    if (!st)
        st = rewrite_find_fusible(r);
    if (!st)
        st = rewrite_weigh(r);
    if (st)
        return st;
    r->n_nodes = g->nodes.n;
    r->n_vals = g->values.n;
    r->place = ARENA_ARRAY(a, uint32_t, r->n_nodes);
    r->reach = ARENA_ARRAY(a, uint32_t, r->n_nodes);
    r->token = ARENA_ARRAY(a, value_id, r->n_nodes);
    r->alias = ARENA_ARRAY(a, value_id, r->n_vals);
    r->copy = ARENA_ARRAY(a, value_id, r->n_vals);
    r->known = ARENA_ARRAY(a, bool, r->n_vals);
    r->expressions = map_make(a);
    if (!r->place || !r->reach || !r->token || !r->alias || !r->copy || !r->known)
        return diag_out_of_memory(r->c->diags);
    for (uint32_t v = 1; v < r->n_vals; v++)
        r->known[v] = ort_shapes_declared(g, (value_id){v});
    return ST_OK;
}

// Declared types of intermediate values would reveal the hidden shapes.
static void drop_infos(struct graph *g) {
    for (size_t i = 0; i < g->infos.n; i++)
        graph_value(g, g->infos.at[i])->has_info = false;
    g->infos.n = 0;
}

// The shapes of light tensors are declared, so that ONNX Runtime knows all of them, and not those
// that its inference happens to find. Views stay undeclared: see rewrite_anchor.c.
static status declare_light(struct rewrite *r) {
    struct graph *g = r->g;
    for (size_t i = 0; i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        for (uint32_t k = 0; k < n->n_out && !(op_info(n->op)->flags & OPF_VIEW); k++) {
            struct value *v = n->out[k].i ? graph_value(g, n->out[k]) : NULL;
            if (!v || v->is_output || v->has_info || !v->type || !type_is_static(v->type) ||
                rewrite_is_heavy_value(r, n->out[k]))
                continue;
            v->has_info = r->known[n->out[k].i] = true;
            if (!VEC_PUSH(g->model->arena, &g->infos, n->out[k]))
                return diag_out_of_memory(r->c->diags);
        }
    }
    return ST_OK;
}

static status run(struct model *m, struct pass_context *c) {
    const char *runtime = options_text(c->options, "runtime");
    struct rewrite r = {.g = m->graph, .c = c, .b = builder_make(m->graph, c->diags)};
    r.hides_shapes = strcmp(options_text(c->options, "runtime-shapes"), "hidden") == 0;
    r.b.infer = shape_infer;
    r.b.scope = "control"; // ONNX Runtime holds every name several times
    r.b.numbers = true;
    enum runtime which;
    runtime_find(runtime, &which); // the option has no other values
    bool is_ort = runtime_is_ort(which);
    if (is_ort && r.hides_shapes)
        drop_infos(m->graph);
    status st = prepare(&r);
    if (!st)
        st = rewrite_label(&r);
    if (!st && is_ort && r.hides_shapes)
        st = declare_light(&r);
    if (!st && is_ort)
        st = walk(&r);
    if (!st)
        st = rewrite_label_control(&r);
    if (!st && !pairs_set(&m->metadata, m->arena, KEY_RUNTIME, runtime))
        st = diag_out_of_memory(c->diags);
    if (!st && is_ort)
        pass_progress(
            c,
            "rewrite: %u heavy nodes in order, %lld by control dependencies; prevented: %lld "
            "merges, %lld fusions; %lld shapes hidden, %lld nodes not ordered, %zu control nodes",
            r.n_heavy, (long long)r.n_dependencies, (long long)r.n_unmerged, (long long)r.n_unfused,
            (long long)r.n_hidden, (long long)r.n_unordered, m->graph->nodes.n - r.n_nodes);
    return st;
}

const struct pass pass_rewrite = {
    .name = "rewrite",
    .summary = "make the planned order hold on the runtime",
    .needs = FACT_TOPO | FACT_SHAPES,
    .options = options,
    .run = run,
};
