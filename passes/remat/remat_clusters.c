// Units that had better run together become groups, so that the problem has a third of the nodes
// or less. A group runs as a whole: while it runs it is charged for everything that it reads, and
// outside for what others read of it. So joining can lose two things: memory, where a part would
// not need what another part reads; and choices, where a part would better run at another time or
// more often than the rest.
//
// Let u be read by v alone, and let "small" mean at most a 64th of the largest tensor. They join
//   early  when v reads nothing but u and what u reads, and makes no more than u: running v right
//          after u never holds more than holding u until v runs. Nothing is lost.
//   late   when u reads no more (beyond what v reads) than it makes: running u right before v never
//          holds more than holding u; and when v makes no more than u, or u is cheap beside v: else
//          one might hold u to run v again and again. Nothing, or a small cost, is lost.
//   final  when v makes only outputs of the graph, so that neither ever runs twice: the weight
//          gradient of a convolution, tap by tap, is dozens of nodes of this kind.
//   tiny   units that make next to nothing from next to nothing join what they read.
// And always, so that no memory is lost that matters: together they need no more than one of them
// alone, give or take something small; or no more than half of what the neediest unit of the graph
// needs, which is below every budget (for `final` all of it). What is charged too much never adds
// up: only one group runs at a time.
#include "passes/remat/remat.h"

#include <stdlib.h>
#include <string.h>

#define SMALL_PART  64  // of the largest tensor: what may be lost in memory
#define TINY_PART   16  // of that: what is held without a thought
#define CHEAP_PART  64  // of the cost of the reader: what may be run again without a thought
#define MOST_PARTS  256 // units of a group
#define MOST_ROUNDS 4

struct cluster {
    uint32_t *unit; // in the order in which they run
    uint32_t n;
    uint32_t at; // the unit whose place in the order it takes
    struct remat_load load;
    int64_t need_bytes; // what it reads and what it makes
    bool has_output;    // makes an output of the graph
    bool is_final;      // makes nothing else, and nobody reads that
};

struct grouping {
    const struct remat_units *u;
    struct arena *arena;
    uint32_t *readers_start, *reader; // per product: the units that read it
    struct cluster *cluster;          // per unit; n = 0: it has joined another one
    uint32_t *of;                     // per unit: its cluster
    int64_t small_bytes, tiny_bytes, floor_bytes;
    // Marks of the last measurement, per unit and per product.
    uint32_t mark, *inside, *read_mark;
    uint32_t *n_inside, *last; // per product: reads inside the group, and the place of the last
};

static const struct remat_unit *unit_at(const struct grouping *k, uint32_t i) {
    return &k->u->unit[i];
}

static bool is_external(const struct grouping *k, uint32_t p) {
    return k->u->product.at[p].is_output ||
           k->n_inside[p] < k->readers_start[p + 1] - k->readers_start[p];
}

// Counts reads inside, and sums up what comes from outside.
static int64_t mark_members(struct grouping *k, const struct cluster *c) {
    int64_t in_bytes = 0;
    k->mark++;
    for (uint32_t i = 0; i < c->n; i++) {
        const struct remat_unit *u = unit_at(k, c->unit[i]);
        k->inside[c->unit[i]] = k->mark;
        for (uint32_t p = u->products; p < u->products + u->n_products; p++) {
            k->n_inside[p] = 0;
            k->last[p] = i;
        }
        for (uint32_t r = u->reads; r < u->reads + u->n_reads; r++) {
            uint32_t p = k->u->read.at[r];
            k->n_inside[p]++;
            k->last[p] = i;
            if (k->read_mark[p] != k->mark && k->inside[k->u->product.at[p].unit] != k->mark)
                in_bytes += k->u->product.at[p].bytes;
            k->read_mark[p] = k->mark;
        }
    }
    return in_bytes;
}

static int64_t out_bytes(const struct cluster *c) {
    return c->load.output_bytes + c->load.other_bytes;
}

static void add_products(struct grouping *k, struct cluster *c, const struct remat_unit *u) {
    for (uint32_t p = u->products; p < u->products + u->n_products; p++) {
        const struct remat_product *made = &k->u->product.at[p];
        if (made->is_output)
            c->load.output_bytes += made->bytes;
        else if (is_external(k, p))
            c->load.other_bytes += made->bytes;
        c->has_output |= made->is_output;
        c->is_final &= !is_external(k, p) ||
                       (made->is_output && k->readers_start[p + 1] == k->readers_start[p]);
    }
}

// What ends with the i-th member.
static int64_t dying_bytes(const struct grouping *k, const struct remat_unit *u, uint32_t i) {
    int64_t n_bytes = 0;
    for (uint32_t p = u->products; p < u->products + u->n_products; p++)
        if (k->last[p] == i && !is_external(k, p))
            n_bytes += k->u->product.at[p].bytes;
    for (uint32_t r = u->reads; r < u->reads + u->n_reads; r++) {
        uint32_t p = k->u->read.at[r];
        if (k->inside[k->u->product.at[p].unit] == k->mark && k->last[p] == i && !is_external(k, p))
            n_bytes += k->u->product.at[p].bytes;
    }
    return n_bytes;
}

// Runs the members in order.
static void measure(struct grouping *k, struct cluster *c) {
    int64_t in_bytes = mark_members(k, c), live = 0;
    c->load = (struct remat_load){0};
    c->has_output = false;
    c->is_final = true;
    for (uint32_t i = 0; i < c->n; i++) {
        const struct remat_unit *u = unit_at(k, c->unit[i]);
        c->load.cost += u->cost;
        c->load.once |= u->once;
        add_products(k, c, u);
        for (uint32_t p = u->products; p < u->products + u->n_products; p++)
            live += k->u->product.at[p].bytes;
        if (live + u->workspace_bytes > c->load.inner_bytes)
            c->load.inner_bytes = live + u->workspace_bytes;
        live -= dying_bytes(k, u, i);
    }
    c->need_bytes = in_bytes + c->load.inner_bytes;
}

static int by_unit(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

// The units of both, in order, measured. False: too many, or no room.
static bool join(struct grouping *k, const struct cluster *a, const struct cluster *b,
                 struct cluster *out) {
    if (a->n + b->n > MOST_PARTS)
        return false;
    *out = (struct cluster){.n = a->n + b->n, .at = b->at};
    if (!(out->unit = ARENA_ARRAY(k->arena, uint32_t, out->n)))
        return false;
    memcpy(out->unit, a->unit, a->n * sizeof *a->unit);
    memcpy(out->unit + a->n, b->unit, b->n * sizeof *b->unit);
    qsort(out->unit, out->n, sizeof *out->unit, by_unit);
    measure(k, out);
    return true;
}

static void replace(struct grouping *k, uint32_t into, uint32_t gone, const struct cluster *joint) {
    k->cluster[gone].n = 0;
    k->cluster[into] = *joint;
    for (uint32_t i = 0; i < joint->n; i++)
        k->of[joint->unit[i]] = into;
}

// The one cluster that reads what this one makes; UINT32_MAX: none or several.
static uint32_t only_reader(const struct grouping *k, uint32_t c) {
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < k->cluster[c].n; i++) {
        const struct remat_unit *u = unit_at(k, k->cluster[c].unit[i]);
        for (uint32_t p = u->products; p < u->products + u->n_products; p++)
            for (uint32_t r = k->readers_start[p]; r < k->readers_start[p + 1]; r++) {
                uint32_t by = k->of[k->reader[r]];
                if (by == c || by == found)
                    continue;
                if (found != UINT32_MAX)
                    return UINT32_MAX;
                found = by;
            }
    }
    return found;
}

// After marking `a`: what `b` reads that a neither makes nor reads, in bytes.
static int64_t reads_beyond(struct grouping *k, const struct cluster *a, const struct cluster *b) {
    int64_t n_bytes = 0;
    mark_members(k, a);
    for (uint32_t i = 0; i < b->n; i++) {
        const struct remat_unit *u = unit_at(k, b->unit[i]);
        for (uint32_t r = u->reads; r < u->reads + u->n_reads; r++) {
            uint32_t p = k->u->read.at[r], by = k->u->product.at[p].unit;
            if (k->inside[by] == k->mark || k->of[by] == k->of[b->unit[i]] ||
                k->read_mark[p] == k->mark)
                continue;
            k->read_mark[p] = k->mark;
            n_bytes += k->u->product.at[p].bytes;
        }
    }
    return n_bytes;
}

static bool need_fits(const struct grouping *k, const struct cluster *a, const struct cluster *b,
                      const struct cluster *joint) {
    int64_t most = a->need_bytes > b->need_bytes ? a->need_bytes : b->need_bytes;
    return joint->need_bytes <= most + k->small_bytes || joint->need_bytes <= k->floor_bytes / 2;
}

static bool joins_early(struct grouping *k, const struct cluster *u, const struct cluster *v) {
    return out_bytes(v) <= out_bytes(u) + k->tiny_bytes && reads_beyond(k, u, v) == 0;
}

static bool joins_late(struct grouping *k, const struct cluster *u, const struct cluster *v) {
    bool settled = out_bytes(v) <= out_bytes(u) + k->tiny_bytes || v->is_final ||
                   u->load.cost <= v->load.cost / CHEAP_PART;
    return settled && reads_beyond(k, v, u) <= out_bytes(u) + k->small_bytes;
}

static bool try_reader(struct grouping *k, uint32_t c) {
    struct cluster *u = &k->cluster[c], joint;
    uint32_t reader = u->has_output || u->load.once ? UINT32_MAX : only_reader(k, c);
    if (reader == UINT32_MAX || k->cluster[reader].load.once)
        return false;
    struct cluster *v = &k->cluster[reader];
    bool early = joins_early(k, u, v);
    if (!early && !v->is_final && !joins_late(k, u, v))
        return false;
    if (!join(k, u, v, &joint))
        return false;
    bool fits = need_fits(k, u, v, &joint) || (v->is_final && joint.need_bytes <= k->floor_bytes);
    if (!fits)
        return false;
    if (early)
        joint.at = u->at;
    replace(k, reader, c, &joint);
    return true;
}

// The one cluster that it reads from; UINT32_MAX: none or several.
static uint32_t only_source(const struct grouping *k, const struct remat_unit *u) {
    uint32_t found = UINT32_MAX;
    for (uint32_t r = u->reads; r < u->reads + u->n_reads; r++) {
        uint32_t by = k->of[k->u->product.at[k->u->read.at[r]].unit];
        if (found != UINT32_MAX && by != found)
            return UINT32_MAX;
        found = by;
    }
    return found;
}

static bool try_source(struct grouping *k, uint32_t c) {
    struct cluster *v = &k->cluster[c], joint;
    if (v->n != 1 || v->load.once || v->need_bytes > k->tiny_bytes)
        return false;
    uint32_t source = only_source(k, unit_at(k, v->unit[0]));
    if (source == UINT32_MAX || k->cluster[source].load.once)
        return false;
    struct cluster *p = &k->cluster[source];
    if (out_bytes(p) > k->tiny_bytes || v->load.cost > p->load.cost || !join(k, v, p, &joint) ||
        !need_fits(k, v, p, &joint))
        return false;
    replace(k, source, c, &joint);
    return true;
}

static bool open_grouping(struct grouping *k) {
    const struct remat_units *u = k->u;
    size_t n = u->n, products = u->product.n;
    k->readers_start = ARENA_ARRAY(k->arena, uint32_t, products + 2);
    k->reader = ARENA_ARRAY(k->arena, uint32_t, u->read.n);
    k->cluster = ARENA_ARRAY(k->arena, struct cluster, n);
    k->of = ARENA_ARRAY(k->arena, uint32_t, n);
    k->inside = ARENA_ARRAY(k->arena, uint32_t, n);
    k->read_mark = ARENA_ARRAY(k->arena, uint32_t, products);
    k->n_inside = ARENA_ARRAY(k->arena, uint32_t, products);
    k->last = ARENA_ARRAY(k->arena, uint32_t, products);
    uint32_t *unit = ARENA_ARRAY(k->arena, uint32_t, n);
    if (!k->readers_start || !k->reader || !k->cluster || !k->of || !k->inside || !k->read_mark ||
        !k->n_inside || !k->last || !unit)
        return false;
    // Counted two places ahead, summed up, then filled: start[p + 1] moves to where p + 1 begins.
    for (size_t r = 0; r < u->read.n; r++)
        k->readers_start[u->read.at[r] + 2]++;
    for (size_t p = 2; p < products + 2; p++)
        k->readers_start[p] += k->readers_start[p - 1];
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t r = u->unit[i].reads; r < u->unit[i].reads + u->unit[i].n_reads; r++)
            k->reader[k->readers_start[u->read.at[r] + 1]++] = i;
    for (uint32_t i = 0; i < n; i++) {
        unit[i] = k->of[i] = i;
        k->cluster[i] = (struct cluster){.unit = &unit[i], .n = 1, .at = i};
        measure(k, &k->cluster[i]);
        if (k->cluster[i].need_bytes > k->floor_bytes)
            k->floor_bytes = k->cluster[i].need_bytes;
    }
    int64_t largest = 0;
    for (size_t p = 0; p < products; p++)
        if (u->product.at[p].bytes > largest)
            largest = u->product.at[p].bytes;
    k->small_bytes = largest / SMALL_PART;
    k->tiny_bytes = k->small_bytes / TINY_PART;
    return true;
}

static bool write_groups(const struct grouping *k, struct arena *a, struct remat_groups *out) {
    uint32_t n = k->u->n, *at = ARENA_ARRAY(k->arena, uint32_t, n);
    *out = (struct remat_groups){.start = ARENA_ARRAY(a, uint32_t, n + 1),
                                 .member = ARENA_ARRAY(a, uint32_t, n),
                                 .load = ARENA_ARRAY(a, struct remat_load, n),
                                 .group_of = ARENA_ARRAY(a, uint32_t, n)};
    if (!at || !out->start || !out->member || !out->load || !out->group_of)
        return false;
    for (uint32_t c = 0; c < n; c++)
        if (k->cluster[c].n)
            at[k->cluster[c].at] = c + 1;
    uint32_t n_members = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct cluster *c = at[i] ? &k->cluster[at[i] - 1] : NULL;
        if (!c)
            continue;
        for (uint32_t j = 0; j < c->n; j++) {
            out->group_of[c->unit[j]] = out->n;
            out->member[n_members++] = c->unit[j];
        }
        out->load[out->n] = c->load;
        out->start[++out->n] = n_members;
    }
    return true;
}

status remat_group(const struct remat_units *u, bool fine, struct arena *a, struct diags *d,
                   struct remat_groups *out) {
    struct arena scratch = arena_make(a->mem);
    struct grouping k = {.u = u, .arena = &scratch};
    bool ok = open_grouping(&k), changed = !fine;
    for (int round = 0; ok && changed && round < MOST_ROUNDS; round++) {
        changed = false;
        for (uint32_t c = 0; c < u->n; c++)
            if (k.cluster[c].n)
                changed |= try_source(&k, c);
        for (uint32_t c = u->n; c-- > 0;)
            if (k.cluster[c].n)
                changed |= try_reader(&k, c);
    }
    ok = ok && write_groups(&k, a, out);
    arena_free(&scratch);
    return ok ? ST_OK : diag_out_of_memory(d);
}
