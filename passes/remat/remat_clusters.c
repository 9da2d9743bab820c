// Coarsening: units that lose nothing by running together become clusters, which makes the problem
// three times smaller or more. A cluster runs as a whole: while it runs it is charged for
// everything that it reads, afterwards for everything of it that others read. So merging can lose
// memory, where one part does not need what another part reads; and choices, where a part would
// better run at another time or more often than the rest.
//
// Let v be the only reader of u, and let "small" mean at most a 64th of the largest tensor. They
// merge
//   early  when v reads nothing but u and what u reads, and makes no more than u: running v right
//          after u never holds more than keeping u until v runs. Nothing is lost.
//   late   when u reads no more (beyond what v reads) than it makes, so that running u right before
//          v never holds more than keeping u; and when v makes no more than u, or u is cheap
//          compared with v, since else one might keep u in order to recompute v. Nothing, or a
//          small cost, is lost.
//   final  when v makes only outputs of the graph, so that neither is ever recomputed: the weight
//          gradient of a convolution, tap by tap, is dozens of such nodes.
//   tiny   when a unit makes and reads next to nothing, with the unit that it reads from.
// And only if no significant memory is lost: the merged cluster needs no more than the larger of
// the two alone, up to something small; or no more than half of what the most demanding unit of the
// graph needs, which is below every budget (for `final` all of it). Overcharges never add up, since
// only one cluster runs at a time.
#include "passes/remat/remat.h"

#include <stdlib.h>
#include <string.h>

#define SMALL_PART 64  // of the largest tensor: memory that may be lost
#define TINY_PART  16  // of that: memory that may be held in any case
#define CHEAP_PART 64  // of the cost of the reader: cost that may be recomputed in any case
#define MAX_UNITS  256 // of a cluster
#define MAX_ROUNDS 4

struct cluster {
    uint32_t *unit; // in the order in which they run
    uint32_t n;
    uint32_t at; // the unit whose position in the order it takes
    struct remat_load load;
    int64_t need_bytes; // what it reads and what it makes
    bool has_output;    // makes an output of the graph
    bool is_final;      // makes nothing but outputs of the graph, and they have no readers
};

struct coarsening {
    const struct remat_units *u;
    struct arena *arena;
    uint32_t *readers_start, *reader; // per product: the units that read it
    struct cluster *cluster;          // per unit; n = 0: merged into another one
    uint32_t *of;                     // per unit: its cluster
    int64_t small_bytes, tiny_bytes, floor_bytes;
    // Marks of the last measurement, per unit and per product.
    uint32_t mark, *inside, *read_mark;
    uint32_t *n_inside,
        *last; // per product: reads inside the cluster, and the position of the last
};

static const struct remat_unit *unit_at(const struct coarsening *k, uint32_t i) {
    return &k->u->unit[i];
}

static bool is_external(const struct coarsening *k, uint32_t p) {
    return k->u->product.at[p].is_output ||
           k->n_inside[p] < k->readers_start[p + 1] - k->readers_start[p];
}

// Marks the members and counts the reads between them. Returns the bytes read from outside.
static int64_t mark_members(struct coarsening *k, const struct cluster *c) {
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

static void add_products(struct coarsening *k, struct cluster *c, const struct remat_unit *u) {
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

// Bytes that are freed after the i-th member.
static int64_t freed_bytes(const struct coarsening *k, const struct remat_unit *u, uint32_t i) {
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

// Simulates the members in order and sets the cluster's loads.
static void measure(struct coarsening *k, struct cluster *c) {
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
        live -= freed_bytes(k, u, i);
    }
    c->need_bytes = in_bytes + c->load.inner_bytes;
}

static int by_unit(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

// The units of both, in order, measured. False: too many, of several parts, or out of memory.
// Parts of a divided step stay apart: they may be placed on different devices.
static int32_t part_of(const struct coarsening *k, const struct cluster *c) {
    int32_t part = 0;
    for (uint32_t i = 0; i < c->n && !part; i++)
        part = unit_at(k, c->unit[i])->part;
    return part;
}

static bool are_apart(const struct coarsening *k, const struct cluster *a,
                      const struct cluster *b) {
    int32_t x = part_of(k, a), y = part_of(k, b);
    return x && y && x != y;
}

static bool merge(struct coarsening *k, const struct cluster *a, const struct cluster *b,
                  struct cluster *out) {
    if (a->n + b->n > MAX_UNITS || are_apart(k, a, b))
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

static void replace(struct coarsening *k, uint32_t into, uint32_t gone,
                    const struct cluster *merged) {
    k->cluster[gone].n = 0;
    k->cluster[into] = *merged;
    for (uint32_t i = 0; i < merged->n; i++)
        k->of[merged->unit[i]] = into;
}

// The only cluster that reads from this one; UINT32_MAX: none or several.
static uint32_t only_reader(const struct coarsening *k, uint32_t c) {
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

// Bytes that `b` reads and `a` neither makes nor reads. Marks `a`.
static int64_t reads_beyond(struct coarsening *k, const struct cluster *a,
                            const struct cluster *b) {
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

static bool need_fits(const struct coarsening *k, const struct cluster *a, const struct cluster *b,
                      const struct cluster *merged) {
    int64_t larger = a->need_bytes > b->need_bytes ? a->need_bytes : b->need_bytes;
    return merged->need_bytes <= larger + k->small_bytes ||
           merged->need_bytes <= k->floor_bytes / 2;
}

static bool merges_early(struct coarsening *k, const struct cluster *u, const struct cluster *v) {
    return out_bytes(v) <= out_bytes(u) + k->tiny_bytes && reads_beyond(k, u, v) == 0;
}

static bool merges_late(struct coarsening *k, const struct cluster *u, const struct cluster *v) {
    bool is_settled = out_bytes(v) <= out_bytes(u) + k->tiny_bytes || v->is_final ||
                      u->load.cost <= v->load.cost / CHEAP_PART;
    return is_settled && reads_beyond(k, v, u) <= out_bytes(u) + k->small_bytes;
}

static bool try_reader(struct coarsening *k, uint32_t c) {
    struct cluster *u = &k->cluster[c], merged;
    uint32_t reader = u->has_output || u->load.once ? UINT32_MAX : only_reader(k, c);
    if (reader == UINT32_MAX || k->cluster[reader].load.once)
        return false;
    struct cluster *v = &k->cluster[reader];
    bool early = merges_early(k, u, v);
    if (!early && !v->is_final && !merges_late(k, u, v))
        return false;
    if (!merge(k, u, v, &merged))
        return false;
    bool fits = need_fits(k, u, v, &merged) || (v->is_final && merged.need_bytes <= k->floor_bytes);
    if (!fits)
        return false;
    if (early)
        merged.at = u->at;
    replace(k, reader, c, &merged);
    return true;
}

// The only cluster that a unit reads from; UINT32_MAX: none or several.
static uint32_t only_source(const struct coarsening *k, const struct remat_unit *u) {
    uint32_t found = UINT32_MAX;
    for (uint32_t r = u->reads; r < u->reads + u->n_reads; r++) {
        uint32_t by = k->of[k->u->product.at[k->u->read.at[r]].unit];
        if (found != UINT32_MAX && by != found)
            return UINT32_MAX;
        found = by;
    }
    return found;
}

static bool try_source(struct coarsening *k, uint32_t c) {
    struct cluster *v = &k->cluster[c], merged;
    if (v->n != 1 || v->load.once || v->need_bytes > k->tiny_bytes)
        return false;
    uint32_t source = only_source(k, unit_at(k, v->unit[0]));
    if (source == UINT32_MAX || k->cluster[source].load.once)
        return false;
    struct cluster *p = &k->cluster[source];
    if (out_bytes(p) > k->tiny_bytes || v->load.cost > p->load.cost || !merge(k, v, p, &merged) ||
        !need_fits(k, v, p, &merged))
        return false;
    replace(k, source, c, &merged);
    return true;
}

static bool open_coarsening(struct coarsening *k) {
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
    // Counting sort: counts two positions ahead, prefix sums, then filling moves start[p + 1] to
    // the begin of p + 1.
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

static bool write_clusters(const struct coarsening *k, struct arena *a,
                           struct remat_clusters *out) {
    uint32_t n = k->u->n, *at = ARENA_ARRAY(k->arena, uint32_t, n);
    *out = (struct remat_clusters){.start = ARENA_ARRAY(a, uint32_t, n + 1),
                                   .member = ARENA_ARRAY(a, uint32_t, n),
                                   .load = ARENA_ARRAY(a, struct remat_load, n),
                                   .cluster_of = ARENA_ARRAY(a, uint32_t, n)};
    if (!at || !out->start || !out->member || !out->load || !out->cluster_of)
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
            out->cluster_of[c->unit[j]] = out->n;
            out->member[n_members++] = c->unit[j];
        }
        out->load[out->n] = c->load;
        out->start[++out->n] = n_members;
    }
    return true;
}

status remat_clusters_make(const struct remat_units *u, bool fine, struct arena *a, struct diags *d,
                           struct remat_clusters *out) {
    struct arena scratch = arena_make(a->mem);
    struct coarsening k = {.u = u, .arena = &scratch};
    bool ok = open_coarsening(&k), changed = !fine;
    for (int round = 0; ok && changed && round < MAX_ROUNDS; round++) {
        changed = false;
        for (uint32_t c = 0; c < u->n; c++)
            if (k.cluster[c].n)
                changed |= try_source(&k, c);
        for (uint32_t c = u->n; c-- > 0;)
            if (k.cluster[c].n)
                changed |= try_reader(&k, c);
    }
    ok = ok && write_clusters(&k, a, out);
    arena_free(&scratch);
    return ok ? ST_OK : diag_out_of_memory(d);
}
