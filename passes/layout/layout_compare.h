// The lecture's comparison: what one step needs for what it computes, by each way of allocating and
// of recomputing.
#pragma once

#include "passes/pass.h"

struct layout_row {
    const char *name;
    int64_t arena_bytes; // for what is computed; the fixed part is the same for all
    int64_t live_bytes;  // the most that is alive at once
    int64_t cost;        // of all nodes, those that are computed again included
};

struct layout_rows {
    VEC(struct layout_row) rows; // the first: nothing is used again
    int64_t persistent_bytes;
};

// `step` is the unplanned step with its costs. Rows whose method finds nothing are left out. The
// options of the search (--time, --work, --seed) are for each planned row; the result is in
// c->arena.
status layout_compare(const struct model *step, struct pass_context *c, struct layout_rows *out);

// As a table: "text", "markdown", "csv" or "json".
void layout_compare_print(struct str *out, const struct layout_rows *r, const char *form);
