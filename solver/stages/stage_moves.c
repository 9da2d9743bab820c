// Random changes of a state: a mode; nodes over the boundary of two stages; a node to another place
// in the order; a stage, or a block of nodes, to other devices, with other degrees of data and
// tensor parallelism; the whole pipeline arranged anew.
#include "solver/stages/stage_state.h"

struct move {
    const struct modal *p;
    int64_t n_samples;
    struct rng *rng;
    struct stage_state *s;
};

static int32_t draw(const struct move *m, int32_t n) {
    return (int32_t)rng_below(m->rng, (uint64_t)n);
}

static struct stage_choice *at(const struct move *m, int32_t i) {
    return &m->s->choice[m->s->order[i]];
}

// The node goes to the devices of `to`, in a mode of that degree; false: it has none.
static bool adopt(const struct move *m, int32_t v, struct stage_choice to, int32_t degree) {
    const struct modal *p = m->p;
    struct stage_choice *c = &m->s->choice[v];
    int32_t n_fit = 0, mode = c->mode, width = to.replicas * degree;
    bool keeps = p->mode[mode].degree == degree && stage_can_run(p, mode, to.first, width);
    for (int32_t x = p->mode_start[v]; x < p->mode_start[v + 1] && !keeps; x++)
        if (p->mode[x].degree == degree && stage_can_run(p, x, to.first, width) &&
            draw(m, ++n_fit) == 0)
            mode = x;
    if (!keeps && n_fit == 0)
        return false;
    *c = (struct stage_choice){mode, to.first, to.replicas};
    return true;
}

static bool adopt_of(const struct move *m, int32_t v, int32_t of) {
    struct stage_choice to = m->s->choice[of];
    return adopt(m, v, to, m->p->mode[to.mode].degree);
}

static bool change_mode(const struct move *m) {
    const struct modal *p = m->p;
    int32_t v = draw(m, p->graph.n), n = modal_n_modes(p, v), mode = p->mode_start[v] + draw(m, n);
    struct stage_choice *c = &m->s->choice[v];
    if (mode == c->mode || p->mode[mode].degree != p->mode[c->mode].degree ||
        !stage_can_run(p, mode, c->first, stage_width(p, c)))
        return false;
    c->mode = mode;
    return true;
}

// A few nodes at a boundary go to the other side.
static bool shift_boundary(const struct move *m) {
    int32_t n = m->p->graph.n, i = draw(m, n), tries = n;
    while (tries-- > 0 && (i + 1 >= n || stage_joins(m->p, at(m, i), at(m, i + 1))))
        i = i + 1 < n ? i + 1 : 0;
    if (tries < 0)
        return false;
    bool forward = draw(m, 2);
    int32_t step = forward ? 1 : -1, from = forward ? i + 1 : i;
    int32_t owner = m->s->order[forward ? i : i + 1];
    do {
        if (!adopt_of(m, m->s->order[from], owner))
            return false;
        from += step;
    } while (from >= 0 && from < n && draw(m, 2));
    return true;
}

// A node goes elsewhere in the order, and to the devices of its neighbour there, or stays on its
// own.
static bool reorder(const struct move *m) {
    const struct problem *g = &m->p->graph;
    struct stage_state *s = m->s;
    int32_t v = draw(m, g->n), lo = 0, hi = g->n - 1, from = s->at[v];
    for (int32_t e = g->in_start[v]; e < g->in_start[v + 1]; e++)
        lo = s->at[g->in_of[e]] + 1 > lo ? s->at[g->in_of[e]] + 1 : lo;
    for (int32_t e = g->out_start[v]; e < g->out_start[v + 1]; e++)
        hi = s->at[g->out_of[e]] - 1 < hi ? s->at[g->out_of[e]] - 1 : hi;
    int32_t to = lo + draw(m, hi - lo + 1);
    if (to == from)
        return false;
    for (int32_t i = from; i < to; i++)
        s->order[i] = s->order[i + 1];
    for (int32_t i = from; i > to; i--)
        s->order[i] = s->order[i - 1];
    s->order[to] = v;
    stage_state_index(m->p, s);
    int32_t beside = to + (draw(m, 2) ? 1 : -1);
    return beside < 0 || beside >= g->n || draw(m, 4) == 0 || adopt_of(m, v, s->order[beside]);
}

static bool is_replicas(const struct move *m, int32_t r) {
    return m->n_samples <= 0 || m->n_samples % r == 0;
}

// Random devices and replicas for a degree; false: none were drawn.
static bool draw_place(const struct move *m, int32_t degree, struct stage_choice *out) {
    int32_t n = m->p->places.n_devices;
    if (degree > n)
        return false;
    out->replicas = draw(m, 2) ? 1 : 1 + draw(m, n / degree);
    out->first = draw(m, n - out->replicas * degree + 1);
    return is_replicas(m, out->replicas);
}

// A node goes to any devices in any mode. The other moves rather join stages; this one divides
// them.
static bool move_node(const struct move *m) {
    const struct modal *p = m->p;
    int32_t v = draw(m, p->graph.n), mode = p->mode_start[v] + draw(m, modal_n_modes(p, v));
    struct stage_choice to = {.mode = mode};
    if (!draw_place(m, p->mode[mode].degree, &to) ||
        !stage_can_run(p, mode, to.first, stage_width(p, &to)))
        return false;
    m->s->choice[v] = to;
    return true;
}

// A stage, or any block of nodes, goes to random devices, those of another stage or new ones.
static bool move_block(const struct move *m, bool is_stage) {
    const struct modal *p = m->p;
    int32_t i = draw(m, p->graph.n), end = i + 1, v = m->s->order[i];
    int32_t length = 1 << draw(m, 4); // of a block, about
    while (is_stage && i > 0 && stage_joins(p, at(m, i - 1), at(m, i)))
        i--;
    while (end < p->graph.n &&
           (is_stage ? stage_joins(p, at(m, end - 1), at(m, end)) : draw(m, length) > 0))
        end++;
    struct stage_choice to = m->s->choice[draw(m, p->graph.n)];
    int32_t degree = p->mode[to.mode].degree;
    if (draw(m, 2)) {
        degree = p->mode[p->mode_start[v] + draw(m, modal_n_modes(p, v))].degree;
        if (!draw_place(m, degree, &to))
            return false;
    }
    for (; i < end; i++)
        if (!adopt(m, m->s->order[i], to, degree))
            return false;
    return true;
}

// One stage gets more or fewer replicas or a new degree, and all are arranged side by side.
static bool lay_out(const struct move *m) {
    const struct modal *p = m->p;
    int32_t chosen = draw(m, p->graph.n), first = 0, v = m->s->order[chosen];
    int32_t degree = p->mode[p->mode_start[v] + draw(m, modal_n_modes(p, v))].degree;
    int32_t replicas =
        1 + draw(m, p->places.n_devices /
                        (degree < p->places.n_devices ? degree : p->places.n_devices));
    for (int32_t i = 0, end; i < p->graph.n; i = end) {
        struct stage_choice to = *at(m, i);
        int32_t t = p->mode[to.mode].degree;
        for (end = i + 1; end < p->graph.n && stage_joins(p, at(m, end - 1), at(m, end));)
            end++;
        if (chosen >= i && chosen < end) {
            t = degree;
            to.replicas = replicas;
        }
        to.first = first;
        first += to.replicas * t;
        if (first > p->places.n_devices || !is_replicas(m, to.replicas))
            return false;
        for (int32_t k = i; k < end; k++)
            if (!adopt(m, m->s->order[k], to, t))
                return false;
    }
    return true;
}

bool stage_propose(const struct modal *p, int64_t n_samples, struct rng *rng,
                   struct stage_state *s) {
    struct move m = {p, n_samples, rng, s};
    int32_t kind = draw(&m, 20);
    if (kind < 4)
        return change_mode(&m);
    if (kind < 7)
        return shift_boundary(&m);
    if (kind < 11)
        return reorder(&m);
    if (kind < 15)
        return move_node(&m);
    return kind < 19 ? move_block(&m, kind < 17) : lay_out(&m);
}

void stage_random_order(const struct modal *p, double follow, struct rng *rng, int32_t *scratch,
                        struct stage_state *s) {
    const struct problem *g = &p->graph;
    int32_t *waits = scratch, *ready = scratch + g->n, n_ready = 0;
    for (int32_t v = 0; v < g->n; v++)
        if ((waits[v] = g->in_start[v + 1] - g->in_start[v]) == 0)
            ready[n_ready++] = v;
    for (int32_t i = 0; i < g->n; i++) {
        int32_t k =
            rng_unit(rng) < follow ? n_ready - 1 : (int32_t)rng_below(rng, (uint64_t)n_ready);
        int32_t v = ready[k];
        s->order[i] = v;
        for (n_ready--; k < n_ready; k++)
            ready[k] = ready[k + 1];
        for (int32_t e = g->out_start[v]; e < g->out_start[v + 1]; e++)
            if (--waits[g->out_of[e]] == 0)
                ready[n_ready++] = g->out_of[e];
    }
    stage_state_index(p, s);
}
