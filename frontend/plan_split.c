// A placed plan as a folder of models: see plan_place.h. Every part is a model that a runtime
// orders by itself, so every part gets control nodes of its own (pass rewrite).
#include "backend/split.h"
#include "frontend/plan_place.h"

static status keep_order(void *to, struct model *part) {
    struct pass_context *c = to;
    struct pipeline p;
    status st = pipeline_parse(c->arena, c->diags, "rewrite", &p);
    return st ? st : pipeline_run(&p, part, c, NULL);
}

status plan_split(struct model *m, const char *folder, struct pass_context *c) {
    struct pipeline p;
    status st = pipeline_parse(c->arena, c->diags, "shapes,transfer", &p);
    if (!st)
        st = pipeline_run(&p, m, c, NULL);
    if (!st && !m->device_names.n)
        st = diag_error(c->diags, DIAG_UNPLACED, loc_file(m->path),
                        "no node of this model is on a device");
    return st ? st : split_write(m, folder, keep_order, c, c->diags);
}
