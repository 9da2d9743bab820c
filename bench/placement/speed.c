// How fast the simulator of the placement search is, in processor time of one thread:
//
//     bench_place PROBLEM [latency|throughput]
//
// It searches for a while, so that the state is a usual one; then it counts the proposals per
// second of a single chain at a low temperature, as the search makes and judges them. After that
// the same proposals, of the search's own mix, are simulated from one state over and over: only
// made and taken back; with what they change; with a bound on the makespan that is the present one,
// as in the search; walking over all tasks; and, for some, loading the whole strategy afresh, and
// by the plain replay. All must give the same.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "solver/place.h"

enum { WARM = 20000, TIMED = 20000, PROPOSALS = 2000, LOADS = 100 };

enum way { EDIT, PART, BOUNDED, WHOLE };

struct pass {
    double seconds; // per proposal
    int64_t n_right, n_walked, sum;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// The proposals that follow from the present state of the random numbers.
static struct pass simulate(struct mcmc *c, enum way way) {
    struct sim *s = &c->sim;
    struct rng rng = c->rng;
    struct pass out = {0};
    int64_t walked = s->n_walked, most = way == BOUNDED ? (int64_t)c->value : INT64_MAX;
    double from = now();
    for (int32_t k = 0; k < PROPOSALS; k++) {
        enum mcmc_kind kind;
        bool some = mcmc_propose(c, &kind);
        if (some && way != EDIT) {
            s->relabelled = s->relabelled || way == WHOLE; // so nothing is as it was
            if (sim_evaluate(s, most) == SIM_VALID) {
                out.n_right++;
                out.sum += s->result.makespan_cost + s->result.excess_bytes;
            }
        }
        sim_undo(s);
    }
    out.seconds = (now() - from) / PROPOSALS;
    out.n_walked = s->n_walked - walked;
    c->rng = rng;
    return out;
}

static bool load(struct mcmc *c, struct arena *a, struct diags *d, double *whole, double *plain) {
    struct sim fresh;
    *whole = *plain = 0;
    if (!sim_make(a, c->p, &fresh))
        return false;
    struct rng rng = c->rng;
    for (int32_t n = 0; n < LOADS;) {
        enum mcmc_kind kind;
        struct arena scratch = arena_make(a->mem);
        struct strategy_facts f;
        bool ok = true;
        if (mcmc_propose(c, &kind) && sim_evaluate(&c->sim, INT64_MAX) == SIM_VALID) {
            struct strategy x = {ARENA_ARRAY(&scratch, struct task, c->sim.n_in), c->sim.n_in};
            sim_save(&c->sim, x.at);
            double t0 = now();
            ok = sim_load(&fresh, &x);
            double t1 = now();
            ok = ok && strategy_replay(c->p, &x, &scratch, d, &f) == ST_OK;
            double t2 = now();
            ok = ok && f.makespan_cost == c->sim.result.makespan_cost &&
                 f.excess_bytes == c->sim.result.excess_bytes &&
                 fresh.result.makespan_cost == f.makespan_cost;
            *whole += (t1 - t0) / LOADS;
            *plain += (t2 - t1) / LOADS;
            n++;
        }
        sim_undo(&c->sim);
        arena_free(&scratch);
        if (!ok)
            return false;
    }
    c->rng = rng;
    return true;
}

static int report(struct mcmc *c, double rate, struct arena *a, struct diags *d) {
    static const char *const names[MCMC_KINDS] = {
#define MOVE(name, text) text,
        MCMC_MOVES(MOVE)
#undef MOVE
    };
    double loading, plain;
    simulate(c, PART); // so that there is room for everything
    struct pass edit = simulate(c, EDIT), part = simulate(c, PART);
    struct pass bounded = simulate(c, BOUNDED), whole = simulate(c, WHOLE);
    bool ok = part.sum == whole.sum && part.n_right == whole.n_right;
    if (!ok || !load(c, a, d, &loading, &plain)) {
        printf("the simulators disagree\n");
        return 1;
    }
    printf("%d nodes, %d edges, %d devices, %d tasks\n", c->p->graph.n, c->p->graph.n_edges,
           c->p->n_devices, c->sim.n_in);
    printf("proposals per second   %.0f\n", rate);
    int64_t tried = 0;
    for (int32_t k = 0; k < MCMC_KINDS; k++)
        tried += c->count[k].n_tried;
    for (int32_t k = 0; k < MCMC_KINDS; k++)
        printf("  %4.1f %% of them, %4.1f %% of which accepted: %s\n",
               100 * (double)c->count[k].n_tried / (double)tried,
               100 * (double)c->count[k].n_accepted / (double)(c->count[k].n_tried + 1), names[k]);
    printf("microseconds per proposal, to make it and take it back %.2f; with\n"
           "  what it changes        %.2f (%.0f %% of the tasks)\n"
           "  a bound                %.2f (%.0f %%)\n"
           "  all tasks              %.2f: %.1f times what it changes, %.1f times with a bound\n"
           "  loading everything     %.2f more: %.1f times, %.1f times\n"
           "  the plain replay       %.2f more: %.1f times, %.1f times\n",
           edit.seconds * 1e6, part.seconds * 1e6,
           100 * (double)part.n_walked / (double)whole.n_walked, bounded.seconds * 1e6,
           100 * (double)bounded.n_walked / (double)whole.n_walked, whole.seconds * 1e6,
           whole.seconds / part.seconds, whole.seconds / bounded.seconds, loading * 1e6,
           (loading + edit.seconds) / part.seconds, (loading + edit.seconds) / bounded.seconds,
           plain * 1e6, (plain + edit.seconds) / part.seconds,
           (plain + edit.seconds) / bounded.seconds);
    return 0;
}

int main(int argc, char **argv) {
    struct mem mem = mem_make(MEM_UNLIMITED);
    struct arena a = arena_make(&mem);
    struct diags d = diags_make(&a);
    struct source *source = NULL;
    struct placement p;
    struct strategy start[1];
    struct mcmc c;
    if (argc < 2 || source_open(&a, &d, argv[1], &source) != ST_OK ||
        placement_read(&a, &d, source, &p) != ST_OK || place_initial(&p, false, &a, start, 1) != 1)
        return 1;
    bool throughput = argc > 2 && strcmp(argv[2], "throughput") == 0;
    struct mcmc_objective goal = {.goal = throughput ? MCMC_THROUGHPUT : MCMC_LATENCY};
    struct mcmc_allowed all = {true, true, true, true, true};
    if (!mcmc_make(&a, &p, &goal, all, rng_make(1, 0), &c) || !mcmc_start(&c, start))
        return 1;
    c.temperature = 0.05 / p.graph.n;
    mcmc_run(&c, WARM, NULL);
    memset(c.count, 0, sizeof c.count);
    double t = now();
    mcmc_run(&c, TIMED, NULL);
    int code = report(&c, TIMED / (now() - t), &a, &d);
    source_close(source);
    arena_free(&a);
    return code;
}
