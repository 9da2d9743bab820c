// Printer of attributes: name=value. The syntax of the value determines its kind: 1 is an integer,
// 1.0 a float, "a" a string, f32[2] {…} a tensor, [1,2] a list. A keyword precedes what would be
// ambiguous: ints[], type f32[2], tensors[…].
#include "ir/text/number.h"
#include "ir/text/print.h"

#include <string.h>

static const char *const list_words[] = {
    [ATTR_FLOATS] = "floats",   [ATTR_INTS] = "ints",     [ATTR_STRINGS] = "strings",
    [ATTR_TENSORS] = "tensors", [ATTR_GRAPHS] = "graphs", [ATTR_SPARSES] = "sparses",
    [ATTR_TYPES] = "types"};

static void print_float(struct str *out, float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    number_print(out, NUMBER_F32, bits);
}

static void print_bytes(struct str *out, struct bytes b) {
    str_add_quoted(out, (const char *)b.at, b.n);
}

static void print_subgraph(struct printer *p, const struct graph *g) {
    if (!g) {
        str_add(p->out, "none");
        return;
    }
    str_add(p->out, "graph ");
    if (g->name) {
        print_quoted(p->out, g->name);
        str_add_char(p->out, ' ');
    }
    print_graph_body(p, g);
}

static void print_type_word(struct str *out, const struct type *t) {
    str_add(out, "type ");
    print_type(out, t);
}

static void print_single(struct printer *p, const struct attr *a) {
    switch (a->kind) {
    case ATTR_FLOAT:
        print_float(p->out, a->f);
        break;
    case ATTR_INT:
        str_addf(p->out, "%lld", (long long)a->i);
        break;
    case ATTR_STRING:
        print_bytes(p->out, a->s);
        break;
    case ATTR_TENSOR:
        print_tensor(p, a->t);
        break;
    case ATTR_GRAPH:
        print_subgraph(p, a->g);
        break;
    case ATTR_SPARSE:
        print_sparse(p, a->sparse);
        break;
    case ATTR_TYPE:
        print_type_word(p->out, a->type);
        break;
    default:
        str_add(p->out, "none");
        break;
    }
}

static void print_element(struct printer *p, const struct attr *a, size_t i) {
    switch (a->kind) {
    case ATTR_FLOATS:
        print_float(p->out, a->floats[i]);
        break;
    case ATTR_INTS:
        str_addf(p->out, "%lld", (long long)a->ints[i]);
        break;
    case ATTR_STRINGS:
        print_bytes(p->out, a->strings[i]);
        break;
    case ATTR_TENSORS:
        print_tensor(p, a->tensors[i]);
        break;
    case ATTR_GRAPHS:
        print_subgraph(p, a->graphs[i]);
        break;
    case ATTR_SPARSES:
        print_sparse(p, a->sparses[i]);
        break;
    default:
        print_type(p->out, a->types[i]);
        break;
    }
}

static void print_list(struct printer *p, const struct attr *a) {
    bool plain = a->kind == ATTR_FLOATS || a->kind == ATTR_INTS || a->kind == ATTR_STRINGS;
    if (!plain || a->n == 0)
        str_add(p->out, list_words[a->kind]);
    str_add_char(p->out, '[');
    for (size_t i = 0; i < a->n; i++) {
        if (i)
            str_add(p->out, plain ? "," : ", ");
        print_element(p, a, i);
    }
    str_add_char(p->out, ']');
}

static void print_reference(struct str *out, const struct attr *a) {
    static const char *const single_words[] = {
        [ATTR_FLOAT] = "float",   [ATTR_INT] = "int",     [ATTR_STRING] = "string",
        [ATTR_TENSOR] = "tensor", [ATTR_GRAPH] = "graph", [ATTR_SPARSE] = "sparse",
        [ATTR_TYPE] = "type"};
    str_add_char(out, '$');
    print_word(out, a->ref);
    if (a->kind != ATTR_NONE)
        str_addf(out, " %s", attr_is_list(a->kind) ? list_words[a->kind] : single_words[a->kind]);
}

void print_attr(struct printer *p, const struct attr *a) {
    print_word(p->out, a->name);
    str_add_char(p->out, '=');
    if (a->ref)
        print_reference(p->out, a);
    else if (attr_is_list(a->kind))
        print_list(p, a);
    else
        print_single(p, a);
    if (a->doc) {
        str_add(p->out, " doc=");
        print_quoted(p->out, a->doc);
    }
    if (a->extra.n) {
        str_add(p->out, " extra=");
        print_hex(p->out, a->extra.at, a->extra.n);
    }
}
