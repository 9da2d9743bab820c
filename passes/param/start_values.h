// What new parameters start with: numbers that depend on their name alone, so that the same command
// makes the same step on every machine.
#pragma once

#include "ir/graph.h"

enum start_kind { START_ZEROS, START_UNIFORM, START_NORMAL };

struct start_values {
    enum start_kind kind;
    double scale; // uniform: within -scale and scale; normal: the standard deviation
};

// As PyTorch starts a linear layer or a convolution whose results are sums of `n_inputs` products.
struct start_values start_linear(int64_t n_inputs);

// A tensor of a float type with known dimensions. NULL: out of memory, or too many elements.
struct tensor *start_tensor(struct arena *a, const struct type *t, struct start_values how,
                            const char *name);
