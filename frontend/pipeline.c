// The way from model.onnx to plan.onnx, on one page. Reading is load_model (frontend/load.c); each
// line below is one module at work:
//
//     frontend/inputs  profiles, cost models, devices
//     passes/plan      the training step, and the plan for it (passes/remat, solver below)
//     ir/check         what is computed is unchanged, and memory is within the budget
//     passes/layout    an address for every tensor
//     backend          the files
#include "frontend/pipeline.h"

#include <math.h>
#include <string.h>

#include "backend/annotate.h"
#include "frontend/inputs/cost_files.h"
#include "frontend/inputs/rig.h"
#include "frontend/load.h"
#include "frontend/micro_batches.h"
#include "frontend/tools/split_plan.h"
#include "frontend/tools/training_state.h"
#include "frontend/tools/weights.h"
#include "frontend/version.h"
#include "passes/accumulate.h"
#include "passes/plan/step.h"

// The model for inference without a plan: its weights are constants again.
static status stay_itself(struct pipeline *p) {
    struct graph *g = p->model->graph;
    status st = plan_measure_step(p->model, p->context, &p->facts.baseline_bytes);
    step_forget(p->model);
    for (size_t i = 0; i < g->inits.n; i++)
        if (graph_value(g, g->inits.at[i])->is_input)
            graph_remove_input(g, g->inits.at[i]);
    return st;
}

// The step is made before there is a search that could end: it has the whole time, and a grace.
static status make_step(struct pipeline *p) {
    struct pass_context c = *p->context;
    bool is_limited = c.start_ns && options_given(c.options, "time");
    double seconds = is_limited ? options_seconds(c.options, "time") : 0;
    double gone = (double)(stop_clock_ns() - c.start_ns) * 1e-9;
    struct stop end =
        stop_child(c.stop, seconds > 0 ? fmax(seconds * 1.1 + 2 - gone, 0) : INFINITY);
    c.stop = &end;
    return step_make_costed(p->model, &c);
}

static status finish_plan(struct model *m, struct pass_context *c, struct plan_facts *f) {
    status st = plan_figures(f->step, m, c, f);
    if (!st)
        st = plan_check(m, c, f);
    return st ? st : plan_facts_write(m, f, c->diags);
}

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
    if (accumulate_steps(c->options) == ACCUMULATE_AUTO)
        st = micro_batches_choose(p);
    if (!st)
        st = make_step(p);
    if (!st)
        st = step_record(m, c->options, c->diags);
    bool infers = options_flag(c->options, "inference");
    if (!st && !rig && remat_is_off(c->options))
        return infers ? stay_itself(p) : step_arrange(m, c);
    if (st)
        return st;

    st = rig ? plan_devices(m, rig, c, &p->devices_how, r) : plan_memory(m, c, p->watch, r);
    if (!st && !r->planned && infers)
        return stay_itself(p);
    if (!st && r->planned && !rig)
        st = plan_lay_out(m, c);
    return st || !r->planned ? st : finish_plan(m, c, r);
}

static status usage(struct diags *d, const char *text) {
    return diag_error(d, DIAG_USAGE, loc_none(), "%s", text);
}

// Options that a run without gradients has no use for.
static status refuse_training(struct options *o, const char *mode, struct diags *d) {
    static const char *const training[] = {"optimizer", "grad-input", "accumulate", "loss-scale"};
    for (size_t i = 0; i < sizeof training / sizeof *training; i++)
        if (options_given(o, training[i]))
            return diag_error(d, DIAG_USAGE, loc_none(),
                              "--%s needs gradients, which --%s leaves out", training[i], mode);
    return ST_OK;
}

// Without gradients little is alive that a plan could save; --inference asks for it.
static status check_mode(struct options *o, struct diags *d) {
    bool evaluates = options_flag(o, "eval"), infers = options_flag(o, "inference");
    bool plans = options_given(o, "budget") || options_given(o, "overhead");
    if (evaluates && infers)
        return usage(d, "--eval and --inference: the first has a loss, the second has none");
    status st = infers ? refuse_training(o, "inference", d) : ST_OK;
    static const char *const steps[] = {"loss", "lora", "train", "head", "mixed"};
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !st && infers; i++)
        if (options_given(o, steps[i]))
            st = diag_error(d, DIAG_USAGE, loc_none(),
                            "--inference plans the model itself, without --%s", steps[i]);
    if (!st && evaluates)
        st = refuse_training(o, "eval", d);
    bool overflows = !evaluates && strcmp(options_text(o, "mixed"), "f16") == 0 &&
                     strcmp(options_text(o, "optimizer"), "none") != 0;
    if (!st && overflows && !options_given(o, "loss-scale"))
        st = options_set(o, d, "loss-scale", "dynamic");
    return st || !evaluates || plans ? st : options_set(o, d, "budget", "none");
}

status pipeline_check_options(struct options *o, struct diags *d) {
    bool has_rig = options_given(o, "rig");
    if (has_rig && options_given(o, "budget"))
        return usage(d, "--budget and --rig: the memory of devices is in the rig");
    if (!has_rig && options_given(o, "split"))
        return usage(d, "--split needs --rig: without it there is one device");
    if (!has_rig && strcmp(options_text(o, "annotate"), "onnx") == 0)
        return usage(d, "--annotate onnx needs --rig: without it there is one device");
    status st = check_mode(o, d);
    int64_t n_steps = accumulate_steps(o);
    bool has_bytes = options_given(o, "budget") && !remat_is_off(o) && !has_rig;
    if (!st && n_steps == ACCUMULATE_AUTO && !has_bytes)
        st = usage(d, "--accumulate auto needs a --budget, which the micro-batches are to meet");
    if (!st && n_steps < 0)
        st = usage(d, "--accumulate: must be a whole number from 1 on, or auto");
    if (!st && (n_steps > 1 || n_steps == ACCUMULATE_AUTO) != options_given(o, "update"))
        st = usage(d, "--accumulate and --update belong together: the second is the file of the "
                      "step that applies the accumulated gradients");
    return st;
}

status pipeline_describe(struct pipeline *p, const char *title, const char *command) {
    struct plan_facts *f = &p->facts;
    const struct cost_sources *costs = p->context->costs;
    f->title = title;
    f->command = command;
    f->version = version_mfc();
    f->cost_match = costs && costs->profile ? *costs->measured_share : -1;
    if (!f->planned && !p->model->device_names.n)
        f->runtime = options_text(p->context->options, "runtime");
    return f->planned ? ST_OK : plan_figures(f->step ? f->step : p->model, p->model, p->context, f);
}

static bool is_set(const struct pipeline *p, const char *option, const char *value) {
    return strcmp(options_text(p->context->options, option), value) == 0;
}

// Updates are elementwise: mostly they need no plan to meet the budget of the step.
static status plan_update(struct pipeline *p, struct pass_context *c) {
    int64_t peak, budget = p->facts.budget_bytes;
    struct plan_facts f = plan_facts_none();
    if (!p->facts.planned || !plan_facts_is_known(budget))
        return ST_OK;
    status st = plan_measure_step(p->unchanged, c, &peak);
    char *text = str_format(c->arena, "%lldB", (long long)budget);
    struct options o;
    if (st || peak <= budget)
        return st;
    if (!text || !options_copy(c->options, c->arena, &o))
        return diag_out_of_memory(c->diags);
    c->options = &o;
    st = options_set(&o, c->diags, "budget", text);
    if (!st)
        st = plan_memory(p->unchanged, c, NULL, &f);
    return st || !f.planned ? st : finish_plan(p->unchanged, c, &f);
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
    if (!st)
        st = step_record(p->unchanged, &o, c->diags);
    return st ? st : plan_update(p, c);
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

// The step as the options want it, from now on.
static status give_form(struct pipeline *p) {
    if (is_set(p, "weights", "inputs"))
        weights_detach(p->model);
    return is_set(p, "annotate", "onnx") ? annotate_devices(p->model, p->context->diags) : ST_OK;
}

status pipeline_write_as(struct pipeline *p, const char *path, const char *format,
                         struct outputs *together) {
    status st = give_form(p);
    return st ? st : load_save_plan_as(p->model, path, format, together, p->context->diags);
}

status pipeline_write(struct pipeline *p, const char *path, struct outputs *together) {
    struct pass_context *c = p->context;
    const char *initial = options_text(c->options, "initial");
    const char *folder = options_text(c->options, "split");

    struct pass_context own = *c;
    status st = p->unchanged ? make_update(p, &own) : ST_OK;
    if (!st && initial)
        st = write_start(p, initial, together);
    if (!st && p->unchanged)
        st = write_update(p, options_text(c->options, "update"), together);
    if (!st)
        st = pipeline_write_as(p, path, NULL, together);
    return st || !folder ? st : split_plan(p->model, folder, together, c);
}
