// Binds dimensions of the inputs to numbers: see shape_bind.h.
#include "passes/shape/shape_bind.h"

#include <stdlib.h>
#include <string.h>

#include "passes/shape/shape.h"

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
    struct shape_bound *bound;
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

static bool is_data(const struct value *v) {
    return !v->init && !v->sparse_init && v->type && v->type->kind == TYPE_TENSOR;
}

// A fixed batch is changed: the first dimension of the first input, and of all that share its size.
static status change_batch(struct binding *b, int64_t batch) {
    struct graph *g = b->m->graph;
    int64_t old = DIM_UNKNOWN;
    status st = ST_OK;
    for (size_t i = 0; i < g->inputs.n && !st; i++) {
        struct value *v = graph_value(g, g->inputs.at[i]);
        if (!is_data(v) || v->type->rank == 0)
            continue;
        if (old == DIM_UNKNOWN)
            old = v->type->dims[0].size;
        if (v->type->dims[0].size == old)
            st = set_dim(b, v, 0, batch);
    }
    if (old == DIM_UNKNOWN)
        return diag_error(b->c->diags, DIAG_UNSUPPORTED, loc_file(b->m->path),
                          "no input has a first dimension, so there is no batch; use another model "
                          "or leave --batch out");
    if (old != batch)
        *b->bound = (struct shape_bound){.old_batch = old, .new_batch = batch};
    return st;
}

// The batch is the unknown first dimension of the inputs. If no input has one, it is the symbol
// that all unknown dimensions share: sequence models often have the batch second. If there is none
// either, the batch is fixed.
static status bind_batch(struct binding *b, int64_t batch) {
    struct graph *g = b->m->graph;
    status st = ST_OK;
    bool any = false, several = false;
    const char *symbol = NULL;
    for (size_t i = 0; i < g->inputs.n && !st; i++) {
        struct value *v = graph_value(g, g->inputs.at[i]);
        if (!is_data(v))
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
    if (st || any)
        return st;
    return symbol && !several ? bind_symbol(b, symbol, batch, &found) : change_batch(b, batch);
}

status shape_bind(struct model *m, struct pass_context *c, struct shape_bound *out) {
    struct binding b = {m, c, out, false};
    const struct options *o = c->options;
    const struct option_value *shapes = options_get(o, "shape");
    *out = (struct shape_bound){0};
    status st = bind_dims(&b);
    for (size_t i = 0; i < shapes->list.n && !st; i++)
        st = bind_shape(&b, shapes->list.at[i]);
    if (!st && options_given(o, "batch"))
        st = bind_batch(&b, options_int(o, "batch"));
    // Types declared for the old dimensions would contradict the inferred ones.
    struct graph *g = m->graph;
    for (size_t i = 1; b.changed_static && i < g->values.n; i++)
        if (g->values.at[i].def.i)
            g->values.at[i].type = NULL;
    return st;
}

// An operator that takes the shape of its result from an operand.
static bool takes_shape(enum op op) {
    return op == OP_Reshape || op == OP_Expand || op == OP_ConstantOfShape || op == OP_Tile ||
           op == OP_Resize;
}

// The first node that makes a tensor of the old batch: its shape is a constant of the model.
static node_id find_fixed(const struct graph *g, const struct shape_bound *b, bool *of_data) {
    for (size_t i = 0; i < g->inputs.n; i++)
        of_data[g->inputs.at[i].i] = is_data(graph_value(g, g->inputs.at[i]));
    for (size_t i = 0; i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        bool reads_data = n->op == OP_ConstantOfShape;
        for (uint32_t k = 0; k < n->n_in; k++)
            reads_data |= of_data[n->in[k].i];
        for (uint32_t k = 0; k < n->n_out; k++)
            of_data[n->out[k].i] = reads_data && n->out[k].i;
        const struct type *t = n->n_out ? graph_value(g, n->out[0])->type : NULL;
        if (reads_data && takes_shape(n->op) && t && t->kind == TYPE_TENSOR && t->rank > 0 &&
            t->dims[0].size == b->old_batch)
            return g->order.at[i];
    }
    return NODE_NONE;
}

status shape_bind_check(const struct model *m, struct pass_context *c, const struct shape_bound *b,
                        status inferred) {
    if (!b->old_batch)
        return inferred;
    const struct graph *g = m->graph;
    bool *of_data = ARENA_ARRAY(c->arena, bool, g->values.n);
    if (!of_data)
        return diag_out_of_memory(c->diags);
    node_id fixed = find_fixed(g, b, of_data);
    if (!fixed.i && !inferred)
        return ST_OK;
    return diag_error(c->diags, DIAG_UNSUPPORTED,
                      loc_path(m->path, fixed.i ? node_path(g, fixed, c->arena) : NULL),
                      "--batch %lld: the batch of %lld is fixed inside the model, %s; export it "
                      "with an open batch",
                      (long long)b->new_batch, (long long)b->old_batch,
                      fixed.i ? "here for one" : "as these shapes show");
}
