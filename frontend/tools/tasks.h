// The task graph of a model's training step on a rig, for `mfc inspect --rig`.
#pragma once

#include "passes/plan/plan_devices.h"

// The placement problem of the model's step, in c->arena. The model becomes the step.
status tasks_make(struct model *m, const struct rig *rig, struct pass_context *c,
                  struct plan_placement *out);

// Prints one line per task with its time on each device and its memory, and the transfer times.
void tasks_print(struct str *out, const struct plan_placement *k);
