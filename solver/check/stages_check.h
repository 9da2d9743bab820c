// The exact check of a pipeline of stages: that every edge goes forward, every mode fits its
// devices, and what time and memory follow (docs/placement.md). It shares no code with the search.
#pragma once

#include "solver/modal/stages.h"

// ST_MALFORMED with a diagnostic: it cannot be carried out. Too little memory is not an error:
// out->excess_bytes.
status stages_check(const struct modal *p, const struct stages *s, struct arena *a, struct diags *d,
                    struct stages_facts *out);
