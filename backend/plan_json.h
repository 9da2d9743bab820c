// A plan as JSON (docs/schemas/mfc-plan.schema.json): its facts and its order, which `--plan-in`
// reads back.
#pragma once

#include "ir/plan_facts.h"

status plan_json_print(struct str *out, const struct model *plan, const struct plan_facts *facts,
                       struct diags *d);
