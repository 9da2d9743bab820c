// The replay and its choices: see steer_search.h.
//
// Big items that die are released only at the next request, so that they can be held instead.
// Control nodes act just before the first request of a node; they can free the earlier blockers,
// hold dying items, and allocate up to two plugs of sizes that matter: that of a free chunk, to
// take it, and the surplus of a chunk over a request or the way to the planned address, to split
// it. All combinations are tried in the order of the nodes that they need.
#include "passes/steer/steer_search.h"

#include <assert.h>
#include <stdlib.h>

#include "passes/steer/steer_walk.h"

enum {
    MAX_CHOICES = 3000,
    MAX_SIZES = 40,
    MAX_DYING = 5,   // that are considered for holds
    FEW_MOVES = 150, // of a repair
    MANY_MOVES = 2000,
};

// Nodes: control nodes that an op needs.
enum { NODES_PLACE = 3, NODES_FREE = 2, NODES_HOLD = 4, NODES_PLUG = 7 };

struct choice {
    bool frees;     // all blockers
    uint32_t holds; // a bit for each dying item
    uint32_t n_plugs;
    int64_t plug[2];
    bool carves;
    int32_t n_nodes;
    uint32_t number;
};

int64_t steer_address(const struct steer_walk *w, const struct ort_chunk *c) {
    return c->at - w->trial.regions.at[c->region].at - w->origin;
}

bool steer_add_plug(struct steer_walk *w, int64_t n_bytes, bool is_brief) {
    size_t n_regions = w->trial.n_regions;
    if (w->n_plugs == STEER_MAX_PLUGS)
        return false;
    uint32_t chunk = ort_arena_alloc(&w->trial, n_bytes, false);
    w->plugs[w->n_plugs++] = (struct steer_plug){n_bytes, chunk, is_brief};
    return chunk && w->trial.n_regions == n_regions;
}

static bool add_op(struct steer_walk *w, struct steer_op op) {
    w->out->n_plugs += op.kind == STEER_PLUG;
    w->out->n_holds += op.kind == STEER_HOLD;
    if (VEC_PUSH(w->a, &w->out->list, op))
        return true;
    w->fit.failed = true;
    return false;
}

// Releases in the trial arena, and plugs; the requests come after it.
static bool act(struct steer_walk *w, const struct choice *c) {
    if (!ort_arena_copy(&w->trial, &w->now)) {
        w->fit.failed = true;
        return false;
    }
    w->n_plugs = 0;
    for (size_t k = 0; k < w->blockers.n && c->frees; k++)
        ort_arena_free(&w->trial, w->blockers.at[k].chunk);
    for (size_t k = 0; k < w->dying.n; k++)
        if (k >= MAX_DYING || !(c->holds >> k & 1))
            ort_arena_free(&w->trial, w->chunk[w->dying.at[k]]);
    for (uint32_t k = 0; k < c->n_plugs; k++)
        if (!steer_add_plug(w, c->plug[k], false))
            return false;
    return !c->carves || steer_carve(w);
}

// The requests of the node in the trial arena; false: the layout cannot follow.
static bool place_requests(struct steer_walk *w, uint32_t max_moves) {
    struct steer_place places[STEER_MAX_REQUESTS];
    size_t n_regions = w->trial.n_regions;
    uint32_t n = 0;
    for (uint32_t k = 0; k < w->n_requests; k++) {
        uint32_t i = w->requests[k];
        w->trial_chunk[i] = ort_arena_alloc(&w->trial, w->t->items[i].n_bytes, false);
        if (!w->trial_chunk[i])
            continue;
        const struct ort_chunk *c = &w->trial.chunks.at[w->trial_chunk[i]];
        bool is_inside = w->is_set_up && c->region == w->region;
        int64_t at = steer_address(w, c);
        if (is_inside)
            places[n++] = (struct steer_place){i, at, at + c->n_bytes};
        else if (w->t->items[i].is_big)
            places[n++] = (struct steer_place){i, -1, -1};
    }
    bool same = w->trial.n_regions == n_regions || !w->is_set_up;
    return same && steer_fit_put(&w->fit, places, n, max_moves);
}

static void record(struct steer_walk *w, const struct choice *c, uint32_t event) {
    for (size_t k = 0; k < w->blockers.n && c->frees; k++) {
        struct steer_blocker b = w->blockers.at[k];
        add_op(w, (struct steer_op){b.item ? STEER_HOLD : STEER_FREE, event, 0, b.op, b.item});
    }
    if (c->frees)
        w->blockers.n = 0;
    for (size_t k = 0; k < w->dying.n && k < MAX_DYING; k++)
        if (c->holds >> k & 1 &&
            !VEC_PUSH(w->a, &w->blockers,
                      (struct steer_blocker){w->chunk[w->dying.at[k]], w->dying.at[k], 0}))
            w->fit.failed = true;
    size_t first = w->out->list.n;
    for (uint32_t k = 0; k < w->n_plugs; k++) {
        uint32_t op = (uint32_t)w->out->list.n;
        add_op(w, (struct steer_op){STEER_PLUG, event, w->plugs[k].n_bytes, 0, 0});
        if (!w->plugs[k].is_brief &&
            !VEC_PUSH(w->a, &w->blockers, (struct steer_blocker){w->plugs[k].chunk, 0, op}))
            w->fit.failed = true;
    }
    for (uint32_t k = 0; k < w->n_plugs; k++)
        if (w->plugs[k].is_brief)
            add_op(w, (struct steer_op){STEER_FREE, event, 0, (uint32_t)first + k, 0});
}

static bool try(struct steer_walk *w, const struct choice *c, uint32_t event, uint32_t max_moves) {
    if (!act(w, c) || !place_requests(w, max_moves))
        return false;
    struct ort_arena was = w->now;
    w->now = w->trial;
    w->trial = was;
    for (uint32_t k = 0; k < w->n_requests; k++)
        w->chunk[w->requests[k]] = w->trial_chunk[w->requests[k]];
    record(w, c, event);
    w->dying.n = 0;
    return true;
}

static void add_size(int64_t *sizes, uint32_t *n, int64_t size) {
    for (uint32_t i = 0; i < *n; i++)
        if (sizes[i] == size)
            return;
    if (size > 0 && *n < MAX_SIZES)
        sizes[(*n)++] = size;
}

// Sizes of plugs that make a difference in the trial arena.
static uint32_t find_sizes(const struct steer_walk *w, int64_t *sizes) {
    uint32_t n = 0;
    for (size_t f = w->trial.free.n; f-- > 0;) {
        const struct ort_chunk *c = &w->trial.chunks.at[w->trial.free.at[f]];
        if (c->region != w->region || c->n_bytes <= w->t->small_bytes)
            continue;
        add_size(sizes, &n, c->n_bytes);
        for (uint32_t k = 0; k < w->n_requests; k++) {
            uint32_t i = w->requests[k];
            int64_t need = w->t->items[i].n_bytes, way = w->fit.at[i] - steer_address(w, c);
            if (!w->t->items[i].is_big)
                continue;
            if (c->n_bytes > need && c->n_bytes < 2 * need)
                add_size(sizes, &n, c->n_bytes - need);
            if (w->fit.at[i] >= 0 && way > 0 && way < c->n_bytes)
                add_size(sizes, &n, way);
        }
    }
    return n;
}

static uint32_t bits(uint32_t x) {
    return (uint32_t)__builtin_popcount(x);
}

static bool add_choice(struct choice *list, uint32_t *n, struct choice c) {
    if (*n == MAX_CHOICES)
        return false;
    c.number = *n;
    list[(*n)++] = c;
    return true;
}

// The choices that free the blockers or not and hold these items.
static void add_choices(struct steer_walk *w, struct choice c, struct choice *list, uint32_t *n) {
    int64_t sizes[MAX_SIZES];
    c.n_nodes =
        (int32_t)(NODES_HOLD * bits(c.holds) +
                  (c.frees && w->blockers.n ? NODES_PLACE + NODES_FREE * w->blockers.n : 0));
    add_choice(list, n, c);
    if (bits(c.holds) > 1 || !act(w, &c))
        return;
    uint32_t n_sizes = find_sizes(w, sizes);
    c.n_nodes += NODES_PLUG + (c.frees && w->blockers.n ? 0 : NODES_PLACE);
    for (uint32_t x = 0; x < n_sizes; x++) {
        c.n_plugs = 1;
        c.plug[0] = sizes[x];
        add_choice(list, n, c);
        for (uint32_t y = 0; y < n_sizes && !c.holds; y++) {
            struct choice two = c;
            two.n_plugs = 2;
            two.plug[1] = sizes[y];
            two.n_nodes += NODES_PLUG - 2;
            add_choice(list, n, two);
        }
    }
}

static int by_nodes(const void *x, const void *y) {
    const struct choice *a = x, *b = y;
    if (a->n_nodes != b->n_nodes)
        return a->n_nodes < b->n_nodes ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

// Items that die here and can be held come first.
static uint32_t sort_dying(struct steer_walk *w) {
    uint32_t n = 0;
    for (size_t k = 0; k < w->dying.n; k++)
        if (w->t->items[w->dying.at[k]].can_hold) {
            uint32_t i = w->dying.at[k];
            w->dying.at[k] = w->dying.at[n];
            w->dying.at[n++] = i;
        }
    return n < MAX_DYING ? n : MAX_DYING;
}

// A node that requests something big. False: nothing helps.
static bool steer_node(struct steer_walk *w, uint32_t event, struct choice *list) {
    uint32_t n = 0;
    if (!w->t->is_gap[event])
        return try(w, &(struct choice){0}, event, MANY_MOVES);
    if (try(w, &(struct choice){0}, event, FEW_MOVES))
        return true;
    uint32_t n_holds = sort_dying(w);
    for (int frees = w->blockers.n == 0; frees < 2; frees++)
        for (uint32_t holds = 0; holds < 1u << n_holds; holds++)
            add_choices(w, (struct choice){.frees = frees, .holds = holds}, list, &n);
    qsort(list, n, sizeof *list, by_nodes);
    for (uint32_t k = 0; k < n && !w->fit.failed; k++)
        if (try(w, &list[k], event, FEW_MOVES))
            return true;
    struct choice carve = {.frees = true, .carves = true};
    if (try(w, &carve, event, FEW_MOVES))
        return true;
    for (uint32_t k = 0; k < n && k < MAX_CHOICES / 10 && !w->fit.failed; k++)
        if (try(w, &list[k], event, MANY_MOVES))
            return true;
    return try(w, &carve, event, MANY_MOVES);
}

// A plug that is freed at once leaves a region of its size.
static bool reserve(struct steer_walk *w, uint32_t event, int64_t region_bytes) {
    uint32_t op = (uint32_t)w->out->list.n;
    int64_t n_bytes = region_bytes / 2 + STEER_UNIT_BYTES;
    size_t n_regions = w->now.n_regions;
    ort_arena_free(&w->now, ort_arena_alloc(&w->now, n_bytes, false));
    return w->now.n_regions == n_regions + 1 &&
           add_op(w, (struct steer_op){STEER_PLUG, event, n_bytes, 0, 0}) &&
           add_op(w, (struct steer_op){STEER_FREE, event, 0, op, 0});
}

// The regions, and a plug over what the layout does not use, at the low end.
static bool set_up(struct steer_walk *w, const struct steer_setup *setup, uint32_t event) {
    if ((setup->small_region_bytes && !reserve(w, event, setup->small_region_bytes)) ||
        !reserve(w, event, setup->region_bytes))
        return false;
    w->is_set_up = true;
    w->region = (uint32_t)w->now.n_regions - 1;
    w->origin = setup->region_bytes - setup->height;
    if (w->origin == 0)
        return true;
    w->base_op = (uint32_t)w->out->list.n;
    uint32_t chunk = ort_arena_alloc(&w->now, w->origin, false);
    const struct ort_chunk *c = &w->now.chunks.at[chunk];
    return c->region == w->region && c->n_bytes == w->origin &&
           add_op(w, (struct steer_op){STEER_PLUG, event, w->origin, 0, 0});
}

// The requests of the node that makes the request `event`; returns the event after them.
static uint32_t gather_requests(struct steer_walk *w, uint32_t event, bool *has_big) {
    const struct ort_events *e = w->t->e;
    node_id node = e->buffers.at[e->list.at[event].buffer].node;
    w->n_requests = 0;
    *has_big = false;
    for (; event < e->list.n && e->list.at[event].is_alloc &&
           e->buffers.at[e->list.at[event].buffer].node.i == node.i;
         event++) {
        uint32_t i = e->list.at[event].buffer;
        if (!w->t->items[i].in_arena || w->n_requests == STEER_MAX_REQUESTS)
            continue;
        w->requests[w->n_requests++] = i;
        *has_big |= w->t->items[i].is_big;
    }
    return event;
}

static bool release(struct steer_walk *w, uint32_t i) {
    if (w->t->items[i].is_big)
        return VEC_PUSH(w->a, &w->dying, i);
    ort_arena_free(&w->now, w->chunk[i]);
    return true;
}

static bool walk(struct steer_walk *w, const struct steer_setup *setup, struct choice *list) {
    const struct ort_events *e = w->t->e;
    bool ok = true, has_big;
    for (uint32_t i = 0; i < e->list.n && ok && !w->fit.failed;) {
        while (w->fit.first < w->t->n_big && w->t->items[w->t->big[w->fit.first]].to <= i)
            w->fit.first++;
        if (!e->list.at[i].is_alloc) {
            ok = release(w, e->list.at[i++].buffer);
            continue;
        }
        uint32_t next = gather_requests(w, i, &has_big);
        if (has_big && !w->is_set_up)
            ok = w->t->is_gap[i] && set_up(w, setup, i);
        ok = ok && (has_big ? steer_node(w, i, list) : try(w, &(struct choice){0}, i, MANY_MOVES));
        i = next;
    }
    return ok;
}

// What still blocks is freed at the last place where something is done.
static void finish(struct steer_walk *w) {
    uint32_t event = 0;
    for (uint32_t i = 0; i < w->t->n_events; i++)
        if (w->t->is_gap[i])
            event = i;
    w->dying.n = w->n_plugs = 0;
    record(w, &(struct choice){.frees = true}, event);
    if (w->is_set_up && w->origin > 0)
        add_op(w, (struct steer_op){STEER_FREE, event, 0, w->base_op, 0});
}

bool steer_search(const struct steer_trace *t, const struct steer_layout *layout,
                  const struct steer_setup *setup, struct arena *a, struct steer_ops *out) {
    assert(t && layout && setup && a && out);
    assert(setup->region_bytes >= setup->height && setup->height >= setup->region_bytes / 2);
    struct steer_walk w = {.t = t,
                           .a = a,
                           .chunk = ARENA_ARRAY(a, uint32_t, t->n_items + 1),
                           .trial_chunk = ARENA_ARRAY(a, uint32_t, t->n_items + 1),
                           .out = out};
    struct choice *list = ARENA_ARRAY(a, struct choice, MAX_CHOICES);
    *out = (struct steer_ops){0};
    if (!w.chunk || !w.trial_chunk || !list || !steer_fit_make(t, layout, setup->height, a, &w.fit))
        return false;
    ort_arena_reset(&w.now, a);
    out->found = walk(&w, setup, list);
    finish(&w);
    return !w.fit.failed && !w.now.failed && !w.trial.failed;
}
