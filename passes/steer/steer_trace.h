// The requests of a step in the form that the search for a layout reads (steer.h): sizes as the
// arena rounds them, lifetimes as positions in the list of events, and the places where control
// nodes can be inserted.
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

struct steer_trace {
    const struct ort_events *e;
    struct steer_item *items; // by buffer; [0] is unused
    uint32_t n_items, n_events;
    uint32_t *big; // items, by `from`
    uint32_t n_big;
    int64_t small_bytes;      // items of at most this size are not big
    int64_t small_peak_bytes; // of these, alive at one time
    int64_t peak_bytes;       // of all
    bool *is_gap;   // by event: the first request of a node, before which control nodes can run
    node_id *after; // by event: they run after this node; none: from the start of the step
};

// `small_share`: small items together are never more than one part in this many of the peak. False:
// out of memory.
bool steer_trace_of(const struct ort_requests *r, int64_t small_share, struct arena *a,
                    struct steer_trace *out);

// The operand of a node through which it can be made to wait: computed or an input, and the
// earliest in the file, so that producers and consumers that are adjacent stay so; n_in: none.
// `place`: by node, its position in the file.
uint32_t steer_operand(const struct graph *g, node_id id, const uint32_t *place);
