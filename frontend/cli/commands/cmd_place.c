// `mfc place PROBLEM`: which device runs what, when, and what is duplicated, recomputed or
// offloaded.
#include <string.h>

#include "frontend/cli/cli.h"
#include "frontend/cli/cli_best.h"
#include "frontend/cli/cli_watch.h"
#include "frontend/cli/commands/place_stages.h"
#include "ir/base/file.h"
#include "solver/modal/modal.h"
#include "solver/model/strategy_report.h"
#include "solver/search_options.h"

static status read_problem(struct cli *c, struct placement *p) {
    struct source *source = NULL;
    status st = source_open(&c->arena, &c->diags, c->arguments[0], &source);
    if (st == ST_OK)
        st = placement_read(&c->arena, &c->diags, source, p);
    source_close(source);
    return st;
}

static status read_start(struct cli *c, const struct placement *p, struct strategy *start,
                         struct place_options *o) {
    const char *path = options_text(&c->options, "initial");
    struct source *source = NULL;
    if (!path)
        return ST_OK;
    status st = source_open(&c->arena, &c->diags, path, &source);
    if (st == ST_OK)
        st = strategy_read(&c->arena, &c->diags, source, p, start);
    source_close(source);
    o->initial = start;
    o->n_initial = 1;
    return st;
}

// The file that an option names; every rank but the first has one of its own.
static const char *rank_path(struct cli *c, const char *option) {
    const char *path = options_text(&c->options, option);
    struct str own = str_make(&c->arena);
    if (!path || !c->team || c->team->rank == 0)
        return path;
    str_addf(&own, "%s.%d", path, c->team->rank);
    return str_text(&own);
}

static status read_settings(struct cli *c, struct place_options *o) {
    const struct options *x = &c->options;
    status st = search_options_read_place(x, &c->arena, &c->diags, o);
    o->allowed.devices = !options_flag(x, "keep-devices");
    if (!o->allowed.devices && !options_given(x, "initial"))
        return diag_error(&c->diags, DIAG_USAGE, loc_none(),
                          "--keep-devices keeps those of --initial FILE, which is missing");
    o->n_chains = (int32_t)options_int(x, "chains");
    o->exchange = !options_flag(x, "no-exchange");
    o->checkpoint_path = rank_path(c, "checkpoint");
    o->checkpoint_seconds = options_seconds(x, "checkpoint-every");
    return st;
}

// What is shown of the search, and saved on the way.
struct watching {
    struct watch watch;
    const struct placement *p;
    struct cli_best best;
};

static void on_improved(void *context, const struct place_event *e, const struct strategy *best,
                        const struct strategy_facts *facts) {
    struct watching *w = context;
    struct arena scratch = arena_make(&w->watch.cli->mem);
    struct str makespan = str_make(&scratch), load = str_make(&scratch), line = str_make(&scratch);
    strategy_add_time(&makespan, w->p, facts->makespan_cost);
    strategy_add_time(&load, w->p, facts->load_cost);
    str_addf(&line, "makespan %s, time per sample %s, %d tasks, %lld proposals",
             str_text(&makespan), str_text(&load), best->n, (long long)e->n_proposals);
    watch_placed(&w->watch, e, str_text(&line));
    arena_free(&scratch);
    cli_best_keep(&w->best, best);
}

static void add_rates(struct str *out, const struct place_result *r, int32_t n_ranks,
                      double seconds) {
    static const char *const names[MCMC_KINDS] = {
#define MOVE(name, text) text,
        MCMC_MOVES(MOVE)
#undef MOVE
    };
    str_addf(out, "search           %lld proposals in %lld rounds", (long long)r->n_proposals,
             (long long)r->n_rounds);
    if (seconds >= 0)
        str_addf(out, ", %.1f s", seconds);
    if (r->n_exchanges_tried > 0)
        str_addf(out, "; %lld of %lld replica exchanges", (long long)r->n_exchanges,
                 (long long)r->n_exchanges_tried);
    str_add(out, place_is_optimal(r) ? "; proven optimal\n" : "\n");
    if (n_ranks > 1)
        str_addf(out, "ranks            %d of %d to the end\n", n_ranks - r->n_left, n_ranks);
    for (int32_t k = 0; k < MCMC_KINDS; k++)
        if (r->count[k].n_tried > 0)
            str_addf(out, "  %5.1f %% of %9lld accepted: %s\n",
                     100.0 * (double)r->count[k].n_accepted / (double)r->count[k].n_tried,
                     (long long)r->count[k].n_tried, names[k]);
}

static status answer(struct cli *c, const struct placement *p, const struct place_result *r,
                     double seconds) {
    const char *path = options_text(&c->options, "output");
    status st = ST_OK;
    if (path && cli_leads(c))
        st = strategy_write(p, &r->best, &r->facts, &c->arena, &c->diags, path);
    if (st != ST_OK || (path && strcmp(path, "-") == 0))
        return st;
    strategy_report(&c->out, p, &r->best, &r->facts);
    add_rates(&c->out, r, c->team ? c->team->n : 1,
              options_int(&c->options, "work") > 0 ? -1 : seconds);
    return ST_OK;
}

static status place_plain(struct cli *c) {
    struct placement p;
    struct strategy start;
    struct place_options o;
    struct place_result r;
    status st = read_problem(c, &p);
    if (st == ST_OK)
        st = read_settings(c, &o);
    if (st == ST_OK)
        st = read_start(c, &p, &start, &o);
    if (st != ST_OK)
        return st;
    cli_flush_diags(c);
    struct source *resume = NULL;
    if (options_text(&c->options, "resume"))
        st = source_open(&c->arena, &c->diags, rank_path(c, "resume"), &resume);
    if (st != ST_OK)
        return st;
    o.resume = resume;
    o.team = c->team;
    o.worker_path = cli_worker_path();
    struct watching w = {.p = &p};
    struct place_hooks hooks = {on_improved, &w, c->stop};
    cli_best_open(&w.best, c, &p, &o.objective, options_text(&c->options, "output"));
    watch_open(&w.watch, c, NULL, 0);
    watch_limit(&w.watch, o.seconds);
    watch_save(&w.watch, cli_best_save, &w.best); // the search ends by itself between two rounds
    int64_t start_ns = stop_clock_ns();
    st = place(&p, &o, &hooks, &c->arena, &c->diags, &r);
    watch_close(&w.watch);
    cli_best_close(&w.best);
    double seconds = (double)(stop_clock_ns() - start_ns) * 1e-9;
    source_close(resume);
    if (st == ST_OK)
        return answer(c, &p, &r, seconds);
    if (st == ST_NO_PLAN)
        diag_error(&c->diags, DIAG_NO_PLAN, loc_none(),
                   "no strategy that fits the memory of all places was found; the nearest was over "
                   "by %lld bytes in all",
                   (long long)r.min_excess_bytes);
    return st;
}

static status run(struct cli *c) {
    bool has_modes = false;
    status st = place_stages_wanted(c, &has_modes);
    if (st == ST_OK && !has_modes && options_given(&c->options, "microbatches"))
        return diag_error(&c->diags, DIAG_UNSUPPORTED, loc_none(),
                          "--microbatches is for problems whose nodes have modes");
    if (st != ST_OK)
        return st;
    return has_modes ? place_stages(c) : place_plain(c);
}

static const struct option_spec place_options[] = {
    {"output", 'o', OPTION_TEXT, "FILE", NULL, 0, 0, "where the strategy goes; - is stdout"},
    {"json", 0, OPTION_SAME, "FILE", "output", 0, 0, "the same as --output: a strategy is JSON"},
#include "solver/placement_options.def"
    {"microbatches", 0, OPTION_INT, "N", NULL, 1, MODAL_MAX_SAMPLES,
     "samples of a step that go through the pipeline one after the other (problems with modes)"},
    {"initial", 0, OPTION_TEXT, "FILE", NULL, 0, 0, "a strategy as an initial solution"},
    {"start", 0, OPTION_SAME, "FILE", "initial", 0, 0, NULL},
    {"keep-devices", 0, OPTION_FLAG, NULL, NULL, 0, 0,
     "every node stays on the device of the initial solution; duplicates, recomputation, offload "
     "and order may change"},
#include "solver/search_limits.def"
    {"t", 't', OPTION_SAME, "TIME", "time", 0, 0, NULL},
    {"j", 'j', OPTION_SAME, "N", "threads", 0, 0, NULL},
    {"chains", 0, OPTION_INT, "N", "8", 1, PLACE_MAX_CHAINS,
     "Markov chains, at different temperatures"},
    {"no-exchange", 0, OPTION_FLAG, NULL, NULL, 0, 0, "no replica exchange between the chains"},
    {"checkpoint", 0, OPTION_TEXT, "FILE", NULL, 0, 0, "save the state of the search there"},
    {"checkpoint-every", 0, OPTION_SECONDS, "TIME", "10s", 0, 0,
     "shortest time between two checkpoints"},
    {"resume", 0, OPTION_TEXT, "FILE", NULL, 0, 0, "go on from a checkpoint"},
    {0}};

const struct command cmd_place = {
    .name = "place",
    .summary = "place a plain problem on devices: duplicates, recomputation, offload",
    .arguments = "PROBLEM",
    .description = "Reads an mfc-problem with devices, searches for a strategy that fits the "
                   "memory of every device, checks it, and writes it as an mfc-strategy. Ctrl-C "
                   "ends the search early with the best strategy so far.",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = place_options,
    .ranks = true,
    .run = run,
};
