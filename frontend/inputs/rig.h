// Rigs: the devices that a plan is for, with their speed and memory, and the links between them. A
// rig comes from a file (docs/devices.md) or from a preset such as 4xV100-16GB. Times are
// nanoseconds.
#pragma once

#include "passes/remat/placement_problem.h"

// `name` is a path when it ends with .json or a file of that name exists, else a preset.
status rig_read(struct arena *a, struct diags *d, const char *name, struct rig *out);

// The rig of the option --rig, in the arena; NULL without the option.
status rig_from_options(struct arena *a, struct diags *d, const struct options *o,
                        struct rig **out);

// A device that mfc knows by name.
struct rig_preset {
    const char *name;
    const char *summary;
    double rate;             // single precision operations per nanosecond
    double memory_bandwidth; // bytes per nanosecond
    double overhead;         // nanoseconds per node
    int64_t memory_bytes;
    double link_bandwidth; // to each other device; 0: only through the host
    double host_bandwidth; // shared by all devices
};

extern const struct rig_preset rig_presets[]; // ends with a row without a name

enum { RIG_MAX_DEVICES = PLACES_MAX - 1 };

// Splits "4xV100-16GB" or "cpu" into a count and a row of the table; NULL: no such preset.
const struct rig_preset *rig_find_preset(const char *name, int64_t *count);
// 1 .. RIG_MAX_DEVICES devices of a kind and their links. *out: as before reading.
status rig_of_preset(struct arena *a, struct diags *d, const struct rig_preset *of, int64_t count,
                     struct rig *out);
// Of the k-th of `count` devices: the stem, or the stem and its number. NULL: out of memory.
const char *rig_device_name(struct arena *a, const char *stem, int64_t k, int64_t count);
// A rig without devices, whose times are nanoseconds.
struct rig rig_empty(void);

// Prints a rig as JSON, one entry per device.
void rig_print(struct str *out, const struct rig *r);
