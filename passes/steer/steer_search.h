// Where control nodes must act so that the arena keeps to a layout (steer_fit.h), at every
// optimization level. The requests of a step are replayed on a model of the arena, one lane
// (steer_gaps.h) beside the other. Where the addresses that the arenas choose by themselves leave a
// layout for all that follows, nothing is done; this is nearly always so. Else the cheapest of
// these makes another choice, the same in all lanes:
//
//   hold   a tensor that just died stays allocated until a later node;
//   plug   an allocation that is never written takes a chunk, or a part of one, until a later node;
//   carve  plugs leave no other chunks than those that the layout wants (steer_carve.c).
#pragma once

#include "passes/steer/steer_fit.h"
#include "passes/steer/steer_gaps.h"

enum steer_op_kind {
    STEER_PLUG, // allocates n_bytes
    STEER_FREE, // ends a plug
    STEER_HOLD, // ends the delay of a tensor's release
};

struct steer_op {
    enum steer_op_kind kind;
    uint32_t gap; // where it acts
    int64_t n_bytes;
    uint32_t plug;  // of STEER_FREE: the index of its STEER_PLUG
    value_id value; // of STEER_HOLD
};

struct steer_ops {
    VEC(struct steer_op) list;
    uint32_t n_plugs, n_holds;
    bool found; // they keep all big items within the height, in all lanes
};

// How the arena is prepared before the first big request. Region sizes are powers of two.
struct steer_setup {
    int64_t small_region_bytes; // for items that are not big; 0: none
    int64_t region_bytes;       // for the others
    int64_t height;             // what they may use of it
};

// `layout`: by lane. `*steps`: work that is left, and that the search uses; below 0, it ends
// without a result. `out` is allocated in `a`. False: out of memory.
bool steer_search(const struct steer_lanes *l, const struct steer_layout *layout,
                  const struct steer_setup *setup, int64_t *steps, struct arena *a,
                  struct steer_ops *out);
