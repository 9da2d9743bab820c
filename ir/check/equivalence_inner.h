// Shared by the files of the value numbering (equivalence.h): equivalence.c compares two models,
// equivalence_classes.c assigns classes to nodes and graphs, equivalence_rules.c simplifies nodes,
// equivalence_constants.c compares constants, equivalence_random.c detects random nodes.
#pragma once

#include "ir/base/map.h"
#include "ir/check/equivalence.h"

// What a value is of another one, of class `of`.
enum equiv_part_kind {
    EQUIV_NO_PART,
    EQUIV_PIECE,   // elements lo .. hi-1 along an axis
    EQUIV_UNIFORM, // hi - lo of them, which ones does not matter: all are equal
    EQUIV_LOCAL,   // positions of maxima that count from the beginning of a piece
    EQUIV_SUM,     // the reduction over units lo .. hi-1 of `letter` alone, times `scale`
};

struct equiv_part {
    enum equiv_part_kind kind;
    uint32_t of;
    int32_t axis, letter;
    enum op join;
    int64_t lo, hi, extent, scale;
    bool has_bias, needs_bias; // of a sum: it contains the bias, which one part has to
};

// A class of equal values. Class 0 is an omitted operand.
struct equiv_class {
    struct equiv_part part;
    double number; // of a constant of one float
    bool is_number;
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

struct equiv_whole;

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
    struct str key;     // the expression being built
    size_t n_different; // inputs and outputs that differ
    // Nodes of the step that parts may be of: operator and first operand -> index + 1.
    struct map by_operand;
    VEC(struct equiv_whole) wholes;
    bool *reordered;     // per value of the plan: equal up to the order of a sum
    bool completes;      // the node being numbered completes a sum
    uint32_t *functions; // per function of the model: its class; 0: not computed yet
    status failed;       // the first failure; later calls do nothing
};

// Keys are sequences of length-prefixed fields, so that different expressions have different keys.
void equiv_key(struct numbering *s, char kind); // starts a new key
void equiv_put(struct numbering *s, int64_t x);
void equiv_put_bytes(struct numbering *s, const void *at, size_t n);
// Whether the key has a class.
bool equiv_is_known(const struct numbering *s);
// The class of the key; *is_new: it was added and its fields are to be set. 0 after a failure.
uint32_t equiv_intern(struct numbering *s, bool *is_new);
struct equiv_class *equiv_at(struct numbering *s, uint32_t class);

// The classes of all values of a graph. `outer`: those of the enclosing graph, or NULL. NULL after
// a failure.
uint32_t *equiv_graph(struct numbering *s, const struct graph *g, const uint32_t *outer);
// The key of a node, without the output slot. `classes`: of the values of its graph.
void equiv_put_node(struct numbering *s, const struct graph *g, node_id id, const uint32_t *in,
                    uint32_t n_in, const uint32_t *classes);

// equivalence_random.c. The function of the model that a node calls, and its index; NULL: none.
const struct function *equiv_function(const struct model *m, const struct node *n, size_t *at);

// equivalence_parts.c. The step has this node, whose results have these classes.
void equiv_add_whole(struct numbering *s, const struct graph *g, node_id n, const uint32_t *in,
                     uint32_t n_in, const uint32_t *class);
// Sets the classes of a plan's node that is part of another one, or completes it. False: it is
// not; s->key may have changed.
bool equiv_parts(struct numbering *s, const struct graph *g, node_id n, const uint32_t *in,
                 uint32_t n_in, uint32_t *class);

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
