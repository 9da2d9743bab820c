// The contiguous split of an order with the least load, by dynamic programming from the last stage
// to the first, as in PipeDream and Piper: best[i][k][s] is the least load of the nodes from i on,
// on k devices, by stages with s replicas in all. The number of replicas decides how many samples
// are in flight in the first of these stages, and so its memory. Within a stage every node has its
// fastest mode; where these need too much memory, modes that save the most bytes per time are
// exchanged until they fit, greedily. Devices count as alike: the first one and the least memory.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/stages/stage_state.h"

enum { SPLIT_MAX_STATES = 4 * 1000 * 1000, SPLIT_MAX_DEGREES = 16, SPLIT_ALL_REPLICAS = 16 };
#define SPLIT_MAX_STEPS 4e8

struct cell {
    float load;
    int32_t end;
    int16_t degree, replicas; // of the first stage
};

struct swap { // from the fastest mode of the node at `at` to another
    int32_t at, mode;
    double cost, bytes, ratio;
};

struct split {
    const struct modal *p;
    const struct stage_state *s;
    int64_t n_samples;
    double memory;
    int32_t n_devices, n_sum; // s is at most n_sum
    int32_t degree[SPLIT_MAX_DEGREES], n_degrees;
    int32_t *fastest;  // [degree][node]: its mode, or -1
    struct swap *swap; // of the degree and samples in flight at hand, by ratio
    int32_t n_swaps;
    int64_t *taken, n_fitted; // per position: in which segment it was exchanged last
    struct cell *best;
};

// What the nodes i .. j-1 of the order need in their fastest modes.
struct segment {
    int32_t i, j, t; // t: which degree
    double cost, stash, resident, exchange, moved;
};

static bool find_degrees(struct split *x) {
    const struct modal *p = x->p;
    for (int32_t m = 0; m < p->mode_start[p->graph.n]; m++) {
        int32_t k = 0;
        while (k < x->n_degrees && x->degree[k] != p->mode[m].degree)
            k++;
        if (k == SPLIT_MAX_DEGREES)
            return false;
        if (k == x->n_degrees && p->mode[m].degree <= x->n_devices)
            x->degree[x->n_degrees++] = p->mode[m].degree;
    }
    return true;
}

static void find_fastest(struct split *x) {
    const struct modal *p = x->p;
    for (int32_t t = 0; t < x->n_degrees; t++)
        for (int32_t v = 0; v < p->graph.n; v++) {
            int32_t *to = &x->fastest[t * p->graph.n + v];
            *to = -1;
            for (int32_t m = p->mode_start[v]; m < p->mode_start[v + 1]; m++)
                if (p->mode[m].degree == x->degree[t] && p->mode[m].cost[0] >= 0 &&
                    (*to < 0 || p->mode[m].cost[0] < p->mode[*to].cost[0]))
                    *to = m;
        }
}

static int by_ratio(const void *a, const void *b) {
    const struct swap *x = a, *y = b;
    if (x->ratio != y->ratio)
        return x->ratio < y->ratio ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

// All exchanges that save memory when `held` samples are in flight.
static void find_swaps(struct split *x, int32_t t, double held) {
    const struct modal *p = x->p;
    x->n_swaps = 0;
    for (int32_t i = 0; i < p->graph.n; i++) {
        int32_t v = x->s->order[i], f = x->fastest[t * p->graph.n + v];
        for (int32_t m = p->mode_start[v]; f >= 0 && m < p->mode_start[v + 1]; m++) {
            const struct mode *a = &p->mode[f], *b = &p->mode[m];
            double bytes = (double)(a->resident_bytes - b->resident_bytes) +
                           (double)(a->stash_bytes - b->stash_bytes) * held;
            if (b->degree != a->degree || b->cost[0] < 0 || bytes <= 0)
                continue;
            double cost = (double)(b->cost[0] - a->cost[0]);
            x->swap[x->n_swaps++] = (struct swap){i, m, cost, bytes, cost / bytes};
        }
    }
    qsort(x->swap, (size_t)x->n_swaps, sizeof *x->swap, by_ratio);
}

// The computing time of a segment within memory; INFINITY: impossible. Sets the modes in `mode`
// (per position), unless it is NULL.
static double fitted_cost(struct split *x, const struct segment *g, double held, int32_t *mode) {
    int64_t stamp = ++x->n_fitted;
    double cost = g->cost, over = g->resident + g->stash * held - x->memory;
    for (int32_t k = 0; k < x->n_swaps && over > 0; k++) {
        const struct swap *w = &x->swap[k];
        if (w->at < g->i || w->at >= g->j || x->taken[w->at] == stamp)
            continue;
        x->taken[w->at] = stamp;
        cost += w->cost;
        over -= w->bytes;
        if (mode)
            mode[w->at] = w->mode;
    }
    return over > 0 ? INFINITY : cost;
}

static double load_of(const struct split *x, const struct segment *g, int32_t r, double cost) {
    double samples = x->n_samples > 0 ? (double)x->n_samples : 1;
    double moving = (g->moved / r + 2 * g->exchange * (r - 1) / (r * samples)) / x->p->bandwidth;
    return x->p->blocks ? cost / r + moving : fmax(cost / r, moving);
}

// Adds the node at position j. Edges from outside come in; those from the segment stay.
static bool extend(const struct split *x, struct segment *g) {
    const struct modal *p = x->p;
    int32_t v = x->s->order[g->j], f = x->fastest[g->t * p->graph.n + v];
    if (f < 0)
        return false;
    const struct mode *m = &p->mode[f];
    for (int32_t e = p->graph.in_start[v]; e < p->graph.in_start[v + 1]; e++) {
        int32_t u = p->graph.in_of[e], k = e - p->graph.in_start[v];
        if (x->s->at[u] < g->i) {
            g->moved += (double)(p->edge_bytes[e] + (m->receive ? m->receive[k] : 0));
            continue;
        }
        const struct mode *from = &p->mode[x->fastest[g->t * p->graph.n + u]];
        int32_t out = 0;
        while (from->send && p->out_edge[p->graph.out_start[u] + out] != e)
            out++;
        g->moved -= (double)(p->edge_bytes[e] + (from->send ? from->send[out] : 0));
    }
    for (int32_t k = 0; k < p->graph.out_start[v + 1] - p->graph.out_start[v]; k++)
        g->moved += (double)(p->edge_bytes[p->out_edge[p->graph.out_start[v] + k]] +
                             (m->send ? m->send[k] : 0));
    g->cost += (double)m->cost[0];
    g->stash += (double)m->stash_bytes;
    g->resident += (double)m->resident_bytes;
    g->exchange += (double)m->exchange_bytes;
    g->j++;
    return true;
}

static struct cell *cell(const struct split *x, int32_t i, int32_t k, int32_t s) {
    return &x->best[((int64_t)i * (x->n_devices + 1) + k) * (x->n_sum + 1) + s];
}

static bool is_replicas(const struct split *x, int32_t r) {
    return (x->n_devices <= SPLIT_ALL_REPLICAS || (r & (r - 1)) == 0) &&
           (x->n_samples <= 0 || x->n_samples % r == 0);
}

static double held_of(const struct split *x, int32_t s, int32_t r) {
    int32_t n = (s + r - 1) / r;
    return x->n_samples > 0 ? fmin(n, floor((double)x->n_samples / r)) : n;
}

// The first stage is the segment, with r replicas; the stages behind it, as best they can.
static void relax(const struct split *x, const struct segment *g, int32_t r, int32_t s,
                  double load) {
    int32_t width = r * x->degree[g->t];
    for (int32_t k = width; k <= x->n_devices; k++) {
        double rest = cell(x, g->j, k - width, s - r)->load;
        struct cell *c = cell(x, g->i, k, s);
        float worst = (float)fmax(load, rest);
        if (worst < c->load)
            *c = (struct cell){worst, g->j, (int16_t)g->t, (int16_t)r};
    }
}

// All stages of a degree that start at i, for one number of samples in flight after the other.
static void start_at(struct split *x, int32_t i, int32_t t, double held) {
    struct segment g = {.i = i, .j = i, .t = t};
    while (g.j < x->p->graph.n && extend(x, &g)) {
        double cost = fitted_cost(x, &g, held, NULL);
        if (isinf(cost))
            continue;
        for (int32_t r = 1; r * x->degree[t] <= x->n_devices; r++)
            for (int32_t s = r; is_replicas(x, r) && s <= x->n_sum; s++)
                if (held_of(x, s, r) == held)
                    relax(x, &g, r, s, load_of(x, &g, r, cost));
    }
}

static void fill(struct split *x) {
    int32_t n = x->p->graph.n;
    for (int32_t i = 0; i <= n; i++)
        for (int32_t k = 0; k <= x->n_devices; k++)
            for (int32_t s = 0; s <= x->n_sum; s++)
                cell(x, i, k, s)->load = i == n && s == 0 ? 0 : INFINITY;
    for (int32_t i = n; i-- > 0;)
        for (int32_t t = 0; t < x->n_degrees; t++)
            for (int32_t held = 1; held <= x->n_sum; held++) {
                find_swaps(x, t, held);
                start_at(x, i, t, held);
            }
}

static void write_back(struct split *x, int32_t k, int32_t s, struct stage_state *to,
                       int32_t *mode) {
    int32_t n = x->p->graph.n, first = 0;
    for (int32_t i = 0; i < n;) {
        const struct cell *c = cell(x, i, k, s);
        struct segment g = {.i = i, .j = i, .t = c->degree};
        while (g.j < c->end) {
            mode[g.j] = x->fastest[g.t * n + x->s->order[g.j]];
            extend(x, &g);
        }
        double held = held_of(x, s, c->replicas);
        find_swaps(x, g.t, held);
        fitted_cost(x, &g, held, mode);
        for (; i < c->end; i++)
            to->choice[to->order[i]] = (struct stage_choice){mode[i], first, c->replicas};
        int32_t width = c->replicas * x->degree[c->degree];
        first += width;
        k -= width;
        s -= c->replicas;
    }
}

static double min_memory(const struct modal *p) {
    int64_t least = INT64_MAX;
    for (int32_t d = 0; d < p->places.n_devices; d++)
        least = p->places.place[d].memory_bytes < least ? p->places.place[d].memory_bytes : least;
    return (double)least - (double)p->graph.persistent_bytes;
}

bool stage_split(const struct modal *p, int64_t n_samples, struct arena *a, struct stage_state *s) {
    int32_t n = p->graph.n, devices = p->places.n_devices;
    struct split x = {.p = p, .s = s, .n_samples = n_samples, .n_devices = devices};
    x.memory = min_memory(p);
    x.n_sum = n_samples > 0 && n_samples < devices ? (int32_t)n_samples : devices;
    double n_states = (double)(n + 1) * (devices + 1) * (x.n_sum + 1);
    if (!find_degrees(&x) || n_states > SPLIT_MAX_STATES ||
        n_states * n * x.n_degrees * fmin(devices, SPLIT_ALL_REPLICAS) > SPLIT_MAX_STEPS)
        return false;
    x.fastest = ARENA_ARRAY(a, int32_t, (size_t)n * (size_t)x.n_degrees);
    x.swap = ARENA_ARRAY(a, struct swap, p->mode_start[n]);
    x.best = ARENA_ARRAY(a, struct cell, n_states);
    x.taken = ARENA_ARRAY(a, int64_t, n);
    int32_t *mode = ARENA_ARRAY(a, int32_t, n);
    if (!x.fastest || !x.swap || !x.best || !x.taken || !mode)
        return false;
    find_fastest(&x);
    fill(&x);
    const struct cell *best = NULL;
    int32_t best_k = 0, best_s = 0;
    for (int32_t k = 1; k <= devices; k++)
        for (int32_t sum = 1; sum <= x.n_sum; sum++)
            if (!best || cell(&x, 0, k, sum)->load < best->load) {
                best = cell(&x, 0, k, sum);
                best_k = k;
                best_s = sum;
            }
    if (isinf(best->load))
        return false;
    write_back(&x, best_k, best_s, s, mode);
    return true;
}
