// The state of the replay that steer_search.c and steer_carve.c share.
#pragma once

#include "ir/runtime/ort_arena.h"
#include "passes/steer/steer_search.h"

enum { STEER_MAX_PLUGS = 64, STEER_MAX_REQUESTS = 32 };

// An allocation that steers: a plug, or a tensor that is held.
struct steer_blocker {
    uint32_t chunk;
    uint32_t item; // held; 0: a plug
    uint32_t op;   // of a plug
};

struct steer_plug {
    int64_t n_bytes;
    uint32_t chunk;
    bool is_brief; // freed before the requests
};

struct steer_walk {
    const struct steer_trace *t;
    struct arena *a;
    struct ort_arena now, trial;
    uint32_t *chunk, *trial_chunk; // by item
    struct steer_fit fit;
    bool is_set_up;   // the regions are there
    uint32_t region;  // of the layout
    int64_t origin;   // of the layout in it; a plug takes what is below
    uint32_t base_op; // that plug
    VEC(struct steer_blocker) blockers;
    VEC(uint32_t) dying; // big items that died since the last request
    uint32_t requests[STEER_MAX_REQUESTS];
    uint32_t n_requests; // of the current node
    struct steer_plug plugs[STEER_MAX_PLUGS];
    uint32_t n_plugs; // of the trial
    struct steer_ops *out;
};

// Plugs in the trial arena, so that the holes are those where the layout has the current requests.
// False: it needs too many.
bool steer_carve(struct steer_walk *w);

// An address as the layout counts it.
int64_t steer_address(const struct steer_walk *w, const struct ort_chunk *c);
bool steer_add_plug(struct steer_walk *w, int64_t n_bytes, bool is_brief);
