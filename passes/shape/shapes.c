// The pass `shapes`: type inference. Stages: bind dimensions of the inputs to the numbers that the
// user gives (shape_bind.c); then run the shape rule of every node in order, which includes shape
// arithmetic (shape_content.c). Dimensions that stay unknown are no error here; passes that need
// all of them call shape_demand.
#include "passes/pass.h"
#include "passes/shape/bind_input.h"
#include "passes/shape/shape.h"
#include "passes/shape/shape_bind.h"

static const struct option_spec options[] = {
    {"Model", 0, OPTION_GROUP, NULL, NULL, 0, 0, NULL},
    {"dim", 0, OPTION_LIST, "NAME=N", NULL, 0, 0, "bind a symbolic dimension; may be repeated"},
    {"batch", 0, OPTION_INT, "N", NULL, 1, INT32_MAX,
     "set the batch: the first dimension of the inputs, open or a number"},
    {"shape", 0, OPTION_LIST, "INPUT:AxBxC", NULL, 0, 0,
     "set the shape of an input; may be repeated"},
    {"input-value", 0, OPTION_LIST, "NAME=N", NULL, 0, 0,
     "make an input a constant (NAME=N:N:N for every element); may be repeated"},
    {0}};

static status type_constants(struct model *m, struct diags *d) {
    struct graph *g = m->graph;
    for (size_t i = 0; i < g->inits.n; i++) {
        struct value *v = graph_value(g, g->inits.at[i]);
        const struct type *t = tensor_type(m->arena, v->init);
        if (!t)
            return diag_out_of_memory(d);
        if (!v->type)
            v->type = t;
        bool fits = v->type->kind == TYPE_TENSOR && v->type->elem == t->elem &&
                    (!v->type->has_shape || v->type->rank == t->rank);
        for (int32_t k = 0; fits && v->type->has_shape && k < t->rank; k++)
            fits = !dim_known(v->type->dims[k]) || v->type->dims[k].size == t->dims[k].size;
        if (!fits) {
            struct str declared = str_make(m->arena), found = str_make(m->arena);
            type_print(&declared, v->type);
            type_print(&found, t);
            return diag_error(d, DIAG_SHAPE, loc_path(m->path, v->name),
                              "is declared as %s, but its initializer is %s", str_text(&declared),
                              str_text(&found));
        }
        v->type = t;
    }
    return ST_OK;
}

// One warning for all declared shapes that inference has found to be wrong.
static void warn_declared(struct model *m, struct diags *d) {
    const struct graph *g = m->graph;
    const struct value *first = NULL;
    size_t n = 0;
    for (size_t i = 1; i < g->values.n; i++) {
        const struct value *v = &g->values.at[i];
        first = !first && v->declared ? v : first;
        n += v->declared != NULL;
    }
    if (!n)
        return;
    struct str declared = str_make(m->arena), found = str_make(m->arena);
    type_print(&declared, first->declared);
    type_print(&found, first->type);
    diag_warning(d, DIAG_SHAPE, loc_file(m->path),
                 "%zu declared shape%s wrong; mfc uses what the operators make: %s is declared as "
                 "%s, but is %s",
                 n, n == 1 ? " is" : "s are", first->name, str_text(&declared), str_text(&found));
}

static status run(struct model *m, struct pass_context *c) {
    struct shape_bound bound;
    status st = shape_bind(m, c, &bound);
    if (!st)
        st = bind_input_values(m, c);
    if (!st)
        st = type_constants(m, c->diags);
    struct graph *g = m->graph;
    status worst = st;
    for (size_t i = 0; i < g->order.n && !st; i++) {
        status one = shape_infer(g, g->order.at[i], c->diags);
        worst = worst ? worst : one;
        if (one == ST_LIMIT)
            return one;
    }
    warn_declared(m, c->diags);
    return st ? st : shape_bind_check(m, c, &bound, worst);
}

const struct pass pass_shapes = {
    .name = "shapes",
    .summary = "bind dimensions and infer the type and shape of every value",
    .needs = FACT_TOPO,
    .gives = FACT_SHAPES,
    .breaks = FACT_COSTS,
    .options = options,
    .run = run,
};
