// Many levels of checkpoints, with states between single nodes (linear) and between articulation
// points; whichever fits at the least cost is the answer.
//
// griewank is the binomial schedule (Griewank 1992; Griewank and Walther, "Revolve", 2000): the
// fewest reruns for a number of stored states, logarithmic in both memory and time. recursive
// applies Chen's scheme to its own segments, level by level: with k states a level, memory is
// O(k log n / log (k + 1)).
#include "solver/baseline.h"

#define MOST_STATES 1024 // bounds the depth of the recursion; more states change little

static status try_all(struct solve_run *r, enum baseline_plan plan) {
    for (int linear = 0; linear < 2; linear++) {
        struct baseline b;
        status st = baseline_open(r, linear, &b);
        if (st != ST_OK)
            return st;
        // Few states first, each next number a tenth larger.
        for (int32_t states = 1; states <= b.n_candidates + 1 && states <= MOST_STATES;
             states += 1 + states / 10) {
            st = baseline_try(&b, b.may_end, plan, states);
            if (st != ST_OK)
                return st;
            if (stop_now(r->stop))
                return ST_OK;
        }
    }
    return ST_OK;
}

status baseline_griewank(struct solve_run *r) {
    return try_all(r, BASELINE_BINOMIAL);
}

status baseline_recursive(struct solve_run *r) {
    return try_all(r, BASELINE_MULTILEVEL);
}
