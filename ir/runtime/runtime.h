// The runtime model: the order in which a runtime executes the written step, the buffers that it
// allocates, and its peak memory. The budget of a plan is checked against this peak.
//
//     struct runtime_report r;
//     status st = runtime_peak(m, RUNTIME_ORT, &arena, diags, &r);
//     if (!st && r.peak_bytes > budget) … // r.top lists the largest tensors alive at the peak
//
// RUNTIME_ORT models ONNX Runtime with its default options on one CPU thread: execution order
// (ort_order.h), static planner (runtime_alloc.c), fusions (runtime_fuse.c), and the arena and the
// memory patterns run by run (ort_session.h). RUNTIME_ORT_LEAN is the same without arena and
// patterns, on a system allocator that gives freed tensors back: memory is what is alive.
// RUNTIME_WEB is onnxruntime-web, whose memory is one heap that never shrinks (web_session.h); the
// peak is the size of that memory, with the library, the session and the inputs of a run.
// RUNTIME_FILE_ORDER models any runtime that executes the nodes in file order and frees each tensor
// after its last reader. All count persistent memory (inputs, initializers, constants) and the
// workspace of the executing node.
#pragma once

#include "ir/graph.h"

enum runtime { RUNTIME_ORT, RUNTIME_ORT_LEAN, RUNTIME_WEB, RUNTIME_FILE_ORDER };

// As in --runtime and in the metadata of plans: "ort", "ort-lean", "web", "file-order".
bool runtime_find(const char *name, enum runtime *out);

// Whether it is ONNX Runtime: it orders, merges and fuses nodes by rules of its own.
static inline bool runtime_is_ort(enum runtime r) {
    return r != RUNTIME_FILE_ORDER;
}

struct runtime_tensor {
    value_id value; // the first value in the buffer
    int64_t n_bytes;
};

enum { RUNTIME_TOP = 8, RUNTIME_RUNS = 4 };

struct runtime_report {
    int64_t peak_bytes; // the maximum over all optimization levels and runs
    // Per run of a session, the maximum over all levels; the last one stands for all later runs.
    int64_t run_bytes[RUNTIME_RUNS];
    // Of a loaded session of ONNX Runtime, for the nodes and names of the graph; 0: not known. In
    // the peaks only after runtime_count_session.
    int64_t session_bytes;
    int64_t plain_peak_bytes; // at levels disabled and basic
    int64_t fused_peak_bytes; // at levels extended and all, which fuse some nodes
    int64_t persistent_bytes; // included in the peak
    int64_t workspace_bytes;  // of peak_node; included in the peak
    node_id peak_node;        // executes at the peak; NODE_NONE: the step is empty
    node_id *order;           // execution order
    size_t n_order;
    int64_t *held_bytes; // alive at each step of `order`; without what the arena adds
    // The largest buffers alive at the peak, without persistent memory, in descending order.
    struct runtime_tensor top[RUNTIME_TOP];
    size_t n_top;
};

// All sizes must be known and m->graph must be in topological order. `out` is allocated in `a`.
status runtime_peak(const struct model *m, enum runtime r, struct arena *a, struct diags *d,
                    struct runtime_report *out);

// Counts session_bytes in all peaks, as a process does that runs the step.
void runtime_count_session(struct runtime_report *r);

// The peak with the default options of the runtime: ONNX Runtime's level is `all`.
static inline int64_t runtime_default_peak(const struct runtime_report *r) {
    return r->fused_peak_bytes;
}

// How a session of ONNX Runtime treats a step. Its optimization level `all` does the same to a step
// as `extended`. A planner takes the maximum over the levels:
//
//     for (enum ort_level l = ORT_DISABLED; l < ORT_N_LEVELS && !st; l++) {
//         st = runtime_events(m, (struct ort_setting){l, true}, &arena, diags, &e);
//         if (!st)
//             st = ort_session_of(&e, false, &arena, &session); // session.run_bytes[0], [1], …
//     }
enum ort_level { ORT_DISABLED, ORT_BASIC, ORT_EXTENDED, ORT_N_LEVELS };

struct ort_setting {
    enum ort_level level;
    bool is_wrapped; // the step is written as a branch of an If (passes/rewrite/wrap.h), and memory
                     // patterns are off
};

// A run at a level, with the graph after its changes (ort_requests.h): that of the model or a copy,
// whose nodes and values have the same ids. A fused node is the first of those that it replaces.
struct ort_requests;
status runtime_requests(const struct model *m, struct ort_setting how, struct arena *a,
                        struct diags *d, struct ort_requests *out);

// Only its requests to ONNX Runtime's allocator (ort_events.h).
struct ort_events;
status runtime_events(const struct model *m, struct ort_setting how, struct arena *a,
                      struct diags *d, struct ort_events *out);

// Appends the tensors of `top`, for messages: "conv1 (12.0 MiB), …".
void runtime_print_top(struct str *out, const struct model *m, const struct runtime_report *r);
