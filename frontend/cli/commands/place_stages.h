// `mfc place` and `mfc simulate` of problems whose nodes have modes.
#pragma once

#include "frontend/cli/cli.h"

// Whether the first argument is such a problem.
status place_stages_wanted(struct cli *c, bool *out);

status place_stages(struct cli *c);
status simulate_stages(struct cli *c);
