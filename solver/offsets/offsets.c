// The offset allocator's plan of work. Buffers fall into parts that share no moment of time; each
// part gets greedy starts, and then the part with the largest arena is worked on in rounds until it
// meets the bound, fits the capacity, or the work is used up. A round is one attempt at a target
// between bound and best: an exact search with restarts, which also raises the bound when it runs
// to its end, or ejection chains. Attempts grow in the manner of Luby's sequence, so that easy
// answers come early and proofs come at all.
#include "solver/offsets.h"
#include "solver/check/offsets_check.h"

#include <string.h>

#include "ir/base/rng.h"
#include "solver/offsets/offsets_eject.h"
#include "solver/offsets/offsets_exact.h"
#include "solver/offsets/offsets_fit.h"

#define ROUND_WORK  5000 // units of the shortest round
#define EJECT_EVERY 10   // one round in so many is a local search where exact search is possible
#define START_ITEMS 4096 // first fit is quadratic: only up to here, where a skyline is possible
#define SHARE_WHOLE 256

struct run {
    const struct offsets_options *options;
    struct offsets_model model;
    struct offsets_work work;
    struct arena *a; // gone at the end
    struct diags *d;
    uint32_t *round; // per part
    int32_t *share;  // per part: see round_target
    int32_t *order;  // scratch
};

static int64_t larger(int64_t x, int64_t y) {
    return x > y ? x : y;
}

static int64_t smaller(int64_t x, int64_t y) {
    return x < y ? x : y;
}

static int64_t run_bound(const struct run *r) {
    int64_t bound = r->model.min_bytes;
    for (int32_t k = 0; k < r->model.n_parts; k++)
        bound = larger(bound, r->model.part[k].bound);
    return bound;
}

// What no part needs to go below.
static int64_t run_goal(const struct run *r) {
    return larger(run_bound(r), r->options->capacity_bytes);
}

static status part_starts(struct run *r, struct offsets_part *p) {
    int64_t goal = run_goal(r);
    for (uint32_t kind = 0; kind < OFFSETS_ORDERS && p->best_bytes > goal; kind++) {
        if (kind > 0 && !offsets_spend(&r->work, p->n))
            return ST_OK;
        status st = offsets_order(p, kind, r->options->seed, r->a, r->d, r->order);
        if (st == ST_OK && !p->has_fixed)
            st = offsets_skyline(p, r->order, &r->work, r->a, r->d);
        if (st == ST_OK && (p->has_fixed || p->n <= START_ITEMS) && p->best_bytes > goal)
            st = offsets_first_fit(p, r->order, &r->work, r->a, r->d);
        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}

// 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ...
static int64_t luby(uint32_t i) {
    for (uint32_t k = 1;; k++) {
        if (i + 2 == 1u << k)
            return (int64_t)1 << (k - 1);
        if (i + 2 < 1u << k)
            return luby(i + 1 - (1u << (k - 1)));
    }
}

// Some rounds aim at the goal itself, the others at a share of the way to it, which shrinks with
// each failure and grows with each success.
static int64_t round_target(const struct run *r, const struct offsets_part *p, int32_t share,
                            uint64_t draw) {
    int64_t goal = larger(p->bound, run_goal(r));
    int64_t gap = p->best_bytes - 1 - goal;
    if (gap <= 0 || r->options->capacity_bytes > 0 || draw % 8 < 3)
        return goal;
    return p->best_bytes - 1 - (int64_t)((__int128)gap * share / SHARE_WHOLE);
}

// Which order leads to an answer differs from part to part; that by length does most often.
static uint32_t round_kind(uint32_t round, uint64_t draw) {
    static const uint8_t order[16] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 4, 4, 2, 3, 5};
    if (round < OFFSETS_ORDERS)
        return round;
    return OFFSETS_ORDERS * (uint32_t)(1 + (draw >> 8) % 1000000) + order[draw % 16];
}

static status exact_round(struct run *r, struct offsets_part *p, int64_t target, uint32_t kind) {
    enum offsets_found found;
    status st = offsets_order(p, kind, r->options->seed, r->a, r->d, r->order);
    return st ? st : offsets_exact(p, target, r->order, &r->work, r->a, r->d, &found);
}

// Target, order and method are drawn apart from each other and from the length of the round, so
// that all combinations come up.
static status part_round(struct run *r, struct offsets_part *p, uint32_t round) {
    struct offsets_work *w = &r->work;
    struct rng rng = rng_make(r->options->seed, round);
    int32_t *share = &r->share[p - r->model.part];
    int64_t limit = w->limit, before = p->best_bytes;
    int64_t target = round_target(r, p, *share, rng_next(&rng));
    bool exact = p->near && p->n <= OFFSETS_EXACT_ITEMS &&
                 (round < OFFSETS_ORDERS || rng_below(&rng, EJECT_EVERY) != 0);
    bool found;
    w->limit = smaller(limit, w->used + ROUND_WORK * luby(round));
    status st = exact ? exact_round(r, p, target, round_kind(round, rng_next(&rng)))
                      : offsets_eject(p, target, rng_next(&rng), w, r->a, r->d, &found);
    w->limit = limit;
    if (p->best_bytes < before)
        *share = *share > SHARE_WHOLE / 2 ? SHARE_WHOLE : *share * 2;
    else
        *share = *share > 8 ? *share - *share / 8 : 8;
    return st;
}

static struct offsets_part *largest_part(const struct run *r) {
    struct offsets_part *worst = NULL;
    for (int32_t k = 0; k < r->model.n_parts; k++)
        if (!worst || r->model.part[k].best_bytes > worst->best_bytes)
            worst = &r->model.part[k];
    return worst;
}

static status improve(struct run *r) {
    for (struct offsets_part *p; (p = largest_part(r)) && p->best_bytes > run_goal(r);) {
        if (r->options->capacity_bytes > 0 && run_bound(r) > r->options->capacity_bytes)
            return ST_OK; // proved that nothing fits
        if (!offsets_spend(&r->work, p->n))
            return ST_OK;
        status st = part_round(r, p, r->round[p - r->model.part]++);
        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}

static status search(struct run *r) {
    int32_t n_most = 0;
    for (int32_t k = 0; k < r->model.n_parts; k++)
        n_most = r->model.part[k].n > n_most ? r->model.part[k].n : n_most;
    r->round = ARENA_ARRAY(r->a, uint32_t, r->model.n_parts);
    r->order = ARENA_ARRAY(r->a, int32_t, n_most);
    r->share = ARENA_ARRAY(r->a, int32_t, r->model.n_parts);
    if (!r->round || !r->order || !r->share)
        return diag_out_of_memory(r->d);
    for (int32_t k = 0; k < r->model.n_parts; k++) {
        r->share[k] = SHARE_WHOLE;
        status st = part_starts(r, &r->model.part[k]);
        if (st != ST_OK)
            return st;
    }
    return improve(r);
}

// Two buffers that are fixed where they overlap: no search can help.
static status check_fixed(const struct offsets_model *m, struct diags *d) {
    for (int32_t k = 0; k < m->n_parts; k++) {
        const struct offsets_part *p = &m->part[k];
        for (int32_t i = 0; p->has_fixed && i < p->n; i++)
            for (int32_t j = i + 1; p->fixed[i] >= 0 && j < p->n && p->lo[j] < p->hi[i]; j++)
                if (p->fixed[j] >= 0 && p->fixed[i] < p->fixed[j] + p->size[j] &&
                    p->fixed[j] < p->fixed[i] + p->size[i])
                    return diag_error(d, DIAG_INFEASIBLE, loc_none(),
                                      "buffers %zu and %zu are live at one time and fixed at "
                                      "offsets where they overlap",
                                      p->input[i], p->input[j]);
    }
    return ST_OK;
}

static status verdict(const struct run *r, int64_t arena_bytes, int64_t bound) {
    int64_t capacity = r->options->capacity_bytes;
    if (capacity <= 0 || arena_bytes <= capacity)
        return ST_OK;
    if (bound > capacity)
        return diag_error(r->d, DIAG_INFEASIBLE, loc_none(),
                          "no assignment fits %lld bytes: at least %lld are needed, %lld are known "
                          "to be enough",
                          (long long)capacity, (long long)bound, (long long)arena_bytes);
    return diag_error(r->d, DIAG_NO_PLAN, loc_none(),
                      "none found that fits %lld bytes; the best takes %lld, the bound is %lld; "
                      "give it more time or work",
                      (long long)capacity, (long long)arena_bytes, (long long)bound);
}

static status finish(struct run *r, const struct buffer *buffers, size_t n, int64_t *offset,
                     int64_t *arena_bytes, int64_t *bound) {
    *arena_bytes = r->model.min_bytes;
    *bound = run_bound(r);
    for (size_t i = 0; i < n; i++)
        offset[i] = buffers[i].is_fixed ? buffers[i].fixed : 0;
    for (int32_t k = 0; k < r->model.n_parts; k++) {
        const struct offsets_part *p = &r->model.part[k];
        *arena_bytes = larger(*arena_bytes, p->best_bytes);
        for (int32_t i = 0; i < p->n; i++)
            offset[p->input[i]] = p->best[i];
    }
    status st = offsets_check(buffers, n, offset, *arena_bytes, r->a, r->d);
    return st == ST_OK ? verdict(r, *arena_bytes, *bound) : st;
}

status offsets_assign(const struct buffer *buffers, size_t n, const struct offsets_options *options,
                      struct arena *a, struct diags *d, const struct stop *stop, int64_t *offset,
                      int64_t *arena_bytes, int64_t *bound) {
    struct arena scratch = arena_make(a->mem);
    struct run r = {.options = options, .a = &scratch, .d = d};
    r.work =
        (struct offsets_work){.stop = stop, .limit = options->work > 0 ? options->work : INT64_MAX};
    status st = offsets_model_make(buffers, n, &scratch, d, &r.model);
    if (st == ST_OK)
        st = check_fixed(&r.model, d);
    if (st == ST_OK)
        st = search(&r);
    if (st == ST_OK)
        st = finish(&r, buffers, n, offset, arena_bytes, bound);
    arena_free(&scratch);
    return st;
}

status offsets_max_live(const struct buffer *buffers, size_t n, struct arena *a, struct diags *d,
                        int64_t *max_live) {
    struct arena scratch = arena_make(a->mem);
    struct offsets_model model;
    status st = offsets_model_make(buffers, n, &scratch, d, &model);
    *max_live = 0;
    for (int32_t k = 0; st == ST_OK && k < model.n_parts; k++)
        for (int32_t s = 0; s < model.part[k].n_sections; s++)
            *max_live = larger(*max_live, model.part[k].load[s]);
    arena_free(&scratch);
    return st;
}
