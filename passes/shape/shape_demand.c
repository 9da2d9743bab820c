// Demands that all shapes are known, which planning and gradients need. Unknown dimensions of
// inputs are reported by name, because names are what the user can bind. If no dimension of an
// input is unknown, the nodes are reported where shapes are lost: first the operators that mfc does
// not know, then those whose shapes depend on values; nodes after them would only repeat it.
#include "ir/base/map.h"
#include "passes/control_hint.h"
#include "passes/node_groups.h"
#include "passes/pass.h"
#include "passes/shape/shape.h"

// "input:1x3xAxB": the known dimensions, and letters for the others.
static const char *shape_to_give(const struct pass_context *c, const struct value *v) {
    struct str text = str_make(c->arena), word = str_make(c->arena);
    char letter = 'A';
    str_addf(&text, "%s:", v->name);
    for (int32_t k = 0; k < v->type->rank; k++) {
        str_add(&text, k ? "x" : "");
        if (dim_known(v->type->dims[k]))
            str_addf(&text, "%lld", (long long)v->type->dims[k].size);
        else
            str_add_char(&text, letter == 'Z' ? 'Z' : letter++);
    }
    if (!v->type->has_shape)
        str_add(&text, "AxBxC");
    str_add_shell(&word, str_text(&text));
    return str_text(&word);
}

static const char *symbol_to_give(const struct pass_context *c, const char *symbol) {
    struct str text = str_make(c->arena), word = str_make(c->arena);
    str_addf(&text, "%s=SIZE", symbol);
    str_add_shell(&word, str_text(&text));
    return str_text(&word);
}

static status demand_input(struct model *m, struct pass_context *c, const struct value *v,
                           struct map *named) {
    const struct type *t = v->type;
    status st = ST_OK;
    int64_t once;
    if (t && t->kind == TYPE_TENSOR && !t->has_shape)
        st = diag_error(c->diags, DIAG_UNBOUND, loc_path(m->path, v->name),
                        "the shape of this input is unknown; give it with --shape %s",
                        shape_to_give(c, v));
    for (int32_t k = 0; t && t->kind == TYPE_TENSOR && k < t->rank; k++) {
        const char *symbol = t->dims[k].symbol;
        if (dim_known(t->dims[k]) || (symbol && map_get_text(named, symbol, &once)))
            continue;
        if (symbol) {
            map_put_text(named, symbol, 1);
            st = diag_error(c->diags, DIAG_UNBOUND, loc_path(m->path, v->name),
                            "dimension %d is \"%s\"; give its size with --dim %s", k, symbol,
                            symbol_to_give(c, symbol));
        } else {
            st = diag_error(c->diags, DIAG_UNBOUND, loc_path(m->path, v->name),
                            "dimension %d is unknown; give the shape with --shape %s", k,
                            shape_to_give(c, v));
        }
    }
    return st;
}

static bool is_static(const struct graph *g, value_id v) {
    return !v.i || type_is_static(graph_value(g, v)->type);
}

// All operands have a shape, and a result has none; or the operator is unknown.
static bool loses_shape(const struct graph *g, const struct node *n) {
    bool known = true, lost = false;
    for (uint32_t k = 0; k < n->n_in; k++)
        known &= is_static(g, n->in[k]);
    for (uint32_t k = 0; k < n->n_out; k++)
        lost |= !is_static(g, n->out[k]);
    return lost && (known || n->op == OP_UNKNOWN);
}

// The start of the message about a shape that depends on values.
static const char *lost_words(enum op op) {
    return op == OP_If     ? "data decides which branch runs, so the shape of what"
           : op == OP_Loop ? "data decides how often the body runs, so the shape of what"
                           : "the shape of what";
}

static status report(struct model *m, struct pass_context *c, const struct node_groups *s,
                     bool unknown) {
    status st = ST_OK;
    for (size_t i = 0; i < s->groups.n; i++) {
        const struct node_group *one = &s->groups.at[i];
        enum op op = graph_node(m->graph, one->nodes.at[0])->op;
        if ((op == OP_UNKNOWN) != unknown)
            continue;
        struct loc where = loc_path(m->path, node_path(m->graph, one->nodes.at[0], c->arena));
        st = unknown ? diag_error(c->diags, DIAG_UNSUPPORTED, where,
                                  "mfc does not know the operator %s, nor the shapes of its "
                                  "results; nodes: %s",
                                  node_groups_operator(s, one), node_groups_names(s, one))
                     : diag_error(c->diags, DIAG_UNBOUND, where,
                                  "%s %s makes depends on values and cannot be known before it "
                                  "runs; nodes: %s",
                                  lost_words(op), node_groups_operator(s, one),
                                  node_groups_names(s, one));
    }
    return st;
}

enum { MAX_PROPOSALS = 3, MAX_INPUTS = 12 };

// What a value is selected from: boxes and scores are sliced by class before their number is lost.
static value_id selected_from(const struct graph *g, value_id v) {
    for (;;) {
        node_id def = graph_value(g, v)->def;
        const struct node *n = def.i ? graph_node(g, def) : NULL;
        bool selects = n && (n->op == OP_Slice || n->op == OP_Gather || n->op == OP_Split ||
                             n->op == OP_Squeeze || n->op == OP_Unsqueeze || n->op == OP_Identity ||
                             n->op == OP_Flatten || n->op == OP_Reshape);
        value_id from = selects ? n->in[0] : VALUE_NONE;
        const struct value *x = from.i ? graph_value(g, from) : NULL;
        if (!x || !x->def.i || !is_static(g, from) || !elem_is_float(x->type->elem))
            return v;
        v = from;
    }
}

// Per value, whether it depends on the elements of an input: anchors of detectors do not.
static bool *depends_on_inputs(const struct graph *g, struct arena *a) {
    bool *depends = ARENA_ARRAY(a, bool, g->values.n);
    for (size_t i = 0; depends && i < g->inputs.n; i++)
        depends[g->inputs.at[i].i] = true;
    for (size_t i = 0; depends && i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        bool any = (op_info(n->op)->flags & OPF_CONTROL) != 0;
        for (uint32_t k = 0; k < n->n_in && n->op != OP_Shape && n->op != OP_Size; k++)
            any |= n->in[k].i && depends[n->in[k].i];
        for (uint32_t k = 0; k < n->n_out; k++)
            if (n->out[k].i)
                depends[n->out[k].i] = any;
    }
    return depends;
}

// The last float values of known shape that nodes without one read: "--output NAME or …".
static const char *proposals(const struct pass_context *c, const struct graph *g) {
    struct str text = str_make(c->arena);
    bool *told = ARENA_ARRAY(c->arena, bool, g->values.n);
    const bool *depends = depends_on_inputs(g, c->arena);
    int n_found = 0;
    for (size_t i = g->order.n; told && depends && i-- > 0;) {
        const struct node *n = graph_node(g, g->order.at[i]);
        bool lost = n->n_out > 0 && !is_static(g, n->out[0]);
        for (uint32_t k = 0; lost && k < n->n_in && n_found < MAX_PROPOSALS; k++) {
            const struct value *v = n->in[k].i ? graph_value(g, n->in[k]) : NULL;
            if (!v || !v->def.i || !is_static(g, n->in[k]) || !elem_is_float(v->type->elem))
                continue;
            value_id from = selected_from(g, n->in[k]);
            v = graph_value(g, from);
            if (told[from.i] || !depends[from.i] || v->type->rank < 2)
                continue;
            told[from.i] = true;
            str_add(&text, n_found++ ? " or --output " : "--output ");
            str_add_shell(&text, v->name);
        }
    }
    return n_found ? str_text(&text) : "--output NAME";
}

static status demand_nodes(struct model *m, struct pass_context *c) {
    const struct graph *g = m->graph;
    struct node_groups s = node_groups_make(g, c->arena);
    for (size_t i = 0; i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        if (loses_shape(g, n) && !node_groups_add(&s, g->order.at[i]))
            return diag_out_of_memory(c->diags);
    }
    if (!s.groups.n)
        return ST_OK;
    report(m, c, &s, true);
    report(m, c, &s, false);
    const char *hint = NULL;
    for (size_t i = 0; i < s.groups.n && !hint; i++)
        hint = control_hint(g, s.groups.at[i].nodes.at[0], c->arena);
    diag_note(c->diags, DIAG_UNBOUND, loc_file(m->path),
              "an input that decides shapes or branches can be made a constant with %s; to train "
              "up to a value of known shape: %s",
              hint ? hint : "--input-value NAME=N", proposals(c, g));
    return c->diags->worst;
}

// Models with a cache have an open input for each layer: those behind the first share a message.
static status demand_others(struct model *m, struct pass_context *c, struct map *named,
                            size_t first) {
    const struct graph *g = m->graph;
    struct str text = str_make(c->arena);
    int64_t n = 0, once;
    for (size_t i = first; i < g->inputs.n; i++) {
        const struct value *v = graph_value(g, g->inputs.at[i]);
        bool open = v->type && v->type->kind == TYPE_TENSOR && !v->type->has_shape;
        for (int32_t k = 0; v->type && v->type->kind == TYPE_TENSOR && k < v->type->rank; k++) {
            const struct dim *d = &v->type->dims[k];
            open |= !dim_known(*d) && !(d->symbol && map_get_text(named, d->symbol, &once));
        }
        if (open)
            str_addf(&text, "%s--shape %s", n++ ? " " : "", shape_to_give(c, v));
    }
    return n ? diag_error(c->diags, DIAG_UNBOUND, loc_file(m->path),
                          "%lld more inputs have open dimensions; give them with %s", (long long)n,
                          str_text(&text))
             : ST_OK;
}

status shape_demand(struct model *m, struct pass_context *c) {
    struct graph *g = m->graph;
    struct map named = map_make(c->arena);
    status worst = ST_OK;
    size_t i = 0;
    for (size_t before = c->diags->n_errors;
         i < g->inputs.n && c->diags->n_errors - before < MAX_INPUTS; i++) {
        status st = demand_input(m, c, graph_value(g, g->inputs.at[i]), &named);
        worst = st ? st : worst;
    }
    status others = demand_others(m, c, &named, i);
    worst = others ? others : worst;
    if (!worst)
        worst = demand_nodes(m, c);
    return c->diags->n_errors ? c->diags->worst : worst;
}
