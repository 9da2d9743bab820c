// The choices at the gaps: see steer_search.h. Control nodes act just before the first request of a
// node; they can free the earlier blockers, hold dying items, and allocate up to two plugs of sizes
// that matter: that of a free chunk, to take it, and the surplus of a chunk over a request or the
// way to the planned address, to split it. All combinations are tried in the order of the nodes
// that they need; one counts when all lanes can follow it.
#include "passes/steer/steer_search.h"

#include <assert.h>
#include <stdlib.h>

#include "passes/steer/steer_walk.h"

enum {
    MAX_CHOICES = 3000,
    MAX_SIZES = 40,
    FEW_MOVES = 150, // of a repair
    MANY_MOVES = 2000,
    GAP_STEPS = 5000000, // work for one gap
    TRY_STEPS = 100,     // work of a trial beside its chunks and its repair
};

// Nodes: control nodes that an op needs.
enum { NODES_PLACE = 3, NODES_FREE = 2, NODES_HOLD = 4, NODES_PLUG = 7 };

static bool add_op(struct steer_walk *w, struct steer_op op) {
    w->out->n_plugs += op.kind == STEER_PLUG;
    w->out->n_holds += op.kind == STEER_HOLD;
    w->failed |= !VEC_PUSH(w->a, &w->out->list, op);
    return !w->failed;
}

static void add_blocker(struct steer_walk *w, struct steer_blocker b) {
    w->failed |= !VEC_PUSH(w->a, &w->blockers, b);
}

static void record_frees(struct steer_walk *w, uint32_t gap) {
    for (size_t k = 0; k < w->blockers.n; k++) {
        struct steer_blocker b = w->blockers.at[k];
        add_op(w, (struct steer_op){b.value.i ? STEER_HOLD : STEER_FREE, gap, 0, b.op, b.value});
    }
    w->blockers.n = 0;
}

static void record(struct steer_walk *w, const struct steer_choice *c, uint32_t gap) {
    if (c->frees)
        record_frees(w, gap);
    for (uint32_t k = 0; k < w->n_dying; k++) {
        struct steer_blocker b = {.value = w->dying[k].value};
        for (uint32_t x = 0; x < w->n_lanes; x++)
            b.chunk[x] = w->lane[x].chunk[w->dying[k].item[x]];
        if (c->holds >> k & 1)
            add_blocker(w, b);
    }
    uint32_t first = (uint32_t)w->out->list.n;
    for (uint32_t k = 0; k < w->n_plugs; k++) {
        struct steer_blocker b = {.op = (uint32_t)w->out->list.n};
        for (uint32_t x = 0; x < w->n_lanes; x++)
            b.chunk[x] = w->lane[x].plug_chunk[k];
        add_op(w, (struct steer_op){STEER_PLUG, gap, w->plugs[k].n_bytes, 0, VALUE_NONE});
        if (!w->plugs[k].is_brief)
            add_blocker(w, b);
    }
    for (uint32_t k = 0; k < w->n_plugs; k++)
        if (w->plugs[k].is_brief)
            add_op(w, (struct steer_op){STEER_FREE, gap, 0, first + k, VALUE_NONE});
}

// What the choice does before the requests, in the trial arenas of all lanes.
static bool act(struct steer_walk *w, const struct steer_choice *c) {
    bool ok = true;
    w->n_plugs = 0;
    for (; w->n_plugs < c->n_plugs; w->n_plugs++)
        w->plugs[w->n_plugs] = (struct steer_plug){c->plug[w->n_plugs], false};
    for (uint32_t x = 0; x < w->n_lanes; x++)
        *w->steps -= TRY_STEPS + (int64_t)w->lane[x].now.chunks.n;
    if (c->carves) // decides on the plugs of the others
        ok = steer_lane_act(w, &w->lane[c->carves - 1], c);
    for (uint32_t x = 0; x < w->n_lanes && ok; x++)
        ok = x + 1 == c->carves || steer_lane_act(w, &w->lane[x], c);
    return ok;
}

static bool try(struct steer_walk *w, const struct steer_choice *c, uint32_t gap,
                uint32_t max_moves) {
    uint32_t n = 0;
    bool ok = act(w, c);
    for (; n < w->n_lanes && ok; n++) {
        struct steer_lane *l = &w->lane[n];
        int64_t before = l->fit.steps;
        ok = steer_lane_place(w, l, max_moves);
        *w->steps -= l->fit.steps - before;
        w->failed |= l->fit.failed || l->now.failed || l->trial.failed;
        if (!ok)
            break;
    }
    ok = ok && !w->failed;
    if (ok)
        record(w, c, gap);
    for (uint32_t x = 0; x < n; x++)
        steer_lane_end(&w->lane[x], ok);
    return ok;
}

static void add_size(int64_t *sizes, uint32_t *n, int64_t size) {
    for (uint32_t i = 0; i < *n; i++)
        if (sizes[i] == size)
            return;
    if (size > 0 && *n < MAX_SIZES)
        sizes[(*n)++] = size;
}

// Sizes of plugs that make a difference in a trial arena.
static void find_sizes(const struct steer_walk *w, const struct steer_lane *l, int64_t *sizes,
                       uint32_t *n) {
    for (size_t f = l->trial.free.n; f-- > 0;) {
        const struct ort_chunk *c = &l->trial.chunks.at[l->trial.free.at[f]];
        if (c->region != l->region || c->n_bytes <= l->t->small_bytes)
            continue;
        add_size(sizes, n, c->n_bytes);
        for (uint32_t k = 0; k < l->n_requests; k++) {
            uint32_t i = l->requests[k];
            int64_t need = l->t->items[i].n_bytes, way = l->fit.at[i] - steer_address(w, l, c);
            if (!l->t->items[i].is_big)
                continue;
            if (c->n_bytes > need && c->n_bytes < 2 * need)
                add_size(sizes, n, c->n_bytes - need);
            if (l->fit.at[i] >= 0 && way > 0 && way < c->n_bytes)
                add_size(sizes, n, way);
        }
    }
}

static uint32_t bits(uint32_t x) {
    return (uint32_t)__builtin_popcount(x);
}

static bool add_choice(struct steer_choice *list, uint32_t *n, struct steer_choice c) {
    if (*n == MAX_CHOICES)
        return false;
    c.number = *n;
    list[(*n)++] = c;
    return true;
}

// The choices that free the blockers or not and hold these items.
static void add_choices(struct steer_walk *w, struct steer_choice c, struct steer_choice *list,
                        uint32_t *n) {
    int64_t sizes[MAX_SIZES];
    uint32_t n_sizes = 0;
    c.n_nodes =
        (int32_t)(NODES_HOLD * bits(c.holds) +
                  (c.frees && w->blockers.n ? NODES_PLACE + NODES_FREE * w->blockers.n : 0));
    add_choice(list, n, c);
    if (bits(c.holds) > 1 || !act(w, &c))
        return;
    for (uint32_t x = 0; x < w->n_lanes; x++)
        find_sizes(w, &w->lane[x], sizes, &n_sizes);
    c.n_nodes += NODES_PLUG + (c.frees && w->blockers.n ? 0 : NODES_PLACE);
    for (uint32_t x = 0; x < n_sizes; x++) {
        c.n_plugs = 1;
        c.plug[0] = sizes[x];
        add_choice(list, n, c);
        for (uint32_t y = 0; y < n_sizes && !c.holds; y++) {
            struct steer_choice two = c;
            two.n_plugs = 2;
            two.plug[1] = sizes[y];
            two.n_nodes += NODES_PLUG - 2;
            add_choice(list, n, two);
        }
    }
}

static int by_nodes(const void *x, const void *y) {
    const struct steer_choice *a = x, *b = y;
    if (a->n_nodes != b->n_nodes)
        return a->n_nodes < b->n_nodes ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

// What dies here in all lanes and can be held.
static void find_dying(struct steer_walk *w) {
    const struct steer_lane *l = &w->lane[0];
    w->n_dying = 0;
    for (size_t k = 0; k < l->dying.n && w->n_dying < STEER_MAX_DYING; k++) {
        const struct ort_buffer *b = &l->t->e->buffers.at[l->dying.at[k]];
        struct steer_dying d = {.value = b->storage ? l->t->r->s.first[b->storage] : VALUE_NONE};
        bool ok = d.value.i;
        for (uint32_t x = 0; x < w->n_lanes && ok; x++) {
            d.item[x] = w->lanes->item_of[x][d.value.i];
            ok = d.item[x] && w->lane[x].is_dying[d.item[x]] &&
                 w->lane[x].t->items[d.item[x]].can_hold;
        }
        if (ok)
            w->dying[w->n_dying++] = d;
    }
}

static bool carve(struct steer_walk *w, uint32_t gap, uint32_t max_moves) {
    for (uint32_t x = 0; x < w->n_lanes && !w->failed; x++) {
        struct steer_choice c = {.frees = true, .carves = x + 1};
        if (try(w, &c, gap, max_moves))
            return true;
    }
    return false;
}

// A node that requests something big. False: nothing helps.
static bool choose(struct steer_walk *w, uint32_t gap, struct steer_choice *list) {
    uint32_t n = 0;
    int64_t enough = *w->steps - GAP_STEPS;
    if (try(w, &(struct steer_choice){0}, gap, FEW_MOVES))
        return true;
    for (int frees = w->blockers.n == 0; frees < 2; frees++)
        for (uint32_t holds = 0; holds < 1u << w->n_dying; holds++)
            add_choices(w, (struct steer_choice){.frees = frees, .holds = holds}, list, &n);
    qsort(list, n, sizeof *list, by_nodes);
    for (uint32_t k = 0; k < n && !w->failed && *w->steps > enough; k++)
        if (try(w, &list[k], gap, FEW_MOVES))
            return true;
    if (carve(w, gap, FEW_MOVES))
        return true;
    enough -= GAP_STEPS;
    for (uint32_t k = 0; k < n && k < MAX_CHOICES / 10 && !w->failed && *w->steps > enough; k++)
        if (try(w, &list[k], gap, MANY_MOVES))
            return true;
    return carve(w, gap, MANY_MOVES);
}

// A plug that is freed at once leaves a region of its size.
static bool reserve(struct steer_walk *w, struct steer_lane *l, int64_t n_bytes) {
    size_t n_regions = l->now.n_regions;
    ort_arena_free(&l->now, ort_arena_alloc(&l->now, n_bytes, false));
    w->failed |= l->now.failed;
    return l->now.n_regions == n_regions + 1;
}

static bool add_region(struct steer_walk *w, int64_t region_bytes, uint32_t gap) {
    uint32_t op = (uint32_t)w->out->list.n;
    int64_t n_bytes = region_bytes / 2 + STEER_UNIT_BYTES;
    for (uint32_t x = 0; x < w->n_lanes; x++)
        if (!reserve(w, &w->lane[x], n_bytes))
            return false;
    return add_op(w, (struct steer_op){STEER_PLUG, gap, n_bytes, 0, VALUE_NONE}) &&
           add_op(w, (struct steer_op){STEER_FREE, gap, 0, op, VALUE_NONE});
}

// The regions, and a plug over what the layout does not use, at the low end.
static bool set_up(struct steer_walk *w, const struct steer_setup *setup, uint32_t gap) {
    if ((setup->small_region_bytes && !add_region(w, setup->small_region_bytes, gap)) ||
        !add_region(w, setup->region_bytes, gap))
        return false;
    w->is_set_up = true;
    w->origin = setup->region_bytes - setup->height;
    w->base_op = (uint32_t)w->out->list.n;
    for (uint32_t x = 0; x < w->n_lanes; x++) {
        struct steer_lane *l = &w->lane[x];
        l->region = (uint32_t)l->now.n_regions - 1;
        if (w->origin == 0)
            continue;
        uint32_t chunk = ort_arena_alloc(&l->now, w->origin, false);
        const struct ort_chunk *c = &l->now.chunks.at[chunk];
        if (c->region != l->region || c->n_bytes != w->origin)
            return false;
    }
    return w->origin == 0 ||
           add_op(w, (struct steer_op){STEER_PLUG, gap, w->origin, 0, VALUE_NONE});
}

static bool walk(struct steer_walk *w, const struct steer_setup *setup, struct steer_choice *list) {
    const struct steer_lanes *lanes = w->lanes;
    bool ok = true;
    for (uint32_t gap = 0; gap < lanes->n_gaps && ok && *w->steps > 0; gap++) {
        bool has_big = false;
        for (uint32_t x = 0; x < w->n_lanes && ok; x++) {
            ok = steer_lane_run(w, &w->lane[x], lanes->gaps[gap].event[x]);
            uint32_t end =
                gap + 1 < lanes->n_gaps ? lanes->gaps[gap + 1].event[x] : w->lane[x].t->n_events;
            if (ok)
                steer_lane_gather(&w->lane[x], end);
            has_big |= ok && w->lane[x].has_big;
        }
        if (ok && has_big && !w->is_set_up)
            ok = set_up(w, setup, gap);
        if (ok)
            find_dying(w);
        ok = ok && choose(w, gap, list);
    }
    for (uint32_t x = 0; x < w->n_lanes && ok; x++)
        ok = steer_lane_run(w, &w->lane[x], w->lane[x].t->n_events);
    return ok && *w->steps > 0 && !w->failed;
}

// What still blocks is freed at the last gap.
static void finish(struct steer_walk *w) {
    uint32_t last = w->lanes->n_gaps - 1;
    record_frees(w, last);
    if (w->is_set_up && w->origin > 0)
        add_op(w, (struct steer_op){STEER_FREE, last, 0, w->base_op, VALUE_NONE});
}

bool steer_search(const struct steer_lanes *l, const struct steer_layout *layout,
                  const struct steer_setup *setup, int64_t *steps, struct arena *a,
                  struct steer_ops *out) {
    assert(l && l->n && layout && setup && steps && a && out);
    assert(setup->region_bytes >= setup->height && setup->height >= setup->region_bytes / 2);
    struct steer_walk w = {.lanes = l, .a = a, .n_lanes = l->n, .steps = steps, .out = out};
    struct steer_choice *list = ARENA_ARRAY(a, struct steer_choice, MAX_CHOICES);
    bool ok = list != NULL;
    *out = (struct steer_ops){0};
    for (uint32_t x = 0; x < l->n && ok; x++)
        ok = steer_lane_make(&w, x, &layout[x], setup->height);
    if (!ok || l->n_gaps == 0)
        return ok;
    out->found = walk(&w, setup, list);
    finish(&w);
    return !w.failed;
}
