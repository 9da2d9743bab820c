// Parser of attributes, the inverse of print_attr.c. The first token of a value determines its
// kind; for a list without a keyword, the first token after the bracket does.
#include <string.h>

#include "ir/text/number.h"
#include "ir/text/parse.h"

static const struct {
    const char *word;
    enum attr_kind kind;
} kind_words[] = {
    {"float", ATTR_FLOAT},     {"int", ATTR_INT},         {"string", ATTR_STRING},
    {"tensor", ATTR_TENSOR},   {"graph", ATTR_GRAPH},     {"sparse", ATTR_SPARSE},
    {"type", ATTR_TYPE},       {"floats", ATTR_FLOATS},   {"ints", ATTR_INTS},
    {"strings", ATTR_STRINGS}, {"tensors", ATTR_TENSORS}, {"graphs", ATTR_GRAPHS},
    {"sparses", ATTR_SPARSES}, {"types", ATTR_TYPES},
};

static enum attr_kind kind_of_word(struct token t) {
    for (size_t i = 0; i < sizeof kind_words / sizeof *kind_words; i++)
        if (parse_same(t, kind_words[i].word))
            return kind_words[i].kind;
    return ATTR_NONE;
}

// Digits only are an integer, even above INT64_MAX: that is an error, not a float.
static bool is_int(struct token t) {
    size_t i = t.kind == LEX_WORD && t.n > 1 && t.at[0] == '-';
    bool digits = t.kind == LEX_WORD && t.n > 0;
    for (; digits && i < t.n; i++)
        digits = t.at[i] >= '0' && t.at[i] <= '9';
    return digits;
}

static bool parse_bytes(struct parser *p, struct bytes *out) {
    if (p->t.kind != LEX_STRING)
        return parse_expected(p, "a string");
    *out = (struct bytes){arena_copy(p->m->arena, p->t.at, p->t.n), p->t.n};
    if (!out->at)
        return parse_out_of_memory(p);
    parse_advance(p);
    return true;
}

static bool parse_subgraph(struct parser *p, struct graph *outer, struct graph **out) {
    if (!parse_take_word(p, "graph"))
        return parse_expected(p, "graph {");
    struct graph *g = *out = graph_new(p->m, outer);
    if (!g)
        return parse_out_of_memory(p);
    if (!parse_at(p, '{') && !parse_quoted(p, &g->name))
        return false;
    return parse_graph_body(p, g);
}

// One element of a list of that kind, as a single attribute.
static bool parse_element(struct parser *p, struct graph *g, enum attr_kind kind,
                          struct attr *out) {
    switch (kind) {
    case ATTR_FLOATS:
        return parse_float(p, &out->f);
    case ATTR_INTS:
        return parse_int(p, &out->i);
    case ATTR_STRINGS:
        return parse_bytes(p, &out->s);
    case ATTR_TENSORS:
        return parse_tensor(p, &out->t);
    case ATTR_GRAPHS:
        return parse_subgraph(p, g, &out->g);
    case ATTR_SPARSES:
        return parse_sparse(p, &out->sparse);
    default:
        return parse_type(p, &out->type);
    }
}

static size_t element_size(enum attr_kind kind) {
    return kind == ATTR_FLOATS    ? sizeof(float)
           : kind == ATTR_INTS    ? sizeof(int64_t)
           : kind == ATTR_STRINGS ? sizeof(struct bytes)
                                  : sizeof(void *);
}

static bool parse_list(struct parser *p, struct graph *g, struct attr *out) {
    size_t size = element_size(out->kind), cap = 0;
    void *list = NULL;
    if (!parse_want(p, '['))
        return false;
    for (bool more = !parse_at(p, ']'); more; more = parse_take(p, ',')) {
        struct attr one = {0};
        if (!parse_element(p, g, out->kind, &one))
            return false;
        if (!vec_room(p->m->arena, &list, out->n, &cap, size))
            return parse_out_of_memory(p);
        // All members of the union have the same address.
        memcpy((char *)list + out->n++ * size, &one.s, size);
    }
    out->ints = list;
    return parse_want(p, ']');
}

static bool parse_reference(struct parser *p, struct attr *out) {
    if (!parse_name(p, &out->ref))
        return false;
    out->kind = p->t.first ? ATTR_NONE : kind_of_word(p->t);
    out->n = 0;
    if (out->kind)
        parse_advance(p);
    return true;
}

static bool parse_plain_list(struct parser *p, struct graph *g, struct attr *out) {
    // The first element determines the kind: look past the bracket, then return to it.
    struct lex here = p->lex;
    struct token bracket = p->t;
    parse_advance(p);
    struct token first = p->t;
    p->lex = here;
    p->t = bracket;
    out->kind = first.kind == LEX_STRING ? ATTR_STRINGS : is_int(first) ? ATTR_INTS : ATTR_FLOATS;
    out->n = 0;
    if (first.kind == LEX_MARK && first.mark == ']')
        return parse_fail(p, &bracket, "an empty list needs a kind: ints[], floats[] or strings[]");
    return parse_list(p, g, out);
}

static bool parse_worded(struct parser *p, struct graph *g, struct attr *out) {
    enum elem e;
    if (parse_take_word(p, "none"))
        return true;
    if (is_int(p->t)) {
        out->kind = ATTR_INT;
        return parse_int(p, &out->i);
    }
    if (parse_is_elem(p->t, &e)) {
        out->kind = ATTR_TENSOR;
        return parse_tensor(p, &out->t);
    }
    out->kind = kind_of_word(p->t);
    switch (out->kind) {
    case ATTR_GRAPH:
        return parse_subgraph(p, g, &out->g);
    case ATTR_SPARSE:
        return parse_sparse(p, &out->sparse);
    case ATTR_TYPE:
        parse_advance(p);
        return parse_type(p, &out->type);
    case ATTR_FLOATS:
    case ATTR_INTS:
    case ATTR_STRINGS:
    case ATTR_TENSORS:
    case ATTR_GRAPHS:
    case ATTR_SPARSES:
    case ATTR_TYPES:
        parse_advance(p);
        out->n = 0;
        return parse_list(p, g, out);
    default:
        out->kind = ATTR_FLOAT;
        return parse_float(p, &out->f);
    }
}

static bool parse_attr_value(struct parser *p, struct graph *g, struct attr *out) {
    out->n = 1;
    if (parse_take(p, '$'))
        return parse_reference(p, out);
    if (p->t.kind == LEX_STRING) {
        out->kind = ATTR_STRING;
        return parse_bytes(p, &out->s);
    }
    if (parse_at(p, '['))
        return parse_plain_list(p, g, out);
    if (p->t.kind == LEX_WORD)
        return parse_worded(p, g, out);
    return parse_expected(p, "the value of the attribute");
}

bool parse_attr(struct parser *p, struct graph *g, const char *name, struct attr *out) {
    *out = (struct attr){.name = name};
    if (!parse_want(p, '=') || !parse_attr_value(p, g, out))
        return false;
    if (!p->t.first && parse_take_word(p, "doc") &&
        (!parse_want(p, '=') || !parse_quoted(p, &out->doc)))
        return false;
    return p->t.first || !parse_take_word(p, "extra") ||
           (parse_want(p, '=') && parse_hex(p, &out->extra));
}
