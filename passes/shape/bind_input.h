// The option --input-value: an input that is a constant from now on.
#pragma once

#include "passes/pass.h"

// Replaces the inputs that the option names by initializers. Their shapes may have unknown
// dimensions only when they are vectors.
status bind_input_values(struct model *m, struct pass_context *c);
