// A strategy as a table of times, loads and memory, for the command line and embedders.
#pragma once

#include "solver/model/strategy.h"

// One line a device with its time, load and memory; one a link that is used; then the sums.
void strategy_report(struct str *out, const struct placement *p, const struct strategy *s,
                     const struct strategy_facts *f);

// A time in the unit of the problem, "39.940 ms".
void strategy_add_time(struct str *out, const struct placement *p, int64_t time);
