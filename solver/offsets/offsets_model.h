// The model of the offset searches: parts of buffers that are never live together, with time
// reduced to the sections that matter, and the best offsets known for them.
#pragma once

#include "solver/offsets.h"

// A work limit that also polls the stop. `used` counts units of a thousand steps.
struct offsets_work {
    const struct stop *stop; // or NULL
    int64_t used, limit;     // limit: INT64_MAX for none
    int64_t steps;           // not yet a unit
    bool stopped;            // the stop was raised, or its deadline passed
};

// Counts steps; false: the limit is reached, or the stop is raised.
bool offsets_spend(struct offsets_work *w, int64_t steps);

// Buffers that are live together with one another, directly or through others. Each is an *item*,
// known by its number. A *section* is a set of buffers live at one moment that is contained in no
// other such set; in the order of time, each item covers sections lo .. hi-1, and two items share a
// section exactly when their live ranges overlap.
struct offsets_part {
    int32_t n, n_sections;
    int32_t *lo, *hi;
    int64_t *size, *align;
    int64_t *fixed; // or -1
    size_t *input;  // the buffer's index in the caller's array
    int64_t *load;  // per section: sum of its sizes
    bool has_fixed;
    int64_t bound; // proved
    int64_t *best; // offsets, valid once best_bytes < INT64_MAX
    int64_t best_bytes;
    int32_t *near_start, *near; // the items that overlap item i; NULL when there are too many
};

struct offsets_model {
    int32_t n_parts;
    struct offsets_part *part;
    int64_t min_bytes; // of buffers that are never live but still have an offset in the arena
};

#define OFFSETS_NEAR_PAIRS ((int64_t)1 << 24)

status offsets_model_make(const struct buffer *buffers, size_t n, struct arena *a, struct diags *d,
                          struct offsets_model *out);
// Fills `near_start` and `near` of every part, for the searches.
status offsets_model_near(struct offsets_model *m, struct arena *a, struct diags *d);

// The offsets become the best if they are better.
void offsets_part_offer(struct offsets_part *p, const int64_t *offset);

// The next multiple of the alignment. Sums of sizes and alignments are known to fit.
static inline int64_t offsets_align_up(int64_t offset, int64_t align) {
    int64_t rest = align > 1 ? offset % align : 0;
    return rest ? offset + align - rest : offset;
}
