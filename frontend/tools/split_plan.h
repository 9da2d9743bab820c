// Writes a placed plan as a folder of models (backend/split.h), each with control nodes that
// enforce its order on the runtime. The folder becomes visible with `together`.
#pragma once

#include "ir/base/file.h"
#include "passes/pass.h"

status split_plan(struct model *m, const char *folder, struct outputs *together,
                  struct pass_context *c);
