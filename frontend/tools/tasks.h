// The task graph of a model's training step on a rig: what `mfc inspect --rig` shows.
#pragma once

#include "passes/plan/plan_devices.h"

// The placement problem of the model's step, in c->arena. The model becomes the step.
status tasks_make(struct model *m, const struct rig *rig, struct pass_context *c,
                  struct plan_placement *out);

// One line a task with its time and memory on each device; the links.
void tasks_print(struct str *out, const struct plan_placement *k);
