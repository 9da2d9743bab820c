// A plan for machines: what is known of it, and the order in which everything runs. docs/schemas
// has its schema. `--plan-in` reads the order back.
#pragma once

#include "backend/facts.h"

status plan_json_print(struct str *out, const struct model *unplanned, const struct model *plan,
                       const struct facts *facts, struct diags *d);
