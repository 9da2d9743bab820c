// The exact search: see exhaust.h. Stages: the model and the first state; expansion of the best
// open state, until one is complete, none is left, or a limit is reached; then what that proves.
//
// Outputs are evicted only when a node does not fit otherwise, and never more than it takes: an
// output that is held costs nothing, and may be evicted later. What is of no use any more is
// evicted at once.
#include "solver/exhaust/exhaust_state.h"
#include "solver/exhaust/exhaust_store.h"
#include "solver/methods.h"

#define EXPANSIONS_PER_LOOK 64 // at the clock

struct search {
    struct exhaust_model model;
    struct exhaust_store store;
    struct solve_run *r;
    int64_t max_states;
    int64_t limit_extra; // only schedules of less extra cost are of interest
    // The step that is being made: a node, its state, and what may be evicted for it.
    int32_t from, node;
    node_set may;
    bool is_full; // out of memory
};

// The state after the step, with these outputs evicted.
static void step(struct search *s, node_set evicted) {
    const struct exhaust_model *m = &s->model;
    const struct exhaust_state *from = &s->store.state.at[s->from];
    node_set node = NODE(s->node), done = from->done | node;
    node_set held = (from->held & ~evicted) | node;
    int64_t extra = from->extra + (from->done & node ? m->p->cost[s->node] : 0);
    held &= exhaust_useful(m, done);
    int64_t bound = exhaust_bound(m, held, done);
    if (bound == NO_WAY || extra + bound >= s->limit_extra)
        return;
    struct exhaust_state to = {held, done, extra, s->from, false};
    if (!exhaust_store_add(&s->store, &to, extra + bound))
        s->is_full = true;
}

// All sets that free the bytes, none of which contains another: each output of `may` in turn is
// evicted or not. `least` is the smallest size in the set so far.
static void evict(struct search *s, node_set evicted, node_set may, int64_t excess, int64_t least) {
    if (excess <= 0) {
        if (excess + least > 0) // else the smallest of them need not be evicted
            step(s, evicted);
        return;
    }
    if (s->is_full || exhaust_bytes(&s->model, may) < excess)
        return;
    int32_t v = node_lowest(may);
    int64_t bytes = s->model.p->bytes[v];
    may &= may - 1;
    if (bytes > 0)
        evict(s, evicted | NODE(v), may, excess - bytes, bytes < least ? bytes : least);
    evict(s, evicted, may, excess, least);
}

static void expand(struct search *s, int32_t index) {
    const struct exhaust_model *m = &s->model;
    const struct exhaust_state from = s->store.state.at[index];
    int32_t next = node_count(from.done); // in the given order
    node_set fresh = m->free_order ? ~from.done : NODE(next % EXHAUST_MAX_NODES) & ~from.done;
    node_set again = from.done & exhaust_useful(m, from.done) & ~m->once;
    s->from = index;
    for (node_set c = m->all & (fresh | again) & ~from.held; c != 0 && !s->is_full; c &= c - 1) {
        int32_t v = node_lowest(c);
        if (m->in[v] & ~from.held)
            continue;
        int64_t bytes = exhaust_bytes(m, from.held) + m->p->bytes[v] + m->p->workspace[v];
        s->node = v;
        evict(s, 0, from.held & ~m->in[v], bytes - m->capacity, INT64_MAX / 2);
    }
}

static bool is_complete(const struct exhaust_model *m, const struct exhaust_state *s) {
    return s->done == m->all && (m->keep & ~s->held) == 0;
}

// The nodes that run on the way to the state.
static void offer(struct search *s, int32_t index) {
    const struct exhaust_state *state = s->store.state.at;
    struct arena a = arena_make(s->r->arena->mem);
    int32_t n = 0;
    for (int32_t k = index; state[k].parent >= 0; k = state[k].parent)
        n++;
    struct sequence found = {ARENA_ARRAY(&a, int32_t, n), n};
    for (int32_t k = index; found.at && state[k].parent >= 0; k = state[k].parent) {
        const struct exhaust_state *before = &state[state[k].parent];
        node_set run = state[k].done & ~before->done;
        found.at[--n] = node_lowest(run != 0 ? run : state[k].held & ~before->held);
    }
    s->is_full |= !found.at;
    if (found.at)
        solve_offer(s->r, found, 'E');
    arena_free(&a);
}

// No schedule has less extra cost than this; NO_WAY: there is none at all.
static void prove(struct search *s, int64_t extra) {
    struct solve_run *r = s->r;
    if (extra != NO_WAY)
        solve_bound_exact(r, r->options->free_order, r->base_cost + extra, 'E');
    else if (r->options->budget_bytes < PROBLEM_MAX_BYTES)
        solve_infeasible(r, r->options->free_order, true, r->options->budget_bytes + 1, NULL, 0);
}

static void search(struct search *s) {
    int64_t extra = 0, n_expanded = 0;
    for (;;) {
        int64_t value;
        int32_t next = exhaust_store_take(&s->store, &value);
        if (next < 0) {
            prove(s, s->limit_extra);
            return;
        }
        extra = value > extra ? value : extra;
        if (is_complete(&s->model, &s->store.state.at[next])) {
            offer(s, next);
            prove(s, extra);
            return;
        }
        bool look = ++n_expanded % EXPANSIONS_PER_LOOK == 0;
        if (s->is_full || (int64_t)s->store.state.n >= s->max_states ||
            (look && stop_now(s->r->stop))) {
            prove(s, extra);
            return;
        }
        expand(s, next);
    }
}

// Under a limit on memory half of what is left; arrays that grow leave as much behind again.
static int64_t state_limit(const struct mem *mem) {
    if (mem->limit_bytes == MEM_UNLIMITED)
        return EXHAUST_MAX_STATES;
    size_t one = sizeof(struct exhaust_state) + sizeof(struct exhaust_open) + 2 * sizeof(int32_t);
    int64_t most = (mem->limit_bytes - mem->used_bytes) / (int64_t)(8 * one);
    return most < EXHAUST_MAX_STATES ? most : EXHAUST_MAX_STATES;
}

status exhaust_run(struct solve_run *r, int64_t max_states, int64_t *n_states) {
    *n_states = 0;
    if (r->p->n > EXHAUST_MAX_NODES || solve_over(r))
        return ST_OK;
    struct arena a = arena_make(r->arena->mem);
    struct search *s = ARENA_NEW(&a, struct search);
    bool ok = s && exhaust_store_open(&s->store, &a);
    if (ok) {
        int64_t cost = solve_best_cost(r), most = state_limit(a.mem);
        s->r = r;
        s->max_states = max_states < most ? max_states : most;
        s->limit_extra = cost == INT64_MAX ? NO_WAY : cost - r->base_cost;
        exhaust_model_make(&s->model, r);
        struct exhaust_state first = {0, 0, 0, -1, false};
        ok = exhaust_store_add(&s->store, &first, 0);
        if (ok)
            search(s);
        ok = ok && !s->is_full;
        *n_states = (int64_t)s->store.state.n;
    }
    arena_free(&a);
    return ok ? ST_OK : diag_out_of_memory(r->diags);
}

status method_exact(struct solve_run *r) {
    int64_t n_states;
    if (r->p->n > EXHAUST_MAX_NODES)
        return diag_error(r->diags, DIAG_USAGE, loc_none(),
                          "the exact search takes up to %d nodes, and the problem has %d; use "
                          "another --method",
                          EXHAUST_MAX_NODES, r->p->n);
    return exhaust_run(r, EXHAUST_MAX_STATES, &n_states);
}
