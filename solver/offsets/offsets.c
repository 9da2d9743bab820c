// The driver of the offset allocator. Buffers fall into parts that are never live together. Each
// part gets greedy initial solutions; then the part with the largest arena is searched in rounds
// until it reaches the bound, fits the capacity, or the work limit is reached. A round is one
// attempt at a target between bound and incumbent: exact search, which raises the bound when it is
// exhaustive, or ejection chains. The work of rounds follows Luby's sequence: many short attempts
// for easy answers, few long ones for proofs.
#include "solver/offsets.h"
#include "solver/check/offsets_check.h"

#include <assert.h>
#include <string.h>

#include "ir/base/checked.h"
#include "ir/base/rng.h"
#include "solver/offsets/offsets_eject.h"
#include "solver/offsets/offsets_exact.h"
#include "solver/offsets/offsets_fit.h"

#define ROUND_WORK      5000 // units of the shortest round
#define EJECT_EVERY     10 // one round in so many is a local search where exact search is possible
#define FIRST_FIT_ITEMS 4096 // first fit is quadratic: only up to here, where a skyline is possible
#define SHARE_WHOLE     256

struct run {
    const struct offsets_options *options;
    struct offsets_model model;
    struct offsets_work work;
    struct arena *a; // freed at the end
    struct diags *d;
    uint32_t *round; // per part
    int32_t *share;  // per part: see round_target
    int32_t *order;  // scratch
};

static int64_t run_bound(const struct run *r) {
    int64_t bound = r->model.min_bytes;
    for (int32_t k = 0; k < r->model.n_parts; k++)
        bound = int64_max(bound, r->model.part[k].bound);
    return bound;
}

// No part needs a smaller arena than this.
static int64_t run_goal(const struct run *r) {
    return int64_max(run_bound(r), r->options->capacity_bytes);
}

static status part_initial(struct run *r, struct offsets_part *p) {
    int64_t goal = run_goal(r);
    for (uint32_t kind = 0; kind < OFFSETS_ORDERS && p->best_bytes > goal; kind++) {
        if (kind > 0 && !offsets_spend(&r->work, p->n))
            return ST_OK;
        status st = offsets_order(p, kind, r->options->seed, r->a, r->d, r->order);
        if (st == ST_OK && !p->has_fixed)
            st = offsets_skyline(p, r->order, &r->work, r->a, r->d);
        if (st == ST_OK && (p->has_fixed || p->n <= FIRST_FIT_ITEMS) && p->best_bytes > goal)
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
    int64_t goal = int64_max(p->bound, run_goal(r));
    int64_t gap = p->best_bytes - 1 - goal;
    if (gap <= 0 || r->options->capacity_bytes > 0 || draw % 8 < 3)
        return goal;
    return p->best_bytes - 1 - (int64_t)((__int128)gap * share / SHARE_WHOLE);
}

// The best order differs from part to part; by length succeeds most often.
static uint32_t round_kind(uint32_t round, uint64_t draw) {
    static const uint8_t order[16] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 4, 4, 2, 3, 5};
    if (round < OFFSETS_ORDERS)
        return round;
    return OFFSETS_ORDERS * (uint32_t)(1 + (draw >> 8) % 1000000) + order[draw % 16];
}

static status exact_round(struct run *r, struct offsets_part *p, int64_t target, uint32_t kind) {
    status st = offsets_order(p, kind, r->options->seed, r->a, r->d, r->order);
    return st ? st : offsets_exact(p, target, r->order, &r->work, r->a, r->d);
}

// Target, order and method are drawn independently of each other and of the length of the round, so
// that all combinations occur.
static status part_round(struct run *r, struct offsets_part *p, uint32_t round) {
    struct offsets_work *w = &r->work;
    struct rng rng = rng_make(r->options->seed, round);
    int32_t *share = &r->share[p - r->model.part];
    int64_t limit = w->limit, before = p->best_bytes;
    int64_t target = round_target(r, p, *share, rng_next(&rng));
    bool exact = p->near && p->n <= OFFSETS_EXACT_ITEMS &&
                 (round < OFFSETS_ORDERS || rng_below(&rng, EJECT_EVERY) != 0);
    w->limit = int64_min(limit, w->used + ROUND_WORK * luby(round));
    status st = exact ? exact_round(r, p, target, round_kind(round, rng_next(&rng)))
                      : offsets_eject(p, target, rng_next(&rng), w, r->a, r->d);
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
    int32_t max_n = 0;
    for (int32_t k = 0; k < r->model.n_parts; k++)
        max_n = r->model.part[k].n > max_n ? r->model.part[k].n : max_n;
    r->round = ARENA_ARRAY(r->a, uint32_t, r->model.n_parts);
    r->order = ARENA_ARRAY(r->a, int32_t, max_n);
    r->share = ARENA_ARRAY(r->a, int32_t, r->model.n_parts);
    if (!r->round || !r->order || !r->share)
        return diag_out_of_memory(r->d);
    for (int32_t k = 0; k < r->model.n_parts; k++) {
        r->share[k] = SHARE_WHOLE;
        status st = part_initial(r, &r->model.part[k]);
        if (st != ST_OK)
            return st;
    }
    return improve(r);
}

// Two fixed buffers that overlap: there is no solution.
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
    return diag_error(
        r->d, DIAG_NO_PLAN, loc_none(),
        "no assignment within %lld bytes was found; the best needs %lld, the lower bound is "
        "%lld; give it more --time or --work",
        (long long)capacity, (long long)arena_bytes, (long long)bound);
}

static status finish(struct run *r, const struct buffer *buffers, size_t n,
                     struct offsets_result *out) {
    out->arena_bytes = r->model.min_bytes;
    out->bound = run_bound(r);
    for (size_t i = 0; i < n; i++)
        out->offset[i] = buffers[i].is_fixed ? buffers[i].fixed : 0;
    for (int32_t k = 0; k < r->model.n_parts; k++) {
        const struct offsets_part *p = &r->model.part[k];
        out->arena_bytes = int64_max(out->arena_bytes, p->best_bytes);
        for (int32_t i = 0; i < p->n; i++)
            out->offset[p->input[i]] = p->best[i];
    }
    status st = offsets_check(buffers, n, out->offset, out->arena_bytes, r->a, r->d);
    return st == ST_OK ? verdict(r, out->arena_bytes, out->bound) : st;
}

status offsets_assign(const struct buffer *buffers, size_t n, const struct offsets_options *options,
                      struct arena *a, struct diags *d, struct offsets_result *out) {
    assert(n == 0 || (buffers && out->offset));
    struct arena scratch = arena_make(a->mem);
    struct run r = {.options = options, .a = &scratch, .d = d};
    r.work = (struct offsets_work){.stop = options->stop,
                                   .limit = options->work > 0 ? options->work : INT64_MAX};
    status st = offsets_model_make(buffers, n, &scratch, d, &r.model);
    if (st == ST_OK)
        st = offsets_model_near(&r.model, &scratch, d);
    if (st == ST_OK)
        st = check_fixed(&r.model, d);
    if (st == ST_OK)
        st = search(&r);
    if (st == ST_OK)
        st = finish(&r, buffers, n, out);
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
            *max_live = int64_max(*max_live, model.part[k].load[s]);
    arena_free(&scratch);
    return st;
}
