// Demands that all shapes are known, which planning and gradients need. Unknown dimensions are
// reported by name, because names are what the user can bind; the values themselves are listed only
// if no dimension of an input is unknown.
#include "ir/base/map.h"
#include "passes/pass.h"
#include "passes/shape/shape.h"

status shape_demand(struct model *m, struct pass_context *c) {
    struct graph *g = m->graph;
    struct map named = map_make(c->arena);
    status worst = ST_OK;
    for (size_t i = 0; i < g->inputs.n; i++) {
        const struct value *v = graph_value(g, g->inputs.at[i]);
        const struct type *t = v->type;
        int64_t once;
        if (t && t->kind == TYPE_TENSOR && !t->has_shape)
            worst = diag_error(c->diags, DIAG_UNBOUND, loc_path(m->path, v->name),
                               "the shape of this input is unknown; give it with --shape %s:AxBxC",
                               v->name);
        for (int32_t k = 0; t && t->kind == TYPE_TENSOR && k < t->rank; k++) {
            if (dim_known(t->dims[k]))
                continue;
            const char *symbol = t->dims[k].symbol;
            if (symbol && map_get_text(&named, symbol, &once))
                continue;
            if (symbol) {
                map_put_text(&named, symbol, 1);
                worst = diag_error(c->diags, DIAG_UNBOUND, loc_path(m->path, v->name),
                                   "dimension %d is \"%s\"; give its size with --dim %s=SIZE", k,
                                   symbol, symbol);
            } else {
                worst = diag_error(c->diags, DIAG_UNBOUND, loc_path(m->path, v->name),
                                   "dimension %d is unknown; give the shape with --shape %s:AxBxC",
                                   k, v->name);
            }
        }
    }
    for (size_t i = 0; i < g->order.n && !worst; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        for (uint32_t k = 0; k < n->n_out; k++)
            if (n->out[k].i && !type_is_static(graph_value(g, n->out[k])->type))
                diag_error(
                    c->diags, DIAG_UNBOUND,
                    loc_path(m->path, node_path(g, g->order.at[i], c->arena)),
                    "the shape of output %s depends on values and cannot be known before it runs",
                    graph_value(g, n->out[k])->name);
    }
    return c->diags->n_errors ? c->diags->worst : ST_OK;
}
