// Compares allocation algorithms on one step: static and dynamic allocation, in place and with
// sharing, with and without recomputation.
#pragma once

#include "passes/pass.h"

struct layout_row {
    const char *name;
    int64_t arena_bytes; // without persistent memory, which is the same for all
    int64_t live_bytes;  // max. bytes live at once
    int64_t cost;        // of all nodes, with recomputation
};

struct layout_rows {
    VEC(struct layout_row) rows; // the first: without reuse
    int64_t persistent_bytes;
};

// `step` is the baseline step with its costs. Rows whose method finds nothing are left out. The
// options of the search (--time, --work, --seed) apply to each planned row. The result lives in
// c->arena.
status layout_compare(const struct model *step, struct pass_context *c, struct layout_rows *out);

// layout_table.c: as "text", "markdown", "csv" or "json".
void layout_table_print(struct str *out, const struct layout_rows *r, const char *form);
