// Selections of parameters by what they are, which --train takes beside name patterns:
//
//     bias     biases, of operators and of normalizations, or added to a product with a weight
//     last:K   what the last K layers read and all that is read after the first of them; a layer is
//              an operator with a weight or a table
//
// A parameter that is itself named "bias" is meant by its name.
#pragma once

#include "ir/base/options.h"
#include "passes/param/param_roles.h"

// Whether the word is a selection for this graph, and no name pattern.
bool param_select_is(const struct graph *g, const char *word);

// Sets chosen[v] for the parameters that one of the words selects; roles as of param_roles.
status param_select(const struct graph *g, const struct param_role *roles,
                    const struct option_value *words, struct diags *d, bool *chosen);
