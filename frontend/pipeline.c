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

// The step that applies accumulated gradients, made of the model as it was read.
static status make_update(struct pipeline *p, struct pass_context *c) {
    struct options o;
    if (!options_copy(c->options, c->arena, &o))
        return diag_out_of_memory(c->diags);
    status st = options_set(&o, c->diags, "gradients", "inputs");
    c->options = &o;
    if (!st)
        st = step_make_costed(p->unchanged, c);
    return st ? st : step_record(p->unchanged, &o, c->diags);
}

static status write_start(struct pipeline *p, const char *path, struct outputs *together) {
    struct state_sources from = {.step = {p->model, p->unchanged}};
    struct diags *d = p->context->diags;
    struct tensors start;
    status st = state_start(&from, p->model->arena, d, &start);
    return st ? st : state_write(&start, p->model, path, together, d);
}

static status write_update(struct pipeline *p, const char *path, struct outputs *together) {
    if (is_set(p, "weights", "inputs"))
        weights_detach(p->unchanged);
    return load_save_plan(p->unchanged, path, together, p->context->diags);
}

status pipeline_write(struct pipeline *p, const char *path, struct outputs *together) {
    struct model *m = p->model;
    struct pass_context *c = p->context;
    const char *initial = options_text(c->options, "initial");
    const char *folder = options_text(c->options, "split");

    struct pass_context own = *c;
    status st = p->unchanged ? make_update(p, &own) : ST_OK;
    if (!st && initial)
        st = write_start(p, initial, together);
    if (!st && p->unchanged)
        st = write_update(p, options_text(c->options, "update"), together);
    if (!st && is_set(p, "weights", "inputs"))
        weights_detach(m);
    if (!st && is_set(p, "annotate", "onnx"))
        st = annotate_devices(m, c->diags);
    if (!st)
        st = load_save_plan(m, path, together, c->diags);
    return st || !folder ? st : split_plan(m, folder, together, c);
}
