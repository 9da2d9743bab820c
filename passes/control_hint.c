// Inputs that decide control flow: see control_hint.h. A walk backwards from the condition.
#include "passes/control_hint.h"

enum { MAX_ELEMENTS = 16 };

static bool is_small_integer(const struct value *v) {
    int64_t n;
    return v->type && v->type->kind == TYPE_TENSOR &&
           (elem_is_int(v->type->elem) || v->type->elem == ELEM_BOOL) &&
           type_elements(v->type, &n) && n <= MAX_ELEMENTS;
}

// Marks what the values in `reached` are made from; `last`: the node that asks.
static void walk_back(const struct graph *g, node_id last, bool *reached) {
    bool before = false;
    for (size_t i = g->order.n; i-- > 0;) {
        const struct node *n = graph_node(g, g->order.at[i]);
        bool any = false;
        for (uint32_t k = 0; before && k < n->n_out; k++)
            any |= n->out[k].i && reached[n->out[k].i];
        for (uint32_t k = 0; any && k < n->n_in; k++)
            reached[n->in[k].i] = true;
        before |= g->order.at[i].i == last.i;
    }
}

const char *control_hint(const struct graph *g, node_id id, struct arena *a) {
    const struct node *n = graph_node(g, id);
    bool *reached = ARENA_ARRAY(a, bool, g->values.n);
    struct str text = str_make(a);
    size_t n_found = 0;
    if (!reached || (n->op != OP_If && n->op != OP_Loop))
        return NULL;
    for (uint32_t k = 0; k < (n->op == OP_If ? 1u : 2u) && k < n->n_in; k++)
        reached[n->in[k].i] = true;
    walk_back(g, id, reached);
    for (size_t i = 0; i < g->inputs.n; i++) {
        const struct value *v = graph_value(g, g->inputs.at[i]);
        if (!reached[g->inputs.at[i].i] || v->init)
            continue;
        if (!is_small_integer(v))
            return NULL;
        str_add(&text, n_found++ ? " --input-value " : "--input-value ");
        str_add_shell(&text, v->name);
        str_add(&text, "=N");
    }
    return n_found ? str_text(&text) : NULL;
}
