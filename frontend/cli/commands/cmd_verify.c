// `mfc verify MODEL PLAN`: every claim of a plan, derived again. `mfc verify PROBLEM SCHEDULE`: the
// independent exact replay of a schedule.
#include <string.h>

#include "frontend/cli/cli.h"
#include "frontend/inputs/cost_files.h"
#include "frontend/load.h"
#include "frontend/tools/verify_plan.h"
#include "ir/base/file.h"
#include "ir/json/json_write.h"
#include "passes/plan/step.h"
#include "solver/check/schedule_check.h"
#include "solver/model/schedule_report.h"

// A schedule is JSON, and no model starts like that.
static status is_schedule(struct cli *c, const char *path, bool *out) {
    struct source *s;
    char first = 0;
    status st = source_open(&c->arena, &c->diags, path, &s);
    if (st)
        return st;
    for (int64_t i = 0; i < s->n_bytes && !st; i++) {
        st = source_read(s, &c->diags, i, &first, 1);
        if (first != ' ' && first != '\n' && first != '\r' && first != '\t')
            break;
    }
    source_close(s);
    *out = first == '{';
    return st;
}

static status read_both(struct cli *c, struct problem *p, struct schedule *s) {
    struct source *problem = NULL, *schedule = NULL;
    status st = source_open(&c->arena, &c->diags, c->arguments[0], &problem);
    if (st == ST_OK)
        st = problem_read(&c->arena, &c->diags, problem, p);
    if (st == ST_OK)
        st = source_open(&c->arena, &c->diags, c->arguments[1], &schedule);
    if (st == ST_OK)
        st = schedule_read(&c->arena, &c->diags, schedule, p, s);
    source_close(problem);
    source_close(schedule);
    return st;
}

// Writes the verification also when it fails. `found` is what add_found() takes, NULL when there is
// none.
static status write_json(struct cli *c, const char *what, status result,
                         void (*add_found)(struct json_writer *w, const char *key,
                                           const void *found),
                         const void *found) {
    const char *path = options_text(&c->options, "json");
    struct str out = str_make(&c->arena);
    if (!path || (result && result != ST_VERIFY))
        return result;
    struct json_writer w = json_write_document(&out, JSON_WRITE_COMPACT, "mfc-verification");
    json_write_text(&w, "what", what);
    json_write_bool(&w, "right", !result);
    json_write_line(&w);
    json_write_array(&w, "problems");
    bool is_first = true;
    for (size_t i = 0; i < c->diags.list.n; i++) {
        if (c->diags.list.at[i].severity != DIAG_ERROR)
            continue;
        if (!is_first)
            json_write_line(&w);
        json_write_text(&w, NULL, c->diags.list.at[i].text);
        is_first = false;
    }
    json_write_end(&w);
    json_write_line(&w);
    if (found)
        add_found(&w, "found", found);
    else
        json_write_null(&w, "found");
    json_write_finish(&w);
    status st = output_text(&c->arena, &c->diags, path, &out);
    return result ? result : st;
}

static bool takes_stdout(const struct cli *c) {
    const char *path = options_text(&c->options, "json");
    return path && strcmp(path, "-") == 0;
}

static void add_schedule(struct json_writer *w, const char *key, const void *found) {
    const struct schedule *s = found;
    json_write_object(w, key);
    json_write_text(w, "outcome", outcome_name(s->outcome));
    json_write_int(w, "steps", s->steps.n);
    json_write_int(w, "cost", s->cost);
    json_write_int(w, "peak_bytes", s->peak_bytes);
    json_write_end(w);
}

static void add_plan(struct json_writer *w, const char *key, const void *found) {
    verify_plan_json(w, key, found);
}

static status verify_schedule(struct cli *c) {
    struct problem p;
    struct schedule s;
    status st = read_both(c, &p, &s);
    if (st == ST_OK)
        st = schedule_check(&p, &s, &c->arena, &c->diags);
    st = write_json(c, "schedule", st, add_schedule, st ? NULL : &s);
    if (st != ST_OK || takes_stdout(c))
        return st;
    if (s.steps.n == 0) {
        str_addf(&c->out, "nothing to replay: the schedule claims %s and has no steps\n",
                 outcome_name(s.outcome));
        return ST_OK;
    }
    str_add(&c->out, "valid: the schedule is executable and all its claims hold\n");
    return schedule_report(&c->out, &p, &s, &c->arena) ? ST_OK : diag_out_of_memory(&c->diags);
}

static status verify_models(struct cli *c, struct model *model, struct model *plan) {
    struct arena scratch = arena_make(&c->mem);
    struct verified found;
    struct pass_context context = cli_context(c, &scratch);
    status st = step_recall(plan, &c->options, &c->diags);
    if (!st)
        st = cost_files_read(&c->arena, &c->diags, &c->options, &context.costs);
    found.cost_model = NULL;
    if (!st && !context.costs->model && !context.costs->profile)
        found.cost_model = cost_files_describe(&c->arena, &c->options, context.costs, NULL);
    if (!st)
        st = verify_plan(model, plan, &context, &found);
    st = write_json(c, "plan", st, add_plan, st ? NULL : &found);
    if (!st && !takes_stdout(c))
        verify_plan_print(&c->out, &found);
    arena_free(&scratch);
    return st;
}

static status run(struct cli *c) {
    bool schedule;
    status st = is_schedule(c, c->arguments[1], &schedule);
    if (st)
        return st;
    if (schedule)
        return verify_schedule(c);
    struct pool names = pool_make(&c->arena);
    struct model *model, *plan;
    st = load_model(&c->arena, &names, &c->diags, c->arguments[0], &model);
    if (st)
        return st;
    st = load_model(&c->arena, &names, &c->diags, c->arguments[1], &plan);
    if (!st) {
        st = verify_models(c, model, plan);
        model_close(plan);
    }
    model_close(model);
    return st;
}

static const struct option_spec verify_options[] = {
    {"json", 0, OPTION_TEXT, "FILE", NULL, 0, 0,
     "write the result as JSON, valid or not; - is stdout"},
    {0}};

const struct command cmd_verify = {
    .name = "verify",
    .summary = "prove the claims of a plan or schedule again",
    .arguments = "MODEL PLAN | PROBLEM SCHEDULE",
    .description =
        "MODEL PLAN: derives the training step of the model, with the options recorded in the "
        "plan, and proves from the two files alone that every output is the same expression, that "
        "the dependencies in the file force its order, and that the peak is within budget and as "
        "claimed. Options given here replace the recorded ones.\n\nPROBLEM SCHEDULE: reads an "
        "mfc-problem and an mfc-schedule, runs the steps in exact integers, and compares peak, "
        "cost, budget and order with the claims of the file. Bounds are checked only for not being "
        "above the cost.\n\nExit code 10: a claim does not hold; the reasons are listed.",
    .min_arguments = 2,
    .max_arguments = 2,
    .options = verify_options,
    .passes = true,
    .run = run,
};
