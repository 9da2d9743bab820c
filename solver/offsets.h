// Offset allocation: buffers with known live ranges and sizes get addresses in one arena, such that
// no two that live at the same time overlap, and the arena is as small as the search can make it.
//
//     struct buffer b[2] = {{.lower = 0, .upper = 4, .size = 64}, {.lower = 3, .upper = 9, .size =
//     32}}; struct offsets_options options = {.work = OFFSETS_WORK_QUICK}; int64_t offset[2],
//     arena_bytes, bound; status st = offsets_assign(b, 2, &options, &arena, &diags, &stop, offset,
//     &arena_bytes, &bound);
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

// A unit of work is about a thousand elementary steps, some two microseconds. Unless the stop cuts
// in, the answer depends on the buffers and these options alone.
struct offsets_options {
    int64_t capacity_bytes; // > 0: stop at the first answer that fits; 0: the least that is found
    int64_t work;           // limit on the search; 0: until proved optimal, or stopped
    uint64_t seed;
};

// ST_OK: offset[0 .. n-1] are valid (and fit the capacity, if one is given). ST_INFEASIBLE: it is
// proved that nothing fits the capacity; ST_NO_PLAN: nothing that fits was found. In these two
// cases the offsets are valid too, but the arena is larger than the capacity. A buffer that is
// never live or has no bytes gets offset 0; the arena holds all buffers, even those that never
// live.
status offsets_assign(const struct buffer *buffers, size_t n, const struct offsets_options *options,
                      struct arena *a, struct diags *d, const struct stop *stop, int64_t *offset,
                      int64_t *arena_bytes, int64_t *bound);

// The same with n_searches of them side by side, one thread each, whose seeds follow options->seed:
// the best answer counts (offsets_race.c).
status offsets_race(const struct buffer *buffers, size_t n, const struct offsets_options *options,
                    int32_t n_searches, struct arena *a, struct diags *d, const struct stop *stop,
                    int64_t *offset, int64_t *arena_bytes, int64_t *bound);

// The largest sum of sizes that are live at one time. The buffers must be valid.
status offsets_max_live(const struct buffer *buffers, size_t n, struct arena *a, struct diags *d,
                        int64_t *max_live);
