// The form of a plan, for `mfc verify`: what ONNX Runtime and readers of its claims rely on beside
// the graph.
#pragma once

#include "ir/base/diag.h"
#include "ir/graph.h"

// ST_VERIFY: two nodes of one graph have a name, which ONNX Runtime refuses; a key of metadata is
// there twice, so that it is not clear which claim counts; or only some of the parameters have
// initial values. `step` is the baseline step.
status verify_form(const struct model *step, const struct model *plan, struct diags *d);
