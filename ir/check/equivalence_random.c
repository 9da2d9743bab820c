// Which nodes may give something else when they run again: see equivalence.h. Random operators say
// so in the operator table; what mfc does not know may do anything.
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

// Random by itself, or in a subgraph; calls of the model's functions do not count.
static bool is_random_inside(const struct graph *g, const struct node *n, int depth);

static bool graph_is_random(const struct graph *g, int depth) {
    bool random = depth > LIMIT_WIRE_DEPTH; // nobody can look into that
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
        return false; // not in training mode: it drops nothing
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

// A call is taken to be random when any of the model's functions is: functions call functions, and
// following every call could take for ever.
bool equivalence_is_random(const struct graph *g, node_id id) {
    const struct model *m = g->model;
    const struct node *n = graph_node(g, id);
    size_t at;
    bool random = is_random_inside(g, n, 0);
    bool calls = equiv_function(m, n, &at) || op_info(n->op)->flags & OPF_CONTROL;
    for (size_t i = 0; i < m->functions.n && calls && !random; i++)
        random = graph_is_random(m->functions.at[i].body, 0);
    return random;
}
