// The incremental simulator of the placement search: a strategy that can be edited task by task,
// with its makespan, loads and peaks kept up to date. It follows the same rules as the plain replay
// of strategy_check.h, with which it shares no code.
//
// The sequence of tasks is a doubly linked list with increasing labels (sim.c). The tasks of a node
// form a second list. The first and last reader of each instance are known (sim_bind.c), so a walk
// along the sequence (sim_walk.c) computes all times, and the memory of each place, without looking
// at edges: a device runs one task at a time, so a run waits only for fetches that it reads first.
//
// Snapshots cut the sequence into segments (sim_snapshot.c). After edits only segments with changes
// are walked, and those behind them until the state equals the old one up to one shift of time
// (sim_step.c): then segments are skipped, and their times and peaks moved by the difference. Most
// walks end so, for a delay of one device soon delays all others by as much.
//
// A walk with a limit on the makespan often ends even earlier: the longest path from each snapshot
// to the end is known (sim_tail.c), so behind the last edit the clocks give a lower bound.
//
//     sim_remove(s, t); sim_insert(s, node, device, TASK_RUN, next);     a proposal
//     if (sim_evaluate(s, INT64_MAX) == SIM_VALID && good(&s->result)) sim_commit(s);
//     else sim_undo(s);
#pragma once

#include "solver/model/strategy.h"

enum { SIM_END = 0, SIM_NONE = -1, SIM_KEPT = -2, SIM_MAX_SKIPS = 8 };

struct sim_reader {
    int32_t by;   // the task that reads an instance last, or first
    int32_t list; // the instances that a task is the last to read; or fetches, that a run is first
    int32_t next; // of an instance: the next one of that list
};

struct sim_task {
    int32_t node;
    int16_t place, from;
    int32_t prev, next;      // in the sequence; SIM_END is before the first and after the last
    int32_t sibling;         // the next task of the same node in the sequence; SIM_NONE
    struct sim_reader last;  // the last task that reads this instance; itself; SIM_KEPT
    struct sim_reader first; // of a fetch: the first run that reads it; list: what it reads
    bool in;                 // linked into the sequence
    int64_t label;
    int64_t duration;
};

struct sim_time {    // when a task ends
    int64_t finish;  // on this walk
    int64_t settled; // since the last commit
};

struct sim_binding {
    int32_t task, end, first;
};

enum sim_edit_kind { SIM_INSERTED, SIM_REMOVED, SIM_LAST, SIM_FIRST, SIM_SOURCE };

struct sim_edit {
    enum sim_edit_kind kind;
    int32_t task, other; // removed: the one that followed; else: what was there before
};

struct sim_pending { // an instance that is held until a transfer out of its place has finished
    int64_t time, bytes;
    int32_t place, task;
};

// The state of the walk. The arrays are one block. There is a clock per resource, and a last one
// for the time at which the host last began to receive.
struct sim_walk {
    int32_t task;     // the next one
    int64_t *clock;   // per clock: when it is free
    int64_t *release; // per place: the first time in `pending`; INT64_MAX
    int64_t *sums;    // the next three, which are only added to
    int64_t *done;    // per clock: work so far
    int64_t *used;    // per clock: tasks so far that read it
    int64_t *held;    // per place: bytes of instances
    int64_t *peak;    // per place: the peak since the last snapshot, with workspace; -1: no task
    int64_t *peak_at; // per place: the task of that peak
    int64_t *look;    // per clock: time from now to the first read since then; INT64_MAX
    int64_t *tail;    // per clock: the longest path from there to the end
    bool has_tail;    // `tail` is valid
    int64_t makespan_cost; // since the last snapshot
    struct sim_pending *pending;
    int32_t n_pending, cap_pending;
};

struct sim_stay { // a clock that is not shifted, until a task takes it
    int32_t clock;
    int64_t before, now;
};

struct sim_skip { // snapshots that are kept: from .. to-1
    int32_t from, to;
    int32_t n_fresh;       // of the walk, before them
    int64_t shift;         // how much later all of their tasks are
    bool is_ragged;        // some pending releases before them are not shifted
    int64_t label, until;  // of their first task, and of the first one behind them
    int64_t *sums;         // the differences of their sums
    int32_t *more, n_more; // the indices of those that are not 0
    struct sim_stay *stay; // clocks that are not shifted
    int32_t n_stay;
};

struct sim_result {
    int64_t makespan_cost, load_cost, excess_bytes, moved_bytes;
    double energy;
    int64_t peak_bytes; // the largest of a device
};

enum sim_verdict { SIM_VALID, SIM_WRONG, SIM_CUT };

struct sim {
    const struct placement *p;
    struct arena *arena;
    bool broken;  // out of memory: the state is invalid
    bool untimed; // neither the objective nor memory depends on times: no walks
    int32_t n_clocks;

    struct sim_task *task; // [0] is SIM_END
    struct sim_time *time; // per task
    int64_t *path;         // per task: the longest path from its start to the end
    int32_t n_tasks, cap_tasks, n_in;
    int32_t free_task;   // of a list through `next`; SIM_NONE
    int32_t *first_of;   // per node
    int64_t *busy_cost;  // per resource
    int64_t *n_users;    // per clock: tasks that read it
    int64_t *base_bytes; // per place: resident
    int64_t moved_bytes;

    VEC(struct sim_edit) edits;
    VEC(int32_t) touched; // nodes whose instances may have other readers than before
    bool *is_touched;
    VEC(int64_t) dirty;               // labels at which something may have changed
    int64_t last_edit;                // the last label of an inserted or removed task; -1
    bool relabelled;                  // since the last commit or undo
    VEC(int32_t) changed;             // tasks whose finish time has changed
    VEC(int32_t) loose;               // walked since the last skip, with readers elsewhere
    VEC(struct sim_binding) bindings; // scratch

    int64_t max_cost; // of the walk; is_cut: the makespan exceeds it
    bool is_cut;
    bool is_bounded; // the bound by longest paths was computed
    bool walked;     // since the last commit or undo
    struct sim_walk walk;
    struct sim_walk **snapshot, **fresh; // fresh: of the walk that is not committed yet
    struct sim_walk **merged, **spare;   // scratch; free list
    int32_t n_snapshots, n_fresh, n_spare, cap_snapshots;
    int32_t n_kept; // snapshots before the walk
    struct sim_skip skip[SIM_MAX_SKIPS];
    int32_t n_skips;
    bool is_mixed;      // before the last skip not all times are the old ones
    int64_t latest[2];  // the latest clock before it: old and new
    int64_t *next_look; // per clock: scratch
    int64_t *peak;      // per place: the peak of the whole sequence
    int64_t *peak_at;   // per place: the task of that peak

    struct sim_result result; // of the last sim_evaluate
    int64_t n_walked;         // tasks walked in total: a measure of effort
    int64_t n_shifted;        // skips with a shift in total
};

// An empty sequence. False: out of memory.
bool sim_make(struct arena *a, const struct placement *p, struct sim *out);

// Replaces the sequence and evaluates it; false: out of memory (s->broken), or the strategy is not
// executable. The internal state is a function of the strategy alone.
bool sim_load(struct sim *s, const struct strategy *x);
int32_t sim_save(const struct sim *s, struct task *out); // n_in tasks; returns how many

// Edits, open until sim_commit or sim_undo. `before` may be SIM_END. Returns the task.
int32_t sim_insert(struct sim *s, int32_t node, int32_t place, int32_t from, int32_t before);
void sim_remove(struct sim *s, int32_t task);

// Simulates the sequence as far as it has changed. SIM_CUT: stopped early, as the makespan exceeds
// max_cost. The result is valid only with SIM_VALID. Once per proposal, after its last edit.
enum sim_verdict sim_evaluate(struct sim *s, int64_t max_cost);
void sim_commit(struct sim *s); // only after SIM_VALID
void sim_undo(struct sim *s);

// The largest load of a resource and the excess of resident bytes alone, after the edits; without a
// walk.
int64_t sim_load_cost(const struct sim *s);
int64_t sim_resident_excess(const struct sim *s);

// The latest instance of the node at the place before a label; SIM_NONE.
int32_t sim_bound(const struct sim *s, int32_t node, int32_t place, int64_t label);
// Whether the instance is dead after the edits.
bool sim_is_unread(const struct sim *s, int32_t task);
bool sim_runs_at(const struct sim *s, int32_t node, int32_t device);

// ---- For the files of solver/sim ----

// An array of `cap` that begins with the n elements of `at`, which may be NULL; NULL: out of
// memory.
#define SIM_GROW(s, at, n, cap)                                                                    \
    sim_grow(s, at, (size_t)(n) * sizeof *(at), (size_t)(cap) * sizeof *(at))
void *sim_grow(struct sim *s, const void *at, size_t n_bytes, size_t cap_bytes);

void sim_note(struct sim *s, enum sim_edit_kind kind, int32_t task, int32_t other);
void sim_mark_dirty(struct sim *s, int64_t label);

bool sim_bind(struct sim *s);                             // false: an input is missing
void sim_unbind(struct sim *s, const struct sim_edit *e); // undoes a change of bindings

bool sim_walk_reserve(struct sim *s, struct sim_walk *w, int32_t n_pending);
void sim_walk_flush(struct sim_walk *w, int32_t place, int64_t moment);
int64_t sim_walk_release_time(const struct sim *s, int32_t task); // of its instance

// The finish time of the task after the walk.
static inline int64_t sim_finish(const struct sim *s, int32_t t) {
    int64_t label = s->task[t].label;
    for (int32_t k = 0; k < s->n_skips; k++)
        if (label >= s->skip[k].label && label < s->skip[k].until)
            return s->time[t].finish + s->skip[k].shift;
    return s->time[t].finish;
}

static inline int32_t sim_clock_of(const struct sim *s, int32_t place) {
    return place == s->p->host ? s->n_clocks - 1 : place;
}

bool sim_snapshots_make(struct sim *s);
void sim_snapshots_clear(struct sim *s);
void sim_snapshots_commit(struct sim *s); // those of the walk replace the old ones
void sim_snapshots_drop(struct sim *s);
// Continues from the last one before all changes. Returns the number of the next one.
int32_t sim_snapshots_resume(struct sim *s);
void sim_snapshots_take(struct sim *s, const struct sim_walk *like); // like: for its tail; or NULL
void sim_snapshots_end_segment(struct sim *s);
// At snapshot k: whether the rest of the sequence can be skipped. Else *next is the next snapshot,
// after the segments that can be skipped.
bool sim_snapshots_settled(struct sim *s, int32_t k, int32_t *next);
// Whether segments k .. to-1 are unchanged up to one shift of time. Sets the shift, and whether it
// is ragged.
bool sim_step_matches(struct sim *s, int32_t k, int32_t to, struct sim_skip *out);
void sim_snapshots_sum_up(struct sim *s); // makespan and peaks of all segments

// A lower bound on the makespan at snapshot k, which is behind all edits.
int64_t sim_tail_bound(struct sim *s, int32_t k);
