// The settings of a search as users give them: options of these names, wherever a search is asked
// for. Each command has its own table, with the defaults that suit it:
//     method, order (given|free), gap, time, work, seed, threads
#pragma once

#include "ir/base/options.h"
#include "solver/place.h"
#include "solver/solve.h"

// Everything but the budget, which each caller knows the meaning of. An option that the table lacks
// is a mistake of the program.
status search_options_read(const struct options *o, struct diags *d, struct solve_options *out);

// Those of a placement search that all who ask for one have: objective, time, work, seed, threads,
// no-copies, no-recompute, no-offload. The rest is as place_defaults has it. A formula that is the
// objective lives in `a`.
status search_options_read_place(const struct options *o, struct arena *a, struct diags *d,
                                 struct place_options *out);
