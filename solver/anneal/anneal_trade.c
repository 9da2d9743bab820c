// The compound move of the annealing. Near the budget the problem is a knapsack: one large
// recomputation is worth several small ones. Either a node is recomputed once more and the runs
// that are unnecessary now are removed, or a run is removed and its bytes are saved elsewhere, by
// repeatedly adding the cheapest of a few random recomputations across the peak. Single moves would
// have to pass through worse sequences in between.
#include "solver/anneal/anneal_moves.h"

enum { TRIM_TRIES = 24, FILL_STEPS = 40, FILL_TRIES = 24, RUIN_REACH = 12 };

// Removes runs that are not needed to stay at this excess.
static void trim(struct anneal *an) {
    struct state *st = &an->st;
    for (int32_t i = 0; i < TRIM_TRIES; i++) {
        int32_t slot = anneal_random_again(an);
        if (slot < 0)
            return;
        size_t n_edits = st->edits.n;
        int64_t excess = st->profile.total_excess;
        anneal_cascade(an, slot);
        if (!state_is_valid(st) || st->profile.total_excess > excess)
            state_undo(st, n_edits);
    }
}

// Whether recomputing the input before slot frees it at the slot `worst`.
static bool relieves(const struct state *st, int32_t input, int32_t slot, int32_t worst) {
    if (slot <= worst)
        return false;
    int32_t run = state_run_before(st, input, slot), use = state_use_before(st, input, slot);
    return run < worst && use < worst;
}

// Of some random recomputations that free bytes at the worst slot, the cheapest per byte.
static bool pick_relief(struct anneal *an, int32_t worst, int32_t *slot, int32_t *input) {
    double least = 0;
    bool found = false;
    for (int32_t i = 0; i < FILL_TRIES; i++) {
        int32_t s, in;
        an->st.work++;
        if (!anneal_pick_use(an, &s, &in) || !relieves(&an->st, in, s, worst) ||
            !anneal_plan(an, in, s))
            continue;
        double price = (double)an->plan_cost / (double)an->st.bytes[in];
        if (!found || price < least) {
            *slot = s;
            *input = in;
            least = price;
            found = true;
        }
    }
    return found;
}

static bool fill(struct anneal *an, int64_t excess, double max_cost) {
    struct state *st = &an->st;
    for (int32_t i = 0; i < FILL_STEPS && st->profile.total_excess > excess; i++) {
        int32_t slot, input;
        if (!pick_relief(an, profile_worst(&st->profile), &slot, &input) ||
            !anneal_plan(an, input, slot) || (double)(st->cost + an->plan_cost) > max_cost)
            return false;
        slot = state_room(st, slot, an->n_plan);
        if (slot < 0)
            return false;
        anneal_plan_apply(an, slot);
    }
    return state_is_valid(st) && st->profile.total_excess <= excess;
}

// Removes the recomputations of nodes that are close together.
static bool ruin(struct anneal *an) {
    struct state *st = &an->st;
    int32_t middle = anneal_random_node_again(an);
    if (middle < 0)
        return false;
    int32_t reach = (int32_t)rng_below(&an->rng, RUIN_REACH);
    int32_t first = an->free_order ? 0 : 1;
    for (int32_t node = middle - reach; node <= middle + reach; node++) {
        if (node < 0 || node >= st->p->n)
            continue;
        while (st->runs[node].n > 1)
            anneal_cascade(
                an, st->runs[node].at[first + (int32_t)rng_below(
                                                  &an->rng, (uint64_t)(st->runs[node].n - first))]);
    }
    return state_is_valid(st);
}

bool move_trade(struct anneal *an, double max_cost) {
    struct state *st = &an->st;
    int64_t excess = st->profile.total_excess;
    double max_total = (double)st->cost + max_cost;
    uint64_t kind = rng_next(&an->rng) % 3;
    if (kind == 0) {
        if (!move_add(an, 1e300))
            return false;
    } else {
        if (!(kind == 1 ? move_remove(an, 0) : ruin(an)) || !fill(an, excess, max_total))
            return false;
    }
    trim(an);
    return true;
}
