// Copies the nodes of one graph into another, with their subgraphs: how the body of a function, or
// a branch, takes the place of its node.
//
//     now[input.i] = operand; now[output.i] = result;      // of the values of `from`
//     struct splice s = {.to = g, .from = body, .scope = "layer1", .now = now};
//     st = splice_values(&s, d);                           // all other values, under fresh names
//     st = st ? st : splice_node(&s, n, d, &copy);         // for each node
#pragma once

#include "ir/graph.h"

struct splice {
    struct graph *to;
    const struct graph *from;
    const char *scope; // prefix of the names of values and nodes; NULL: none
    value_id *now;     // per value of `from`: its value in `to`. Inputs have the operands, or none
    // A function: its node gives the attributes that the body refers to. NULL: not one.
    const struct function *function;
    const struct node *call;
};

// Makes a value of `to` for each value of `from` that has none yet, except for inputs. Values that
// `from` captures from `to` stay what they are.
status splice_values(struct splice *s, struct diags *d);
// Copies a node of `from`. It is not in the order of `to` yet.
status splice_node(struct splice *s, node_id n, struct diags *d, node_id *copy);

// Moves the constants of a subgraph, initializers and results of Constant nodes, to the graph
// around it, which the subgraph then captures. So a body that is copied several times has one
// parameter, and a parameter inside of a branch can be found by name. Names stay where they are
// free. The same for the subgraphs inside of it, whose constants move up all the way. New nodes are
// at the end of the order of from->outer: the caller sorts it. *n_lifted counts them, added up.
status splice_lift_constants(struct graph *from, struct arena *scratch, struct diags *d,
                             size_t *n_lifted);
