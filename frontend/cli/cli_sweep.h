// `mfc solve --sweep A..B/N`: the whole curve of memory against time.
#pragma once

#include "frontend/cli/cli.h"
#include "solver/solve.h"

status cli_sweep(struct cli *c, const struct problem *p, const struct solve_options *o);
