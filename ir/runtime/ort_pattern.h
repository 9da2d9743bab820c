// Model of ONNX Runtime's memory patterns: the first run records when the buffers of intermediate
// tensors live; from the second run on they are parts of one block. Outputs and workspaces are not.
#pragma once

#include "ir/runtime/ort_events.h"

struct ort_pattern {
    int64_t n_bytes; // of the block
    int64_t *offset; // by buffer; -1: it is not in the block
};

// The pattern of the buffers of a kind: ORT_TENSOR, or ORT_CONDITION where a branch has none of its
// own. `out` is allocated in `a`; false: out of memory.
bool ort_pattern_of(const struct ort_events *e, enum ort_buffer_kind kind, struct arena *a,
                    struct ort_pattern *out);
