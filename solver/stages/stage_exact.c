// All states of a small problem, one after the other: topological orders, and for each of them
// every mode, device and number of replicas of every node.
#include "solver/stages/stage_state.h"

struct enumeration {
    const struct modal *p;
    int64_t n_samples, n_states, max_states; // counted only while `visit` is NULL
    struct stage_state *s;
    bool *is_placed;
    bool (*visit)(void *context, const struct stage_state *s);
    void *context;
    bool stopped;
};

static void choose_places(struct enumeration *x, int32_t v) {
    const struct modal *p = x->p;
    if (v == p->graph.n) {
        x->n_states++;
        x->stopped = x->visit ? !x->visit(x->context, x->s) : x->n_states > x->max_states;
        return;
    }
    for (int32_t m = p->mode_start[v]; m < p->mode_start[v + 1]; m++)
        for (int32_t r = 1; r * p->mode[m].degree <= p->places.n_devices; r++) {
            int32_t width = r * p->mode[m].degree;
            if (x->n_samples > 0 && x->n_samples % r != 0)
                continue;
            for (int32_t f = 0; f + width <= p->places.n_devices && !x->stopped; f++) {
                x->s->choice[v] = (struct stage_choice){m, f, r};
                if (stage_can_run(p, m, f, width))
                    choose_places(x, v + 1);
            }
        }
}

static void choose_order(struct enumeration *x, int32_t k) {
    const struct problem *g = &x->p->graph;
    if (k == g->n) {
        stage_state_index(x->p, x->s);
        choose_places(x, 0);
        return;
    }
    for (int32_t v = 0; v < g->n && !x->stopped; v++) {
        bool is_ready = !x->is_placed[v];
        for (int32_t e = g->in_start[v]; e < g->in_start[v + 1]; e++)
            is_ready = is_ready && x->is_placed[g->in_of[e]];
        if (!is_ready)
            continue;
        x->is_placed[v] = true;
        x->s->order[k] = v;
        choose_order(x, k + 1);
        x->is_placed[v] = false;
    }
}

bool stage_enumerate(struct stage_enumeration *e, struct arena *scratch) {
    struct enumeration x = {.p = e->p,
                            .n_samples = e->n_samples,
                            .max_states = e->max_states,
                            .s = e->s,
                            .is_placed = ARENA_ARRAY(scratch, bool, e->p->graph.n)};
    if (!x.is_placed)
        return false;
    choose_order(&x, 0); // counts
    if (x.stopped)
        return false;
    x.visit = e->visit;
    x.context = e->context;
    choose_order(&x, 0);
    return !x.stopped;
}
