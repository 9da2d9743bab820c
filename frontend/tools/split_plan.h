// Writes a placed plan as a folder of models (backend/split.h), each with control nodes that
// enforce its order on the runtime.
#pragma once

#include "passes/pass.h"

status split_plan(struct model *m, const char *folder, struct pass_context *c);
