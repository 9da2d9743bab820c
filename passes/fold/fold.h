// What the parts of the pass `fold` share: fold.c walks the graph and calls the others, node by
// node.
#pragma once

#include "ir/splice.h"
#include "passes/param/param_roles.h"
#include "passes/pass.h"

// The tensors of a value that is a sequence, as far as they are known.
struct fold_sequence {
    const value_id *at;
    size_t n;
};

struct fold {
    struct model *m;
    struct graph *g;
    struct pass_context *c;
    bool *captured;                         // per value: a subgraph reads it
    value_id *now;                          // per value: its replacement
    const struct fold_sequence **sequences; // per value: its tensors, or NULL
    size_t n_values;                        // of the arrays above, and of `roles`
    const struct param_role *roles;         // of the results of Constant nodes
    int64_t n_folded, n_unrolled;           // nodes taken out; nodes that loops were unrolled to
    bool again; // nodes were added, which need types and folding too: walk once more
};

value_id fold_current(const struct fold *f, value_id v); // v, or what took its place
// Gives a value of the graph that no node makes now an initializer; t may be NULL: out of memory.
status fold_make_init(struct fold *f, value_id v, struct tensor *t, bool constant);
// Makes `result` the output k of a node that was removed.
status fold_set_output(struct fold *f, const struct node *n, uint32_t k, value_id result);
// Binds a new builder to the graph, with shape inference.
struct builder;
struct builder fold_builder(struct fold *f, const char *scope);

// Each takes the node out if it can, and sets *done then.
status fold_branch(struct fold *f, node_id id, bool *done);  // an If whose condition is known
status fold_loop(struct fold *f, node_id id, bool *done);    // Loop and Scan of known length
status fold_on_list(struct fold *f, node_id id, bool *done); // operators on sequences and optionals
