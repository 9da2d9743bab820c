// Shared by the files of the value numbering (equivalence.h): equivalence.c compares two models,
// equivalence_classes.c assigns classes to nodes and graphs, equivalence_rules.c simplifies nodes,
// equivalence_constants.c compares constants, equivalence_random.c detects random nodes.
#pragma once

#include "ir/base/map.h"
#include "ir/check/equivalence.h"

// A class of equal values. Class 0 is an omitted operand.
struct equiv_class {
    const struct type *type; // NULL: not known
    const int64_t *ints;     // the elements of an integer or bool tensor; NULL: not known
    int64_t n_ints;
    bool in_step; // a value of the step is in this class
    // Its first member, for messages: a node and its operands, or a value by its name.
    const struct graph *g;
    node_id node;
    const char *name;
    const uint32_t *in;
    uint32_t n_in;
};

// A constant that is too large to be part of a key: identified by its position in a file, and by
// its name.
struct equiv_large {
    const struct tensor *tensor;
    uint32_t class;
};

struct numbering {
    struct arena *a;
    struct diags *d;
    const struct model *m; // the model being numbered
    bool is_step;          // it is the step, not the plan
    uint32_t level;        // nesting of the graph being numbered; 0: the main graph
    VEC(struct equiv_class) classes;
    struct map by_key;        // expression -> class
    struct map large_by_name; // -> index in large
    VEC(struct equiv_large) large;
    struct str key;      // the expression being built
    size_t n_different;  // inputs and outputs that differ
    uint32_t *functions; // per function of the model: its class; 0: not computed yet
    status failed;       // the first failure; later calls do nothing
};

// Keys are sequences of length-prefixed fields, so that different expressions have different keys.
void equiv_key(struct numbering *s, char kind); // starts a new key
void equiv_put(struct numbering *s, int64_t x);
void equiv_put_bytes(struct numbering *s, const void *at, size_t n);
// The class of the key; *is_new: it was added and its fields are to be set. 0 after a failure.
uint32_t equiv_intern(struct numbering *s, bool *is_new);
struct equiv_class *equiv_at(struct numbering *s, uint32_t class);

// The classes of all values of a graph. `outer`: those of the enclosing graph, or NULL. NULL after
// a failure.
uint32_t *equiv_graph(struct numbering *s, const struct graph *g, const uint32_t *outer);

// equivalence_random.c. The function of the model that a node calls, and its index; NULL: none.
const struct function *equiv_function(const struct model *m, const struct node *n, size_t *at);

// equivalence_constants.c. 0 for no tensor. `name` selects the large constant of the step to
// compare with.
uint32_t equiv_constant(struct numbering *s, const struct tensor *t, const char *name);
uint32_t equiv_sparse(struct numbering *s, const struct sparse *x, const char *name);

// equivalence_rules.c. Removes operands without effect from in[0 .. n_in-1]; returns how many are
// left.
uint32_t equiv_operands(struct numbering *s, const struct node *n, uint32_t *in, uint32_t n_in);
// The class of the operand that the node simplifies to, or 0.
uint32_t equiv_simplify(struct numbering *s, const struct node *n, const uint32_t *in,
                        uint32_t n_in);
// The type of the node's first output, derived from its operands, or NULL.
const struct type *equiv_derive(struct numbering *s, const struct node *n, const uint32_t *in,
                                uint32_t n_in);
// The class of all empty tensors of this type; 0: the type has elements, or an unknown number.
uint32_t equiv_empty(struct numbering *s, const struct type *t);
