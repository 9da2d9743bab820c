// A placed plan as a folder of ONNX models, one per part (parts.h), with a manifest: for each
// device the sequence of parts to run and tensors to send and receive. docs/devices.md describes
// the format.
#pragma once

#include "ir/base/file.h"
#include "ir/graph.h"

struct split_how {
    status (*prepare)(void *to, struct model *part); // may change each part before it is written
    void *to;
    struct outputs *together; // the folder becomes visible with these
};

// `folder` must not exist or be empty; it appears complete or not at all.
status split_write(const struct model *m, const char *folder, const struct split_how *how,
                   struct diags *d);
