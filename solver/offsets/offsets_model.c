// From buffers to parts. A sweep over starts and ends cuts time wherever nothing is live, and keeps
// of each part only the moments at which a maximal set of buffers is live: a set closes when an end
// follows a start. Two buffers overlap exactly when they share such a set, so nothing is lost, and
// long programs become short.
#include "solver/offsets/offsets_model.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/checked.h"

#define STEPS_PER_UNIT 1024
#define UNITS_PER_POLL 32 // of the stop

bool offsets_spend(struct offsets_work *w, int64_t steps) {
    w->steps += steps;
    if (w->steps >= STEPS_PER_UNIT) {
        int64_t units = w->steps / STEPS_PER_UNIT;
        w->steps %= STEPS_PER_UNIT;
        if ((w->used + units) / UNITS_PER_POLL != w->used / UNITS_PER_POLL && w->stop &&
            stop_now(w->stop))
            w->stopped = true;
        w->used += units;
    }
    return !w->stopped && w->used < w->limit;
}

struct event {
    int64_t time;
    size_t buffer;
    bool is_start;
};

// Ends come before starts of the same time: the ranges are half open.
static int event_order(const void *x, const void *y) {
    const struct event *a = x, *b = y;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->is_start != b->is_start)
        return a->is_start ? 1 : -1;
    return a->buffer < b->buffer ? -1 : 1;
}

static bool is_live(const struct buffer *b) {
    return b->size > 0 && b->lower < b->upper;
}

// All sums that any search can form are below the sum of sizes and alignments plus the highest
// fixed end; when that fits, no later addition needs a check.
static status check_input(const struct buffer *buffers, size_t n, struct diags *d) {
    int64_t sum = 0, fixed_end = 0, end = 0;
    for (size_t i = 0; i < n; i++) {
        const struct buffer *b = &buffers[i];
        if (b->size < 0 || b->lower > b->upper || b->alignment < 0 || (b->is_fixed && b->fixed < 0))
            return diag_error(d, DIAG_MALFORMED, loc_none(),
                              "buffer %zu: size, alignment and fixed offset must not be negative, "
                              "nor lower above upper",
                              i);
        if (b->is_fixed && b->alignment > 1 && b->fixed % b->alignment != 0)
            return diag_error(
                d, DIAG_MALFORMED, loc_none(),
                "buffer %zu: fixed offset %lld is not a multiple of its alignment %lld", i,
                (long long)b->fixed, (long long)b->alignment);
        if (!checked_add(sum, b->size, &sum) || !checked_add(sum, b->alignment, &sum) ||
            (b->is_fixed && !checked_add(b->fixed, b->size, &end)))
            return diag_error(d, DIAG_LIMIT, loc_none(), "the sizes do not fit in 63 bits");
        if (b->is_fixed && end > fixed_end)
            fixed_end = end;
    }
    // Twice, so that sums of two ends stay in range too.
    if (sum > INT64_MAX / 4 || fixed_end > INT64_MAX / 4 || n > INT32_MAX / 4)
        return diag_error(d, DIAG_LIMIT, loc_none(), "the sizes do not fit in 61 bits");
    return ST_OK;
}

static bool part_alloc(struct arena *a, struct offsets_part *p, int32_t n) {
    *p = (struct offsets_part){.best_bytes = INT64_MAX};
    p->lo = ARENA_ARRAY(a, int32_t, n);
    p->hi = ARENA_ARRAY(a, int32_t, n);
    p->size = ARENA_ARRAY(a, int64_t, n);
    p->align = ARENA_ARRAY(a, int64_t, n);
    p->fixed = ARENA_ARRAY(a, int64_t, n);
    p->input = ARENA_ARRAY(a, size_t, n);
    p->load = ARENA_ARRAY(a, int64_t, n);
    p->best = ARENA_ARRAY(a, int64_t, n);
    return p->lo && p->hi && p->size && p->align && p->fixed && p->input && p->load && p->best;
}

static int32_t part_add(struct offsets_part *p, const struct buffer *b, size_t input) {
    int32_t i = p->n++;
    p->size[i] = b->size;
    p->align[i] = b->alignment > 1 ? b->alignment : 1;
    p->fixed[i] = b->is_fixed ? b->fixed : -1;
    p->input[i] = input;
    if (b->is_fixed) {
        p->has_fixed = true;
        if (b->fixed + b->size > p->bound)
            p->bound = b->fixed + b->size;
    }
    return i;
}

// Sections of one part, from its events; `item` maps buffers to items.
static void part_fill(struct offsets_part *p, const struct buffer *buffers,
                      const struct event *event, size_t n_events, int32_t *item) {
    bool open = false; // a start came since the last section closed
    for (size_t e = 0; e < n_events; e++) {
        size_t b = event[e].buffer;
        if (event[e].is_start) {
            item[b] = part_add(p, &buffers[b], b);
            p->lo[item[b]] = p->n_sections;
            open = true;
        } else {
            if (open)
                p->n_sections++;
            open = false;
            p->hi[item[b]] = p->n_sections;
        }
    }
    for (int32_t i = 0; i < p->n; i++) {
        p->load[p->lo[i]] += p->size[i];
        if (p->hi[i] < p->n_sections)
            p->load[p->hi[i]] -= p->size[i];
    }
    for (int32_t s = 0; s < p->n_sections; s++) {
        if (s)
            p->load[s] += p->load[s - 1];
        if (p->load[s] > p->bound)
            p->bound = p->load[s];
    }
}

// Items are numbered by their start, so those after i that overlap it are a run: it ends where a
// start lies at or after i's end.
static bool part_near(struct arena *a, struct offsets_part *p) {
    int64_t n_pairs = 0;
    int32_t *start = ARENA_ARRAY(a, int32_t, p->n + 1);
    if (!start)
        return false;
    for (int32_t i = 0; i < p->n && n_pairs <= OFFSETS_NEAR_PAIRS; i++)
        for (int32_t j = i + 1; j < p->n && p->lo[j] < p->hi[i]; j++, n_pairs++) {
            start[i + 1]++;
            start[j + 1]++;
        }
    if (n_pairs > OFFSETS_NEAR_PAIRS)
        return true;
    int32_t *near = ARENA_ARRAY(a, int32_t, n_pairs * 2);
    int32_t *fill = ARENA_ARRAY(a, int32_t, p->n + 1);
    if (!near || !fill)
        return false;
    for (int32_t i = 0; i < p->n; i++)
        fill[i + 1] = start[i + 1] += start[i];
    for (int32_t i = 0; i < p->n; i++)
        for (int32_t j = i + 1; j < p->n && p->lo[j] < p->hi[i]; j++) {
            near[fill[i]++] = j;
            near[fill[j]++] = i;
        }
    p->near_start = start;
    p->near = near;
    return true;
}

// The starts and ends of all live ranges, in time order.
struct sweep {
    const struct buffer *buffers;
    struct event *event;
    size_t n_events;
    int32_t *item; // per buffer: its item in the part
};

static status make_parts(const struct sweep *s, struct arena *a, struct diags *d,
                         struct offsets_model *out) {
    int32_t n_live = 0;
    for (size_t e = 0, first = 0; e < s->n_events; e++) {
        n_live += s->event[e].is_start ? 1 : -1;
        if (n_live > 0)
            continue;
        struct offsets_part *p = &out->part[out->n_parts++];
        size_t n = e + 1 - first;
        if (!part_alloc(a, p, (int32_t)(n / 2)))
            return diag_out_of_memory(d);
        part_fill(p, s->buffers, s->event + first, n, s->item);
        first = e + 1;
    }
    return ST_OK;
}

status offsets_model_make(const struct buffer *buffers, size_t n, struct arena *a, struct diags *d,
                          struct offsets_model *out) {
    *out = (struct offsets_model){0};
    status st = check_input(buffers, n, d);
    if (st != ST_OK)
        return st;
    struct arena scratch = arena_make(a->mem);
    struct sweep s = {.buffers = buffers,
                      .event = ARENA_ARRAY(&scratch, struct event, 2 * n),
                      .item = ARENA_ARRAY(&scratch, int32_t, n)};
    size_t n_parts = 0;
    int32_t n_live = 0;
    if (!s.event || !s.item) {
        arena_free(&scratch);
        return diag_out_of_memory(d);
    }
    for (size_t i = 0; i < n; i++) {
        int64_t end = buffers[i].size + (buffers[i].is_fixed ? buffers[i].fixed : 0);
        if (end > out->min_bytes)
            out->min_bytes = end;
        if (is_live(&buffers[i])) {
            s.event[s.n_events++] = (struct event){buffers[i].lower, i, true};
            s.event[s.n_events++] = (struct event){buffers[i].upper, i, false};
        }
    }
    qsort(s.event, s.n_events, sizeof *s.event, event_order);
    for (size_t e = 0; e < s.n_events; e++) {
        n_live += s.event[e].is_start ? 1 : -1;
        n_parts += n_live == 0;
    }
    out->part = ARENA_ARRAY(a, struct offsets_part, n_parts);
    st = out->part ? make_parts(&s, a, d, out) : diag_out_of_memory(d);
    arena_free(&scratch);
    return st;
}

status offsets_model_near(struct offsets_model *m, struct arena *a, struct diags *d) {
    for (int32_t k = 0; k < m->n_parts; k++)
        if (!part_near(a, &m->part[k]))
            return diag_out_of_memory(d);
    return ST_OK;
}

void offsets_part_offer(struct offsets_part *p, const int64_t *offset) {
    int64_t bytes = 0;
    for (int32_t i = 0; i < p->n; i++)
        if (offset[i] + p->size[i] > bytes)
            bytes = offset[i] + p->size[i];
    if (bytes >= p->best_bytes)
        return;
    p->best_bytes = bytes;
    memcpy(p->best, offset, (size_t)p->n * sizeof *offset);
}
