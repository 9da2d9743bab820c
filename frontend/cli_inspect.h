// What is in a model, in words and as JSON: opsets, inputs and outputs, nodes by operator, bytes.
#pragma once

#include "frontend/cli.h"
#include "ir/graph.h"

// To the command's results.
status inspect_show(struct cli *c, const struct model *m);
// As mfc-inspection (docs/report.md); "-" is standard output.
status inspect_write(struct cli *c, const struct model *m, const char *path);
