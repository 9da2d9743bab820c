// What the command prints about a plan when it is done: at most ten lines, and with --verbose more.
#pragma once

#include "passes/plan/plan_devices.h"

// Nothing when there is no plan. `target` is the file that it went to.
void summary_print(struct str *out, const struct plan_facts *r, const char *target, bool verbose);
