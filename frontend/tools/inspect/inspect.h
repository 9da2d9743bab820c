// The contents of a model, as text and as JSON: opsets, inputs and outputs, nodes by operator,
// bytes.
#pragma once

#include "ir/base/diag.h"
#include "ir/base/str.h"
#include "ir/graph.h"

struct options;
struct inspect_peaks;

// With the options --train and --freeze, and --parameters for every tensor in a line of its own.
status inspect_print(struct str *out, const struct model *m, const struct options *o,
                     struct diags *d);
// As mfc-inspection (docs/report.md); "-" is standard output. `peaks` may be NULL.
status inspect_write(const struct model *m, const struct inspect_peaks *peaks, const char *path,
                     struct arena *a, struct diags *d);
