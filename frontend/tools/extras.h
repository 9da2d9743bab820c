// The files that a run writes beside the plan: report, trace, JSON. All of them are opened before
// the search, so that a path that cannot be written is reported at once, and become visible
// together when everything has been written.
#pragma once

#include "ir/base/file.h"
#include "ir/base/options.h"
#include "ir/plan_facts.h"

enum extra { EXTRA_REPORT, EXTRA_TRACE, EXTRA_JSON, EXTRA_COUNT_ };

struct extras {
    struct output *at[EXTRA_COUNT_]; // NULL: not wanted
};

// Opens the files of the options. Two outputs with the same file, or one that is the model's, are
// an error; `target` is the file of the plan. They become visible with `together`.
status extras_open(struct extras *x, const struct options *o, const char *model, const char *target,
                   struct outputs *together);
// Prints one of them.
status extras_print(struct str *text, enum extra e, const struct model *baseline,
                    const struct model *plan, const struct plan_facts *facts, struct diags *d);
// Writes the files, still invisible.
status extras_write(struct extras *x, const struct model *baseline, const struct model *plan,
                    const struct plan_facts *facts, struct diags *d);
