// A strategy: what runs where and in which order, and what is moved. It is one sequence of tasks;
// the tasks of a place, in the order of the sequence, are its queue. So any strategy whose tasks
// find their inputs earlier in the sequence can be carried out without a deadlock.
//
//   run v on d            d computes v. A node may run on several devices (copies), and on one
//                         device several times (recomputation).
//   fetch v to p from q   p gets v from q. To the host it is an offload, from the host a
//                         reload.
//
// Each task makes an *instance* of its node at its place. A run, or a fetch from there, binds to
// the latest earlier instance of what it reads at that place. docs/placement.md tells when tasks
// start, and what is held when.
#pragma once

#include "solver/model/placement.h"

enum { TASK_RUN = -1 };

struct task {
    int32_t node;
    int32_t place;
    int32_t from; // the place that it is fetched from; TASK_RUN: it is run
};

struct strategy {
    struct task *at;
    int32_t n;
};

// What carrying out a strategy gives, in exact integers.
struct strategy_facts {
    int64_t makespan_cost;   // when the last task has finished
    int64_t load_cost;       // the largest load of a resource: time per sample in a pipeline
    int64_t *busy_cost;      // per resource: its load
    int64_t *peak_bytes;     // per place
    int64_t moved_bytes;     // by all fetches
    int64_t energy;          // busy time by power, over all devices
    int64_t excess_bytes;    // over the memory of the places, summed; 0: it fits
    int64_t *start, *finish; // per task
    // Lower bounds over all strategies, filled in by the caller of a replay; 0: not known.
    int64_t makespan_bound, load_bound;
};

// Tasks for an assignment: node v runs, in the order `order` (NULL: as numbered), on every device d
// with on[v * n_devices + d], and is sent to the other devices that read it as soon as it is
// computed. `order` must be topological. False: out of memory.
bool strategy_assign(const struct placement *p, const int32_t *order, const bool *on,
                     struct arena *a, struct strategy *out);

// mfc-strategy JSON (docs/placement.md). Reading checks form and names; without "tasks" they are
// made from "device", "copies" and "order". Whether it can be carried out is for strategy_replay.
status strategy_read(struct arena *a, struct diags *d, const struct source *json,
                     const struct placement *p, struct strategy *out);
// `facts` may be NULL.
status strategy_write(const struct placement *p, const struct strategy *s,
                      const struct strategy_facts *facts, struct arena *a, struct diags *d,
                      const char *path);
