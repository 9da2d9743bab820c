// A run of a step on ONNX Runtime: the order of its nodes, its buffers, and its requests to the
// allocator.
#pragma once

#include "ir/runtime/ort_events.h"
#include "ir/storage.h"

struct ort_requests {
    const struct graph *g;
    struct node_list order;
    struct storage s;
    struct ort_events e;
};

// At level disabled. `is_wrapped`: as in struct ort_setting (runtime.h).
status ort_requests_of(const struct graph *g, bool is_wrapped, struct arena *a, struct diags *d,
                       struct ort_requests *out);
