// Parser of graphs and functions, the inverse of print_graph.c. The first occurrence of a name
// creates its value, possibly before its definition. At the closing brace, undefined values are
// resolved in the enclosing graph, which creates them there if necessary; so resolution proceeds
// outwards. A value that is undefined in the outermost graph is an error at its first occurrence.
#include <string.h>

#include "ir/text/parse_graph.h"
#include "ir/text/print.h"

static bool mention_named(struct parser *p, struct graph_parse *gp, const char *name,
                          struct token at, value_id *out) {
    *out = graph_find(gp->g, name);
    if (out->i)
        return true;
    struct arena *a = p->m->arena;
    *out = graph_add_value(gp->g, name, NULL);
    // Value 0 has an entry too: ids are indices.
    bool ok = out->i != 0;
    while (ok && gp->first.n <= out->i)
        ok = VEC_PUSH(a, &gp->first, at) && VEC_PUSH(a, &gp->state, (uint8_t)0);
    return ok ? true : parse_out_of_memory(p);
}

bool parse_mention(struct parser *p, struct graph_parse *gp, value_id *out) {
    struct token at = p->t;
    const char *name;
    if (at.kind != LEX_VALUE)
        return parse_expected(p, "a value such as %x");
    if (at.n == 0)
        return parse_fail(p, &at, "a value needs a name; an omitted one is written _");
    parse_advance(p);
    return parse_intern(p, at, &name) && mention_named(p, gp, name, at, out);
}

bool parse_define(struct parser *p, struct graph_parse *gp, value_id *out, bool may_be_input) {
    struct token at = p->t;
    if (!parse_mention(p, gp, out))
        return false;
    const struct value *v = graph_value(gp->g, *out);
    if (v->def.i || v->init || v->sparse_init || (v->is_input && !may_be_input))
        return parse_fail(p, &at, "%%%s is defined twice", v->name);
    return true;
}

bool parse_rest(struct parser *p, struct token key, const char **doc, struct pairs *metadata,
                struct bytes *extra, bool *known) {
    *known = true;
    if (parse_same(key, "doc"))
        return parse_want(p, '=') && parse_quoted(p, doc);
    if (parse_same(key, "metadata"))
        return parse_want(p, '=') && parse_pairs(p, metadata);
    if (parse_same(key, "extra"))
        return parse_want(p, '=') && parse_hex(p, extra);
    *known = false;
    return false;
}

static bool parse_value_rest(struct parser *p, struct graph_parse *gp, value_id id) {
    if (parse_take(p, ':')) {
        const struct type *t;
        if (!parse_type(p, &t))
            return false;
        graph_value(gp->g, id)->type = t;
    }
    while (!p->t.first && p->t.kind == LEX_WORD) {
        struct token key = p->t;
        struct value *v = graph_value(gp->g, id);
        bool known;
        parse_advance(p);
        if (!parse_rest(p, key, &v->doc, &v->metadata, &v->extra, &known))
            return known ? false : parse_fail(p, &key, "a value has doc, metadata and extra");
    }
    return true;
}

static bool parse_input(struct parser *p, struct graph_parse *gp) {
    value_id id;
    struct token at = p->t;
    if (!parse_mention(p, gp, &id))
        return false;
    const struct value *v = graph_value(gp->g, id);
    if (v->is_input || v->def.i)
        return parse_fail(p, &at, "%%%s is defined twice", v->name);
    return (graph_add_input(gp->g, id) || parse_out_of_memory(p)) && parse_value_rest(p, gp, id);
}

static bool parse_sparse_param(struct parser *p, struct graph_parse *gp, value_id id) {
    struct sparse *s;
    if (!parse_sparse(p, &s))
        return false;
    graph_value(gp->g, id)->sparse_init = s;
    return VEC_PUSH(p->m->arena, &gp->g->sparse_inits, id) ? true : parse_out_of_memory(p);
}

// Sets element type and dimensions of a parameter's tensor from its declared type.
static bool shape_from_type(struct parser *p, const struct token *at, const struct type *type,
                            struct tensor *t) {
    if (!type_is_static(type))
        return parse_fail(p, at, "a parameter needs a type with numbers as dimensions");
    int64_t *dims = ARENA_ARRAY(p->m->arena, int64_t, type->rank);
    if (!dims)
        return parse_out_of_memory(p);
    for (int32_t i = 0; i < type->rank; i++)
        dims[i] = type->dims[i].size;
    t->elem = type->elem;
    t->dims = dims;
    t->rank = type->rank;
    return true;
}

static bool parse_param(struct parser *p, struct graph_parse *gp, bool is_constant) {
    struct graph *g = gp->g;
    value_id id;
    const struct type *type = NULL;
    if (!parse_define(p, gp, &id, true))
        return false;
    struct token at = p->t;
    if (parse_take(p, ':') && !parse_type(p, &type))
        return false;
    bool has_payload = parse_take(p, '=');
    if (has_payload && parse_at_word(p, "sparse")) {
        if (type)
            graph_value(g, id)->type = type;
        return parse_sparse_param(p, gp, id);
    }
    struct tensor *t = ARENA_NEW(p->m->arena, struct tensor);
    if (!t)
        return parse_out_of_memory(p);
    if (!shape_from_type(p, &at, type, t) || (has_payload && !parse_payload(p, t)))
        return false;
    if (has_payload && !t->payload)
        return parse_expected(p, "the elements, {…}, x\"…\" or span(…),");
    t->name = graph_value(g, id)->name;
    graph_value(g, id)->is_constant = is_constant;
    return (graph_add_init(g, id, t) || parse_out_of_memory(p)) && parse_tensor_facts(p, t);
}

static bool parse_output(struct parser *p, struct graph_parse *gp) {
    value_id id;
    return parse_mention(p, gp, &id) && (graph_add_output(gp->g, id) || parse_out_of_memory(p));
}

static bool parse_declaration(struct parser *p, struct graph_parse *gp, bool is_outer) {
    value_id id;
    if (!parse_mention(p, gp, &id))
        return false;
    gp->state.at[id.i] |= is_outer ? 0 : VALUE_DECLARED;
    return parse_value_rest(p, gp, id);
}

static bool parse_infos(struct parser *p, struct graph_parse *gp) {
    gp->has_infos = true;
    if (!parse_want(p, '('))
        return false;
    for (bool more = !parse_at(p, ')'); more; more = parse_take(p, ',')) {
        value_id id;
        if (!parse_mention(p, gp, &id))
            return false;
        graph_value(gp->g, id)->has_info = true;
        if (!VEC_PUSH(p->m->arena, &gp->g->infos, id))
            return parse_out_of_memory(p);
    }
    return parse_want(p, ')');
}

bool parse_operator(struct parser *p, const char **name, const char **domain,
                    const char **overload) {
    *overload = NULL;
    *domain = pool_intern(p->m->pool, "");
    if (!*domain)
        return parse_out_of_memory(p);
    if (!parse_name(p, name))
        return false;
    if (!parse_take(p, '<'))
        return true;
    return parse_name(p, domain) && (!parse_take(p, ',') || parse_name(p, overload)) &&
           parse_want(p, '>');
}

static bool parse_function_attr(struct parser *p, struct graph_parse *gp) {
    const char *name;
    struct attr one;
    if (!parse_name(p, &name))
        return false;
    if (!parse_at(p, '='))
        return VEC_PUSH(p->m->arena, &gp->attrs, name) ? true : parse_out_of_memory(p);
    return parse_attr(p, gp->g, name, &one) &&
           (VEC_PUSH(p->m->arena, &gp->defaults, one) || parse_out_of_memory(p));
}

// doc, metadata and extra belong to the function, if the graph is the body of one.
static bool parse_remark(struct parser *p, struct graph_parse *gp, struct token key, bool *known) {
    struct graph *g = gp->g;
    struct pair pair;
    struct bytes bytes;
    struct opset opset;
    *known = true;
    if (parse_same(key, "doc"))
        return parse_quoted(p, gp->f ? &gp->f->doc : &g->doc);
    if (parse_same(key, "metadata"))
        return parse_pair(p, &pair) &&
               parse_add_pair(p, gp->f ? &gp->f->metadata : &g->metadata, pair);
    if (parse_same(key, "extra"))
        return parse_hex(p, gp->f ? &gp->f->extra : &g->extra);
    if (parse_same(key, "quantization"))
        return parse_hex(p, &bytes) &&
               (VEC_PUSH(p->m->arena, &g->quantization, bytes) || parse_out_of_memory(p));
    if (gp->f && parse_same(key, "opset"))
        return parse_opset(p, &opset) &&
               (VEC_PUSH(p->m->arena, &gp->opsets, opset) || parse_out_of_memory(p));
    if (gp->f && parse_same(key, "attribute"))
        return parse_function_attr(p, gp);
    *known = false;
    return false;
}

static bool parse_statement(struct parser *p, struct graph_parse *gp) {
    struct token key = p->t;
    bool known;
    if (key.kind == LEX_VALUE || parse_at(p, '(') || parse_at_word(p, "_"))
        return parse_node(p, gp);
    if (key.kind != LEX_WORD)
        return parse_expected(p, "a statement");
    parse_advance(p);
    if (parse_same(key, "input"))
        return parse_input(p, gp);
    if (parse_same(key, "param"))
        return parse_param(p, gp, false);
    if (parse_same(key, "const"))
        return parse_param(p, gp, true);
    if (parse_same(key, "output"))
        return parse_output(p, gp);
    if (parse_same(key, "value") || parse_same(key, "outer"))
        return parse_declaration(p, gp, parse_same(key, "outer"));
    if (parse_same(key, "infos"))
        return parse_infos(p, gp);
    bool ok = parse_remark(p, gp, key, &known);
    return known ? ok
                 : parse_fail(p, &key, "unknown statement \"%.*s\" in a %s",
                              key.n < 60 ? (int)key.n : 60, key.at, gp->f ? "function" : "graph");
}

static bool resolve(struct parser *p, struct graph_parse *gp, value_id id) {
    struct value *v = graph_value(gp->g, id);
    if (v->def.i || v->is_input || v->init || v->sparse_init || gp->state.at[id.i] & VALUE_DECLARED)
        return true;
    if (!gp->outer)
        return parse_fail(p, &gp->first.at[id.i], "%%%s is not defined", v->name);
    value_id outer;
    if (!mention_named(p, gp->outer, v->name, gp->first.at[id.i], &outer))
        return false;
    graph_capture(gp->g, id, outer);
    if (!v->type && !v->is_output && !v->has_info)
        v->type = graph_value(gp->outer->g, outer)->type;
    return true;
}

static bool declare_by_default(struct parser *p, struct graph *g) {
    for (size_t i = 0; i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        for (uint32_t k = 0; k < n->n_out; k++)
            if (print_is_declared_by_default(g, n->out[k])) {
                graph_value(g, n->out[k])->has_info = true;
                if (!VEC_PUSH(p->m->arena, &g->infos, n->out[k]))
                    return parse_out_of_memory(p);
            }
    }
    return true;
}

// Resolves what needs the whole graph: captured values, references to recomputed nodes, types of
// parameters, default declarations.
static bool finish(struct parser *p, struct graph_parse *gp) {
    struct graph *g = gp->g;
    for (uint32_t i = 1; i < g->values.n && !p->stop; i++)
        resolve(p, gp, (value_id){i});
    for (size_t i = 0; i < gp->again.n; i++) {
        const struct again *one = &gp->again.at[i];
        node_id of = graph_value(g, one->of)->def;
        if (of.i)
            graph_node(g, one->node)->again = of;
        else
            parse_fail(p, &one->at, "%%%s is not the result of a node here",
                       graph_value(g, one->of)->name);
    }
    for (size_t i = 0; i < g->inits.n; i++) {
        struct value *v = graph_value(g, g->inits.at[i]);
        bool said = v->type || v->is_input || v->is_output || v->has_info;
        if (!said && !(v->type = tensor_type(p->m->arena, v->init)))
            return parse_out_of_memory(p);
    }
    return gp->has_infos || declare_by_default(p, g);
}

static bool parse_lines(struct parser *p, struct graph_parse *gp) {
    gp->outer = p->graph;
    p->graph = gp;
    bool entered = parse_enter(p), ok = entered && parse_want(p, '{');
    while (ok && p->t.kind != LEX_END && !parse_at(p, '}')) {
        size_t from = p->t.end;
        if (!parse_statement(p, gp) || !parse_line_end(p))
            parse_recover(p, from);
    }
    ok = ok && parse_want(p, '}') && finish(p, gp);
    if (entered)
        parse_leave(p);
    p->graph = gp->outer;
    return ok;
}

bool parse_graph_body(struct parser *p, struct graph *g) {
    struct graph_parse gp = {.g = g};
    return parse_lines(p, &gp);
}

bool parse_function(struct parser *p) {
    struct function f = {.body = graph_new(p->m, NULL)};
    struct graph_parse gp = {.g = f.body, .f = &f};
    if (!f.body)
        return parse_out_of_memory(p);
    if (!parse_operator(p, &f.name, &f.domain, &f.overload) || !parse_lines(p, &gp))
        return false;
    f.attrs = gp.attrs.at;
    f.n_attrs = gp.attrs.n;
    f.defaults = gp.defaults.at;
    f.n_defaults = gp.defaults.n;
    f.opsets = gp.opsets.at;
    f.n_opsets = gp.opsets.n;
    return VEC_PUSH(p->m->arena, &p->m->functions, f) ? true : parse_out_of_memory(p);
}
