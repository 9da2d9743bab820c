// The state of the local search: a sequence of runs of nodes, and the bytes that it holds at each
// moment, kept up to date under single insertions and removals.
//
// A run sits in a slot; there are more slots than runs, so that an insertion finds room nearby. A
// use of a node binds to the latest earlier run of it, and a run's output is held from the run to
// the last use bound to it (to the end, if the node is kept and the run is its last). So the
// sequence determines when each output is freed. Per node, the slots of its runs
// and the slots of its uses are sorted lists; where a run ends is found by searching them.
//
// A sequence may be invalid between a removal and the insertion that repairs it: `n_missing` counts
// the uses without an earlier run and the nodes without any run. The sequence is valid when it is
// 0.
#pragma once

#include "solver/anneal/state_profile.h"
#include "solver/model/problem.h"

struct state_list {
    int32_t *at; // slots, ascending
    int32_t n, cap;
};

enum state_edit_kind { EDIT_INSERTED, EDIT_REMOVED, EDIT_MOVED, EDIT_ROOM };

struct state_edit {
    enum state_edit_kind kind;
    int32_t node; // moved: the slot before; room: first slot of the window
    int32_t slot; // moved: the slot after; room: last slot of the window
};

struct state {
    const struct problem *p;
    struct arena *arena;
    int64_t *bytes, *workspace; // scaled down, rounded up, when they would not fit the profile
    int64_t unit;               // bytes per scaled byte; 1 unless sizes are enormous

    int32_t n_slots, n_runs;
    int32_t *node_at; // per slot; -1: empty
    struct state_list *runs, *uses;
    int32_t n_missing;
    int64_t cost;
    struct profile profile;

    VEC(struct state_edit) edits; // since the last state_commit, for state_undo
    int32_t *scratch;             // n_slots entries
    int32_t n_spare;              // slots beyond the usual, when room was short
    bool broken;                  // out of memory: the sequence is lost
    int64_t work;                 // edits so far: a deterministic measure of effort

    int32_t n_recomputed; // nodes that run more than once, in any order
    int32_t *again, *again_at;
};

// budget_bytes includes persistent_bytes. False: out of memory.
bool state_make(struct arena *a, const struct problem *p, int64_t budget_bytes, struct state *out);
void state_budget(struct state *st, int64_t budget_bytes);

// Replaces the sequence. `order` names a node for each run.
void state_load(struct state *st, const int32_t *order, int32_t n);
int32_t state_save(const struct state *st, int32_t *order); // n_runs entries; returns how many

// Makes k empty slots directly before the run in `slot` (n_slots: before the end); returns the
// run's slot, which may have changed, as may all others. Only between commits.
int32_t state_room(struct state *st, int32_t slot, int32_t k);

void state_insert(struct state *st, int32_t node, int32_t slot); // into an empty slot
void state_remove(struct state *st, int32_t slot);

static inline void state_commit(struct state *st) {
    st->edits.n = 0;
}
void state_undo(struct state *st,
                size_t n_edits); // to the state with n_edits edits since the commit

// For state_slots.c and state.c alone.
void state_note(struct state *st, enum state_edit_kind kind, int32_t node, int32_t slot);
void state_move_back(struct state *st, int32_t from, int32_t to);
void state_room_undone(struct state *st, int32_t left, int32_t right);

// Slots of runs and uses; -1: none.
int32_t state_run_before(const struct state *st, int32_t node, int32_t slot); // latest run < slot
int32_t state_use_after(const struct state *st, int32_t node, int32_t slot);  // first use > slot
int32_t state_use_before(const struct state *st, int32_t node, int32_t slot); // last use < slot
// Whether the output of a run of `node` before `slot` is held up to `slot` in this sequence.
bool state_held(const struct state *st, int32_t node, int32_t slot);

static inline bool state_is_valid(const struct state *st) {
    return st->n_missing == 0;
}
