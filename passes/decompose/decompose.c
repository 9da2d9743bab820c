// The pass `decompose`: replaces operators by the formulas of decompose.def, of operators that have
// shape rules and gradient rules. The nodes of a formula take the place of their node in the order.
// Types are inferred on the way, since those behind an operator that is not of ai.onnx were not
// known before. A node whose form has no formula stays, and a warning says why.
//
// Quantized values become floats from the operator that makes them to those that read them, where
// all of these can take floats; the types of what moves elements in between follow.
#include "passes/decompose/decompose.h"

#include <string.h>

#include "passes/node_groups.h"

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
            decompose_refuse(d, "the shapes of its operands are not known");
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

// Nodes that stay for the same reason.
struct refusal {
    const char *why;
    struct node_groups nodes;
};

struct walk {
    struct model *m;
    struct graph *g;
    struct pass_context *c;
    struct builder b;
    struct uses uses; // of the graph as it was
    size_t n_values;  // of it
    bool *unit;       // see struct decompose
    bool *retyped;    // per value: it was quantized and is a float now
    int64_t n_replaced, n_frozen;
    VEC(struct refusal) refusals;
};

static const struct option_spec options[] = {
    {"Loss and training", 0, OPTION_GROUP, NULL, NULL, 0, 0, NULL},
    {"dequantize", 0, OPTION_FLAG, NULL, NULL, 0, 0,
     "make quantized weights float parameters, and train them"},
    {0}};

node_id decompose_only_user(const struct decompose *d, value_id v) {
    uint32_t first = d->uses->start[v.i];
    return d->uses->start[v.i + 1] == first + 1 ? d->uses->node[first] : NODE_NONE;
}

bool decompose_is_unit(const struct decompose *d, value_id v) {
    return d->unit[v.i];
}

// Operators that move elements: on floats they do the same.
static bool moves(const struct node *n) {
    switch (n->op) {
    case OP_DepthToSpace:
    case OP_Expand:
    case OP_Flatten:
    case OP_Gather:
    case OP_Identity:
    case OP_MaxPool:
    case OP_Reshape:
    case OP_Slice:
    case OP_SpaceToDepth:
    case OP_Split:
    case OP_Squeeze:
    case OP_Tile:
    case OP_Transpose:
    case OP_Unsqueeze:
        return true;
    default:
        return false;
    }
}

// Whether a node has a float form for a quantized operand. Integer products are for dynamic
// quantization, whose scale is 1 afterwards, the others for fixed scales.
static bool takes_float(const struct node *n, bool dynamic) {
    bool integer = n->op == OP_MatMulInteger || n->op == OP_ConvInteger ||
                   strcmp(n->type, "MatMulIntegerToFloat") == 0 ||
                   strcmp(n->type, "QAttention") == 0;
    return n->op == OP_DequantizeLinear || strcmp(n->type, "DequantizeLinear") == 0 ||
           (dynamic ? integer
                    : strncmp(n->type, "QLinear", 7) == 0 || strcmp(n->type, "QGemm") == 0);
}

// Whether all readers of a quantized value take floats; views and moves are followed.
static bool all_take_float(const struct walk *w, value_id v, bool dynamic, int depth) {
    const struct value *x = graph_value(w->g, v);
    bool ok = !x->is_output && depth < 100;
    for (uint32_t i = w->uses.start[v.i]; ok && i < w->uses.start[v.i + 1]; i++) {
        const struct node *n = graph_node(w->g, w->uses.node[i]);
        if (moves(n) && value_same(n->in[0], v))
            for (uint32_t k = 0; ok && k < n->n_out && (k == 0 || n->op == OP_Split); k++)
                ok = all_take_float(w, n->out[k], dynamic, depth + 1);
        else
            ok = n->op == OP_Shape || takes_float(n, dynamic);
    }
    return ok;
}

// Makes the built value an output of the replaced node: its producer makes the output instead.
static status give(struct walk *w, uint32_t first, value_id built, value_id want) {
    struct graph *g = w->g;
    struct value *from = graph_value(g, built), *to = graph_value(g, want);
    if (to->type && from->type && to->type->elem != from->type->elem)
        to->type = from->type;                 // quantized before, a float now
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

// The node stays in the order; run() reports it.
static status keep_refused(struct walk *w, node_id id, const char *why) {
    struct refusal *one = NULL;
    for (size_t i = 0; i < w->refusals.n && !one; i++)
        if (strcmp(w->refusals.at[i].why, why) == 0)
            one = &w->refusals.at[i];
    struct refusal fresh = {str_format(w->c->arena, "%s", why),
                            node_groups_make(w->g, w->c->arena)};
    if (!one && fresh.why && VEC_PUSH(w->c->arena, &w->refusals, fresh))
        one = &w->refusals.at[w->refusals.n - 1];
    bool ok = one && node_groups_add(&one->nodes, id) && VEC_PUSH(w->m->arena, &w->g->order, id);
    return ok ? ST_OK : diag_out_of_memory(w->c->diags);
}

// One warning for each operator and reason.
static void warn_refusals(const struct walk *w) {
    for (size_t i = 0; i < w->refusals.n; i++) {
        const struct refusal *one = &w->refusals.at[i];
        for (size_t k = 0; k < one->nodes.groups.n; k++) {
            const struct node_group *group = &one->nodes.groups.at[k];
            bool alone = group->nodes.n == 1;
            diag_warning(w->c->diags, DIAG_UNSUPPORTED,
                         loc_path(w->m->path, node_path(w->g, group->nodes.at[0], w->c->arena)),
                         "stays as it is: %s%s%s", one->why, alone ? "" : "; nodes: ",
                         alone ? "" : node_groups_names(&one->nodes, group));
        }
    }
}

// Puts the results into the place of the node, and of what it takes with it.
static status put(struct walk *w, node_id id, const struct decompose *d, uint32_t first) {
    const struct node *old = d->tools.n;
    status st = ST_OK;
    graph_remove_node(w->g, id);
    for (int k = 0; k < 2; k++)
        if (d->gone[k].i)
            graph_remove_node(w->g, d->gone[k]);
    for (uint32_t k = 0; k < old->n_out && !st; k++) {
        value_id want = k == 0 && d->instead.i ? d->instead : old->out[k];
        const struct type *before = want.i ? graph_value(w->g, want)->type : NULL;
        if (!want.i)
            continue;
        st = give(w, first, d->y[k], want);
        const struct type *now = graph_value(w->g, want)->type;
        w->retyped[want.i] = before && now && before->elem != now->elem;
    }
    w->n_replaced++;
    w->n_frozen += d->n_frozen;
    return st;
}

// Types of nodes behind a replaced one were not known, or are of quantized values.
static status infer_again(struct walk *w, node_id id) {
    const struct node *n = graph_node(w->g, id);
    bool quantized = false;
    if (!w->n_replaced)
        return ST_OK;
    for (uint32_t k = 0; k < n->n_in; k++)
        quantized |= n->in[k].i < w->n_values && w->retyped[n->in[k].i];
    for (uint32_t k = 0; quantized && k < n->n_out; k++)
        if (n->out[k].i && graph_value(w->g, n->out[k])->type && (k == 0 || n->op == OP_Split)) {
            w->retyped[n->out[k].i] = n->op != OP_Shape && n->op != OP_Cast;
            graph_value(w->g, n->out[k])->type = NULL;
        }
    return shape_infer(w->g, id, w->c->diags);
}

// A sum of a product that is a float now and of an integer bias.
static status mend_sum(struct walk *w, node_id id) {
    const struct node *n = graph_node(w->g, id);
    const struct type *t[2];
    if (n->op != OP_Add || !w->n_replaced)
        return ST_OK;
    for (int k = 0; k < 2; k++)
        if (!(t[k] = graph_value(w->g, n->in[k])->type))
            return ST_OK;
    if (elem_is_float(t[0]->elem) == elem_is_float(t[1]->elem))
        return ST_OK;
    uint32_t k = elem_is_float(t[0]->elem);
    value_id real = decompose_unrounded(&w->b, n->in[k]);
    graph_node(w->g, id)->in[k] = real;
    return w->b.failed;
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
                          .y = ARENA_ARRAY(&scratch, value_id, old.n_out),
                          .trains_base = options_flag(w->c->options, "dequantize"),
                          .uses = &w->uses,
                          .unit = w->unit};
    d.floats = old.n_out && all_take_float(w, old.out[0], old.op == OP_DynamicQuantizeLinear, 0);
    if (old.op == OP_DynamicQuantizeLinear && d.floats)
        w->unit[old.out[1].i] = true;
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
        st = keep_refused(w, id, d.refused);
    else if (!st && d.keeps)
        st = VEC_PUSH(w->m->arena, &w->g->order, id) ? infer_again(w, id)
                                                     : diag_out_of_memory(w->c->diags);
    else if (!st)
        st = put(w, id, &d, first);
    arena_free(&scratch);
    return st;
}

static status walk_nodes(struct walk *w, const node_id *order, size_t n) {
    struct graph *g = w->g;
    status st = ST_OK;
    g->order.n = 0;
    for (size_t i = 0; i < n && !st; i++) {
        const struct node *at = graph_node(g, order[i]);
        decompose_rule *rule = at->removed ? NULL : find(at);
        if (at->removed)
            continue;
        if (rule)
            st = replace(w, order[i], rule);
        else if ((st = mend_sum(w, order[i])))
            return st;
        else if (!VEC_PUSH(w->m->arena, &g->order, order[i]))
            st = diag_out_of_memory(w->c->diags);
        else
            st = infer_again(w, order[i]);
    }
    return st;
}

static status run(struct model *m, struct pass_context *c) {
    struct graph *g = m->graph;
    size_t n = g->order.n;
    node_id *order = arena_copy(c->arena, g->order.at, n * sizeof *order);
    struct walk w = {.m = m,
                     .g = g,
                     .c = c,
                     .b = builder_make(g, c->diags),
                     .n_values = g->values.n,
                     .unit = ARENA_ARRAY(c->arena, bool, g->values.n),
                     .retyped = ARENA_ARRAY(c->arena, bool, g->values.n)};
    w.b.infer = shape_infer;
    if (!order || !w.unit || !w.retyped || !graph_uses(g, c->arena, &w.uses))
        return diag_out_of_memory(c->diags);
    status st = walk_nodes(&w, order, n);
    warn_refusals(&w);
    if (!st && w.n_frozen)
        diag_note(c->diags, DIAG_WEIGHTS, loc_file(m->path),
                  "%lld quantized weights stay frozen; --dequantize makes them float parameters",
                  (long long)w.n_frozen);
    pass_progress(c, "decompose: %lld nodes replaced", (long long)w.n_replaced);
    return st;
}

const struct pass pass_decompose = {
    .name = "decompose",
    .summary = "replace operators of other domains and composed ones by formulas of ai.onnx",
    .needs = FACT_TOPO | FACT_SHAPES,
    .breaks = FACT_COSTS,
    .options = options,
    .run = run,
};
