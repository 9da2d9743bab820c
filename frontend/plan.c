// The whole way from model to plan: see plan.h.
#include "frontend/plan.h"

#include <string.h>

#include "frontend/load.h"
#include "frontend/step.h"
#include "ir/keys.h"
#include "passes/remat.h"

static status before(void *to, const struct pass *p, size_t i, const struct model *m) {
    struct pass_context *c = to;
    (void)i;
    (void)m;
    if (c->stop && stop_raised(c->stop))
        return ST_INTERRUPTED;
    pass_progress(c, "%s: %s", p->name, p->summary);
    return ST_OK;
}

status plan_run(struct model *m, const char *passes, struct pass_context *c) {
    struct pipeline p;
    status st = pipeline_parse(c->arena, c->diags, passes, &p);
    if (st)
        return st;
    return pipeline_run(&p, m, c, &(struct pipeline_hooks){.to = c, .before = before});
}

// Addresses for the plan. Also after an interrupt, when passes do not start any more: the plan that
// was found is finished.
static status lay_out(struct model *m, struct pass_context *c, struct plan_report *out) {
    struct pipeline p;
    status st = pipeline_parse(c->arena, c->diags, "layout", &p);
    if (!st)
        st = pipeline_run(&p, m, c, NULL);
    const char *arena_bytes = pairs_get(&m->metadata, KEY_ARENA);
    if (!st && arena_bytes)
        options_parse_bytes(arena_bytes, &out->arena_bytes);
    return st;
}

status plan_make(struct model *m, struct pass_context *c, const struct plan_watch *watch,
                 struct plan_report *out) {
    *out = (struct plan_report){.bound = BOUND_NONE};
    status st = plan_run(m, step_passes(), c);
    if (!st)
        st = plan_run(m, "names,costs", c);
    if (st || remat_is_off(c->options))
        return st;
    st = step_record(m, c->options, c->diags);
    if (!st)
        st = plan_search(m, c, watch, out);
    return st || !out->planned ? st : lay_out(m, c, out);
}

status plan_write(const struct model *m, const char *path, struct diags *d) {
    const char *dot = strrchr(path, '.');
    bool other = dot && (strcmp(dot, ".mfc") == 0 || strcmp(dot, ".dot") == 0);
    return load_save(m, path, other ? NULL : "onnx", d);
}
