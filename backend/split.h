// A placed plan as a folder of ONNX models, one per part (parts.h), and a manifest that says which
// device runs what, and what is sent to whom, in which order. docs/devices.md describes it.
#pragma once

#include "ir/base/diag.h"
#include "ir/graph.h"

// `folder` must not be there yet, or be empty; it appears whole or not at all. `prepare`, or NULL,
// may change each part before it is written.
status split_write(const struct model *m, const char *folder,
                   status (*prepare)(void *to, struct model *part), void *to, struct diags *d);
