// The form of a plan: see verify_form.h.
#include "frontend/tools/verify_form.h"

#include <string.h>

#include "ir/base/map.h"

// The first key that is there twice; NULL: none.
static const char *repeated_key(const struct pairs *p, struct map *seen, bool *ok) {
    int64_t at;
    for (size_t i = 0; i < p->n && *ok; i++) {
        const char *key = p->at[i].key ? p->at[i].key : "";
        if (map_get_text(seen, key, &at))
            return key;
        *ok = map_put_text(seen, key, (int64_t)i);
    }
    return NULL;
}

static status check_keys(const struct model *plan, const struct pairs *p, const char *where,
                         struct diags *d) {
    struct arena scratch = arena_make(plan->arena->mem);
    struct map seen = map_make(&scratch);
    bool ok = true;
    const char *twice = repeated_key(p, &seen, &ok);
    status st = !ok     ? diag_out_of_memory(d)
                : twice ? diag_error(d, DIAG_VERIFY, loc_path(plan->path, where),
                                     "the metadata has the key \"%s\" twice", twice)
                        : ST_OK;
    arena_free(&scratch);
    return st;
}

static status check_nodes(const struct model *plan, struct arena *a, struct diags *d) {
    const struct graph *g = plan->graph;
    struct map names = map_make(a);
    int64_t at;
    for (size_t i = 0; i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        status st = check_keys(plan, &n->metadata, n->name, d);
        if (st)
            return st;
        if (!n->name || !*n->name)
            continue;
        if (map_get_text(&names, n->name, &at))
            return diag_error(d, DIAG_VERIFY, loc_path(plan->path, n->name),
                              "two nodes have this name; ONNX Runtime refuses such a model");
        if (!map_put_text(&names, n->name, (int64_t)i))
            return diag_out_of_memory(d);
    }
    return ST_OK;
}

// A plan has the initial values of all parameters, or, with --weights inputs, of none.
static status check_parameters(const struct model *step, const struct model *plan,
                               struct diags *d) {
    const char *missing = NULL;
    size_t n_there = 0;
    for (size_t i = 0; i < step->graph->inits.n; i++) {
        const struct value *v = graph_value(step->graph, step->graph->inits.at[i]);
        value_id own = v->is_input ? graph_find(plan->graph, v->name) : (value_id){0};
        if (!v->is_input)
            continue;
        if (own.i && graph_value(plan->graph, own)->init)
            n_there++;
        else
            missing = v->name;
    }
    if (!missing || n_there == 0)
        return ST_OK;
    return diag_error(d, DIAG_VERIFY, loc_file(plan->path),
                      "the parameter \"%s\" has no initial value, but others have", missing);
}

status verify_form(const struct model *step, const struct model *plan, struct diags *d) {
    struct arena scratch = arena_make(plan->arena->mem);
    status st = check_keys(plan, &plan->metadata, NULL, d);
    if (!st)
        st = check_nodes(plan, &scratch, d);
    if (!st)
        st = check_parameters(step, plan, d);
    arena_free(&scratch);
    return st;
}
