// Files that say what nodes cost, read for the pass `costs`: a profile by ONNX Runtime (--profile)
// and a cost model of the user's own (--costs). docs/costs.md describes both.
#pragma once

#include "ir/base/options.h"
#include "passes/cost/cost_source.h"

// Reads the files that the options name; what is read lives in the arena. For struct pass_context.
status cost_files_read(struct arena *a, struct diags *d, const struct options *o,
                       const struct cost_sources **out);

// Where costs come from, in a few words.
const char *cost_files_describe(struct arena *a, const struct options *o,
                                const struct cost_sources *s);

status profile_read(struct arena *a, struct diags *d, const char *path, struct cost_profile *out);
