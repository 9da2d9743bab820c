// What the elements of a float tensor look like, as far as it tells a parameter from a mask.
#pragma once

#include "ir/tensor.h"

enum param_values {
    PARAM_VALUES_OTHER, // or not known: the file with them is absent
    PARAM_VALUES_ZERO,
    PARAM_VALUES_MASK, // zero and one other number, or negative numbers too large to be learned
};

enum param_values param_values_of(const struct tensor *t, struct arena *a);
