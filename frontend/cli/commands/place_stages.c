// Pipelines of stages from the command line: see place_stages.h.
#include "frontend/cli/commands/place_stages.h"

#include <math.h>
#include <string.h>

#include "frontend/cli/cli_watch.h"
#include "ir/base/file.h"
#include "solver/check/stages_check.h"
#include "solver/model/strategy_report.h"
#include "solver/search_options.h"
#include "solver/stages/stage_search.h"

status place_stages_wanted(struct cli *c, bool *out) {
    struct source *source = NULL;
    status st = source_open(&c->arena, &c->diags, c->arguments[0], &source);
    if (st == ST_OK)
        st = modal_is(&c->mem, &c->diags, source, out);
    source_close(source);
    return st;
}

static status read_problem(struct cli *c, struct modal *p) {
    struct source *source = NULL;
    status st = source_open(&c->arena, &c->diags, c->arguments[0], &source);
    if (st == ST_OK)
        st = modal_read(&c->arena, &c->diags, source, p);
    source_close(source);
    return st;
}

static status read_stages(struct cli *c, const char *path, const struct modal *p,
                          struct stages *out) {
    struct source *source = NULL;
    status st = source_open(&c->arena, &c->diags, path, &source);
    if (st == ST_OK)
        st = stages_read(&c->arena, &c->diags, source, p, out);
    source_close(source);
    return st;
}

static status write_stages(struct cli *c, const struct modal *p, const struct stages *s,
                           const struct stages_facts *f) {
    const char *path = options_text(&c->options, "output");
    status st = path ? stages_write(p, s, f, &c->diags, path) : ST_OK;
    if (st == ST_OK && (!path || strcmp(path, "-") != 0))
        stages_report(&c->out, p, s, f);
    return st;
}

static status refuse(struct cli *c, const char *option) {
    return options_given(&c->options, option)
               ? diag_error(&c->diags, DIAG_UNSUPPORTED, loc_none(),
                            "--%s is not for problems whose nodes have modes", option)
               : ST_OK;
}

static status read_options(struct cli *c, const struct modal *p, struct stage_options *o) {
    static const char *const refused[] = {"keep-devices", "checkpoint", "resume"};
    struct place_options common;
    status st = search_options_read_place(&c->options, &c->arena, &c->diags, &common);
    for (size_t k = 0; k < sizeof refused / sizeof *refused && st == ST_OK; k++)
        st = refuse(c, refused[k]);
    if (st == ST_OK && c->team)
        st = diag_error(&c->diags, DIAG_UNSUPPORTED, loc_none(),
                        "ranks do not search together for problems whose nodes have modes");
    *o = (struct stage_options){.objective = common.objective,
                                .n_samples = p->n_samples,
                                .seconds = common.seconds,
                                .work = common.work,
                                .seed = common.seed};
    if (options_given(&c->options, "microbatches"))
        o->n_samples = options_int(&c->options, "microbatches");
    if (o->n_samples < 0) // a single sample, or a stream of them
        o->n_samples = o->objective.goal == MCMC_THROUGHPUT ? 0 : 1;
    return st;
}

static void add_search(struct cli *c, const struct stage_result *r) {
    str_addf(&c->out, "search           %lld proposals", (long long)r->n_proposals);
    if (r->value <= r->bound)
        str_add(&c->out, "; proven optimal\n");
    else if (isfinite(r->bound) && r->value > 0)
        str_addf(&c->out, "; lower bound %.0f, optimality gap %.2f %%\n", r->bound,
                 100 * (r->value - r->bound) / r->value);
    else
        str_add(&c->out, "\n");
}

status place_stages(struct cli *c) {
    struct modal p;
    struct stages initial;
    struct stage_options o;
    struct stage_result r;
    status st = read_problem(c, &p);
    if (st == ST_OK)
        st = read_options(c, &p, &o);
    if (st == ST_OK && options_given(&c->options, "initial")) {
        st = read_stages(c, options_text(&c->options, "initial"), &p, &initial);
        if (st == ST_OK)
            st = stages_check(&p, &initial, &c->arena, &c->diags, &r.facts);
        o.initial = &initial;
    }
    if (st != ST_OK)
        return st;
    cli_flush_diags(c);
    struct watch w;
    watch_open(&w, c, NULL, 0);
    watch_limit(&w, o.seconds);
    st = stage_search(&p, &o, c->stop, &c->arena, &c->diags, &r);
    watch_close(&w);
    if (st == ST_NO_PLAN)
        return diag_error(&c->diags, DIAG_NO_PLAN, loc_none(),
                          "no stages that fit the memory of all devices were found; the nearest "
                          "were over by %lld bytes in all",
                          (long long)r.min_excess_bytes);
    if (st == ST_OK)
        st = write_stages(c, &p, &r.best, &r.facts);
    const char *path = options_text(&c->options, "output");
    if (st == ST_OK && (!path || strcmp(path, "-") != 0))
        add_search(c, &r);
    return st;
}

status simulate_stages(struct cli *c) {
    struct modal p;
    struct stages s;
    struct stages_facts f;
    status st = read_problem(c, &p);
    if (st == ST_OK)
        st = read_stages(c, c->arguments[1], &p, &s);
    if (st == ST_OK)
        st = stages_check(&p, &s, &c->arena, &c->diags, &f);
    if (st == ST_OK)
        st = write_stages(c, &p, &s, &f);
    if (st == ST_OK && f.excess_bytes > 0)
        st = diag_error(&c->diags, DIAG_VERIFY, loc_none(),
                        "the stages need more memory than the devices have, by %lld bytes in all",
                        (long long)f.excess_bytes);
    return st;
}
