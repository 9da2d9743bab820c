// Shared by the printers of the text form: see text.h.
#pragma once

#include "ir/text/text.h"

struct printer {
    struct str *out;
    struct diags *d;
    const char *folder;  // where the text will be
    size_t n_outside;    // spans of files that are not beneath it
    const char *outside; // the first such file
    struct arena scratch;
    status st; // the first failure to read a payload
    int indent;
};

// A name, in quotes only if the lexer needs them. The name `_` is quoted: bare it means "none".
void print_word(struct str *out, const char *word);
void print_quoted(struct str *out, const char *text); // NULL: _
void print_value(struct str *out, const struct value *v);
void print_hex(struct str *out, const uint8_t *bytes, size_t n);
void print_pairs(struct str *out, const struct pairs *p); // {key="value", …}

// print_tensor.c
void print_dims(struct str *out, const int64_t *dims, int32_t rank); // [2,3]
void print_elem(struct str *out, enum elem e);
void print_span(struct printer *p, struct span s); // x"…" or span(…)
void print_payload(struct printer *p, const struct tensor *t);
// (name=…, doc="…"), or nothing. Omits the name if it is `default_name`.
void print_tensor_facts(struct printer *p, const struct tensor *t, const char *default_name);
void print_tensor(struct printer *p, const struct tensor *t);
void print_sparse(struct printer *p, const struct sparse *s);

// print_attr.c
void print_attr(struct printer *p, const struct attr *a);

// print_graph.c
void print_graph_body(struct printer *p, const struct graph *g);  // { … }
void print_graph_lines(struct printer *p, const struct graph *g); // the lines between the braces

// print.c: lines and words
void print_begin(struct printer *p, const char *keyword);
void print_end(struct printer *p);
void print_text_line(struct printer *p, const char *keyword, const char *text); // NULL: no line
void print_hex_line(struct printer *p, const char *keyword, struct bytes b);
void print_metadata_lines(struct printer *p, const struct pairs *pairs);
// MatMul, or FusedMatMul<com.microsoft>, or Op<domain, overload>.
void print_operator(struct str *out, const char *name, const char *domain, const char *overload);

// Whether a node's result is in the default list of declarations (graph.infos): it has a type and
// is not an output. The list is printed only if it differs from the default.
bool print_is_declared_by_default(const struct graph *g, value_id v);
