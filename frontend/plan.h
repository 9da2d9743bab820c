// What `mfc model.onnx -o plan.onnx` does between reading and writing: a pipeline of passes. The
// command and the library share it.
#pragma once

#include "ir/base/options.h"
#include "ir/pass.h"

// The passes of the whole way, as text.
const char *plan_passes(void);

// Runs `passes`, or the whole way when it is NULL. c->arena is scratch. When the stop is raised
// between two passes, the run ends with ST_INTERRUPTED.
status plan_run(struct model *m, const char *passes, struct pass_context *c);

// Writes it: text for a name that ends with .mfc, a picture for .dot, else ONNX.
status plan_write(const struct model *m, const char *path, struct diags *d);
