// What the constant tensors of a model are: parameters, as a framework would call them, or parts of
// formulas (epsilons, exponents, bounds, masks), with the reason in words.
#pragma once

#include "ir/graph.h"

enum param_kind {
    PARAM_CONSTANT,  // never trained unless named by --train
    PARAM_LOOSE,     // a number that multiplies or adds: trained in a model without parameters
    PARAM_PARAMETER, // trained by default
};

struct param_role {
    enum param_kind kind;
    const char *what; // "weight of Conv"; NULL: the value is no float constant, or is not used
};

// The roles of the values of a graph, by value id: of float initializers and of results of Constant
// nodes. Reads elements of small tensors, to recognize masks and padding. NULL: out of memory.
struct param_role *param_roles(const struct graph *g, struct arena *a);

// The tensor of a float initializer or of the result of a Constant node, or NULL.
const struct tensor *param_roles_tensor(const struct graph *g, value_id v);
