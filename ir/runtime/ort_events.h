// The requests that one run of a step makes to ONNX Runtime's allocator, in their order: outputs
// and workspaces when a kernel starts, releases after it. ort_arena.h replays them.
#pragma once

#include "ir/runtime/ort_kernels.h"
#include "ir/storage.h"

enum ort_buffer_kind {
    ORT_TENSOR,    // of intermediate values: in the memory pattern
    ORT_CONDITION, // of the graph around a branch: in the memory pattern of that graph
    ORT_OUTPUT,    // of a graph output: held after the run
    ORT_WORKSPACE, // of a kernel, while it runs
    ORT_PLAIN,     // of a kernel, by malloc: not in the arena
};

struct ort_buffer {
    int64_t n_bytes;
    enum ort_buffer_kind kind;
    uint32_t storage;  // of its values; 0: a workspace
    bool is_unwritten; // it is allocated, and no page of it is touched
    node_id node;      // that makes it
};

struct ort_event {
    uint32_t buffer;
    bool is_alloc;
};

struct ort_events {
    VEC(struct ort_buffer) buffers; // [0] is unused
    VEC(struct ort_event) list;
};

// A step as ONNX Runtime executes it.
struct ort_execution {
    const struct graph *g;
    struct node_list order;
    const struct storage *s;     // buffers of the memory planner (runtime_alloc.h)
    const struct liveness *live; // their live ranges in `order`
    // In a branch of an If (passes/rewrite/wrap.c): by value, whether its shape is known. Else
    // NULL.
    const bool *branch_knows;
};

// `out` is allocated in `a`.
status ort_events_of(const struct ort_execution *x, struct arena *a, struct ort_events *out);
