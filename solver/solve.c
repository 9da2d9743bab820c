// The run around every method: see solve.h. Stages: facts and trivial answers, the method, then the
// report of what is known, with the best schedule checked once more as it goes out.
#include "solver/solve.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "solver/anneal/min_budget.h"
#include "solver/check/schedule_check.h"
#include "solver/incumbent.h"
#include "solver/methods.h"

static const struct solve_method methods[] = {
#define METHOD(name, function, baseline, summary) {name, summary, baseline, function},
#include "solver/methods.def"
#undef METHOD
};

static const struct solve_letter letters[] = {
#define LETTER(letter, meaning) {letter, meaning},
#include "solver/methods.def"
#undef LETTER
};

const struct solve_method *solve_methods(size_t *n) {
    *n = sizeof methods / sizeof *methods;
    return methods;
}

const struct solve_method *solve_method_find(const char *name) {
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i].name, name) == 0)
            return &methods[i];
    return NULL;
}

const struct solve_letter *solve_letters(size_t *n) {
    *n = sizeof letters / sizeof *letters;
    return letters;
}

struct solve_options solve_defaults(void) {
    return (struct solve_options){.method = methods[0].name,
                                  .budget_bytes = BUDGET_NONE,
                                  .free_order = true,
                                  .gap = 0.001,
                                  .seconds = 60,
                                  .target_cost = -1};
}

// The largest single need of a node is a bound on every peak; the node and what it reads force it.
static void report_floor(struct solve_run *r, int32_t node) {
    const struct problem *p = r->p;
    int32_t *nodes = ARENA_ARRAY(r->arena, int32_t, p->n), n = 0;
    if (!nodes)
        return;
    if (node < 0) {
        for (int32_t i = 0; i < p->n; i++)
            if (p->keep[i])
                nodes[n++] = i;
    } else {
        nodes[n++] = node;
        for (int32_t k = p->in_start[node]; k < p->in_start[node + 1]; k++)
            nodes[n++] = p->in_of[k];
    }
    solve_infeasible(r, true, true, r->floor_bytes, nodes, n);
}

// Baselines answer for themselves; all else begins with the schedule that recomputes nothing, and
// with what the caller knows already.
static status offer_known(struct solve_run *r) {
    struct sequence given;
    if (!sequence_given(r->p, r->arena, &given))
        return diag_out_of_memory(r->diags);
    solve_offer(r, given, 'K');
    for (int32_t k = 0; k < r->options->n_initial; k++)
        solve_offer_steps(r, r->options->initial[k], 'K');
    return ST_OK;
}

static status run_method(struct solve_run *r, const struct solve_method *m) {
    int32_t node;
    r->base_cost = problem_base_cost(r->p);
    r->floor_bytes = problem_floor(r->p, &node);
    report_floor(r, node);
    solve_bound_any(r, r->options->known_bound_any, 'K');
    solve_bound_given(r, r->options->known_bound_given, 'K');
    solve_infeasible(r, true, true, r->options->known_min_bytes, NULL, 0);
    status st = m->baseline ? ST_OK : offer_known(r);
    if (st == ST_OK && (m->baseline || !solve_settled(r)))
        st = m->run(r);
    if (st == ST_OK && r->best->lacked_memory)
        return diag_out_of_memory(r->diags);
    bool is_never = solve_best_cost(r) == INT64_MAX && solve_settled(r);
    if (st == ST_OK && is_never && !m->baseline && !stop_now(r->stop))
        min_budget_search(r); // proven infeasible: say what would do
    return st == ST_NO_PLAN || st == ST_INFEASIBLE ? ST_OK : st;
}

static status hand_out(struct solve_run *r, struct arena *a, struct diags *d,
                       struct schedule *out) {
    incumbent_report(r, out);
    if (out->steps.n > 0) {
        out->steps.at = arena_copy(a, out->steps.at, (size_t)out->steps.n * sizeof *out->steps.at);
        if (!out->steps.at)
            return diag_out_of_memory(d);
    }
    if (out->n_forcing > 0) {
        out->forcing = arena_copy(a, out->forcing, (size_t)out->n_forcing * sizeof *out->forcing);
        if (!out->forcing)
            return diag_out_of_memory(d);
    }
    if (out->outcome == OUTCOME_INFEASIBLE)
        return ST_INFEASIBLE;
    if (out->outcome == OUTCOME_UNKNOWN)
        return ST_NO_PLAN;
    return schedule_check(r->p, out, a, d);
}

static int32_t n_processors(void) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > 1024 ? 1024 : (int32_t)n;
}

status solve(const struct problem *p, const struct solve_options *options,
             const struct solve_hooks *hooks, struct arena *a, struct diags *d,
             struct schedule *out) {
    *out = (struct schedule){.bound = BOUND_NONE, .bound_any = BOUND_NONE};
    const struct solve_method *m = solve_method_find(options->method);
    if (!m)
        return diag_error(d, DIAG_USAGE, loc_none(), "there is no method \"%s\"", options->method);
    struct arena scratch = arena_make(a->mem);
    struct solve_options o = *options;
    struct incumbent best;
    struct stop stop = stop_child(hooks->stop, o.seconds > 0 ? o.seconds : INFINITY);
    struct solve_run r = {.p = p,
                          .options = &o,
                          .arena = &scratch,
                          .diags = d,
                          .stop = &stop,
                          .given_peak_bytes = problem_given_peak(p, &scratch),
                          .best = &best};
    if (r.given_peak_bytes < 0) {
        arena_free(&scratch);
        return diag_out_of_memory(d);
    }
    if (o.budget_bytes == BUDGET_NONE)
        o.budget_bytes = r.given_peak_bytes;
    if (o.threads <= 0)
        o.threads = n_processors();
    incumbent_open(&best, a->mem, hooks, o.free_order, problem_base_cost(p));
    status st = run_method(&r, m);
    if (st == ST_OK)
        st = hand_out(&r, a, d, out);
    incumbent_close(&best);
    arena_free(&scratch);
    return st;
}
