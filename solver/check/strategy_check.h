// The independent replay of strategies: an event-driven simulation, kept plain, that shares no code
// with the fast simulator of the search (sim.h). Every strategy passes it before it is written.
#pragma once

#include "solver/model/strategy.h"

// Carries the strategy out. ST_VERIFY and a diagnostic if it cannot be: a task lacks an input, has
// no route, or breaks a rule (a node that never runs, or twice though it must not, or away from its
// group). A strategy that needs more memory than there is, is carried out: facts->excess_bytes.
status strategy_replay(const struct placement *p, const struct strategy *s, struct arena *a,
                       struct diags *d, struct strategy_facts *out);

// The same, and ST_VERIFY if it does not fit in memory.
status strategy_check(const struct placement *p, const struct strategy *s, struct arena *a,
                      struct diags *d, struct strategy_facts *out);
