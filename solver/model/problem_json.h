// The graph of an mfc-problem that is parsed already, for readers of files that say more.
#pragma once

#include "ir/json/json.h"
#include "solver/model/problem.h"

status problem_of_json(struct arena *a, struct diags *d, const char *file, const json_t *root,
                       struct problem *out);

// Whether some node has "modes": then its costs are in there, and such problems are for
// modal_read alone.
bool problem_has_modes(const json_t *root);
