// A graph while its text is read: see parse_graph.c.
#pragma once

#include "ir/text/parse.h"

enum value_state {
    VALUE_DECLARED = 1, // a `value` line stands for it: it needs no other origin
    VALUE_RESULT = 2,   // of the node that is being read
};

struct again {
    node_id node;
    value_id of;
    struct token at;
};

struct graph_parse {
    struct graph *g;
    struct graph_parse *outer;
    VEC(struct token) first; // by value: where it was met first
    VEC(uint8_t) state;      // by value: see below
    VEC(struct again) again; // to be resolved at the end
    bool has_infos;
    // A function's own.
    struct function *f;
    VEC(const char *) attrs;
    VEC(struct attr) defaults;
    VEC(struct opset) opsets;
};

// The value of the present token, made when it is new.
bool parse_mention(struct parser *p, struct graph_parse *gp, value_id *out);
// The same where it gets its origin, and must not have one yet.
bool parse_define(struct parser *p, struct graph_parse *gp, value_id *out, bool may_be_input);
// doc=, metadata=, extra= behind a value or a node; *known: the key is one of these.
bool parse_rest(struct parser *p, struct token key, const char **doc, struct pairs *metadata,
                struct bytes *extra, bool *known);
// Name<domain, overload>
bool parse_operator(struct parser *p, const char **name, const char **domain,
                    const char **overload);
bool parse_node(struct parser *p, struct graph_parse *gp); // parse_node.c
