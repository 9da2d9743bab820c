// The task graph of a model's training step on a rig: what `mfc inspect --rig` shows.
#pragma once

#include "frontend/cli.h"
#include "ir/graph.h"

// One line a task with what it takes on each device and holds; the links. With --json the
// placement problem (docs/placement.md), which `mfc place` takes.
status tasks_show(struct cli *c, struct model *m);
