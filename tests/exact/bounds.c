// Bounds against plans: what one run claims, no plan of any other run may refute.
//
//     exact_bounds FIRST COUNT
//     exact_bounds NUMBER print    the text of a model
//
// Random models, by their numbers. Every third one is a tiny graph: its plans with up to two
// recomputations are all made, written and measured, and the relaxation is solved exactly by the
// dynamic program. The others are training steps of small networks, planned with many options: all
// runtimes, budgets, orders, methods, seeds and gaps. Claims: the lower bound of the cost within a
// budget; the least memory, at any cost and at a given one; that a budget is infeasible.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/copy.h"
#include "ir/runtime/runtime.h"
#include "ir/text/text.h"
#include "passes/plan/plan.h"
#include "passes/plan/plan_bound.h"
#include "tests/exact/bounds_models.h"
#include "tests/oracle/remat_dp.h"

enum { MAX_ENTRIES = 4096, MAX_EXTRA = 2, N_RUNS = 5, SEED = 15 };

// A plan, or a claim about all plans within a budget or at most of a cost.
struct entry {
    int64_t peak_bytes, cost;
    char what[96];
};

struct tally {
    int64_t n_models, n_plans, n_claims, n_above_base, n_infeasible, n_wrong;
};

struct table {
    int64_t number; // of the model
    struct entry plan[MAX_ENTRIES], cost_claim[MAX_ENTRIES], memory_claim[MAX_ENTRIES];
    int n_plans, n_cost_claims, n_memory_claims;
    struct tally *tally;
};

static void check(bool ok, const char *what) {
    if (ok)
        return;
    fprintf(stderr, "exact_bounds: %s failed\n", what);
    exit(1);
}

static void add(struct entry *list, int *n, int64_t peak_bytes, int64_t cost, const char *what) {
    if (*n == MAX_ENTRIES) // the first ones suffice
        return;
    list[*n] = (struct entry){.peak_bytes = peak_bytes, .cost = cost};
    snprintf(list[(*n)++].what, sizeof list->what, "%s", what);
}

static void refuted(struct table *t, const struct entry *plan, const struct entry *claim,
                    const char *claimed) {
    if (t->tally->n_wrong++ < 20)
        printf("model %" PRId64 ": a plan (%s) has peak %" PRId64 ", cost %" PRId64
               "; claimed (%s): %s %" PRId64 " B, %" PRId64 "\n",
               t->number, plan->what, plan->peak_bytes, plan->cost, claim->what, claimed,
               claim->peak_bytes, claim->cost);
}

static void compare(struct table *t) {
    for (int p = 0; p < t->n_plans; p++) {
        const struct entry *plan = &t->plan[p];
        for (int k = 0; k < t->n_cost_claims; k++)
            if (plan->peak_bytes <= t->cost_claim[k].peak_bytes &&
                plan->cost < t->cost_claim[k].cost)
                refuted(t, plan, &t->cost_claim[k], "cost within");
        for (int k = 0; k < t->n_memory_claims; k++)
            if (plan->cost <= t->memory_claim[k].cost &&
                plan->peak_bytes < t->memory_claim[k].peak_bytes)
                refuted(t, plan, &t->memory_claim[k], "memory for");
    }
    t->tally->n_plans += t->n_plans;
    t->tally->n_claims += t->n_cost_claims + t->n_memory_claims;
}

// ---- Models ----

struct stage {
    struct mem mem;
    struct arena arena;
    struct diags diags;
    struct pool names;
    struct options options;
    struct pass_context context;
    struct model *m;
};

static void open_stage(struct stage *s, const char *text, const char *passes) {
    struct pass_pipeline p;
    s->mem = mem_make(MEM_UNLIMITED);
    s->arena = arena_make(&s->mem);
    s->diags = diags_make(&s->arena);
    s->names = pool_make(&s->arena);
    s->options = options_make(&s->arena);
    s->context =
        (struct pass_context){.arena = &s->arena, .diags = &s->diags, .options = &s->options};
    check(!pass_add_options(&s->options, &s->diags), "options");
    check(!parse_text((struct model_text){text, strlen(text), "model.mfc"}, &s->arena, &s->names,
                      &s->diags, &s->m),
          text);
    check(!pass_pipeline_parse(&s->arena, &s->diags, passes, &p) &&
              !pass_pipeline_run(&p, s->m, &s->context, NULL),
          text);
}

static void close_stage(struct stage *s) {
    model_close(s->m);
    arena_free(&s->arena);
}

// ---- Runs ----

static const char *const runtimes[] = {"ort-lean", "file-order", "ort"};

// The plan in the model, as it is written.
static void record_plan(struct table *t, struct stage *s, struct model *plan, const char *what) {
    struct plan_facts f = plan_facts_none();
    f.runtime = options_text(&s->options, "runtime");
    check(!plan_figures(s->m, plan, &s->context, &f), "plan_figures");
    add(t->plan, &t->n_plans, f.peak_bytes, f.cost, what);
}

// The options of run number k, as text.
static void set_options(struct stage *s, struct rng *rng, int k, struct str *what) {
    static const char *const orders[] = {"auto", "given", "free"};
    static const char *const methods[] = {"portfolio", "portfolio",   "portfolio",
                                          "last-node", "chen-greedy", "recursive"};
    const char *const seed = str_format(&s->arena, "%d", (int)rng_below(rng, 100));
    const char *const shares[] = {"20%", "35%", "45%", "55%", "65%", "75%", "85%", "95%"};
    const char *const pairs[][2] = {
        {"seed", seed},
        {"order", orders[rng_below(rng, 3)]},
        {"method", k == 0 ? methods[0] : methods[rng_below(rng, 6)]},
        {"gap", rng_below(rng, 2) ? "0%" : "5%"},
        {"runtime-shapes", rng_below(rng, 4) ? "hidden" : "known"},
        {k == 0 ? "overhead" : "budget",
         k == 0 ? (rng_below(rng, 2) ? "10%" : "40%") : shares[rng_below(rng, 8)]}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        check(!options_set(&s->options, &s->diags, pairs[i][0], pairs[i][1]), pairs[i][0]);
        str_addf(what, "%s%s", i ? " " : "", pairs[i][1]);
    }
    check(!options_set(&s->options, &s->diags, "work", "2"), "work");
    check(!options_set(&s->options, &s->diags, "threads", "1"), "threads");
}

// The bound that a plan claims holds for the budget; without one, for its peak.
static void record_claims(struct table *t, const struct plan_facts *f, const char *what) {
    bool dual = f->max_overhead > 0;
    int64_t max_cost = dual ? (int64_t)((double)f->base_cost * (1 + f->max_overhead)) : INT64_MAX;
    if (plan_facts_is_known(f->bound)) {
        add(t->cost_claim, &t->n_cost_claims, dual ? f->peak_bytes : f->budget_bytes, f->bound,
            what);
        t->tally->n_above_base += f->bound > f->base_cost;
    }
    if (plan_facts_is_known(f->min_bytes))
        add(t->memory_claim, &t->n_memory_claims, f->min_bytes, max_cost, what);
    if (strcmp(f->outcome, "optimal") == 0 && !dual)
        add(t->cost_claim, &t->n_cost_claims, f->budget_bytes, f->cost, what);
    if (strcmp(f->outcome, "optimal") == 0 && dual)
        add(t->memory_claim, &t->n_memory_claims, f->peak_bytes, max_cost, what);
}

static void run_once(struct table *t, struct stage *s, struct rng *rng, int k) {
    struct arena scratch = arena_make(&s->mem);
    struct str what = str_make(&scratch);
    struct options before = s->options;
    s->options.items.at =
        arena_copy(&scratch, before.items.at, before.items.n * sizeof *before.items.at);
    set_options(s, rng, k, &what);
    struct model *plan = model_copy(s->m, &scratch);
    struct plan_facts f = plan_facts_none();
    struct diags unread = diags_make(&scratch);
    struct pass_context c = s->context;
    c.arena = &scratch;
    c.diags = &unread;
    check(plan, "copy");
    status st = plan_memory(plan, &c, NULL, &f);
    if (!st && f.planned) {
        check(!plan_figures(f.step, plan, &c, &f), "plan_figures");
        add(t->plan, &t->n_plans, f.peak_bytes, f.cost, str_text(&what));
        record_claims(t, &f, str_text(&what));
    } else if (st == ST_INFEASIBLE) {
        int64_t base_bytes; // of the step in the order in which it would be written
        check(!plan_measure_step(s->m, &c, &base_bytes), "plan_measure_step");
        int64_t budget = options_budget(&s->options, "budget", base_bytes, 0);
        add(t->memory_claim, &t->n_memory_claims, budget + 1, INT64_MAX, str_text(&what));
        t->tally->n_infeasible++;
    } else {
        check(!st || st == ST_NO_PLAN, str_text(&what));
    }
    s->options = before;
    arena_free(&scratch);
}

static void one_network(struct table *t, struct rng *rng) {
    struct stage s;
    struct mem mem = mem_make(MEM_UNLIMITED);
    struct arena a = arena_make(&mem);
    struct str text = str_make(&a);
    bounds_models_network(&text, rng);
    open_stage(&s, str_text(&text),
               "sort,upgrade,shapes,fold,dce,loss,grad,optimizer,dce,names,costs");
    for (int r = 0; r < 3; r++) {
        t->n_plans = t->n_cost_claims = t->n_memory_claims = 0;
        check(!options_set(&s.options, &s.diags, "runtime", runtimes[r]), "runtime");
        record_plan(t, &s, s.m, "baseline");
        for (int k = 0; k < N_RUNS; k++)
            run_once(t, &s, rng, k);
        compare(t);
    }
    close_stage(&s);
    arena_free(&a);
}

// ---- All plans of a tiny model ----

struct search {
    struct table *t;
    struct stage *s;
    const struct remat *r;
    struct step step[32];
    int n_steps, n_runs[32];
};

static void measure(struct search *x) {
    struct arena scratch = arena_make(&x->s->mem);
    struct model *plan = model_copy(x->s->m, &scratch);
    struct remat_result unread;
    struct pass_context c = x->s->context;
    struct plan_facts f = plan_facts_none();
    char what[80] = "runs";
    size_t n = 4;
    c.arena = &scratch;
    f.runtime = options_text(&x->s->options, "runtime");
    for (int i = 0; i < x->n_steps && n + 4 < sizeof what; i++)
        n += (size_t)snprintf(what + n, sizeof what - n, " %d", x->step[i].node);
    check(plan && !remat_apply(plan->graph, x->r, (struct steps){x->step, x->n_steps}, &scratch,
                               c.diags, &unread),
          "remat_apply");
    check(!pass_run(&pass_rewrite, plan, &c) && !plan_figures(x->s->m, plan, &c, &f), "rewrite");
    add(x->t->plan, &x->t->n_plans, f.peak_bytes, f.cost, what);
    arena_free(&scratch);
}

// Every sequence of runs in which each node has its operands, up to MAX_EXTRA recomputations. A run
// right after itself changes nothing.
static void extend(struct search *x, int n_extra) {
    const struct problem *p = &x->r->problem;
    bool all = true;
    for (int32_t v = 0; v < p->n; v++)
        all &= x->n_runs[v] > 0;
    if (all)
        measure(x);
    for (int32_t v = 0; v < p->n; v++) {
        bool can = x->n_runs[v] == 0 || (n_extra > 0 && !p->once[v]);
        can = can && (x->n_steps == 0 || x->step[x->n_steps - 1].node != v);
        for (int32_t e = p->in_start[v]; e < p->in_start[v + 1]; e++)
            can = can && x->n_runs[p->in_of[e]] > 0;
        if (!can || x->t->n_plans == MAX_ENTRIES)
            continue;
        x->step[x->n_steps++] = (struct step){STEP_COMPUTE, v};
        x->n_runs[v]++;
        extend(x, n_extra - (x->n_runs[v] > 1));
        x->n_runs[v]--;
        x->n_steps--;
    }
}

// Claims of the bounds themselves, and of the exact solution of the relaxation.
static void claim_all(struct table *t, struct stage *s, const struct remat *r) {
    struct plan_bounds b;
    struct remat_front front = {.n = 0};
    check(!plan_bounds_make(s->m->graph, &r->units, false, &s->context, &b), "bounds");
    const struct problem *p = &b.relaxed.problem;
    if (p->n <= REMAT_DP_NODES)
        check(remat_dp(p, true, &front), "remat_dp");
    for (int k = 0; k < front.n; k++) {
        int64_t other = b.relaxed.other_cost, cost = front.at[k].cost + other;
        add(t->cost_claim, &t->n_cost_claims, front.at[k].budget_bytes, cost, "dynamic program");
        if (k + 1 < front.n)
            add(t->cost_claim, &t->n_cost_claims, front.at[k].budget_bytes - 1,
                front.at[k + 1].cost + other, "dynamic program");
    }
    for (int i = 0; i < t->n_plans; i += 1 + t->n_plans / 32)
        for (int less = 0; less < 2; less++) {
            struct plan_limit limit = {.budget_bytes = t->plan[i].peak_bytes - less, .cost = -1};
            struct plan_bound bound;
            int64_t min_bytes;
            check(!plan_bounds_within(&b, &limit, &bound), "plan_bounds_within");
            if (bound.cost != BOUND_NONE)
                add(t->cost_claim, &t->n_cost_claims, limit.budget_bytes, bound.cost, "cuts");
            add(t->memory_claim, &t->n_memory_claims, bound.min_bytes, INT64_MAX, "cuts");
            check(!plan_bounds_min_bytes(&b, t->plan[i].cost - less, &min_bytes), "min_bytes");
            add(t->memory_claim, &t->n_memory_claims, min_bytes, t->plan[i].cost - less, "cuts");
            t->tally->n_above_base += bound.cost > problem_base_cost(p) + b.relaxed.other_cost;
            t->tally->n_infeasible += bound.min_bytes > limit.budget_bytes;
        }
}

static void one_tiny(struct table *t, struct rng *rng) {
    struct stage s;
    struct mem mem = mem_make(MEM_UNLIMITED);
    struct arena a = arena_make(&mem);
    struct str text = str_make(&a);
    struct remat r;
    bounds_models_tiny(&text, rng);
    open_stage(&s, str_text(&text), "sort,shapes,names");
    check(!remat_make(s.m->graph, &s.context, true, &r), "remat_make");
    for (int k = 0; k < 4; k++) {
        struct search x = {.t = t, .s = &s, .r = &r};
        t->n_plans = t->n_cost_claims = t->n_memory_claims = 0;
        check(!options_set(&s.options, &s.diags, "runtime", runtimes[k % 2]), "runtime");
        check(!options_set(&s.options, &s.diags, "runtime-shapes", k < 2 ? "known" : "hidden"),
              "runtime-shapes");
        extend(&x, MAX_EXTRA);
        claim_all(t, &s, &r);
        compare(t);
    }
    close_stage(&s);
    arena_free(&a);
}

static int print_text_of(int64_t number) {
    struct mem mem = mem_make(MEM_UNLIMITED);
    struct arena a = arena_make(&mem);
    struct str text = str_make(&a);
    struct rng rng = rng_make(SEED, (uint64_t)number);
    (number % 3 == 0 ? bounds_models_tiny : bounds_models_network)(&text, &rng);
    fputs(str_text(&text), stdout);
    arena_free(&a);
    return 0;
}

int main(int argc, char **argv) {
    int64_t first = argc > 1 ? strtoll(argv[1], NULL, 10) : 0;
    int64_t count = argc > 2 ? strtoll(argv[2], NULL, 10) : 60;
    struct tally n = {0};
    static struct table t;
    if (argc > 2 && strcmp(argv[2], "print") == 0)
        return print_text_of(first);
    t.tally = &n;
    for (t.number = first; t.number < first + count; t.number++) {
        struct rng rng = rng_make(SEED, (uint64_t)t.number);
        if (t.number % 3 == 0)
            one_tiny(&t, &rng);
        else
            one_network(&t, &rng);
        n.n_models++;
    }
    printf("%" PRId64 " models, %" PRId64 " plans, %" PRId64 " claims, %" PRId64
           " bounds above the base cost, %" PRId64 " infeasible, %" PRId64 " wrong\n",
           n.n_models, n.n_plans, n.n_claims, n.n_above_base, n.n_infeasible, n.n_wrong);
    // Bounds that claim nothing would pass, too.
    return n.n_wrong > 0 || n.n_above_base < n.n_models / 4 || n.n_infeasible < n.n_models / 4;
}
