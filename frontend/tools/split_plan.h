// A plan whose nodes are on devices as a folder of models (backend/split.h), each of which keeps
// its order on the runtime.
#pragma once

#include "passes/pass.h"

status split_plan(struct model *m, const char *folder, struct pass_context *c);
