// State of the parser for one graph: see parse_graph.c.
#pragma once

#include "ir/text/parse.h"

enum value_state {
    VALUE_DECLARED = 1, // by a `value` line: it needs no definition
    VALUE_RESULT = 2,   // of the node being parsed
};

// An again(%of) of a node, resolved at the end of the graph.
struct again {
    node_id node;
    value_id of;
    struct token at;
};

struct graph_parse {
    struct graph *g;
    struct graph_parse *outer;
    VEC(struct token) first; // by value: its first occurrence
    VEC(uint8_t) state;      // by value: bits of enum value_state
    VEC(struct again) again;
    bool has_infos;
    struct function *f; // NULL: not the body of a function; the members below are for functions
    VEC(const char *) attrs;
    VEC(struct attr) defaults;
    VEC(struct opset) opsets;
};

// The value named by the lookahead; creates it if it is new.
bool parse_mention(struct parser *p, struct graph_parse *gp, value_id *out);
// The same at the definition of the value; a second definition is an error.
bool parse_define(struct parser *p, struct graph_parse *gp, value_id *out, bool may_be_input);
// doc=, metadata=, extra= after a value or a node; *known: `key` is one of these.
bool parse_rest(struct parser *p, struct token key, const char **doc, struct pairs *metadata,
                struct bytes *extra, bool *known);
// Name<domain, overload>
bool parse_operator(struct parser *p, const char **name, const char **domain,
                    const char **overload);
bool parse_node(struct parser *p, struct graph_parse *gp); // parse_node.c
