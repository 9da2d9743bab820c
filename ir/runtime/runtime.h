// The runtime model: in which order a runtime will run the written step, what it will allocate, and
// so the most bytes that it ever holds. The promise of a plan is about this peak.
//
//     struct runtime_report r;
//     status st = runtime_peak(m, RUNTIME_ORT, &arena, diags, &r);
//     if (!st && r.peak_bytes > budget) … // r.top says what is alive at that moment
//
// RUNTIME_ORT is ONNX Runtime on one CPU thread with its arena and its memory pattern off: its
// order (ir/runtime/ort_order.h), and its static planner (runtime_alloc.c). RUNTIME_FILE_ORDER is
// any runtime that runs the nodes as they stand in the file and frees what nobody will read any
// more. In both, the fixed part (inputs, initializers, constants) and the workspace of the running
// node count.
#pragma once

#include "ir/graph.h"

enum runtime { RUNTIME_ORT, RUNTIME_FILE_ORDER };
bool runtime_find(const char *name, enum runtime *out); // "ort", "file-order"

struct runtime_tensor {
    value_id value; // the first one that lived in the buffer
    int64_t n_bytes;
};

enum { RUNTIME_TOP = 8 };

struct runtime_report {
    int64_t peak_bytes;       // the largest at any level of optimization
    int64_t plain_peak_bytes; // at levels disabled and basic
    int64_t fused_peak_bytes; // at levels extended and all, which fuse some nodes
    int64_t persistent_bytes; // part of it
    int64_t workspace_bytes;  // of the node that runs at the peak; part of it
    node_id peak_node;        // none: the step is empty
    node_id *order;           // as it will run
    size_t n_order;
    int64_t *held_bytes; // at each step of `order`
    struct runtime_tensor
        top[RUNTIME_TOP]; // the largest buffers alive at the peak, fixed ones apart
    size_t n_top;
};

// All sizes must be known. What is in `out` lives in `a`.
status runtime_peak(const struct model *m, enum runtime r, struct arena *a, struct diags *d,
                    struct runtime_report *out);

// "conv1 (12.0 MiB), …": the tensors of `top`, for messages.
void runtime_print_top(struct str *out, const struct model *m, const struct runtime_report *r);
