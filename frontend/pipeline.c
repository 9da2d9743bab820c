// The way from model.onnx to plan.onnx, on one page. Reading is load_model (frontend/load.c); each
// line below is one module at work:
//
//     frontend/inputs  profiles, cost models, devices
//     passes/plan      the training step, and the plan for it (passes/remat, solver below)
//     ir/check         what is computed is unchanged, and memory is within the budget
//     passes/layout    an address for every tensor
//     backend          the files
#include "frontend/pipeline.h"

#include <string.h>

#include "backend/annotate.h"
#include "frontend/inputs/cost_files.h"
#include "frontend/inputs/rig.h"
#include "frontend/load.h"
#include "frontend/tools/split_plan.h"
#include "frontend/tools/training_state.h"
#include "frontend/tools/weights.h"
#include "passes/plan/step.h"

status pipeline_plan(struct pipeline *p) {
    struct model *m = p->model;
    struct pass_context *c = p->context;
    struct plan_facts *r = &p->facts;
    struct rig *rig = NULL;

    *r = plan_facts_none();
    status st = cost_files_read(c->arena, c->diags, c->options, &c->costs);
    if (!st && !p->passes)
        st = rig_from_options(c->arena, c->diags, c->options, &rig);
    if (st)
        return st;
    r->cost_model = cost_files_describe(c->arena, c->options, c->costs, rig);
    if (p->passes)
        return pass_run_text(p->passes, m, c);
    st = step_make_costed(m, c);
    if (!st)
        st = step_record(m, c->options, c->diags);
    if (st || (!rig && remat_is_off(c->options)))
        return st;

    st = rig ? plan_devices(m, rig, c, &p->devices_how, r) : plan_memory(m, c, p->watch, r);
    if (st || !r->planned)
        return st;

    if (!rig)
        st = plan_lay_out(m, c);
    if (!st)
        st = plan_figures(r->step, m, c, r);
    if (!st)
        st = plan_check(m, c, r);
    return st ? st : plan_facts_write(m, r, c->diags);
}

static bool is_set(const struct pipeline *p, const char *option, const char *value) {
    return strcmp(options_text(p->context->options, option), value) == 0;
}

static status write_start(const struct model *m, const char *path, struct outputs *together,
                          struct diags *d) {
    struct tensors start;
    status st = state_start(m, NULL, m->arena, d, &start);
    return st ? st : state_write(&start, m, path, together, d);
}

status pipeline_write(struct pipeline *p, const char *path, struct outputs *together) {
    struct model *m = p->model;
    struct pass_context *c = p->context;
    const char *initial = options_text(c->options, "initial");
    const char *folder = options_text(c->options, "split");

    status st = initial ? write_start(m, initial, together, c->diags) : ST_OK;
    if (!st && is_set(p, "weights", "inputs"))
        weights_detach(m);
    if (!st && is_set(p, "annotate", "onnx"))
        st = annotate_devices(m, c->diags);
    if (!st)
        st = load_save_plan(m, path, together, c->diags);
    return st || !folder ? st : split_plan(m, folder, together, c);
}
