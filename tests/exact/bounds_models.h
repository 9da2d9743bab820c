// Random models for exact_bounds, in the text form: a function of the random numbers alone.
#pragma once

#include "ir/base/rng.h"
#include "ir/base/str.h"

// A network to train: several readers of a tensor, several results of a node, views, random nodes.
void bounds_models_network(struct str *t, struct rng *rng);

// A few nodes with costs of their own; views, also as outputs; dead results.
void bounds_models_tiny(struct str *t, struct rng *rng);
