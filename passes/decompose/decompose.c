// The pass `decompose`: replaces operators by the formulas of decompose.def, of operators that have
// shape rules and gradient rules. The nodes of a formula take the place of their node in the order.
// Types are inferred on the way, since those behind an operator that is not of ai.onnx were not
// known before. A node whose form has no formula stays, and a warning says why.
#include "passes/decompose/decompose.h"

#include <string.h>

static const struct {
    const char *domain, *name;
    decompose_rule *rule;
} table[] = {
#define DECOMPOSE(domain, name, rule) {domain, #name, decompose_##rule},
#include "passes/decompose/decompose.def"
#undef DECOMPOSE
};

void decompose_refuse(struct decompose *d, const char *format, ...) {
    struct str text = str_make(d->tools.a);
    va_list args;
    va_start(args, format);
    str_addv(&text, format, args);
    va_end(args);
    d->refused = str_text(&text);
}

bool decompose_wants(const struct decompose *d, uint32_t k) {
    return k < d->tools.n->n_out && d->tools.n->out[k].i;
}

bool decompose_has_shapes(struct decompose *d, uint32_t n) {
    for (uint32_t k = 0; k < n && k < d->tools.n->n_in; k++)
        if (grad_has(&d->tools, k) &&
            !type_is_static(graph_value(d->tools.g, d->tools.x[k])->type)) {
            decompose_refuse(d, "the shape of input %u, %s, is not known", k,
                             graph_value(d->tools.g, d->tools.x[k])->name);
            return false;
        }
    return true;
}

static decompose_rule *find(const struct node *n) {
    const char *domain = strcmp(n->domain, "ai.onnx") == 0 ? "" : n->domain;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].domain, domain) == 0 && strcmp(table[i].name, n->type) == 0)
            return table[i].rule;
    return NULL;
}

struct walk {
    struct model *m;
    struct graph *g;
    struct pass_context *c;
    struct builder b;
    int64_t n_replaced;
};

// Makes the built value an output of the replaced node: its producer makes the output instead.
static status give(struct walk *w, uint32_t first, value_id built, value_id want) {
    struct graph *g = w->g;
    struct value *from = graph_value(g, built), *to = graph_value(g, want);
    if (from->def.i < first || !from->def.i) { // an input, a constant, or given already
        struct values in = {&built, 1}, out = {&want, 1};
        node_id copy = graph_add_node(g, "", "Identity", in, out);
        return copy.i ? shape_infer(g, copy, w->c->diags) : diag_out_of_memory(w->c->diags);
    }
    struct node *n = graph_node(g, from->def);
    n->out[from->def_slot] = want;
    if (n->n_out == 1 && n->name == from->name)
        n->name = to->name;
    to->def = from->def;
    to->def_slot = from->def_slot;
    from->def = NODE_NONE;
    for (uint32_t i = first; i < g->nodes.n; i++) {
        struct node *user = graph_node(g, (node_id){i});
        for (uint32_t k = 0; k < user->n_in; k++)
            if (value_same(user->in[k], built))
                user->in[k] = want;
    }
    // The type that the model declares must agree with the formula.
    return shape_infer(g, to->def, w->c->diags);
}

static status replace(struct walk *w, node_id id, decompose_rule *rule) {
    struct arena scratch = arena_make(w->c->arena->mem);
    struct node old = *graph_node(w->g, id);
    struct decompose d = {.tools = {.b = &w->b,
                                    .g = w->g,
                                    .id = id,
                                    .n = &old,
                                    .x = old.in,
                                    .a = &scratch,
                                    .opset = model_opset(w->m, "")},
                          .y = ARENA_ARRAY(&scratch, value_id, old.n_out)};
    uint32_t first = (uint32_t)w->g->nodes.n;
    w->b.scope = node_called(w->g, id);
    status st = d.y ? ST_OK : diag_out_of_memory(w->c->diags);
    if (!st)
        rule(&d);
    st = st ? st : w->b.failed;
    for (uint32_t k = 0; k < old.n_out && !st && !d.refused && !d.keeps; k++)
        if (old.out[k].i && !d.y[k].i)
            decompose_refuse(&d, "its output %u has no formula", k);
    if (!st && d.refused)
        diag_warning(w->c->diags, DIAG_UNSUPPORTED,
                     loc_path(w->m->path, node_path(w->g, id, &scratch)), "stays as it is: %s",
                     d.refused);
    if (!st && (d.refused || d.keeps)) {
        if (!VEC_PUSH(w->m->arena, &w->g->order, id))
            st = diag_out_of_memory(w->c->diags);
    } else if (!st) {
        graph_remove_node(w->g, id);
        for (uint32_t k = 0; k < old.n_out && !st; k++)
            if (old.out[k].i)
                st = give(w, first, d.y[k], old.out[k]);
        w->n_replaced++;
    }
    arena_free(&scratch);
    return st;
}

static status run(struct model *m, struct pass_context *c) {
    struct graph *g = m->graph;
    size_t n = g->order.n;
    node_id *order = arena_copy(c->arena, g->order.at, n * sizeof *order);
    struct walk w = {.m = m, .g = g, .c = c, .b = builder_make(g, c->diags)};
    w.b.infer = shape_infer;
    if (!order)
        return diag_out_of_memory(c->diags);
    g->order.n = 0;
    status st = ST_OK;
    for (size_t i = 0; i < n && !st; i++) {
        decompose_rule *rule = find(graph_node(g, order[i]));
        if (rule) {
            st = replace(&w, order[i], rule);
            continue;
        }
        if (w.n_replaced)
            st = shape_infer(g, order[i], c->diags);
        if (!st && !VEC_PUSH(m->arena, &g->order, order[i]))
            st = diag_out_of_memory(c->diags);
    }
    pass_progress(c, "decompose: %lld nodes replaced", (long long)w.n_replaced);
    return st;
}

const struct pass pass_decompose = {
    .name = "decompose",
    .summary = "replace operators of other domains and composed ones by formulas of ai.onnx",
    .needs = FACT_TOPO | FACT_SHAPES,
    .breaks = FACT_COSTS,
    .run = run,
};
