// The pass `shapes`: type inference. Stages: bind unknown dimensions of the inputs to the numbers
// that the user gives; then run the shape rule of every node in order, which includes shape
// arithmetic (shape_content.c). Dimensions that stay unknown are no error here; passes that need
// all of them call shape_demand.
#include <stdlib.h>
#include <string.h>

#include "passes/pass.h"
#include "passes/shape/shape.h"

static const struct option_spec options[] = {
    {"Model", 0, OPTION_GROUP, NULL, NULL, 0, 0, NULL},
    {"dim", 0, OPTION_LIST, "NAME=N", NULL, 0, 0, "bind a symbolic dimension; may be repeated"},
    {"batch", 0, OPTION_INT, "N", NULL, 1, INT32_MAX,
     "bind the batch: the unknown first dimension of the inputs"},
    {"shape", 0, OPTION_LIST, "INPUT:AxBxC", NULL, 0, 0,
     "set the shape of an input; may be repeated"},
    {0}};

static bool parse_number(const char **at, int64_t *n) {
    char *end;
    *n = strtoll(*at, &end, 10);
    bool ok = end != *at && **at >= '0' && **at <= '9' && *n >= 0 && *n <= INT32_MAX;
    *at = end;
    return ok;
}

struct binding {
    struct model *m;
    struct pass_context *c;
    bool
        changed_static; // a known dimension was changed: declared types of other values are invalid
};

// Gives the value a type of its own, whose dimensions may be changed; NULL: out of memory.
static struct dim *own_dims(struct binding *b, struct value *v) {
    struct type *t = arena_copy(b->m->arena, v->type, sizeof *t);
    struct dim *dims = arena_copy(b->m->arena, v->type->dims, (size_t)v->type->rank * sizeof *dims);
    if (!t || !dims)
        return NULL;
    t->dims = dims;
    v->type = t;
    return dims;
}

// Replaces a symbol by a number in all types.
static status bind_symbol(struct binding *b, const char *symbol, int64_t size, bool *found) {
    struct graph *g = b->m->graph;
    *found = false;
    for (size_t i = 1; i < g->values.n; i++) {
        struct value *v = &g->values.at[i];
        bool here = false;
        for (int32_t k = 0; v->type && k < v->type->rank; k++)
            here |= !dim_known(v->type->dims[k]) && v->type->dims[k].symbol &&
                    strcmp(v->type->dims[k].symbol, symbol) == 0;
        if (!here)
            continue;
        *found = true;
        struct dim *dims = own_dims(b, v);
        if (!dims)
            return diag_out_of_memory(b->c->diags);
        for (int32_t k = 0; k < v->type->rank; k++)
            if (dims[k].symbol && strcmp(dims[k].symbol, symbol) == 0)
                dims[k] = (struct dim){.size = size, .denotation = dims[k].denotation};
    }
    return ST_OK;
}

static status bind_dims(struct binding *b) {
    const struct option_value *o = options_get(b->c->options, "dim");
    for (size_t i = 0; i < o->list.n; i++) {
        const char *text = o->list.at[i], *eq = strrchr(text, '='), *at = eq ? eq + 1 : text;
        int64_t size;
        if (!eq || !parse_number(&at, &size) || *at)
            return diag_error(b->c->diags, DIAG_USAGE, loc_none(), "--dim %s: must be NAME=N",
                              text);
        const char *symbol = pool_intern_n(b->m->pool, text, (size_t)(eq - text));
        bool found;
        status st = symbol ? bind_symbol(b, symbol, size, &found) : diag_out_of_memory(b->c->diags);
        if (st)
            return st;
        if (!found)
            return diag_error(b->c->diags, DIAG_USAGE, loc_none(),
                              "--dim %s: the model has no symbolic dimension of that name", text);
    }
    return ST_OK;
}

static status set_dim(struct binding *b, struct value *v, int32_t axis, int64_t size) {
    struct dim have = v->type->dims[axis];
    bool found;
    if (have.symbol)
        return bind_symbol(b, have.symbol, size, &found);
    b->changed_static |= dim_known(have) && have.size != size;
    struct dim *dims = own_dims(b, v);
    if (!dims)
        return diag_out_of_memory(b->c->diags);
    dims[axis] = (struct dim){.size = size, .denotation = have.denotation};
    return ST_OK;
}

static status bind_shape(struct binding *b, const char *text) {
    struct graph *g = b->m->graph;
    const char *colon = strrchr(text, ':'), *at = colon ? colon + 1 : text;
    const char *name = colon ? pool_intern_n(b->m->pool, text, (size_t)(colon - text)) : "";
    value_id id = name ? graph_find(g, name) : VALUE_NONE;
    if (!colon || !id.i || !graph_value(g, id)->is_input)
        return diag_error(b->c->diags, DIAG_USAGE, loc_none(),
                          "--shape %s: the model has no such input", text);
    struct value *v = graph_value(g, id);
    int64_t sizes[64];
    int32_t rank = 0;
    do {
        if (rank == 64 || !parse_number(&at, &sizes[rank++]))
            return diag_error(b->c->diags, DIAG_USAGE, loc_none(),
                              "--shape %s: must be INPUT:AxBxC", text);
    } while (*at == 'x' && at++);
    if (*at || !v->type || v->type->kind != TYPE_TENSOR ||
        (v->type->has_shape && v->type->rank != rank))
        return diag_error(b->c->diags, DIAG_USAGE, loc_none(),
                          "--shape %s: the input does not have %d dimensions", text, rank);
    if (!v->type->has_shape) {
        v->type = type_static(b->m->arena, v->type->elem, sizes, rank);
        return v->type ? ST_OK : diag_out_of_memory(b->c->diags);
    }
    status st = ST_OK;
    for (int32_t k = 0; k < rank && !st; k++)
        st = set_dim(b, v, k, sizes[k]);
    return st;
}

// The batch is the unknown first dimension of the inputs. If no input has one, it is the symbol
// that all unknown dimensions share: sequence models often have the batch second.
static status bind_batch(struct binding *b, int64_t batch) {
    struct graph *g = b->m->graph;
    status st = ST_OK;
    bool any = false, several = false;
    const char *symbol = NULL;
    for (size_t i = 0; i < g->inputs.n && !st; i++) {
        struct value *v = graph_value(g, g->inputs.at[i]);
        if (v->init || !v->type || v->type->kind != TYPE_TENSOR)
            continue;
        if (v->type->rank > 0 && !dim_known(v->type->dims[0])) {
            st = set_dim(b, v, 0, batch);
            any = true;
        }
        for (int32_t k = 0; k < v->type->rank; k++) {
            const char *open = v->type->dims[k].symbol;
            several |= open && symbol && strcmp(open, symbol) != 0;
            symbol = open ? open : symbol;
        }
    }
    bool found;
    if (!st && !any && symbol && !several)
        st = bind_symbol(b, symbol, batch, &found);
    return st;
}

static status bind(struct binding *b) {
    const struct options *o = b->c->options;
    const struct option_value *shapes = options_get(o, "shape");
    status st = bind_dims(b);
    for (size_t i = 0; i < shapes->list.n && !st; i++)
        st = bind_shape(b, shapes->list.at[i]);
    if (!st && options_given(o, "batch"))
        st = bind_batch(b, options_int(o, "batch"));
    // Types declared for the old dimensions would contradict the inferred ones.
    struct graph *g = b->m->graph;
    for (size_t i = 1; b->changed_static && i < g->values.n; i++)
        if (g->values.at[i].def.i)
            g->values.at[i].type = NULL;
    return st;
}

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

static status run(struct model *m, struct pass_context *c) {
    struct binding b = {m, c, false};
    status st = bind(&b);
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
    return worst;
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
