// The baseline step: forward and backward pass of a model, before anything is planned. A plan
// records the options that made its step, so that whoever has the model can make the same step
// again and compare.
#pragma once

#include "passes/pass.h"

// From a model to its training step; costs are not on the nodes yet.
status step_make(struct model *m, struct pass_context *c);
// The same, with names and costs: what planning starts from.
status step_make_costed(struct model *m, struct pass_context *c);

// For a step that is written without a plan: puts its nodes into the file order in which the
// runtime of --runtime needs the least memory (arrange.c). Planning starts from the order in which
// it was made.
status step_arrange(struct model *m, struct pass_context *c);

// Writes into the model's metadata which options of those passes were given, one "name=value" a
// line. A value that has line breaks cannot be written and is refused.
status step_record(struct model *m, const struct options *o, struct diags *d);
void step_forget(struct model *m); // what step_record has written

// Sets the options as a plan has them recorded, except those that are given already. A plan without
// a record is an error: it is not one of mfc's.
status step_recall(const struct model *plan, struct options *o, struct diags *d);
