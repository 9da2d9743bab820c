// The requests of a step at one optimization level, in the form that the search reads (steer.h):
// sizes as the arena rounds them, lifetimes as positions in the list of events, and the events
// before which control nodes can run (steer_gaps.h joins those of all levels).
#pragma once

#include "ir/runtime/ort_requests.h"

enum { STEER_UNIT_BYTES = 256 }; // of the arena

struct steer_item {
    int64_t n_bytes;
    uint32_t from, to; // the events of its request and its release; at the end of the run: n_events
    bool is_big;       // it gets an address in the layout; the others live where they fall
    bool in_arena;
    bool can_hold; // a control node may read it to delay its release
};

// Control nodes can run before the first request of a node that requests something big.
struct steer_opening {
    value_id after; // the latest big node before it makes this, so the control nodes wait for it;
                    // none: from the start of the step
    node_id user;   // that requests
    uint32_t event;
};

struct steer_trace {
    const struct ort_requests *r;
    const struct ort_events *e;
    struct steer_item *items; // by buffer; [0] is unused
    uint32_t n_items, n_events;
    uint32_t *big; // items, by `from`
    uint32_t n_big;
    int64_t small_bytes;      // items of at most this size are not big
    int64_t small_peak_bytes; // of these, alive at one time
    int64_t peak_bytes;       // of all in the arena
    int64_t plain_peak_bytes; // of those beside the arena
    struct steer_opening *openings;
    uint32_t n_openings;
};

// Small items together are never more than one part in `small_share` of the peak, or, with
// `small_bytes` >= 0, have at most this size. False: out of memory.
struct steer_weight {
    int64_t small_share, small_bytes;
};
bool steer_trace_of(const struct ort_requests *r, struct steer_weight w, struct arena *a,
                    struct steer_trace *out);

// Whether a control node can wait for this value.
bool steer_can_follow(const struct type *t);
