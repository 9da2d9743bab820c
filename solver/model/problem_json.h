// The graph of an mfc-problem that is parsed already, for readers of files that say more.
#pragma once

#include "ir/json/json.h"
#include "solver/model/problem.h"

status problem_of_json(struct arena *a, struct diags *d, const char *file, const json_t *root,
                       struct problem *out);
