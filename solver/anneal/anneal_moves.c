// The moves of the annealing: see anneal_moves.h. A move reserves its slots before its first
// change, because that renumbers slots. Across it, a run is identified by its index among the runs
// of its node.
#include "solver/anneal/anneal_moves.h"

enum { AGAIN_TRIES = 16 };

// ---- adding

// Plans to run `node` before slot. Inputs that are not held there are recomputed too (with
// probability `again` of 256) or held longer.
static bool plan_node(struct anneal *an, int32_t node, int32_t slot, uint32_t again,
                      int32_t depth) {
    const struct problem *p = an->st.p;
    if (p->once[node] || depth > ANNEAL_PLAN_MAX || an->n_plan >= ANNEAL_PLAN_MAX)
        return false;
    an->mark[node] = an->stamp;
    for (int32_t e = p->in_start[node]; e < p->in_start[node + 1]; e++) {
        int32_t input = p->in_of[e];
        if (an->mark[input] == an->stamp || state_held(&an->st, input, slot))
            continue;
        if (p->once[input] || (rng_next(&an->rng) & 255) >= again)
            continue;
        if (!plan_node(an, input, slot, again, depth + 1))
            return false;
    }
    if (an->n_plan >= ANNEAL_PLAN_MAX)
        return false;
    an->plan[an->n_plan++] = node;
    an->plan_cost += p->cost[node];
    return true;
}

bool anneal_plan(struct anneal *an, int32_t node, int32_t slot) {
    static const uint32_t again_of[4] = {32, 128, 224, 256};
    an->n_plan = 0;
    an->plan_cost = 0;
    an->stamp++;
    return plan_node(an, node, slot, again_of[rng_next(&an->rng) & 3], 0);
}

void anneal_plan_apply(struct anneal *an, int32_t slot) {
    for (int32_t i = 0; i < an->n_plan; i++)
        state_insert(&an->st, an->plan[i], slot - an->n_plan + i);
}

// Whether the node, needed at slot, is held across other runs until then.
static bool is_waiting(const struct state *st, int32_t node, int32_t slot) {
    int32_t run = state_run_before(st, node, slot);
    int32_t use = state_use_before(st, node, slot);
    int32_t next = anneal_next_run(st, (run > use ? run : use) + 1);
    return next >= 0 && next < slot;
}

// Picks a use (run, input) where the input is held across other runs. The end uses what is kept.
bool anneal_pick_use(struct anneal *an, int32_t *slot, int32_t *input) {
    struct state *st = &an->st;
    const struct problem *p = st->p;
    if (an->n_kept > 0 && (rng_next(&an->rng) & 7) == 0) {
        *input = an->kept[rng_below(&an->rng, (uint64_t)an->n_kept)];
        *slot = st->n_slots;
        return is_waiting(st, *input, *slot);
    }
    *slot = anneal_random_run(an);
    int32_t node = st->node_at[*slot];
    int32_t n_in = p->in_start[node + 1] - p->in_start[node];
    if (n_in == 0)
        return false;
    *input = p->in_of[p->in_start[node] + (int32_t)rng_below(&an->rng, (uint64_t)n_in)];
    if (p->once[*input] || st->bytes[*input] == 0)
        return false;
    return is_waiting(st, *input, *slot);
}

bool move_add(struct anneal *an, double max_cost) {
    int32_t slot, input;
    if (!anneal_pick_use(an, &slot, &input))
        return false;
    if (!anneal_plan(an, input, slot) || (double)an->plan_cost > max_cost)
        return false;
    slot = state_room(&an->st, slot, an->n_plan);
    if (slot < 0)
        return false;
    anneal_plan_apply(an, slot);
    return state_is_valid(&an->st);
}

// ---- removing

// Whether no use is bound to the run, so that removing it changes nothing else.
static bool is_idle(const struct anneal *an, int32_t node, int32_t slot) {
    const struct state *st = &an->st;
    const struct state_list *r = &st->runs[node];
    if (r->n < 2 || (!an->free_order && r->at[0] == slot))
        return false;
    return !state_held(st, node, slot + 1);
}

void anneal_cascade(struct anneal *an, int32_t slot) {
    struct state *st = &an->st;
    const struct problem *p = st->p;
    int32_t n = 0;
    an->picked[n++] = slot;
    while (n > 0) {
        int32_t s = an->picked[--n];
        int32_t node = st->node_at[s];
        if (node < 0)
            continue; // reached by two paths
        state_remove(st, s);
        for (int32_t e = p->in_start[node]; e < p->in_start[node + 1]; e++) {
            int32_t run = state_run_before(st, p->in_of[e], s);
            if (run >= 0 && n < ANNEAL_PLAN_MAX && is_idle(an, p->in_of[e], run))
                an->picked[n++] = run;
        }
    }
}

int32_t anneal_random_node_again(struct anneal *an) {
    const struct state *st = &an->st;
    if (st->n_recomputed == 0)
        return -1;
    for (int32_t k = 0; k < AGAIN_TRIES && an->n_window < st->n_slots; k++) {
        int32_t node = st->node_at[anneal_random_run(an)];
        if (st->runs[node].n > 1)
            return node;
    }
    return st->again[rng_below(&an->rng, (uint64_t)st->n_recomputed)];
}

int32_t anneal_random_again(struct anneal *an) {
    int32_t node = anneal_random_node_again(an);
    if (node < 0)
        return -1;
    const struct state_list *r = &an->st.runs[node];
    int32_t first = an->free_order ? 0 : 1;
    return r->at[first + (int32_t)rng_below(&an->rng, (uint64_t)(r->n - first))];
}

bool move_remove(struct anneal *an, double max_cost) {
    (void)max_cost; // removing never adds cost
    int32_t slot = anneal_random_again(an);
    if (slot < 0)
        return false;
    anneal_cascade(an, slot);
    return state_is_valid(&an->st);
}

bool move_swap(struct anneal *an, double max_cost) {
    struct state *st = &an->st;
    int32_t slot, input, gone = anneal_random_again(an);
    if (gone < 0 || !anneal_pick_use(an, &slot, &input) || slot == gone)
        return false;
    if (!anneal_plan(an, input, slot))
        return false;
    // What the cascade saves is not known in advance; an optimistic estimate skips hopeless moves.
    if ((double)an->plan_cost > max_cost + 4 * (double)st->p->cost[st->node_at[gone]])
        return false;
    int32_t node = st->node_at[gone], k = anneal_index(st, gone);
    slot = state_room(st, slot, an->n_plan);
    if (slot < 0)
        return false;
    gone = st->runs[node].at[k];
    anneal_plan_apply(an, slot);
    anneal_cascade(an, gone);
    return state_is_valid(st);
}
