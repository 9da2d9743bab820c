// Multilevel checkpointing, with states between single nodes (linear) and between articulation
// points; the cheapest schedule within the budget is the result.
//
// griewank is the binomial schedule (Griewank 1992; Griewank and Walther, "Revolve", 2000): the
// fewest recomputations for a number of stored states, logarithmic in both memory and time.
// recursive applies Chen's scheme to its own segments, level by level: with k states per level,
// memory is O(k log n / log (k + 1)).
#include "solver/baselines/baseline.h"

#define MAX_STATES 1024 // bounds the depth of the binomial recursion; more states change little
#define TRY_EACH   64   // up to so many states, every number is tried

// Tries one number of states. `best` is the number that gave the incumbent, 0: none.
static status try_states(struct baseline *b, enum baseline_plan plan, int32_t states,
                         int32_t *best) {
    int64_t before = solve_best_cost(b->run);
    status st = baseline_try(b, b->may_end, plan, states);
    if (solve_best_cost(b->run) < before)
        *best = states;
    return st;
}

// The cheapest number of states that fits is usually just below one that does not fit: doubling
// finds the range, bisection the number.
static status search_states(struct baseline *b, enum baseline_plan plan) {
    int32_t max_states = b->n_candidates + 1, best = 0;
    status st = ST_OK;
    if (plan == BASELINE_BINOMIAL && max_states > MAX_STATES)
        max_states = MAX_STATES;
    for (int32_t states = 1; st == ST_OK && states <= max_states && !stop_now(b->run->stop);
         states += max_states <= TRY_EACH ? 1 : states)
        st = try_states(b, plan, states, &best);
    int32_t step = max_states <= TRY_EACH ? 0 : best / 2;
    for (int32_t states = best + step; st == ST_OK && step > 0 && !stop_now(b->run->stop);) {
        if (states <= max_states)
            st = try_states(b, plan, states, &best);
        step /= 2;
        states = best == states ? states + step : states - step;
    }
    return st;
}

static status try_all(struct solve_run *r, enum baseline_plan plan) {
    for (int linear = 0; linear < 2; linear++) {
        struct baseline b;
        status st = baseline_open(r, linear, &b);
        if (st == ST_OK)
            st = search_states(&b, plan);
        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}

status baseline_griewank(struct solve_run *r) {
    return try_all(r, BASELINE_BINOMIAL);
}

status baseline_recursive(struct solve_run *r) {
    return try_all(r, BASELINE_MULTILEVEL);
}
