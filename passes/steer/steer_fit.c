// Repair of a layout by ejection chains: see steer_fit.h. An item without a place goes where the
// items that it pushes aside weigh least; items with real addresses cannot be pushed. The weight of
// an item grows each time it is pushed, within one repair. The largest open item goes first.
#include "passes/steer/steer_fit.h"

#include <assert.h>
#include <stdlib.h>

#include "solver/offsets.h"

#define HEAVIER 1.3 // after each time an item is pushed aside

static const struct steer_item *item(const struct steer_fit *f, uint32_t i) {
    return &f->t->items[i];
}

static void set(struct steer_fit *f, uint32_t i, int64_t at, int64_t end) {
    if (!VEC_PUSH(f->a, &f->undo, (struct steer_undo){i, f->at[i], f->end[i]}))
        f->failed = true;
    f->at[i] = at;
    f->end[i] = end;
}

static void open_item(struct steer_fit *f, uint32_t i) {
    set(f, i, -1, -1);
    if (!f->is_open[i] && !VEC_PUSH(f->a, &f->open, i))
        f->failed = true;
    f->is_open[i] = true;
}

static bool overlaps(const struct steer_fit *f, uint32_t i, uint32_t k) {
    return item(f, k)->to > item(f, i)->from && item(f, k)->from < item(f, i)->to;
}

static size_t add_near(struct steer_fit *f, uint32_t i, uint32_t k, size_t n) {
    if (k == i || f->at[k] < 0 || !overlaps(f, i, k))
        return n;
    struct steer_edge e = {.weight = f->is_fixed[k] ? 0 : f->weight[k], .n_fixed = f->is_fixed[k]};
    f->near[n] = k;
    f->lower[n] = f->upper[n] = e;
    f->lower[n].at = f->at[k];
    f->upper[n].at = f->end[k];
    return n + 1;
}

static int by_address(const void *x, const void *y) {
    const struct steer_edge *a = x, *b = y;
    return (a->at > b->at) - (a->at < b->at);
}

static void sort_edges(struct steer_edge *e, size_t n) {
    struct steer_edge sum = {0};
    qsort(e, n, sizeof *e, by_address);
    for (size_t i = 0; i < n; i++) {
        struct steer_edge own = e[i];
        e[i].weight = sum.weight;
        e[i].n_fixed = sum.n_fixed;
        sum.weight += own.weight;
        sum.n_fixed += own.n_fixed;
    }
    e[n] = (struct steer_edge){INT64_MAX, sum.weight, sum.n_fixed};
}

// The items with a place that are alive together with this one.
static size_t gather(struct steer_fit *f, uint32_t i) {
    const struct steer_trace *t = f->t;
    size_t n = 0;
    for (uint32_t k = f->first; k < t->n_big && item(f, t->big[k])->from < item(f, i)->to; k++)
        n = add_near(f, i, t->big[k], n);
    for (size_t k = 0; k < f->strays.n; k++)
        n = add_near(f, i, f->strays.at[k], n);
    f->steps += (int64_t)n + t->n_big / 16;
    return n;
}

// The first edge at `at` or above.
static size_t find_edge(const struct steer_edge *e, size_t n, int64_t at) {
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (e[mid].at < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

struct spot {
    int64_t at; // < 0: none
    double weight;
};

// Is this a better address than the best so far?
static void weigh_spot(const struct steer_fit *f, size_t n, int64_t at, int64_t n_bytes,
                       struct spot *best) {
    if (at < 0 || at + n_bytes > f->height)
        return;
    const struct steer_edge *below = &f->lower[find_edge(f->lower, n, at + n_bytes)];
    const struct steer_edge *past = &f->upper[find_edge(f->upper, n, at + 1)];
    double weight = below->weight - past->weight;
    if (below->n_fixed == past->n_fixed &&
        (best->at < 0 || weight < best->weight || (weight == best->weight && at < best->at)))
        *best = (struct spot){at, weight};
}

// Pushes aside what can be pushed; false: an item with its real address is in the way.
static bool clear(struct steer_fit *f, const uint32_t *near, size_t n, int64_t at, int64_t end) {
    for (size_t k = 0; k < n; k++) {
        uint32_t i = near[k];
        if (f->at[i] < 0 || f->at[i] >= end || f->end[i] <= at)
            continue;
        if (f->is_fixed[i])
            return false;
        f->weight[i] *= HEAVIER;
        open_item(f, i);
    }
    return true;
}

// A place for an open item; false: there is none.
static bool place(struct steer_fit *f, uint32_t i) {
    size_t n = gather(f, i);
    int64_t n_bytes = item(f, i)->n_bytes;
    struct spot best = {.at = -1};
    sort_edges(f->lower, n);
    sort_edges(f->upper, n);
    weigh_spot(f, n, 0, n_bytes, &best);
    weigh_spot(f, n, f->height - n_bytes, n_bytes, &best);
    for (size_t k = 0; k < n; k++) {
        weigh_spot(f, n, f->upper[k].at, n_bytes, &best);
        weigh_spot(f, n, f->lower[k].at - n_bytes, n_bytes, &best);
    }
    f->steps += 8 * (int64_t)n;
    if (best.at < 0 || !clear(f, f->near, n, best.at, best.at + n_bytes))
        return false;
    set(f, i, best.at, best.at + n_bytes);
    return true;
}

static uint32_t take_largest(struct steer_fit *f) {
    size_t best = 0;
    for (size_t k = 1; k < f->open.n; k++)
        if (item(f, f->open.at[k])->n_bytes > item(f, f->open.at[best])->n_bytes)
            best = k;
    uint32_t i = f->open.at[best];
    f->open.at[best] = f->open.at[--f->open.n];
    f->is_open[i] = false;
    return i;
}

static bool repair(struct steer_fit *f, uint32_t max_moves) {
    for (uint32_t n = 0; f->open.n > 0; n++)
        if (n == max_moves || !place(f, take_largest(f)) || f->failed)
            return false;
    return true;
}

static double first_weight(const struct steer_fit *f, uint32_t i) {
    return (double)item(f, i)->n_bytes * (double)(item(f, i)->to - item(f, i)->from + 10);
}

void steer_fit_end(struct steer_fit *f, bool keep) {
    while (f->open.n > 0)
        f->is_open[f->open.at[--f->open.n]] = false;
    while (f->undo.n > 0) {
        struct steer_undo u = f->undo.at[--f->undo.n];
        f->weight[u.item] = first_weight(f, u.item);
        if (!keep) {
            f->at[u.item] = u.at;
            f->end[u.item] = u.end;
        }
    }
    for (size_t k = 0; k < f->put.n && !keep; k++)
        f->is_fixed[f->put.at[k]] = false;
    if (!keep)
        f->strays.n = f->n_strays;
    f->put.n = 0;
}

bool steer_fit_put(struct steer_fit *f, const struct steer_place *p, uint32_t n,
                   uint32_t max_moves) {
    bool ok = !f->failed;
    assert(f->open.n == 0 && f->undo.n == 0 && f->put.n == 0);
    f->n_strays = f->strays.n;
    for (uint32_t k = 0; k < n && ok; k++) { // none of them may push another aside
        ok = VEC_PUSH(f->a, &f->put, p[k].item);
        f->failed |= !ok;
        f->is_fixed[p[k].item] = true;
        set(f, p[k].item, p[k].at, p[k].end);
    }
    for (uint32_t k = 0; k < n && ok; k++) {
        uint32_t i = p[k].item;
        if (p[k].at < 0)
            continue;
        ok = p[k].at + item(f, i)->n_bytes <= f->height &&
             clear(f, f->near, gather(f, i), p[k].at, p[k].end);
        if (ok && !item(f, i)->is_big && !VEC_PUSH(f->a, &f->strays, i))
            f->failed = true;
    }
    ok = ok && repair(f, max_moves) && !f->failed;
    if (!ok)
        steer_fit_end(f, false);
    return ok;
}

static bool allocate(struct steer_fit *f) {
    uint32_t n = f->t->n_items + 1;
    struct arena *a = f->a;
    f->at = ARENA_ARRAY(a, int64_t, n);
    f->end = ARENA_ARRAY(a, int64_t, n);
    f->is_fixed = ARENA_ARRAY(a, bool, n);
    f->is_open = ARENA_ARRAY(a, bool, n);
    f->weight = ARENA_ARRAY(a, double, n);
    f->near = ARENA_ARRAY(a, uint32_t, n);
    f->lower = ARENA_ARRAY(a, struct steer_edge, n);
    f->upper = ARENA_ARRAY(a, struct steer_edge, n);
    if (!f->at || !f->end || !f->is_fixed || !f->is_open || !f->weight || !f->near || !f->lower ||
        !f->upper)
        return false;
    for (uint32_t i = 0; i < n; i++)
        f->at[i] = f->end[i] = -1;
    return true;
}

status steer_layout_of(const struct steer_trace *t, struct arena *a, struct diags *d,
                       struct steer_layout *out) {
    struct buffer *buffers = ARENA_ARRAY(a, struct buffer, t->n_big + 1);
    *out = (struct steer_layout){.offset = ARENA_ARRAY(a, int64_t, t->n_big + 1)};
    if (!buffers || !out->offset)
        return diag_out_of_memory(d);
    for (uint32_t k = 0; k < t->n_big; k++) {
        const struct steer_item *item = &t->items[t->big[k]];
        buffers[k] = (struct buffer){
            .lower = item->from, .upper = item->to, .size = item->n_bytes, .alignment = 1};
    }
    struct offsets_options options = {.work = OFFSETS_WORK_QUICK};
    struct offsets_result layout = {.offset = out->offset};
    status st = offsets_assign(buffers, t->n_big, &options, a, d, &layout);
    out->n_bytes = layout.arena_bytes;
    return st;
}

bool steer_fit_make(const struct steer_trace *t, const struct steer_layout *layout, int64_t height,
                    struct arena *a, struct steer_fit *out) {
    assert(height >= layout->n_bytes);
    *out = (struct steer_fit){.t = t, .a = a, .height = height};
    if (!allocate(out))
        return false;
    for (uint32_t k = 0; k < t->n_big; k++) {
        uint32_t i = t->big[k];
        out->at[i] = layout->offset[k];
        out->end[i] = layout->offset[k] + t->items[i].n_bytes;
        out->weight[i] = first_weight(out, i);
    }
    return true;
}
