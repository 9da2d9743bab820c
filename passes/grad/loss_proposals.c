// Values to train up to, for a model whose outputs carry no gradient (labels, boxes after
// NonMaxSuppression, encoded images): see loss_proposals in loss.h. They are the last float values
// that depend on a float constant or input through operators with gradient rules.
#include "passes/grad/grad.h"
#include "passes/grad/loss.h"

enum { MAX_PROPOSALS = 3 };

// Values that gradients flow through from parameters or inputs.
static bool *reached_values(const struct graph *g, struct arena *a) {
    bool *reached = ARENA_ARRAY(a, bool, g->values.n);
    for (size_t v = 1; reached && v < g->values.n; v++) {
        const struct value *x = &g->values.at[v];
        reached[v] = (x->init || x->is_input) && grad_carries(g, (value_id){(uint32_t)v});
    }
    for (size_t i = 0; reached && i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        bool any = false;
        for (uint32_t k = 0; k < n->n_in; k++)
            any |= n->in[k].i && reached[n->in[k].i];
        for (uint32_t k = 0; k < n->n_out && any && grad_has_rule(n->op); k++)
            reached[n->out[k].i] = n->out[k].i && grad_carries(g, n->out[k]);
    }
    return reached;
}

const char *loss_proposals(const struct graph *g, struct arena *a) {
    bool *reached = reached_values(g, a), *continued = ARENA_ARRAY(a, bool, g->values.n);
    struct str list = str_make(a);
    if (!reached || !continued)
        return NULL;
    for (size_t i = 0; i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        bool any = false;
        for (uint32_t k = 0; k < n->n_out; k++)
            any |= n->out[k].i && reached[n->out[k].i];
        for (uint32_t k = 0; k < n->n_in && any; k++)
            continued[n->in[k].i] = true;
    }
    int n_found = 0;
    for (size_t i = g->order.n; i-- > 0 && n_found < MAX_PROPOSALS;) {
        const struct node *n = graph_node(g, g->order.at[i]);
        for (uint32_t k = 0; k < n->n_out && n_found < MAX_PROPOSALS; k++) {
            const struct value *v = graph_value(g, n->out[k]);
            if (!n->out[k].i || !reached[n->out[k].i] || continued[n->out[k].i] || v->is_output ||
                (v->type && v->type->has_shape && v->type->rank == 0))
                continue;
            str_add(&list, n_found++ ? " or --output " : "--output ");
            str_add_shell(&list, v->name);
            if (v->type) {
                str_add(&list, " (");
                type_print(&list, v->type);
                str_add(&list, ")");
            }
        }
    }
    return n_found ? str_text(&list) : NULL;
}
