// A placed plan as a folder of models: see split_plan.h. Every part is a model that a runtime
// orders by itself, so every part gets control nodes of its own (pass rewrite).
#include "frontend/tools/split_plan.h"

#include "backend/split.h"

static status keep_order(void *to, struct model *part) {
    return pass_run(&pass_rewrite, part, to);
}

status split_plan(struct model *m, const char *folder, struct pass_context *c) {
    status st = pass_run(&pass_shapes, m, c);
    if (!st)
        st = pass_run(&pass_transfer, m, c);
    if (!st && !m->device_names.n)
        st = diag_error(c->diags, DIAG_UNPLACED, loc_file(m->path),
                        "no node of this model is on a device");
    return st ? st : split_write(m, folder, keep_order, c, c->diags);
}
