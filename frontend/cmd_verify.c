// `mfc verify PROBLEM SCHEDULE`: the independent exact replay of a schedule.
#include "frontend/cli.h"
#include "solver/check.h"
#include "solver/report.h"

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

static status run(struct cli *c) {
    struct problem p;
    struct schedule s;
    status st = read_both(c, &p, &s);
    if (st == ST_OK)
        st = check_schedule(&p, &s, &c->arena, &c->diags);
    if (st != ST_OK)
        return st;
    if (s.steps.n == 0) {
        str_addf(&c->out, "nothing to replay: the schedule says %s and has no steps\n",
                 outcome_name(s.outcome));
        return ST_OK;
    }
    str_add(&c->out,
            "right: every step can be done, and peak, cost, budget and order are as said\n");
    return report_schedule(&c->out, &p, &s, &c->arena) ? ST_OK : diag_no_room(&c->diags);
}

const struct command cmd_verify = {
    .name = "verify",
    .summary = "replay a schedule exactly and check what it says of itself",
    .arguments = "PROBLEM SCHEDULE",
    .description =
        "Reads an mfc-problem and an mfc-schedule, runs the steps in exact integers, and "
        "compares\npeak, cost, budget and order with what the file says. Bounds are "
        "checked only for not being\nabove the cost.",
    .least = 2,
    .most = 2,
    .run = run,
};
