// A placed plan as a folder of models: see split_plan.h. A runtime orders each part on its own, so
// each part gets its own control nodes (pass rewrite).
#include "frontend/tools/split_plan.h"

#include "backend/split.h"

static status add_control(void *to, struct model *part) {
    return pass_run(&pass_rewrite, part, to);
}

status split_plan(struct model *m, const char *folder, struct outputs *together,
                  struct pass_context *c) {
    status st = pass_run(&pass_shapes, m, c);
    if (!st)
        st = pass_run(&pass_transfer, m, c);
    if (!st && !m->device_names.n)
        st = diag_error(c->diags, DIAG_UNPLACED, loc_file(m->path),
                        "no node of this model is on a device; plan it with --rig first");
    return st ? st
              : split_write(m, folder, &(struct split_how){add_control, c, together}, c->diags);
}
