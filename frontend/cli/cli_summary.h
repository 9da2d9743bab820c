// What the command says of a plan when it is done.
#pragma once

#include "passes/plan/plan_devices.h"

// Nothing when there is no plan.
void summary_print(struct str *out, const struct plan_report *r);
