// A placed plan as a folder of ONNX models, one per part (parts.h), with a manifest: for each
// device the sequence of parts to run and tensors to send and receive. docs/devices.md describes
// the format.
#pragma once

#include "ir/base/diag.h"
#include "ir/graph.h"

// `folder` must not exist or be empty; it appears complete or not at all. `prepare` may change each
// part before it is written; it may be NULL.
status split_write(const struct model *m, const char *folder,
                   status (*prepare)(void *to, struct model *part), void *to, struct diags *d);
