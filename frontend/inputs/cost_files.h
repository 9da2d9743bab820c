// Cost files for the pass `costs`: a profile written by ONNX Runtime (--profile) and the user's own
// cost model (--costs). docs/costs.md describes both.
#pragma once

#include "ir/base/options.h"
#include "passes/cost/cost_source.h"
#include "passes/remat/placement_problem.h"

// Reads the files of the options, for struct pass_context. The result lives in the arena.
status cost_files_read(struct arena *a, struct diags *d, const struct options *o,
                       const struct cost_sources **out);

// The sources of the costs, in a few words; with a rig, the speed of its devices. `rig` may be
// NULL.
const char *cost_files_describe(struct arena *a, const struct options *o,
                                const struct cost_sources *s, const struct rig *rig);

status profile_read(struct arena *a, struct diags *d, const char *path, struct cost_profile *out);
