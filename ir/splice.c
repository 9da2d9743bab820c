// Copies of nodes between graphs: see splice.h. Values get fresh names with the scope as prefix, in
// subgraphs too, where a name of the source could hide one of the graph around it. References to
// the attributes of a function are replaced by the attributes of the call or their defaults; an
// attribute without either is left out.
#include "ir/splice.h"

#include <string.h>

struct place {
    struct graph *to;
    const struct graph *from;
    const value_id *now;
};

static const char *scoped(const struct splice *s, const char *name) {
    return s->scope ? str_format(s->to->model->arena, "%s/%s", s->scope, name) : name;
}

// The types of a function's body hold for every call only where they are static.
static const struct type *usable_type(const struct splice *s, const struct type *t) {
    return !s->function || (t && t->kind == TYPE_TENSOR && type_is_static(t)) ? t : NULL;
}

static value_id copy_value(struct splice *s, struct graph *to, const struct value *x) {
    struct arena *a = to->model->arena;
    const char *like = scoped(s, x->name), *name = like ? graph_fresh_name(to, like) : NULL;
    value_id v = name ? graph_add_value(to, name, usable_type(s, x->type)) : VALUE_NONE;
    if (!v.i)
        return VALUE_NONE;
    struct value *copy = graph_value(to, v);
    copy->doc = x->doc;
    copy->metadata = x->metadata;
    copy->is_constant = x->is_constant;
    if (x->init) {
        struct tensor *t = arena_copy(a, x->init, sizeof *t);
        if (!t || !graph_add_init(to, v, t))
            return VALUE_NONE;
        t->name = copy->name;
    }
    if (x->sparse_init) {
        copy->sparse_init = x->sparse_init;
        if (!VEC_PUSH(a, &to->sparse_inits, v))
            return VALUE_NONE;
    }
    return v;
}

status splice_values(struct splice *s, struct diags *d) {
    for (uint32_t v = 1; v < s->from->values.n; v++) {
        const struct value *x = graph_value(s->from, (value_id){v});
        if (s->now[v].i || (x->is_input && !x->init))
            continue;
        s->now[v] = x->outer.i ? x->outer : copy_value(s, s->to, x);
        if (!s->now[v].i)
            return diag_out_of_memory(d);
    }
    return ST_OK;
}

static status copy_node(struct splice *s, const struct place *p, node_id id, struct diags *d,
                        node_id *out);

// A captured value has the name of its value in the graph around.
static value_id capture(struct graph *to, value_id outer) {
    const struct value *x = graph_value(to->outer, outer);
    value_id v = graph_find(to, x->name);
    if (v.i)
        return v;
    v = graph_add_value(to, x->name, x->type);
    if (v.i)
        graph_capture(to, v, outer);
    return v;
}

static status copy_lists(const struct place *p, struct diags *d) {
    bool ok = true;
    for (size_t i = 0; i < p->from->inputs.n && ok; i++)
        ok = graph_add_input(p->to, p->now[p->from->inputs.at[i].i]);
    for (size_t i = 0; i < p->from->outputs.n && ok; i++) {
        value_id v = p->now[p->from->outputs.at[i].i];
        if (!v.i)
            return diag_error(d, DIAG_UNSUPPORTED, loc_path(p->to->model->path, p->from->name),
                              "a subgraph of a function gives an input that the call leaves out");
        ok = graph_add_output(p->to, v);
    }
    return ok ? ST_OK : diag_out_of_memory(d);
}

static status copy_subgraph(struct splice *s, const struct place *around, const struct graph *from,
                            struct diags *d, struct graph **out) {
    struct model *m = s->to->model;
    struct graph *to = *out = graph_new(m, around->to);
    value_id *now = ARENA_ARRAY(m->arena, value_id, from->values.n);
    if (!to || !now)
        return diag_out_of_memory(d);
    to->name = from->name;
    to->doc = from->doc;
    to->metadata = from->metadata;
    struct place p = {to, from, now};
    for (uint32_t v = 1; v < from->values.n; v++) {
        const struct value *x = graph_value(from, (value_id){v});
        value_id outer = x->outer.i ? around->now[x->outer.i] : VALUE_NONE;
        if (x->outer.i && !outer.i)
            continue; // an operand that the call leaves out
        now[v] = x->outer.i ? capture(to, outer) : copy_value(s, to, x);
        if (!now[v].i)
            return diag_out_of_memory(d);
    }
    status st = copy_lists(&p, d);
    for (size_t i = 0; i < from->order.n && !st; i++) {
        node_id copy;
        st = copy_node(s, &p, from->order.at[i], d, &copy);
        if (!st && !VEC_PUSH(m->arena, &to->order, copy))
            st = diag_out_of_memory(d);
    }
    return st;
}

static const struct attr *argument(const struct splice *s, const char *name) {
    const struct attr *a = s->call ? node_attr(s->call, name) : NULL;
    for (size_t i = 0; !a && s->function && i < s->function->n_defaults; i++)
        if (strcmp(s->function->defaults[i].name, name) == 0)
            a = &s->function->defaults[i];
    return a;
}

// The subgraphs of an attribute are copied into the graph of p.
static status copy_graphs(struct splice *s, const struct place *p, struct diags *d,
                          struct attr *a) {
    if (a->kind == ATTR_GRAPH)
        return copy_subgraph(s, p, a->g, d, &a->g);
    struct graph **graphs = arena_copy(s->to->model->arena, a->graphs, a->n * sizeof *graphs);
    status st = graphs ? ST_OK : diag_out_of_memory(d);
    for (size_t i = 0; i < a->n && !st; i++)
        st = copy_subgraph(s, p, graphs[i], d, &graphs[i]);
    a->graphs = graphs;
    return st;
}

// A subgraph that the call hands over reads the values around the call, which `to` has.
static status copy_argument(struct splice *s, const struct place *p, struct diags *d,
                            struct attr *a) {
    if (a->kind != ATTR_GRAPH && a->kind != ATTR_GRAPHS)
        return ST_OK;
    if (p->to != s->to)
        return diag_error(d, DIAG_UNSUPPORTED, loc_path(s->to->model->path, s->scope),
                          "the function uses its graph attribute \"%s\" inside of another graph",
                          a->name);
    value_id *same = ARENA_ARRAY(s->to->model->arena, value_id, s->to->values.n);
    for (uint32_t v = 0; same && v < s->to->values.n; v++)
        same[v] = (value_id){v};
    const struct place here = {s->to, s->to, same};
    return same ? copy_graphs(s, &here, d, a) : diag_out_of_memory(d);
}

static status copy_attrs(struct splice *s, const struct place *p, struct node *n, struct diags *d) {
    struct attr *attrs = ARENA_ARRAY(s->to->model->arena, struct attr, n->n_attrs);
    uint32_t n_attrs = 0;
    status st = attrs ? ST_OK : diag_out_of_memory(d);
    for (uint32_t i = 0; i < n->n_attrs && !st; i++) {
        struct attr a = n->attrs[i];
        bool is_ref = a.ref && *a.ref && s->function;
        if (is_ref) {
            const struct attr *given = argument(s, a.ref);
            if (!given)
                continue;
            const char *name = a.name;
            a = *given;
            a.name = name;
            st = copy_argument(s, p, d, &a);
        } else if (!a.ref && ((a.kind == ATTR_GRAPH && a.g) || a.kind == ATTR_GRAPHS)) {
            st = copy_graphs(s, p, d, &a);
        }
        attrs[n_attrs++] = a;
    }
    n->attrs = attrs;
    n->n_attrs = n_attrs;
    return st;
}

static status copy_node(struct splice *s, const struct place *p, node_id id, struct diags *d,
                        node_id *out) {
    struct arena *a = s->to->model->arena;
    struct node n = *graph_node(p->from, id);
    value_id *in = ARENA_ARRAY(a, value_id, n.n_in), *to = ARENA_ARRAY(a, value_id, n.n_out);
    *out = (node_id){(uint32_t)p->to->nodes.n};
    if (!in || !to)
        return diag_out_of_memory(d);
    for (uint32_t k = 0; k < n.n_in; k++)
        in[k] = p->now[n.in[k].i];
    for (uint32_t k = 0; k < n.n_out; k++)
        to[k] = p->now[n.out[k].i];
    n.in = in;
    n.out = to;
    if (n.name && *n.name && !(n.name = scoped(s, n.name)))
        return diag_out_of_memory(d);
    status st = copy_attrs(s, p, &n, d);
    if (st)
        return st;
    *out = (node_id){(uint32_t)p->to->nodes.n};
    if (!VEC_PUSH(a, &p->to->nodes, n))
        return diag_out_of_memory(d);
    for (uint32_t k = 0; k < n.n_out; k++)
        if (to[k].i) {
            graph_value(p->to, to[k])->def = *out;
            graph_value(p->to, to[k])->def_slot = k;
        }
    return ST_OK;
}

status splice_node(struct splice *s, node_id n, struct diags *d, node_id *copy) {
    const struct place p = {s->to, s->from, s->now};
    return copy_node(s, &p, n, d, copy);
}

// ---- Constants of subgraphs, one level at a time, the innermost first ----

static bool is_free(const struct graph *g, const char *name) {
    for (; g; g = g->outer)
        if (graph_find(g, name).i)
            return false;
    return true;
}

// A new value of the graph around `from`, which v can become a capture of; none: out of memory.
static value_id lift_value(struct graph *from, value_id v) {
    const char *name = graph_value(from, v)->name;
    if (!is_free(from->outer, name)) {
        name = graph_fresh_name(from, name);
        if (!name || !graph_rename(from, v, name))
            return VALUE_NONE;
    }
    value_id outer = graph_add_value(from->outer, name, graph_value(from, v)->type);
    if (outer.i)
        graph_value(from->outer, outer)->is_constant = graph_value(from, v)->is_constant;
    return outer;
}

static bool lift_node(struct graph *from, node_id id) {
    struct graph *to = from->outer;
    struct node n = *graph_node(from, id);
    value_id outer = lift_value(from, n.out[0]);
    struct values none = {NULL, 0}, out = {&outer, 1};
    node_id made = outer.i ? graph_add_node(to, "", "Constant", none, out) : NODE_NONE;
    if (!made.i)
        return false;
    graph_node(to, made)->attrs = n.attrs;
    graph_node(to, made)->n_attrs = n.n_attrs;
    graph_remove_node(from, id);
    graph_value(from, n.out[0])->outer = outer;
    return true;
}

static bool lift_inits(struct graph *from, struct arena *scratch, size_t *n_lifted) {
    bool *kept = ARENA_ARRAY(scratch, bool, from->values.n);
    size_t n = from->inits.n;
    value_id *inits = arena_copy(scratch, from->inits.at, n * sizeof *inits);
    bool ok = kept && inits;
    for (size_t i = 0; i < from->sparse_inits.n && ok; i++)
        kept[from->sparse_inits.at[i].i] = true;
    for (size_t i = 0; i < n && ok; i++) {
        struct tensor *t = graph_value(from, inits[i])->init;
        kept[inits[i].i] = graph_value(from, inits[i])->is_input;
        if (kept[inits[i].i])
            continue;
        value_id outer = lift_value(from, inits[i]);
        ok = outer.i && graph_add_init(from->outer, outer, t);
        graph_value(from, inits[i])->outer = outer;
        ++*n_lifted;
    }
    if (ok)
        graph_keep_inits(from, kept);
    return ok;
}

status splice_lift_constants(struct graph *from, struct arena *scratch, struct diags *d,
                             size_t *n_lifted) {
    struct graph *sub;
    status st = ST_OK;
    size_t n = from->order.n; // constants of inner graphs are appended, and lifted again below
    for (size_t i = 0; i < n && !st; i++)
        for (size_t k = 0; !st && (sub = node_subgraph(graph_node(from, from->order.at[i]), k));
             k++)
            st = splice_lift_constants(sub, scratch, d, n_lifted);
    if (st)
        return st;
    bool ok = lift_inits(from, scratch, n_lifted);
    for (size_t i = 0; i < from->order.n && ok; i++)
        if (graph_node(from, from->order.at[i])->op == OP_Constant) {
            ok = lift_node(from, from->order.at[i]);
            ++*n_lifted;
        }
    graph_sweep(from);
    return ok ? ST_OK : diag_out_of_memory(d);
}
