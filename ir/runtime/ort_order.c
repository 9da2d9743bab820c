// Model of ONNX Runtime's default execution order (GraphViewer::GetNodesInTopologicalOrder): see
// ort_order.h. It is the postorder of a depth-first search along reversed edges:
//
//   - roots: the leaves, that is the nodes whose results no other node reads; the leaf with the
//     highest index is searched first;
//   - successors of a node: the producers of its operands, the highest index first;
//   - a node is emitted after all its producers.
//
// The index of a node is its position in the file, except that the nodes of an inlined function
// follow all others. Stages: indices; producers of each node, sorted by index (compressed rows);
// the search, with an explicit stack.
//
// Consequence for a training step in file order: the last weight gradient is searched first and
// pulls in the forward pass and most of the backward pass. All other weight gradients are leaves
// too and run after it.
#include "ir/runtime/ort_order.h"

#include <assert.h>

struct walk {
    const struct graph *g;
    uint32_t *index;   // by node
    uint32_t *start;   // by node: its producers are producer[start[n] .. start[n + 1] - 1],
    node_id *producer; // sorted by index
    bool *has_reader;  // by node: it is not a leaf
    bool *is_seen;     // by node
    struct ort_order *out;
};

// Operators without a CPU kernel: ONNX Runtime replaces the node by the operator's function body,
// whose nodes get indices after all others.
static bool is_inlined(enum op op) {
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

struct visit {
    struct walk *w;
    bool count; // count the producers; else store them
};

static void visit_producer(void *to, value_id v, node_id user) {
    struct visit *visit = to;
    struct walk *w = visit->w;
    node_id def = v.i ? graph_value(w->g, v)->def : NODE_NONE;
    if (!runs(w->g, def))
        return;
    w->has_reader[def.i] = true;
    if (visit->count)
        w->start[user.i + 1]++;
    else
        w->producer[w->start[user.i]++] = def;
}

// Visits nodes by id: rows of `producer` are in the order of ids.
static void visit_all(struct walk *w, bool count) {
    struct visit visit = {w, count};
    for (uint32_t i = 1; i < w->g->nodes.n; i++) {
        const struct node *n = &w->g->nodes.at[i];
        for (uint32_t k = 0; k < n->n_in && !n->removed; k++)
            visit_producer(&visit, n->in[k], (node_id){i});
        if (!n->removed)
            node_captured(w->g, (node_id){i}, visit_producer, &visit);
    }
}

// Insertion sort: nodes have few operands.
static void sort_producers(struct walk *w, uint32_t node) {
    for (uint32_t i = w->start[node] + 1; i < w->start[node + 1]; i++)
        for (uint32_t k = i; k > w->start[node]; k--) {
            node_id x = w->producer[k - 1], y = w->producer[k];
            if (w->index[x.i] <= w->index[y.i])
                break;
            w->producer[k - 1] = y;
            w->producer[k] = x;
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
            if (is_inlined(graph_node(w->g, id)->op) == (inlined == 1))
                w->index[id.i] = at++;
        }
    visit_all(w, true);
    for (size_t i = 0; i < n; i++)
        w->start[i + 1] += w->start[i];
    if (!(w->producer = ARENA_ARRAY(a, node_id, w->start[n])))
        return false;
    visit_all(w, false);
    for (size_t i = n; i > 0; i--) // storing moved each start to its end: shift back
        w->start[i] = w->start[i - 1];
    w->start[0] = 0;
    for (uint32_t i = 1; i < n; i++)
        sort_producers(w, i);
    return true;
}

// An entry of the search stack: enter the node, or emit it (`leave`) after its producers, which are
// pushed above it.
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
            if (!w->is_seen[w->producer[k].i])
                stack[n++] = (struct step){w->producer[k].i & INT32_MAX, false};
    }
    return true;
}

status ort_order(const struct graph *g, struct arena *a, struct diags *d, struct ort_order *out) {
    assert(g && a && d && out);
    assert(g->nodes.n <= INT32_MAX); // struct step
    struct arena scratch = arena_make(a->mem);
    struct walk w = {.g = g, .out = out};
    *out = (struct ort_order){0};
    bool fits = walk_prepare(&w, &scratch) && walk_back(&w, &scratch) &&
                (out->at = arena_copy(a, out->at, out->n * sizeof *out->at));
    arena_free(&scratch);
    return fits ? ST_OK : diag_out_of_memory(d);
}
