// The check of facts: see fact_check.h. One function per fact; each names the first place where its
// fact does not hold.
#include "passes/fact_check.h"

#include <assert.h>
#include <string.h>

#include "ir/copy.h"
#include "passes/shape/shape.h"

struct fact_check {
    const struct model *m;
    struct arena *scratch;
    enum diag_code code;
    struct diags *d;
};

static status fail(const struct fact_check *f, node_id id, const char *what) {
    const struct graph *g = f->m->graph;
    struct loc at =
        id.i ? loc_path(f->m->path, node_path(g, id, f->scratch)) : loc_file(f->m->path);
    return diag_error(f->d, f->code, at, "%s", what);
}

// Shape rules are monotone: they only add to types. So the types are what the rules infer exactly
// when running the rules again changes none.
static status check_shapes(const struct fact_check *f) {
    const struct graph *g = f->m->graph;
    struct model *copy = model_copy(f->m, f->scratch);
    if (!copy)
        return diag_out_of_memory(f->d);
    struct diags silent = diags_make(f->scratch);
    for (size_t i = 0; i < g->order.n; i++) {
        node_id id = g->order.at[i];
        const struct node *n = graph_node(g, id);
        status st = shape_infer(copy->graph, id, &silent);
        if (st == ST_LIMIT)
            return diag_out_of_memory(f->d);
        if (st)
            return fail(f, id, "fact shapes does not hold: the shape rule refuses this node");
        for (uint32_t k = 0; k < n->n_out; k++)
            if (!type_equal(graph_value(g, n->out[k])->type,
                            graph_value(copy->graph, n->out[k])->type))
                return fail(f, id,
                            "fact shapes does not hold: the shape rule infers another type for "
                            "an output of this node");
    }
    return ST_OK;
}

static status check_loss(const struct fact_check *f) {
    const struct graph *g = f->m->graph;
    const struct type *t = g->outputs.n ? graph_value(g, g->outputs.at[0])->type : NULL;
    if (t && t->kind == TYPE_TENSOR && t->has_shape && t->rank == 0 && elem_is_float(t->elem))
        return ST_OK;
    return fail(f, NODE_NONE, "fact loss does not hold: the first output is not a float of rank 0");
}

static status check_grad(const struct fact_check *f) {
    const struct graph *g = f->m->graph;
    for (size_t i = 0; i < g->outputs.n; i++) {
        const char *name = graph_value(g, g->outputs.at[i])->name;
        if (strncmp(name, "grad(", 5) == 0 || strncmp(name, "next(", 5) == 0)
            return ST_OK;
    }
    return fail(f, NODE_NONE,
                "fact grad does not hold: no output is a gradient or an updated parameter");
}

static status check_costs(const struct fact_check *f) {
    const struct graph *g = f->m->graph;
    for (size_t i = 0; i < g->order.n; i++)
        if (graph_node(g, g->order.at[i])->cost < 0)
            return fail(f, g->order.at[i], "fact costs does not hold: this node has no cost");
    return ST_OK;
}

status fact_check(const struct model *m, unsigned facts, enum diag_code code, struct diags *d) {
    static const struct {
        unsigned fact;
        status (*check)(const struct fact_check *f);
    } checks[] = {{FACT_SHAPES, check_shapes},
                  {FACT_LOSS, check_loss},
                  {FACT_GRAD, check_grad},
                  {FACT_COSTS, check_costs}};
    assert(!(facts & ~(unsigned)FACT_ALL));
    struct arena scratch = arena_make(d->arena->mem);
    struct fact_check f = {m, &scratch, code, d};
    status worst = ST_OK;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        status st = facts & checks[i].fact ? checks[i].check(&f) : ST_OK;
        worst = worst ? worst : st;
    }
    arena_free(&scratch);
    return worst;
}
