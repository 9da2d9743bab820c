// A strategy for a problem with modes: a pipeline of stages. A stage is a list of nodes on devices
// of its own or shared with others, with a mode for each node. `replicas` of it work on different
// samples (data parallelism); the devices of one replica run each node together, so all its modes
// have that degree. docs/placement.md says what times and memory follow.
#pragma once

#include "solver/modal/modal.h"

struct stage {
    int32_t n_devices, replicas;
    const int32_t *device; // the first n_devices / replicas are the first replica
    int32_t start, end;    // its nodes: order[start .. end - 1]
};

struct stages {
    int32_t n;
    struct stage *at;
    int32_t *order;    // of all nodes
    int32_t *mode;     // per node, its number in modal.mode
    int64_t n_samples; // in a step; 0: an endless stream
};

// What carrying out the stages gives, in exact integers.
struct stages_facts {
    int64_t load_cost;     // the largest of a device, or of its network: time per sample
    int64_t makespan_cost; // of all samples of a step; of one when the stream is endless
    int64_t *busy_cost;    // per device: computing, per sample
    int64_t *moving_cost;  // per device: sending and receiving
    int64_t *peak_bytes;   // per device
    int64_t *in_flight;    // per stage: samples that a replica holds
    int64_t moved_bytes;   // received, per sample
    int64_t energy;
    int64_t excess_bytes; // over the memory of the devices, summed
};

status stages_read(struct arena *a, struct diags *d, const struct source *json,
                   const struct modal *p, struct stages *out);
status stages_write(const struct modal *p, const struct stages *s, const struct stages_facts *facts,
                    struct diags *d, const char *path);
void stages_report(struct str *out, const struct modal *p, const struct stages *s,
                   const struct stages_facts *f);
