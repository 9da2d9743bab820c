// How fast the simulator of the placement search is, in processor time of one thread:
//
//     bench_place PROBLEM [latency|throughput]
//
// It searches for a while, so that the state is a usual one; then it counts the proposals per
// second of a single chain at a low temperature. And it takes the same proposals, moves of a random
// node to another device, once through sim_evaluate, which walks over what they change, and once
// through sim_load, which simulates the whole strategy; and once through the plain replay.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "solver/place.h"

enum { WARM = 10000, TIMED = 20000, MOVES = 200 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct bench {
    struct arena *arena;
    struct diags *diags;
    struct mcmc c;
    struct sim whole;
    struct strategy s;
    double edit, part, full, plain;
    int32_t n_moves;
    int64_t n_walked, n_tasks;
};

static bool propose(struct bench *b) {
    bool some = mcmc_move_node(&b->c);
    return mcmc_mend(&b->c) && some;
}

// One proposal, three ways; all must give the same.
static bool compare(struct bench *b) {
    struct sim *s = &b->c.sim;
    struct strategy_facts f;
    double t0 = now();
    if (!propose(b)) {
        sim_undo(s);
        return true;
    }
    double t1 = now();
    int64_t walked = s->n_walked;
    if (sim_evaluate(s, INT64_MAX) != SIM_RIGHT)
        return false;
    double t2 = now();
    b->n_walked += s->n_walked - walked;
    b->n_tasks += s->n_in;
    struct arena scratch = arena_make(b->arena->mem);
    b->s = (struct strategy){ARENA_ARRAY(&scratch, struct task, s->n_in), s->n_in};
    sim_save(s, b->s.at);
    double t3 = now();
    bool ok = sim_load(&b->whole, &b->s);
    double t4 = now();
    ok = ok && strategy_replay(b->c.p, &b->s, &scratch, b->diags, &f) == ST_OK;
    double t5 = now();
    ok = ok && b->whole.result.makespan_cost == s->result.makespan_cost &&
         f.makespan_cost == s->result.makespan_cost && f.excess_bytes == s->result.excess_bytes;
    arena_free(&scratch);
    b->edit += t1 - t0;
    b->part += t2 - t1;
    b->full += t4 - t3;
    b->plain += t5 - t4;
    b->n_moves++;
    sim_undo(s);
    return ok;
}

int main(int argc, char **argv) {
    struct mem mem = mem_make(MEM_UNLIMITED);
    struct arena a = arena_make(&mem);
    struct diags d = diags_make(&a);
    struct source *source = NULL;
    struct placement p;
    struct strategy start[1];
    static struct bench b;
    b.arena = &a;
    b.diags = &d;
    if (argc < 2 || source_open(&a, &d, argv[1], &source) != ST_OK ||
        placement_read(&a, &d, source, &p) != ST_OK || place_starts(&p, &a, start, 1) != 1)
        return 1;
    bool throughput = argc > 2 && strcmp(argv[2], "throughput") == 0;
    struct mcmc_objective goal = {.goal = throughput ? MCMC_THROUGHPUT : MCMC_LATENCY};
    struct mcmc_allowed all = {true, true, true, true, true};
    if (!mcmc_make(&a, &p, &goal, all, 1, 0, &b.c) || !mcmc_start(&b.c, start) ||
        !sim_make(&a, &p, &b.whole))
        return 1;
    b.c.temperature = 0.05 / p.graph.n;
    mcmc_run(&b.c, WARM, NULL);
    double t = now();
    mcmc_run(&b.c, TIMED, NULL);
    double rate = TIMED / (now() - t);
    for (int32_t k = 0; k < MOVES; k++)
        if (!compare(&b)) {
            printf("the simulators disagree\n");
            return 1;
        }
    double n = b.n_moves;
    printf("%d nodes, %d edges, %d devices, %.0f tasks, %s\n", p.graph.n, p.graph.n_edges,
           p.n_devices, (double)b.n_tasks / n, throughput ? "throughput" : "latency");
    printf("proposals per second          %.0f\n", rate);
    printf("whole simulation / proposal   %.1f (as the search makes and judges them)\n",
           b.full / n * rate);
    printf(
        "per move of a node            %.2f us to edit, %.2f us to evaluate (%.0f %% of tasks)\n",
        b.edit / n * 1e6, b.part / n * 1e6, 100 * (double)b.n_walked / (double)b.n_tasks);
    printf("whole simulation / its change %.1f\n", b.full / (b.edit + b.part));
    printf("plain replay / its change     %.1f\n", b.plain / (b.edit + b.part));
    source_close(source);
    arena_free(&a);
    return 0;
}
