// Parameters as plain inputs: see weights.h.
#include "frontend/tools/weights.h"

static bool is_parameter(const struct value *v) {
    return v->init && v->is_input;
}

void weights_detach(struct model *m) {
    struct graph *g = m->graph;
    size_t n = 0;
    for (size_t i = 0; i < g->inits.n; i++) {
        struct value *v = graph_value(g, g->inits.at[i]);
        if (is_parameter(v))
            v->init = NULL;
        else
            g->inits.at[n++] = g->inits.at[i];
    }
    g->inits.n = n;
}
