// The unplanned step: forward and backward pass of a model, before anything is decided. A plan is
// made of it, and carries the options that made it, so that whoever has the model can make the same
// step again and compare.
#pragma once

#include "ir/pass.h"

// The passes from a model to its step, as text.
const char *step_passes(void);

// Writes into the model's metadata which of those passes' options were given, one "name=value" a
// line. A value that has line breaks cannot be written and is refused.
status step_record(struct model *m, const struct options *o, struct diags *d);

// Sets the options as a plan has them recorded, except those that are given already. A plan without
// a record is an error: it is not one of mfc's.
status step_recall(const struct model *plan, struct options *o, struct diags *d);
