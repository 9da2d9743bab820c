// The order of execution in ONNX Runtime: see ort_order.h. Its GraphViewer walks the graph
// backwards and depth first. It starts from the leaves, the nodes whose results no other node
// reads, and takes the LAST of them first; from a node it goes on to the makers of its operands,
// the one with the HIGHEST index first; a node is emitted when all that it needs has been. The
// index of a node is its place in the file, except that the nodes of an inlined function come
// behind all others.
//
// So a file in the natural order of a training step runs like this: the last gradient pulls in
// whatever it needs, which is the whole forward pass and most of the way back, and all other weight
// gradients, being leaves, wait for their turn behind it.
#include "ir/runtime/ort_order.h"

struct walk {
    const struct graph *g;
    uint32_t *index;  // by node: its place
    uint32_t *start;  // by node: its operands' makers are maker[start[n] .. start[n + 1] - 1],
    node_id *maker;   // sorted by index
    bool *has_reader; // by node: it is no leaf
    bool *is_seen;    // by node
    struct ort_order *out;
};

bool ort_inlines(enum op op) {
    switch (op) {
    case OP_AffineGrid:
    case OP_Attention:
    case OP_Bernoulli:
    case OP_BlackmanWindow:
    case OP_CastLike:
    case OP_CenterCropPad:
    case OP_GroupNormalization:
    case OP_HammingWindow:
    case OP_HannWindow:
    case OP_HardSwish:
    case OP_Mish:
    case OP_NegativeLogLikelihoodLoss:
    case OP_SequenceMap:
    case OP_SoftmaxCrossEntropyLoss:
    case OP_Swish:
        return true;
    default:
        return false;
    }
}

static bool runs(const struct graph *g, node_id n) {
    return n.i && graph_node(g, n)->op != OP_Constant;
}

struct makers {
    struct walk *w;
    bool count; // else place
};

static void visit_maker(void *to, value_id v, node_id user) {
    struct makers *m = to;
    struct walk *w = m->w;
    node_id def = v.i ? graph_value(w->g, v)->def : NODE_NONE;
    if (!runs(w->g, def))
        return;
    w->has_reader[def.i] = true;
    if (m->count)
        w->start[user.i + 1]++;
    else
        w->maker[w->start[user.i]++] = def;
}

// By id and not by order, so that the ends of the placing pass line up with the starts.
static void visit_all(struct walk *w, bool count) {
    struct makers m = {w, count};
    for (uint32_t i = 1; i < w->g->nodes.n; i++) {
        const struct node *n = &w->g->nodes.at[i];
        for (uint32_t k = 0; k < n->n_in && !n->removed; k++)
            visit_maker(&m, n->in[k], (node_id){i});
        if (!n->removed)
            node_captured(w->g, (node_id){i}, visit_maker, &m);
    }
}

// Operands are few: sorting by insertion.
static void sort_makers(struct walk *w, uint32_t node) {
    for (uint32_t i = w->start[node] + 1; i < w->start[node + 1]; i++)
        for (uint32_t k = i; k > w->start[node]; k--) {
            node_id x = w->maker[k - 1], y = w->maker[k];
            if (w->index[x.i] <= w->index[y.i])
                break;
            w->maker[k - 1] = y;
            w->maker[k] = x;
        }
}

static bool walk_prepare(struct walk *w, struct arena *a) {
    size_t n = w->g->nodes.n;
    w->index = ARENA_ARRAY(a, uint32_t, n);
    w->start = ARENA_ARRAY(a, uint32_t, n + 1);
    w->has_reader = ARENA_ARRAY(a, bool, n);
    w->is_seen = ARENA_ARRAY(a, bool, n);
    if (!w->index || !w->start || !w->has_reader || !w->is_seen)
        return false;
    uint32_t at = 0;
    for (int inlined = 0; inlined < 2; inlined++)
        for (size_t i = 0; i < w->g->order.n; i++) {
            node_id id = w->g->order.at[i];
            if (ort_inlines(graph_node(w->g, id)->op) == (inlined == 1))
                w->index[id.i] = at++;
        }
    visit_all(w, true);
    for (size_t i = 0; i < n; i++)
        w->start[i + 1] += w->start[i];
    if (!(w->maker = ARENA_ARRAY(a, node_id, w->start[n])))
        return false;
    visit_all(w, false);
    for (size_t i = n; i > 0; i--) // placing moved each start to its end: shift back
        w->start[i] = w->start[i - 1];
    w->start[0] = 0;
    for (uint32_t i = 1; i < n; i++)
        sort_makers(w, i);
    return true;
}

// A node on the stack is to be entered, or, once all that it needs lies above it, to be left.
struct step {
    uint32_t node : 31, leave : 1;
};

static bool walk_back(struct walk *w, struct arena *a) {
    const struct graph *g = w->g;
    size_t n_nodes = g->nodes.n, n = 0;
    struct step *stack = ARENA_ARRAY(a, struct step, n_nodes * 2 + w->start[n_nodes]);
    node_id *by_index = ARENA_ARRAY(a, node_id, g->order.n);
    w->out->at = ARENA_ARRAY(a, node_id, g->order.n);
    if (!stack || !by_index || !w->out->at)
        return false;
    for (size_t i = 0; i < g->order.n; i++)
        by_index[w->index[g->order.at[i].i]] = g->order.at[i];
    for (size_t i = 0; i < g->order.n; i++)
        if (runs(g, by_index[i]) && !w->has_reader[by_index[i].i])
            stack[n++] = (struct step){by_index[i].i & INT32_MAX, false};
    while (n) {
        struct step s = stack[--n];
        if (s.leave) {
            w->out->at[w->out->n++] = (node_id){s.node};
            continue;
        }
        if (w->is_seen[s.node])
            continue;
        w->is_seen[s.node] = true;
        stack[n++] = (struct step){s.node, true};
        for (uint32_t k = w->start[s.node]; k < w->start[s.node + 1]; k++)
            if (!w->is_seen[w->maker[k].i])
                stack[n++] = (struct step){w->maker[k].i & INT32_MAX, false};
    }
    return true;
}

status ort_order(const struct graph *g, struct arena *a, struct diags *d, struct ort_order *out) {
    struct arena scratch = arena_make(a->mem);
    struct walk w = {.g = g, .out = out};
    *out = (struct ort_order){0};
    bool fits = walk_prepare(&w, &scratch) && walk_back(&w, &scratch) &&
                (out->at = arena_copy(a, out->at, out->n * sizeof *out->at));
    arena_free(&scratch);
    return fits ? ST_OK : diag_out_of_memory(d);
}
