// The settings of a search as users give them. The options are the same for every command that
// searches; option tables include the rows:
//
//     search_limits.def      time, work, seed, threads
//     search_options.def     these, and gap, order, method
//     placement_options.def  objective, no-duplicates, no-recompute, no-offload
#pragma once

#include "ir/base/options.h"
#include "solver/place.h"
#include "solver/solve.h"

// Everything but the budget, which each caller knows the meaning of. `n_nodes` is the size of the
// problem, by which the default time grows. Order "auto" is read as "given".
status search_options_read(const struct options *o, int64_t n_nodes, struct diags *d,
                           struct solve_options *out);

// The limit of a command on the clock; 0: there is none, since --work alone limits it. Without
// --time it is `default_seconds`.
double search_seconds(const struct options *o, double default_seconds);
double search_default_seconds(int64_t n_nodes);
#define SEARCH_PLACEMENT_SECONDS 20 // there is rarely a lower bound to end such a search earlier

// Whether the search may choose the order where that helps.
bool search_order_is_auto(const struct options *o);

// The rows of search_limits.def and placement_options.def; the rest is as place_defaults has it. A
// formula that is the objective lives in `a`.
status search_options_read_place(const struct options *o, struct arena *a, struct diags *d,
                                 struct place_options *out);
