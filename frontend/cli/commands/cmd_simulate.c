// `mfc simulate PROBLEM STRATEGY`: executes a strategy on the devices of a problem.
#include <string.h>

#include "frontend/cli/cli.h"
#include "frontend/cli/commands/place_stages.h"
#include "solver/check/strategy_check.h"
#include "solver/model/strategy_report.h"
#include "solver/place.h"

static status read_both(struct cli *c, struct placement *p, struct strategy *s) {
    struct source *problem = NULL, *strategy = NULL;
    status st = source_open(&c->arena, &c->diags, c->arguments[0], &problem);
    if (st == ST_OK)
        st = placement_read(&c->arena, &c->diags, problem, p);
    if (st == ST_OK)
        st = source_open(&c->arena, &c->diags, c->arguments[1], &strategy);
    if (st == ST_OK)
        st = strategy_read(&c->arena, &c->diags, strategy, p, s);
    source_close(problem);
    source_close(strategy);
    return st;
}

static status simulate_plain(struct cli *c) {
    struct placement p;
    struct strategy s;
    struct strategy_facts f;
    struct place_bounds bounds;
    status st = read_both(c, &p, &s);
    if (st == ST_OK)
        st = strategy_replay(&p, &s, &c->arena, &c->diags, &f);
    if (st == ST_OK && !place_bounds(&p, &c->mem, &bounds))
        st = diag_out_of_memory(&c->diags);
    if (st != ST_OK)
        return st;
    f.makespan_bound = bounds.makespan_cost;
    f.load_bound = bounds.load_cost;
    const char *path = options_text(&c->options, "output");
    if (!path || strcmp(path, "-") != 0)
        strategy_report(&c->out, &p, &s, &f);
    if (path)
        st = strategy_write(&p, &s, &f, &c->arena, &c->diags, path);
    if (st == ST_OK && f.excess_bytes > 0)
        st = diag_error(&c->diags, DIAG_VERIFY, loc_none(),
                        "the strategy needs more memory than the places have, by %lld bytes in all",
                        (long long)f.excess_bytes);
    return st;
}

static status run(struct cli *c) {
    bool has_modes = false;
    status st = place_stages_wanted(c, &has_modes);
    if (st != ST_OK)
        return st;
    return has_modes ? simulate_stages(c) : simulate_plain(c);
}

static const struct option_spec simulate_options[] = {
    {"output", 'o', OPTION_TEXT, "FILE", NULL, 0, 0,
     "write the strategy with all its tasks; - is stdout, without the report"},
    {"json", 0, OPTION_SAME, "FILE", "output", 0, 0, "the same as --output: a strategy is JSON"},
    {0}};

const struct command cmd_simulate = {
    .name = "simulate",
    .summary = "execute a strategy on the devices of a placement problem",
    .arguments = "PROBLEM STRATEGY",
    .description = "Reads an mfc-problem with devices and an mfc-strategy, which may be edited by "
                   "hand, and reports what each device and link does and needs. Exit code 10: the "
                   "strategy is not executable, or needs more memory than there is.",
    .min_arguments = 2,
    .max_arguments = 2,
    .options = simulate_options,
    .run = run,
};
