// The fast simulator of the placement search: a strategy that can be edited task by task, and what
// carrying it out gives, kept up to date. It follows the same rules as the plain replay of
// strategy_check.h, with which it shares no code.
//
// The sequence of tasks is a doubly linked list with labels that grow along it. The tasks of a node
// form a second list, so the instance that a task reads is found in a few steps. Because the
// sequence is a topological order of all that waits for anything, one walk along it gives all
// times: a task starts when the resources it takes, and what it reads, are free. The memory of each
// place is counted on the same walk. Snapshots of the walk are kept every so many tasks; after an
// edit it is taken up again at the last snapshot before the first task that can have changed, and
// ended at the first snapshot behind all edits where everything is as it was before.
//
//     sim_remove(s, t); sim_insert(s, node, device, TASK_RUN, next);     a proposal
//     if (sim_evaluate(s, INT64_MAX) == SIM_RIGHT && good(&s->result)) sim_commit(s);
//     else sim_undo(s);
#pragma once

#include "solver/strategy.h"

enum { SIM_END = 0, SIM_NONE = -1, SIM_KEPT = -2 };

struct sim_task {
    int32_t node, place, from;
    int32_t prev, next; // in the sequence; SIM_END is before the first and after the last
    int32_t sibling;    // the next task of the same node in the sequence; SIM_NONE
    int32_t end;        // the last task that reads this instance; itself; SIM_KEPT
    bool in;            // in the sequence
    int64_t label;
    int64_t duration;
};

enum sim_edit_kind { SIM_INSERTED, SIM_REMOVED, SIM_ENDED };

struct sim_edit {
    enum sim_edit_kind kind;
    int32_t task, other; // removed: the one that followed; ended: the end before
};

struct sim_pending { // an instance that waits for a transfer out of its place to finish
    int64_t time, bytes;
    int32_t place;
};

struct sim_walk { // all that the walk along the sequence carries
    int32_t task; // the next one
    int64_t host_clock;
    int64_t *avail;   // per resource: when it is free; the block that the next five are part of
    int64_t *idle;    // per resource: how long it had nothing to do until then
    int64_t *held;    // per place: bytes of instances
    int64_t *release; // per place: the first time in `pending`; INT64_MAX
    int64_t *peak;    // per place: the most since the snapshot before, workspace included
    int64_t *peak_at; // per place: the task of that peak
    int64_t makespan_cost; // since the snapshot before
    struct sim_pending *pending;
    int32_t n_pending, cap_pending;
};

struct sim_result {
    int64_t makespan_cost, load_cost, excess_bytes, moved_bytes;
    double energy;
    int64_t peak_bytes; // the largest of a device
};

enum sim_verdict { SIM_RIGHT, SIM_WRONG, SIM_CUT };

struct sim {
    const struct placement *p;
    struct arena *arena;
    bool broken;  // out of memory: nothing holds any more
    bool untimed; // nobody asks for times, and no memory depends on them: no walks

    struct sim_task *task;     // [0] is SIM_END
    int64_t *finish, *settled; // per task: on this walk; since the last commit
    int32_t n_tasks, cap_tasks, n_in;
    int32_t free_task;   // of a list through `next`; SIM_NONE
    int32_t *first_of;   // per node
    int64_t *busy_cost;  // per resource
    int64_t *base_bytes; // per place: resident
    int64_t moved_bytes;

    VEC(struct sim_edit) edits;
    VEC(int32_t) touched; // nodes whose instances may end elsewhere
    bool *is_touched;
    int64_t dirty, dirty_to; // the labels that edits have reached; INT64_MAX, -1: none

    int64_t most_cost; // of the walk; is_cut: it cannot be kept
    bool is_cut;
    int64_t changed_to; // the last label at which a changed time is read
    struct sim_walk walk;
    struct sim_walk last;                // what came after the last snapshot
    struct sim_walk **snapshot, **fresh; // fresh: of the walk that is not settled yet
    struct sim_walk **spare;             // of no use at the moment
    int32_t n_snapshots, n_spare, cap_snapshots;
    bool walked;                    // since the last commit or undo
    int32_t from_snapshot, n_fresh; // where the walk took up (-1: at the start), what it has left
    int32_t to_snapshot; // from there on, all is as it was before the edits; n_snapshots: nothing
    int64_t *peak;       // per place: the most of all
    int64_t *peak_at;    // per place: the task of that peak
    int32_t walked_from, walked_to; // tasks whose `finish` may differ from `settled`
    int32_t *inputs;                // scratch: the instances that a run reads

    struct sim_result result; // of the last sim_evaluate
    int64_t n_walked;         // tasks ever walked over: a measure of effort that is not time
};

// An empty sequence. False: no room.
bool sim_make(struct arena *a, const struct placement *p, struct sim *out);

// Replaces everything and evaluates it; false: no room, or it cannot be carried out. The inner
// state is a function of the strategy alone.
bool sim_load(struct sim *s, const struct strategy *x);
int32_t sim_save(const struct sim *s, struct task *out); // n_in tasks; returns how many

// Edits, open until sim_commit or sim_undo. `before` may be SIM_END. Returns the task.
int32_t sim_insert(struct sim *s, int32_t node, int32_t place, int32_t from, int32_t before);
void sim_remove(struct sim *s, int32_t task);

// Carries the sequence out, from the first change on. Ends early, as cut, once it is clear that the
// makespan is more than most_cost: because a resource has idled too long for its load. The result
// counts only if it is right. Once per proposal, after its last edit.
enum sim_verdict sim_evaluate(struct sim *s, int64_t most_cost);
void sim_commit(struct sim *s); // only after SIM_RIGHT
void sim_undo(struct sim *s);

// The largest load of a resource and the bytes over memory that resident sizes alone cause, as the
// edits left them; without a walk.
int64_t sim_load_cost(const struct sim *s);
int64_t sim_resident_excess(const struct sim *s);

// The latest instance of the node at the place before a label; SIM_NONE.
int32_t sim_bound(const struct sim *s, int32_t node, int32_t place, int64_t label);
// The last task that reads the instance, as the edits left it; the task itself: nobody does.
int32_t sim_end_of(const struct sim *s, int32_t task);
bool sim_runs_at(const struct sim *s, int32_t node, int32_t device);

// For sim.c and sim_walk.c alone.
void sim_find_ends(struct sim *s);
bool sim_walk_make(struct sim *s, struct sim_walk *w);
void sim_walk_reset(struct sim *s); // forgets all snapshots
void sim_walk_keep(struct sim *s);  // the walk's snapshots take the place of those before
void sim_walk_drop(struct sim *s);
