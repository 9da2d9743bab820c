// What the files of the value numbering share: see equivalence.h. equivalence.c compares,
// equivalence_classes.c gives nodes and graphs their classes, equiv_rules.c has the laws by which
// nodes vanish, equiv_constant.c tells constants apart, equiv_random.c random nodes.
#pragma once

#include "ir/base/map.h"
#include "ir/check/equivalence.h"

// A class. Number 0 is an operand that is left out.
struct equiv_class {
    const struct type *type; // NULL: not known
    const int64_t *ints;     // the elements of an integer or bool tensor; NULL: not known
    int64_t n_ints;
    bool in_step; // a value of the step is of this class
    // Where it was met first, for messages: a node and its operands, or a value by its name.
    const struct graph *g;
    node_id node;
    const char *name;
    const uint32_t *in;
    uint32_t n_in;
};

// A constant that is too large to be part of a key: told by where it lies, and by its name.
struct equiv_large {
    const struct tensor *tensor;
    uint32_t class;
};

struct same {
    struct arena *a;
    struct diags *d;
    const struct model *m; // the one that is being numbered
    bool is_step;
    uint32_t level; // of nested graphs; 0: the model's own
    VEC(struct equiv_class) classes;
    struct map by_key;        // expression -> class
    struct map large_by_name; // -> index in large
    VEC(struct equiv_large) large;
    struct str key;      // the expression that is being written
    uint32_t *functions; // of the model: its class; 0: not asked for yet
    status failed;       // sticks
};

// Keys: fields one after the other, each of fixed size or with its length before it, so that
// different expressions never make the same bytes.
void equiv_key(struct same *s, char kind); // starts one
void equiv_put(struct same *s, int64_t x);
void equiv_put_bytes(struct same *s, const void *at, size_t n);
void equiv_put_text(struct same *s, const char *text); // NULL is not ""
// The class of the key; *is_new: it is a new one, to be filled in. 0 after a failure.
uint32_t equiv_intern(struct same *s, bool *is_new);
struct equiv_class *equiv_at(struct same *s, uint32_t class);

// The classes of all values of a graph. `outer`: those of the enclosing graph, or NULL.
uint32_t *equiv_graph(struct same *s, const struct graph *g, const uint32_t *outer);

// equiv_random.c. The model's own function that a node calls, and its number; NULL: it calls none.
const struct function *equiv_function(const struct model *m, const struct node *n, size_t *at);

// equiv_constant.c. 0 for none. `name` says which of the step's large constants it may be.
uint32_t equiv_constant(struct same *s, const struct tensor *t, const char *name);
uint32_t equiv_sparse(struct same *s, const struct sparse *x, const char *name);

// equiv_rules.c. The operands that count, of the in[0 .. n_in-1] that there are.
uint32_t equiv_operands(struct same *s, const struct node *n, uint32_t *in, uint32_t n_in);
// The class of a node that is its operand, or 0.
uint32_t equiv_simplify(struct same *s, const struct node *n, const uint32_t *in, uint32_t n_in);
// The type of its first output as far as the operands' say it, or NULL.
const struct type *equiv_derive(struct same *s, const struct node *n, const uint32_t *in,
                                uint32_t n_in);
// The class of all empty tensors of this type; 0: it is not one of an empty tensor.
uint32_t equiv_empty(struct same *s, const struct type *t);
