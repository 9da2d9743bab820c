// Patterns of the pass `recognize`: what exporters spell out in several nodes and ai.onnx has as
// one operator. A pattern is asked at the last of its nodes, the one that makes the result, and
// walks back from there. When it fits, that node becomes the operator; what nobody else reads is
// dead.
//
//     static bool squares(struct recognize *r, const struct node *n) { // x x becomes Pow(x, 2)
//         bool fits = n->op == OP_Mul && value_same(n->in[0], n->in[1]);
//         return fits && recognize_become(r, OP_Pow, VALUES(n->in[0], two), NO_ATTRS);
//     }
#pragma once

#include "ir/build.h"
#include "passes/pass.h"

struct recognize {
    struct graph *g;
    struct arena *a; // scratch
    struct diags *d;
    struct builder b;
    struct uses uses; // of the graph as it was
    size_t n_values;  // of it
    node_id id;       // the node that is looked at
};

typedef bool recognize_rule(struct recognize *r, const struct node *n);

recognize_rule recognize_gate, recognize_linear, recognize_norm;

// ---- Looking back ----

const struct type *recognize_type(const struct recognize *r, value_id v); // NULL: shape unknown
// The producer of a value, if it is such a node; NULL: it is not.
const struct node *recognize_made_by(const struct recognize *r, value_id v, enum op op);
// Only one operand of one node reads it.
bool recognize_read_once(const struct recognize *r, value_id v);
// A constant of one element.
bool recognize_number(const struct recognize *r, value_id v, double *x);
// Equal but for the digits that exporters cut off.
bool recognize_close(double a, double b);
// The operand of a sum beside a number close to x; VALUE_NONE: it is no such sum.
value_id recognize_beside(const struct recognize *r, value_id sum, double x);

// A product taken apart: scale times factors. Inner products count if only this one reads them; a
// division by a number is a part of the scale, and a power to 2 or 3 is as many factors.
enum { MAX_FACTORS = 4 };
struct product {
    double scale;
    value_id factor[MAX_FACTORS];
    int n; // MAX_FACTORS + 1: too many
};
struct product recognize_product(const struct recognize *r, value_id v);

// ---- Building ----

// The node that is looked at becomes this one, with the same result. False: out of memory, which
// sticks in the builder.
bool recognize_become(struct recognize *r, enum op op, struct values in, struct attrs at);
