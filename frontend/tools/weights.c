// Parameters as a model of their own: see weights.h.
#include "frontend/tools/weights.h"

#include "frontend/load.h"

static bool is_parameter(const struct value *v) {
    return v->init && v->is_input;
}

status weights_write(const struct model *m, const char *path, struct outputs *together,
                     struct diags *d) {
    struct model *w = model_new(m->arena, m->pool);
    if (!w || !VEC_PUSH(m->arena, &w->opsets,
                        (struct opset){.domain = "", .version = model_opset(m, "")}))
        return diag_out_of_memory(d);
    w->ir_version = m->ir_version;
    w->producer = "mfc";
    w->path = m->path;
    w->graph->name = "weights";
    for (size_t i = 0; i < m->graph->inits.n; i++) {
        const struct value *v = graph_value(m->graph, m->graph->inits.at[i]);
        if (!is_parameter(v))
            continue;
        value_id copy = graph_add_value(w->graph, v->name, v->type);
        if (!copy.i || !graph_add_init(w->graph, copy, v->init) ||
            !graph_add_output(w->graph, copy))
            return diag_out_of_memory(d);
    }
    return load_save(w, path, "onnx", together, d);
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
