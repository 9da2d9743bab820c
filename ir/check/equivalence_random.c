// Random nodes: nodes whose recomputation may give a different result (see equivalence.h). The
// operator table marks random operators (OPF_RANDOM). Unknown operators count as random. Subgraphs
// are searched recursively; calls of functions are treated together (equivalence_is_random).
#include <assert.h>
#include <string.h>

#include "ir/base/limits.h"
#include "ir/check/equivalence_inner.h"

const struct function *equiv_function(const struct model *m, const struct node *n, size_t *at) {
    for (size_t i = 0; i < m->functions.n; i++) {
        const struct function *f = &m->functions.at[i];
        const char *a = f->overload ? f->overload : "", *b = n->overload ? n->overload : "";
        if (strcmp(f->name, n->type) == 0 && strcmp(f->domain, n->domain) == 0 &&
            strcmp(a, b) == 0) {
            *at = i;
            return f;
        }
    }
    return NULL;
}

// Whether the node itself or a node in its subgraphs is random; ignores calls of functions.
static bool is_random_inside(const struct graph *g, const struct node *n, int depth);

static bool graph_is_random(const struct graph *g, int depth) {
    bool random = depth > LIMIT_WIRE_DEPTH; // too deep to search: assume the worst
    for (size_t i = 0; i < g->order.n && !random; i++)
        random = is_random_inside(g, graph_node(g, g->order.at[i]), depth);
    return random;
}

static bool is_random_inside(const struct graph *g, const struct node *n, int depth) {
    size_t at;
    if (equiv_function(g->model, n, &at))
        return false;
    if (n->op == OP_UNKNOWN)
        return true;
    if (n->op == OP_Dropout && (n->n_in < 3 || !n->in[2].i))
        return false; // inference mode: the identity
    if (op_info(n->op)->flags & OPF_RANDOM) {
        const struct attr *seed = node_attr(n, "seed");
        return !seed || seed->ref;
    }
    bool random = false;
    for (uint32_t k = 0; k < n->n_attrs; k++) {
        const struct attr *a = &n->attrs[k];
        if (a->kind == ATTR_GRAPH && !a->ref)
            random |= graph_is_random(a->g, depth + 1);
        for (size_t i = 0; a->kind == ATTR_GRAPHS && !a->ref && i < a->n; i++)
            random |= graph_is_random(a->graphs[i], depth + 1);
    }
    return random;
}

// A call counts as random when any function of the model is. That is conservative and avoids
// following nested calls, whose number can be exponential.
bool equivalence_is_random(const struct graph *g, node_id id) {
    assert(g && id.i && id.i < g->nodes.n);
    const struct model *m = g->model;
    const struct node *n = graph_node(g, id);
    size_t at;
    bool random = is_random_inside(g, n, 0);
    bool calls = equiv_function(m, n, &at) || op_info(n->op)->flags & OPF_CONTROL;
    for (size_t i = 0; i < m->functions.n && calls && !random; i++)
        random = graph_is_random(m->functions.at[i].body, 0);
    return random;
}
