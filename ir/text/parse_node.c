// Parser of nodes: results = operator(operands, attributes) : types, then the facts of planning
// (cost, workspace, again, device) and the rarer fields, in any order.
#include "ir/text/parse_graph.h"

typedef VEC(value_id) value_vec;
typedef VEC(struct attr) attr_vec;

static bool parse_results(struct parser *p, struct graph_parse *gp, value_vec *out) {
    if (parse_take(p, '('))
        return parse_want(p, ')') && parse_want(p, '=');
    do {
        struct token at = p->t;
        value_id id = VALUE_NONE;
        if (!parse_take_word(p, "_") && !parse_define(p, gp, &id, false))
            return false;
        if (gp->state.n && gp->state.at[id.i] & VALUE_RESULT)
            return parse_fail(p, &at, "%%%s is defined twice", graph_value(gp->g, id)->name);
        if (!VEC_PUSH(p->m->arena, out, id))
            return parse_out_of_memory(p);
        if (id.i)
            gp->state.at[id.i] |= VALUE_RESULT;
    } while (parse_take(p, ','));
    return parse_want(p, '=');
}

// One operand or attribute; operands come first. A word is the name of an attribute.
static bool parse_operand(struct parser *p, struct graph_parse *gp, value_vec *in,
                          attr_vec *attrs) {
    struct token at = p->t;
    if (at.kind == LEX_VALUE || parse_at_word(p, "_")) {
        value_id id = VALUE_NONE;
        if (attrs->n)
            return parse_fail(p, &at, "operands come before attributes");
        if (!parse_take_word(p, "_") && !parse_mention(p, gp, &id))
            return false;
        return VEC_PUSH(p->m->arena, in, id) ? true : parse_out_of_memory(p);
    }
    const char *name;
    struct attr one;
    if (at.kind != LEX_WORD && at.kind != LEX_STRING)
        return parse_expected(p, "an operand or an attribute");
    if (!parse_name(p, &name) || !parse_attr(p, gp->g, name, &one))
        return false;
    return VEC_PUSH(p->m->arena, attrs, one) ? true : parse_out_of_memory(p);
}

static bool parse_result_types(struct parser *p, struct graph_parse *gp, const value_vec *out) {
    if (!parse_take(p, ':'))
        return true;
    size_t k = 0;
    do {
        struct token at = p->t;
        const struct type *t;
        if (!parse_type(p, &t))
            return false;
        if (k == out->n)
            return parse_fail(p, &at, "there are more types than results");
        if (t && !out->at[k].i)
            return parse_fail(p, &at, "an omitted result has no type");
        if (t)
            graph_value(gp->g, out->at[k])->type = t;
        k++;
    } while (parse_take(p, ','));
    return true;
}

// Adds a device that no `device` statement lists.
static bool parse_device(struct parser *p, struct node *n) {
    const char *name;
    struct model *m = p->m;
    if (!parse_name(p, &name))
        return false;
    n->device = 1;
    while (n->device <= m->device_names.n && m->device_names.at[n->device - 1] != name)
        n->device++;
    return n->device <= m->device_names.n || VEC_PUSH(m->arena, &m->device_names, name)
               ? true
               : parse_out_of_memory(p);
}

static bool parse_again(struct parser *p, struct graph_parse *gp, node_id id) {
    struct again one = {.node = id, .at = p->t};
    if (!parse_want(p, '(') || !parse_mention(p, gp, &one.of) || !parse_want(p, ')'))
        return false;
    return VEC_PUSH(p->m->arena, &gp->again, one) ? true : parse_out_of_memory(p);
}

static bool parse_amount(struct parser *p, int64_t *out) {
    struct token at = p->t;
    return parse_want(p, '=') && parse_int(p, out) &&
           (*out >= 0 || parse_fail(p, &at, "this cannot be negative"));
}

static bool parse_node_rest(struct parser *p, struct graph_parse *gp, node_id id) {
    while (!p->t.first && !parse_at(p, '}')) {
        struct node *n = graph_node(gp->g, id);
        struct token key = p->t;
        bool known = true, ok;
        parse_advance(p);
        if (key.kind == LEX_MARK && key.mark == '@')
            ok = parse_device(p, n);
        else if (parse_same(key, "again"))
            ok = parse_again(p, gp, id);
        else if (parse_same(key, "cost"))
            ok = parse_amount(p, &n->cost);
        else if (parse_same(key, "workspace"))
            ok = parse_amount(p, &n->workspace_bytes);
        else if (parse_same(key, "name"))
            ok = parse_want(p, '=') && parse_name(p, &n->name);
        else if (parse_same(key, "devices"))
            ok = parse_want(p, '=') && parse_hex(p, &n->devices);
        else
            ok = parse_rest(p, key, &n->doc, &n->metadata, &n->extra, &known);
        if (!known)
            return parse_fail(p, &key,
                              "a node has cost, workspace, again, @device, name, devices, doc, "
                              "metadata and extra");
        if (!ok)
            return false;
    }
    return true;
}

static bool parse_equation(struct parser *p, struct graph_parse *gp, value_vec *out) {
    value_vec in = {0};
    attr_vec attrs = {0};
    const char *name, *domain, *overload;
    if (!parse_results(p, gp, out) || !parse_operator(p, &name, &domain, &overload) ||
        !parse_want(p, '('))
        return false;
    for (bool more = !parse_at(p, ')'); more; more = parse_take(p, ','))
        if (!parse_operand(p, gp, &in, &attrs))
            return false;
    if (!parse_want(p, ')'))
        return false;
    node_id id = graph_add_node(gp->g, domain, name, (struct values){in.at, (uint32_t)in.n},
                                (struct values){out->at, (uint32_t)out->n});
    if (!id.i)
        return parse_out_of_memory(p);
    struct node *n = graph_node(gp->g, id);
    n->overload = overload;
    n->attrs = attrs.at;
    n->n_attrs = (uint32_t)attrs.n;
    return parse_result_types(p, gp, out) && parse_node_rest(p, gp, id);
}

bool parse_node(struct parser *p, struct graph_parse *gp) {
    value_vec out = {0};
    bool ok = parse_equation(p, gp, &out);
    // The results of a malformed line count as declared, which avoids follow-up errors.
    for (size_t i = 0; i < out.n; i++)
        if (out.at[i].i) {
            uint8_t *state = &gp->state.at[out.at[i].i];
            *state = (uint8_t)((*state & ~VALUE_RESULT) | (ok ? 0 : VALUE_DECLARED));
        }
    return ok;
}
