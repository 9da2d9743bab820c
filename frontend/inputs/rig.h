// Rigs: the devices that a plan is for, what they compute and hold, and the links between them.
// A rig comes from a file (docs/devices.md) or is one that mfc knows by name, such as 4xV100-16GB.
// Times are nanoseconds.
#pragma once

#include "passes/remat/placement_problem.h"

// `name`: a path when it ends in .json or there is a file of that name, else a rig known by name.
status rig_read(struct arena *a, struct diags *d, const char *name, struct rig *out);

// The rig of --rig, in the arena; NULL without that option.
status rig_from_options(struct arena *a, struct diags *d, const struct options *o,
                        struct rig **out);

// The devices that rigs known by name are made of.
struct rig_preset {
    const char *name;
    const char *summary;
    double rate;             // single precision operations per nanosecond
    double memory_bandwidth; // bytes per nanosecond
    double overhead;         // nanoseconds per node
    int64_t memory_bytes;
    double link_bandwidth; // to each other device; 0: only through the host
    double host_bandwidth; // all devices share it
};

extern const struct rig_preset rig_presets[]; // ends with a row without a name

// The JSON of `count` devices of a kind, their links and the host's memory (0: not limited).
void rig_print(struct str *out, const struct rig_preset *of, int64_t count, int64_t host_bytes);

// Any rig as JSON again, device by device.
void rig_show(struct str *out, const struct rig *r);
