// Shared by the parsers of the text form: see text.h. Recursive descent with one token of
// lookahead. A parse_* function that fails has reported a diagnostic and returns false; the
// statement loop resumes at the next line, so that one run reports several errors.
#pragma once

#include "ir/base/map.h"
#include "ir/text/lex.h"
#include "ir/text/text.h"

struct graph_parse;

struct parser {
    struct lex lex;
    struct token t; // the lookahead
    struct model *m;
    struct diags *d;
    const char *path, *folder; // of the text: for messages, and for the files that it names
    struct map sources;        // path as written -> index in m->sources
    struct graph_parse *graph; // the innermost graph being parsed
    int depth;                 // nesting of graphs and types
    size_t n_errors;
    bool stop;     // out of memory, a file cannot be read, or too many errors
    status failed; // the result
};

// Reports at a token, and returns false.
__attribute__((format(printf, 3, 4))) bool parse_fail(struct parser *p, const struct token *at,
                                                      const char *format, ...);
bool parse_out_of_memory(struct parser *p);
bool parse_stop(struct parser *p, status st); // a failure that was reported ends the parsing
// Reports "`what` is expected here, not …" at the lookahead.
bool parse_expected(struct parser *p, const char *what);

void parse_advance(struct parser *p);
bool parse_at(const struct parser *p, char mark); // whether the lookahead is this
bool parse_at_word(const struct parser *p, const char *word);
bool parse_take(struct parser *p, char mark); // consumes it if it is the lookahead
bool parse_take_word(struct parser *p, const char *word);
bool parse_want(struct parser *p, char mark); // consumes it, else reports an error
bool parse_same(struct token t, const char *word);
// Count the nesting; parse_enter fails at LIMIT_WIRE_DEPTH, which bounds the recursion.
bool parse_enter(struct parser *p);
void parse_leave(struct parser *p);

bool parse_int(struct parser *p, int64_t *x);
bool parse_name(struct parser *p, const char **out);   // a word or string, interned
bool parse_quoted(struct parser *p, const char **out); // a string, interned; _ is NULL
bool parse_hex(struct parser *p, struct bytes *out);
bool parse_pair(struct parser *p, struct pair *out);   // key="value"
bool parse_pairs(struct parser *p, struct pairs *out); // {key="value", …}
bool parse_intern(struct parser *p, struct token t, const char **out);
bool parse_add_pair(struct parser *p, struct pairs *to, struct pair one);

// parse_type.c
bool parse_type(struct parser *p, const struct type **out);
bool parse_elem(struct parser *p, enum elem *out);
bool parse_is_elem(struct token t, enum elem *out);
bool parse_dims(struct parser *p, const int64_t **dims, int32_t *rank);

// parse_tensor.c
bool parse_span(struct parser *p, struct span *out); // x"…" or span(…)
bool parse_float(struct parser *p, float *out);
bool parse_payload(struct parser *p, struct tensor *t);
bool parse_tensor_facts(struct parser *p, struct tensor *t); // (name=…, …), or nothing
bool parse_tensor(struct parser *p, struct tensor **out);    // _ is NULL
bool parse_sparse(struct parser *p, struct sparse **out);    // starts at `sparse`

// parse_attr.c: name=value, starts after the name. `g` encloses subgraphs.
bool parse_attr(struct parser *p, struct graph *g, const char *name, struct attr *out);

// parse_graph.c
bool parse_graph_body(struct parser *p, struct graph *g); // { … }
bool parse_function(struct parser *p);                    // starts after `function`

// parse.c: statements. After a failure in a statement whose first token ended at `from`, skips to
// the next line, or to the brace that closes the graph.
void parse_recover(struct parser *p, size_t from);
bool parse_line_end(struct parser *p);
bool parse_opset(struct parser *p, struct opset *out);
