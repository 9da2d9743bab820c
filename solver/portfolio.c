// The default method: annealing chains and the integer program, side by side. The chains find good
// schedules within a second and improve them for as long as there is time; the integer program
// proves bounds, finds what the chains miss, and ends the run when the gap is closed. Before it the
// linear relaxations are rounded, after it the best schedule is improved window by window.
//
// A problem of few nodes is first solved exactly, if that takes moments.
//
// When the order is free, the given order comes first, with a part of the effort: it is a far
// smaller space, so good schedules are found soon, and what is found is where the search through
// other orders begins. So a free order is never worse than the given one with that part of the
// effort.
//
// With a limit on time the program runs in a thread of its own while the chains go through their
// rounds, or, on one thread, in between. With a limit on work everything comes in a fixed sequence:
// rounds, the program with a limit on its search tree, rounds. Then the result depends on nothing
// but the problem, the options and the seed.
#include <math.h>
#include <pthread.h>

#include "solver/anneal/chains.h"
#include "solver/cuts/any_order.h"
#include "solver/exhaust/exhaust.h"
#include "solver/methods.h"
#include "solver/mip/ilp.h"
#include "solver/mip/lns.h"
#include "solver/mip/rounding.h"
#include "solver/solve.h"

enum {
    WORK_UNIT = 1000,   // of anneal_run, in one unit of --work
    PROGRAM_NODES = 10, // of the search tree, when work is limited
    PROGRAM_ROUNDS = 4,
    PROGRAM_MAX_NODES = 20000, // nodes above which a linear program would outlast a stop by seconds
    PROGRAM_LARGE = 250,       // nodes of a problem above which limited work has no integer program
    PROGRAM_WORK = 2,          // units of --work per node, below which a free order has none either
    ROUNDING_MAX_NODES = 1000, // nodes of a problem whose relaxations are rounded
    ROUNDING_SMALL = 600,      // nodes and edges, when work is limited
    WINDOW_MAX_NODES = 3000,   // nodes of a problem that is improved window by window
    EXHAUST_STATES = 2000000,  // of the exact search of a small problem,
    EXHAUST_PART = 4,          // in one of so many parts of the work or time
    POLISH_NODES = 600,        // a problem of so many is worth some rounds ...
    POLISH_ROUNDS = 4, // ... even when the start is within the gap already: they take moments
};

#define NO_LIMIT_SECONDS 120  // what is shared out when the time is not limited
#define ROUNDING_PART    0.1  // of the integer program's time, before it ...
#define WINDOW_PART      0.25 // ... and after it
#define GIVEN_PART       4 // one in so many of the work or time: for the given order, when it is free

struct portfolio {
    struct solve_run *r; // of the stage at hand
    struct chains chains;
    // The integer program and its thread. It has a run of its own, for a stop of its own.
    struct solve_run program_run;
    struct stop program_stop;
    struct ilp_effort effort;
    status program_status;
    atomic_bool program_done;
};

// Nothing is left to do; a small problem within the gap is polished first.
static bool is_over(struct portfolio *f) {
    struct solve_run *r = f->r;
    if (stop_now(r->stop) || !solve_settled(r))
        return stop_now(r->stop);
    int64_t cost = solve_best_cost(r);
    bool open = cost != INT64_MAX && cost > solve_best_bound(r) && r->options->target_cost < 0;
    return !open || r->p->n > POLISH_NODES || f->chains.n_rounds >= POLISH_ROUNDS;
}

// The given order's program proves nothing about other orders, and rounding keeps to it too.
static status run_given(struct solve_run *r, const struct ilp_effort *effort) {
    // Linear programs know no limit of work: then only those that are small in any case.
    bool small = r->options->work > 0 ? r->p->n + r->p->n_edges <= ROUNDING_SMALL
                                      : r->p->n <= ROUNDING_MAX_NODES;
    status st = ST_OK;
    if (small)
        st = rounding_run(r, effort->seconds * ROUNDING_PART);
    return st == ST_OK && !solve_over(r) ? ilp_run(r, effort) : st;
}

static void *run_program(void *argument) {
    struct portfolio *f = argument;
    struct solve_run *r = &f->program_run;
    const struct ilp_effort *e = &f->effort;
    struct any_order_effort any = {.seconds = e->seconds, .n_nodes = e->n_nodes};
    struct lns_effort windows = {.seconds = e->seconds * WINDOW_PART, .n_nodes = e->n_nodes};
    status st = f->r->options->free_order ? any_order_run(r, &any) : run_given(r, e);
    if (st == ST_OK && r->p->n <= WINDOW_MAX_NODES && !solve_over(r))
        st = lns_run(r, &windows);
    f->program_status = st;
    atomic_store(&f->program_done, true);
    return NULL;
}

// Takes a part of the time that is left; 0: limits are set by the caller.
static void ready_program(struct portfolio *f, double part) {
    double left = stop_seconds_left(f->r->stop);
    f->program_run = *f->r;
    f->program_stop = stop_child(f->r->stop, INFINITY);
    f->program_run.stop = &f->program_stop;
    f->effort = (struct ilp_effort){.kind = ILP_LAZY,
                                    .seconds = part * (isinf(left) ? NO_LIMIT_SECONDS : left)};
    atomic_store(&f->program_done, false);
}

// Until the work, or the search, is over; *left is what is left of it.
static status in_work(struct portfolio *f, int64_t most, int64_t *left_over) {
    struct solve_run *r = f->r;
    int64_t left = most, half = left / 2;
    bool is_paid = !r->options->free_order || r->options->work >= (int64_t)PROGRAM_WORK * r->p->n;
    bool program = r->p->n <= PROGRAM_LARGE && is_paid;
    while (left > 0 && !is_over(f)) {
        left -= chains_round(&f->chains, r, r->options->threads, left);
        if (!program || left > half || is_over(f))
            continue;
        program = false;
        ready_program(f, 0);
        f->effort.n_nodes = PROGRAM_NODES;
        f->effort.n_rounds = PROGRAM_ROUNDS;
        f->program_run.stop = r->stop;
        run_program(f);
        if (f->program_status != ST_OK)
            return f->program_status;
    }
    *left_over = left > 0 ? left : 0;
    return ST_OK;
}

static status in_time_alone(struct portfolio *f) {
    struct solve_run *r = f->r;
    double first = stop_seconds_left(r->stop) * 0.1, some = 0.5 + r->p->n * 2e-3;
    first = first < some ? first : some;
    bool program = r->p->n <= PROGRAM_MAX_NODES;
    while (!is_over(f)) {
        chains_round(&f->chains, r, 1, INT64_MAX);
        if (!program || solve_seconds(r) < first || is_over(f))
            continue;
        program = false;
        ready_program(f, r->options->free_order ? 0.15 : 0.5);
        f->program_run.stop = r->stop;
        run_program(f);
        if (f->program_status != ST_OK)
            return f->program_status;
    }
    return ST_OK;
}

static status in_time(struct portfolio *f) {
    struct solve_run *r = f->r;
    pthread_t thread;
    bool running = false, tried = r->p->n > PROGRAM_MAX_NODES;
    while (!is_over(f)) {
        int32_t n_threads = r->options->threads;
        if (running && !atomic_load(&f->program_done))
            n_threads--;
        chains_round(&f->chains, r, n_threads, INT64_MAX);
        if (!tried && !is_over(f)) {
            tried = true;
            ready_program(f, 0.8);
            running = pthread_create(&thread, NULL, run_program, f) == 0;
        }
    }
    stop_raise(&f->program_stop, 1);
    if (running)
        pthread_join(thread, NULL);
    return running ? f->program_status : ST_OK;
}

static status search(struct portfolio *f, int64_t work, int64_t *left) {
    *left = work;
    if (is_over(f))
        return ST_OK;
    if (f->r->options->work > 0)
        return in_work(f, work, left);
    return f->r->options->threads <= 1 ? in_time_alone(f) : in_time(f);
}

// In the given order: `given` is the run, but for that.
static status search_given(struct portfolio *f, struct solve_run *given, int64_t work,
                           int64_t *left) {
    f->r = given;
    if (!chains_make(&f->chains, given))
        return diag_out_of_memory(given->diags);
    status st = any_order_lagrangian(given);
    return st == ST_OK ? search(f, work, left) : st;
}

// First in the given order, with a part of the work or time, then in all.
static status search_free(struct portfolio *f, struct solve_run *r, int64_t work) {
    struct solve_options options = *r->options;
    struct solve_run given = *r;
    struct stop stop = stop_child(r->stop, stop_seconds_left(r->stop) / GIVEN_PART);
    int64_t part = work / GIVEN_PART, left = part;
    options.free_order = false;
    given.options = &options;
    given.stop = &stop;
    status st = search_given(f, &given, part, &left);
    f->r = r;
    chains_leave_order(&f->chains);
    return st == ST_OK ? search(f, work - part + left, &left) : st;
}

// A small problem is solved exactly at once, unless that takes longer than a second or two.
static status exhaust(struct solve_run *r, int64_t *work) {
    struct stop stop = stop_child(r->stop, stop_seconds_left(r->stop) / EXHAUST_PART);
    struct solve_run part = *r;
    int64_t max_states = EXHAUST_STATES, n_states;
    if (r->options->work > 0 && *work / EXHAUST_PART < max_states)
        max_states = *work / EXHAUST_PART;
    part.stop = &stop;
    status st = exhaust_run(&part, max_states, &n_states);
    *work -= n_states;
    return st;
}

status method_portfolio(struct solve_run *r) {
    struct portfolio *f = ARENA_NEW(r->arena, struct portfolio);
    if (!f)
        return diag_out_of_memory(r->diags);
    int64_t work = r->options->work, left;
    work = work > INT64_MAX / WORK_UNIT ? INT64_MAX : work * WORK_UNIT;
    status st = exhaust(r, &work);
    if (st || solve_over(r))
        return st;
    st = r->options->free_order ? search_free(f, r, work) : search_given(f, r, work, &left);
    chains_free(&f->chains);
    return st;
}
