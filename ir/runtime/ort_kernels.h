// What the CPU kernels of ONNX Runtime request while they run: outputs and workspaces, in order.
#pragma once

#include "ir/graph.h"

enum { ORT_KERNEL_MAX = 12 };

struct ort_request {
    bool is_output;
    uint32_t output; // which
    int64_t n_bytes; // of a workspace
    bool is_plain;   // by malloc, not from the arena
};

struct ort_kernel {
    struct ort_request at[ORT_KERNEL_MAX];
    uint32_t n;
    uint32_t n_outputs; // the first outputs are in `at`; the others follow it
};

void ort_kernel_of(const struct graph *g, const struct node *n, struct ort_kernel *out);
