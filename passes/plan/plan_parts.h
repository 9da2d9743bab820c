// Plans with divided nodes, where there is none without (plan_parts.c).
#pragma once

#include "passes/plan/plan_inner.h"

// --budget is given, and --no-shard is not.
bool plan_parts_are_allowed(const struct options *o);

// After the search for a plan of k->m, which is unchanged, has failed with the diagnostics
// `undivided`: ST_OK: it is a plan of a divided step now. Otherwise the diagnostics of c say what
// was tried.
status plan_parts(struct planning *k, const struct diags *undivided, struct pass_context *c);
