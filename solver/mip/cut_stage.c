// Breadth-first search over the states of one stage (cut_stage.h).
//
// A state covers two kinds of nodes: those that may run, and those that are held at the begin and
// read by one of them. A tensor that is held, is required or read by t, and may not run stays in
// memory: it adds a constant. All others held at the begin are evicted at once. A tensor is evicted
// as soon as it is dead: not required, and read by no run that is still possible. The search also
// tries to evict live tensors, unless they are required and cannot be recomputed.
#include "solver/mip/cut_stage.h"

#include <assert.h>
#include <string.h>

#include "ir/base/rng.h"

#define MAX_NODES  28
#define MAX_STATES 60000
#define TABLE_SIZE (1 << 17)

struct visit {
    uint32_t held, once, twice; // once, twice: nodes that ran once, twice; limited ones only
    int32_t from;               // index of the previous state, -1: the first
    int32_t run;                // the node that ran, as an index into `node`; -1: an eviction
};

struct search {
    const struct cut_view *v;
    const struct stage *s;
    int64_t capacity, constant;
    int32_t n, node[MAX_NODES];
    uint32_t reads[MAX_NODES], may_run, may_run_twice, unlimited,
        required;             // may run at all, twice, without limit
    bool readable[MAX_NODES]; // all its inputs are constant or among `node`
    struct visit *visit;
    int32_t n_visits;
    int32_t *table;
};

// Held during the whole stage.
static bool stays(const struct search *h, int32_t i) {
    bool needed = h->s->required[i] || cut_reads(h->v, h->s->t, i);
    return h->v->zero_size[i] || (h->s->held[i] && needed && !h->s->runs[i]);
}

static bool is_in_state(const struct search *h, int32_t i) {
    const struct problem *p = h->v->p;
    if (stays(h, i))
        return false;
    if (h->s->runs[i])
        return true;
    for (int32_t e = p->out_start[i]; h->s->held[i] && e < p->out_start[i + 1]; e++)
        if (p->out_of[e] < h->s->t && h->s->runs[p->out_of[e]])
            return true;
    return false;
}

static int32_t index_of(const struct search *h, int32_t i) {
    for (int32_t k = 0; k < h->n; k++)
        if (h->node[k] == i)
            return k;
    return -1;
}

// Numbers the nodes that are part of a state. False: too many.
static bool number_nodes(struct search *h) {
    const struct problem *p = h->v->p;
    for (int32_t i = 0; i < h->s->t && i < p->n; i++) {
        if (stays(h, i) && !h->v->zero_size[i])
            h->constant += p->bytes[i];
        if (!is_in_state(h, i))
            continue;
        if (h->n == MAX_NODES)
            return false;
        h->node[h->n++] = i;
    }
    for (int32_t k = 0; k < h->n; k++) {
        int32_t i = h->node[k];
        h->may_run |= h->s->runs[i] > 0 ? 1u << k : 0;
        h->may_run_twice |= h->s->runs[i] > 1 ? 1u << k : 0;
        h->unlimited |= h->s->runs[i] >= STAGE_ANY ? 1u << k : 0;
        h->required |= h->s->required[i] || cut_reads(h->v, h->s->t, i) ? 1u << k : 0;
        h->readable[k] = true;
        for (int32_t e = p->in_start[i]; e < p->in_start[i + 1]; e++) {
            int32_t j = index_of(h, p->in_of[e]);
            h->reads[k] |= j >= 0 ? 1u << j : 0;
            h->readable[k] = h->readable[k] && (j >= 0 || h->s->lenient || stays(h, p->in_of[e]));
        }
    }
    return true;
}

static int64_t bytes_of(const struct search *h, uint32_t set) {
    int64_t sum = 0;
    for (int32_t k = 0; k < h->n; k++)
        if (set >> k & 1)
            sum += h->v->p->bytes[h->node[k]];
    return sum;
}

static uint32_t still_may_run(const struct search *h, uint32_t once, uint32_t twice) {
    return h->may_run & (~once | (h->may_run_twice & ~twice));
}

// The tensors in memory without the dead ones.
static uint32_t evict_dead(const struct search *h, struct visit s) {
    uint32_t live = h->required, to_come = still_may_run(h, s.once, s.twice);
    for (int32_t k = 0; k < h->n; k++)
        if (to_come >> k & 1)
            live |= h->reads[k];
    return s.held & live;
}

// Adds a state unless it is known. False: too many states.
static bool visit(struct search *h, struct visit s) {
    s.held = evict_dead(h, s);
    uint64_t key = rng_mix((uint64_t)s.held << 32 | s.once) + s.twice;
    size_t slot = (size_t)(rng_mix(key) & (TABLE_SIZE - 1));
    for (; h->table[slot]; slot = (slot + 1) & (TABLE_SIZE - 1)) {
        const struct visit *old = &h->visit[h->table[slot] - 1];
        if (old->held == s.held && old->once == s.once && old->twice == s.twice)
            return true;
    }
    if (h->n_visits == MAX_STATES)
        return false;
    h->visit[h->n_visits] = s;
    h->table[slot] = ++h->n_visits;
    return true;
}

static bool visit_evict(struct search *h, struct visit s, int32_t at, uint32_t bit) {
    s.held &= ~bit;
    s.from = at;
    s.run = -1;
    return visit(h, s);
}

static bool visit_run(struct search *h, struct visit s, int32_t at, int32_t k) {
    uint32_t bit = 1u << k;
    s.held |= bit;
    if (!(h->unlimited & bit)) {
        s.twice |= s.once & bit;
        s.once |= bit;
    }
    s.from = at;
    s.run = k;
    return visit(h, s);
}

// All transitions from a state: a run that fits, or an eviction.
static bool expand(struct search *h, int32_t at) {
    struct visit s = h->visit[at];
    int64_t now = h->constant + bytes_of(h, s.held);
    for (int32_t k = 0; k < h->n; k++) {
        uint32_t bit = 1u << k;
        bool can_run = still_may_run(h, s.once, s.twice) & bit;
        if (s.held & bit) {
            bool evictable = can_run || !(h->required & bit);
            if (evictable && !visit_evict(h, s, at, bit))
                return false;
            continue;
        }
        if (!can_run)
            continue;
        int32_t i = h->node[k];
        bool fits = now + h->v->p->bytes[i] + h->v->p->workspace[i] <= h->capacity;
        if (h->readable[k] && (s.held & h->reads[k]) == h->reads[k] && fits &&
            !visit_run(h, s, at, k))
            return false;
    }
    return true;
}

static bool trace(const struct search *h, int32_t at, struct arena *a, struct sequence *out) {
    int32_t n = 0;
    for (int32_t k = at; k >= 0; k = h->visit[k].from)
        n += h->visit[k].run >= 0;
    out->at = ARENA_ARRAY(a, int32_t, n);
    out->n = n;
    for (int32_t k = at; out->at && k >= 0; k = h->visit[k].from)
        if (h->visit[k].run >= 0)
            out->at[--n] = h->node[h->visit[k].run];
    return out->at != NULL;
}

static enum stage_answer explore(struct search *h, int32_t *goal) {
    uint32_t held = 0;
    for (int32_t k = 0; k < h->n; k++)
        held |= h->s->held[h->node[k]] ? 1u << k : 0;
    visit(h, (struct visit){.held = held, .from = -1, .run = -1});
    for (int32_t at = 0; at < h->n_visits; at++) {
        if ((h->visit[at].held & h->required) == h->required) {
            *goal = at;
            return STAGE_FITS;
        }
        if (!expand(h, at))
            return STAGE_TOO_LARGE;
    }
    return STAGE_DOES_NOT_FIT;
}

bool stage_order(const struct cut_view *v, const struct stage *s, int64_t capacity, struct arena *a,
                 enum stage_answer *answer, struct sequence *out) {
    assert(s->t > 0 && s->t < v->n_steps);
    struct arena scratch = arena_make(a->mem);
    struct search *h = ARENA_NEW(&scratch, struct search);
    bool ok = h != NULL;
    *answer = STAGE_TOO_LARGE;
    *out = (struct sequence){0};
    if (ok) {
        *h = (struct search){.v = v, .s = s, .capacity = capacity};
        h->visit = ARENA_ARRAY(&scratch, struct visit, MAX_STATES);
        h->table = ARENA_ARRAY(&scratch, int32_t, TABLE_SIZE);
        ok = h->visit && h->table;
    }
    if (ok && number_nodes(h)) {
        int32_t goal = -1;
        *answer = explore(h, &goal);
        if (*answer == STAGE_FITS)
            ok = trace(h, goal, a, out);
    }
    arena_free(&scratch);
    return ok;
}
