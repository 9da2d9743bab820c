// Offset allocation: buffers with known live ranges and sizes get addresses in one arena, such that
// no two that are live at the same time overlap. The search minimizes the size of the arena.
//
//     struct buffer b[2] = {{.lower = 0, .upper = 4, .size = 64},
//                           {.lower = 3, .upper = 9, .size = 32}};
//     int64_t offset[2];
//     struct offsets_options options = {.work = OFFSETS_WORK_QUICK};
//     struct offsets_result result = {.offset = offset};
//     status st = offsets_assign(b, 2, &options, &arena, &diags, &result);
//
// `bound` is a proof: no assignment has a smaller arena. It is at least the largest sum of sizes
// that are live at one time; when it equals arena_bytes, the answer is optimal. Every answer has
// passed offsets_check() before it is handed out.
#pragma once

#include "ir/base/diag.h"
#include "ir/base/mem.h"
#include "ir/base/status.h"
#include "ir/base/stop.h"
#include "solver/model/buffers.h"

#define OFFSETS_WORK_QUICK 200000 // a fraction of a second

// A unit of work is about a thousand elementary steps, some two microseconds. Unless the stop is
// raised, the answer depends on the buffers and these options alone.
struct offsets_options {
    int64_t capacity_bytes; // > 0: stop at the first answer that fits; 0: the smallest arena
    int64_t work;           // limit on the search; 0: until proved optimal, or stopped
    uint64_t seed;
    int32_t n_searches;      // of offsets_race
    const struct stop *stop; // or NULL
};

struct offsets_result {
    int64_t *offset; // the caller's array, one element per buffer
    int64_t arena_bytes, bound;
};

// ST_OK: the offsets are valid (and fit the capacity, if one is given). ST_INFEASIBLE: proved that
// nothing fits the capacity; ST_NO_PLAN: nothing that fits was found. In these two cases the
// offsets are valid too, but the arena is larger than the capacity. A buffer that is never live or
// has no bytes gets offset 0; the arena holds all buffers, even those that are never live.
status offsets_assign(const struct buffer *buffers, size_t n, const struct offsets_options *options,
                      struct arena *a, struct diags *d, struct offsets_result *out);

// The same with n_searches of them in parallel, one thread each, whose seeds follow options->seed;
// the best answer counts (offsets_race.c).
status offsets_race(const struct buffer *buffers, size_t n, const struct offsets_options *options,
                    struct arena *a, struct diags *d, struct offsets_result *out);

// The largest sum of sizes that are live at one time. The buffers must be valid.
status offsets_max_live(const struct buffer *buffers, size_t n, struct arena *a, struct diags *d,
                        int64_t *max_live);
