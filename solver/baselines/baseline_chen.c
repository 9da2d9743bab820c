// One level of checkpoints: Chen, Xu, Zhang and Guestrin, "Training deep nets with sublinear memory
// cost" (2016), in the form that Checkmate compares with. Checkpoints are chosen among the
// articulation points of the forward graph, or among all nodes in order (linear).
//
// chen-sqrt takes every sqrt(n)-th candidate; if that does not fit, it tries other distances.
// chen-greedy ends a segment when its bytes exceed a limit b (Algorithm 3), for a range of b.
#include "solver/baselines/baseline.h"

#include <math.h>

// One level: with n_forward states, every state between units is stored.
static status try_ends(struct baseline *b, const bool *ends) {
    return baseline_try(b, ends, BASELINE_MULTILEVEL, b->n_forward);
}

static status try_distance(struct baseline *b, bool *ends, int32_t distance) {
    for (int32_t i = 0; i < b->n_forward; i++)
        ends[i] = false;
    for (int32_t k = distance; k <= b->n_candidates; k += distance)
        ends[b->candidates[k - 1]] = true;
    return try_ends(b, ends);
}

static status chen_sqrt(struct solve_run *r, bool linear) {
    struct baseline b;
    status st = baseline_open(r, linear, &b);
    if (st != ST_OK)
        return st;
    bool *ends = ARENA_ARRAY(r->arena, bool, b.n_forward);
    if (!ends)
        return diag_out_of_memory(r->diags);
    int32_t root = (int32_t)sqrt((double)b.n_candidates);
    st = try_distance(&b, ends, root > 0 ? root : 1);
    // Distances up and down from the root in steps of a tenth, until one fits.
    double up = root, down = root;
    while (st == ST_OK && solve_best_cost(r) == INT64_MAX && !stop_now(r->stop) &&
           (up < b.n_candidates || down > 1)) {
        up = up * 1.1 + 1;
        down = down / 1.1 - 1;
        if (up <= b.n_candidates)
            st = try_distance(&b, ends, (int32_t)up);
        if (st == ST_OK && down >= 1)
            st = try_distance(&b, ends, (int32_t)down);
    }
    return st;
}

static void choose_greedily(const struct baseline *b, double limit, bool *ends) {
    const struct problem *p = b->run->p;
    double sum = 0;
    for (int32_t i = 0; i < b->n_forward; i++) {
        sum += (double)p->bytes[i];
        ends[i] = b->may_end[i] && sum > limit;
        if (ends[i])
            sum = 0;
    }
}

#define GREEDY_LIMITS 48

static status chen_greedy(struct solve_run *r, bool linear) {
    struct baseline b;
    status st = baseline_open(r, linear, &b);
    if (st != ST_OK)
        return st;
    bool *ends = ARENA_ARRAY(r->arena, bool, b.n_forward);
    if (!ends)
        return diag_out_of_memory(r->diags);
    double total = 1, largest = 1;
    for (int32_t i = 0; i < b.n_forward; i++) {
        double x = (double)r->p->bytes[i];
        total += x;
        largest = x > largest ? x : largest;
    }
    // Limits from one segment for the whole forward part down to segments of one large node, in a
    // geometric sequence.
    double ratio = pow(largest / total / 2, 1.0 / (GREEDY_LIMITS - 1)), limit = total;
    for (int k = 0; k < GREEDY_LIMITS && st == ST_OK && !stop_now(r->stop); k++, limit *= ratio) {
        choose_greedily(&b, limit, ends);
        st = try_ends(&b, ends);
    }
    return st;
}

status baseline_chen_sqrt(struct solve_run *r) {
    return chen_sqrt(r, false);
}

status baseline_chen_sqrt_linear(struct solve_run *r) {
    return chen_sqrt(r, true);
}

status baseline_chen_greedy(struct solve_run *r) {
    return chen_greedy(r, false);
}

status baseline_chen_greedy_linear(struct solve_run *r) {
    return chen_greedy(r, true);
}

// All articulation points are checkpoints.
status baseline_keep_articulation(struct solve_run *r) {
    struct baseline b;
    status st = baseline_open(r, false, &b);
    return st == ST_OK ? try_ends(&b, b.may_end) : st;
}
