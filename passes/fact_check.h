// Verifies the facts that a model claims (ir/fact.h), beyond the structural verifier: a pass that
// declares a fact it does not establish, or keeps one that it breaks, is caught behind that pass.
#pragma once

#include "ir/graph.h"

// Reports every fact of the mask that does not hold, as an error with `code`. Linear time; SHAPES
// runs all shape rules once more, on a copy. FACT_TOPO is left to model_verify.
status fact_check(const struct model *m, unsigned facts, enum diag_code code, struct diags *d);
