// The state of the replay that the files of the search share: steer_search.c chooses, steer_lane.c
// replays a lane, steer_carve.c carves.
#pragma once

#include "ir/runtime/ort_arena.h"
#include "passes/steer/steer_search.h"

enum { STEER_MAX_PLUGS = 64, STEER_MAX_REQUESTS = 32, STEER_MAX_PLACES = 128, STEER_MAX_DYING = 5 };

// An allocation that steers: a plug, or a tensor that is held.
struct steer_blocker {
    uint32_t chunk[STEER_MAX_LANES];
    value_id value; // held; none: a plug
    uint32_t op;    // of a plug
};

struct steer_plug {
    int64_t n_bytes;
    bool is_brief; // freed before the requests
};

// Big items that die in all lanes, and can be held in all of them.
struct steer_dying {
    value_id value;
    uint32_t item[STEER_MAX_LANES];
};

struct steer_choice {
    bool frees;     // all blockers
    uint32_t holds; // a bit for each of `dying`
    uint32_t n_plugs;
    int64_t plug[2];
    uint32_t carves; // for this lane, from 1; 0: it does not carve
    int32_t n_nodes;
    uint32_t number;
};

struct steer_lane {
    const struct steer_trace *t;
    uint32_t number;
    uint32_t event; // the next one
    struct ort_arena now, trial;
    uint32_t *chunk, *trial_chunk; // by item
    struct steer_fit fit;
    uint32_t region;     // of the layout
    VEC(uint32_t) dying; // big items that died since the last request
    uint32_t *is_dying;  // by item: its index in `dying`, from 1
    uint32_t requests[STEER_MAX_REQUESTS];
    uint32_t n_requests;                  // of the current node
    uint32_t next;                        // the event after them
    bool has_big;                         // one of them is big
    uint32_t plug_chunk[STEER_MAX_PLUGS]; // of the trial
};

struct steer_walk {
    const struct steer_lanes *lanes;
    struct arena *a;
    struct steer_lane lane[STEER_MAX_LANES];
    uint32_t n_lanes;
    bool is_set_up;   // the regions are there
    int64_t origin;   // of the layout in its region; a plug takes what is below
    uint32_t base_op; // that plug
    VEC(struct steer_blocker) blockers;
    struct steer_dying dying[STEER_MAX_DYING];
    uint32_t n_dying;
    struct steer_plug plugs[STEER_MAX_PLUGS]; // of the trial
    uint32_t n_plugs;
    bool failed; // out of memory
    int64_t *steps;
    struct steer_ops *out;
};

// steer_lane.c. False: out of memory.
bool steer_lane_make(struct steer_walk *w, uint32_t number, const struct steer_layout *layout,
                     int64_t height);
// Replays the events before `event`, where nothing is chosen; false: the layout cannot follow.
bool steer_lane_run(struct steer_walk *w, struct steer_lane *l, uint32_t event);
// Reads the requests of the node of the next event, and how far a trial goes: to before the event
// `end`, through the last request, since nothing can be chosen for those after the node.
void steer_lane_gather(struct steer_lane *l, uint32_t end);
// What a choice does before the requests, in the trial arena; false: it is not possible.
bool steer_lane_act(struct steer_walk *w, struct steer_lane *l, const struct steer_choice *c);
// Then the requests; false: the layout cannot follow. Else steer_lane_end keeps the trial, or not.
bool steer_lane_place(struct steer_walk *w, struct steer_lane *l, uint32_t max_moves);
void steer_lane_end(struct steer_lane *l, bool keep);

// steer_carve.c: plugs in the trial arena, so that the holes are those where the layout has the
// current requests. False: it needs too many.
bool steer_carve(struct steer_walk *w, struct steer_lane *l);

// An address as the layout counts it.
int64_t steer_address(const struct steer_walk *w, const struct steer_lane *l,
                      const struct ort_chunk *c);
// A further plug in the trial; false: it does not fit the regions.
bool steer_add_plug(struct steer_walk *w, struct steer_lane *l, struct steer_plug plug);
