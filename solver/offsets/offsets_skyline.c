// Best fit on the skyline, after Burke's strip packing and Sekiyama's memory planner: the lowest
// stretch of the skyline gets the item of highest priority whose live range lies within it; when
// there is none, the stretch rises to its lower neighbour. Priorities are ranks in a given order.
//
// The search for an item is a range query over (lo, hi), answered by a k-d tree whose nodes store
// the least rank below them. The stretches are a linked list over the sections, with a heap for the
// lowest. So n items take about n sqrt(n) steps in the worst case.
#include <assert.h>
#include <stdlib.h>

#include "solver/offsets/offsets_fit.h"

#define LEAF 8 // items in a leaf of the tree

struct node {
    int32_t lo_min, lo_max, hi_min, hi_max;
    int32_t first; // the least rank of an unplaced item below; INT32_MAX: none
};

struct tree {
    struct node *node;
    struct corner {
        int32_t lo, hi, rank;
    } * corner;     // in the order of the tree; rank INT32_MAX: placed
    int32_t *place; // per rank: where its corner is
    int64_t steps;
    int32_t start, end, best; // of the query: the sections, and the least rank so far
};

struct stretch {
    int64_t height;
    int32_t start, end, before; // sections; before: start of the stretch to the left, or -1
    int32_t slot;               // in the heap
};

struct skyline {
    struct stretch *at; // by start
    int32_t *heap;      // starts, the lowest on top
    int32_t n, n_sections;
};

static int corner_by_lo(const void *x, const void *y) {
    const struct corner *a = x, *b = y;
    return a->lo != b->lo ? (a->lo < b->lo ? -1 : 1) : a->rank - b->rank;
}

static int corner_by_hi(const void *x, const void *y) {
    const struct corner *a = x, *b = y;
    return a->hi != b->hi ? (a->hi < b->hi ? -1 : 1) : a->rank - b->rank;
}

static int32_t min_of(int32_t x, int32_t y) {
    return x < y ? x : y;
}

static int32_t max_of(int32_t x, int32_t y) {
    return x > y ? x : y;
}

static void tree_build(struct tree *t, int32_t k, int32_t from, int32_t to, bool by_lo) {
    struct node *node = &t->node[k];
    if (to - from <= LEAF) {
        *node = (struct node){INT32_MAX, -1, INT32_MAX, -1, INT32_MAX};
        for (int32_t i = from; i < to; i++) {
            const struct corner *c = &t->corner[i];
            *node = (struct node){min_of(node->lo_min, c->lo), max_of(node->lo_max, c->lo),
                                  min_of(node->hi_min, c->hi), max_of(node->hi_max, c->hi),
                                  min_of(node->first, c->rank)};
            t->place[c->rank] = i;
        }
        return;
    }
    int32_t middle = from + (to - from) / 2;
    qsort(t->corner + from, (size_t)(to - from), sizeof *t->corner,
          by_lo ? corner_by_lo : corner_by_hi);
    tree_build(t, 2 * k, from, middle, !by_lo);
    tree_build(t, 2 * k + 1, middle, to, !by_lo);
    const struct node *l = &t->node[2 * k], *r = &t->node[2 * k + 1];
    *node = (struct node){min_of(l->lo_min, r->lo_min), max_of(l->lo_max, r->lo_max),
                          min_of(l->hi_min, r->hi_min), max_of(l->hi_max, r->hi_max),
                          min_of(l->first, r->first)};
}

// The query, in the subtree k of corners from .. to-1.
static void tree_search(struct tree *t, int32_t k, int32_t from, int32_t to) {
    const struct node *node = &t->node[k];
    t->steps++;
    if (node->first >= t->best || node->lo_max < t->start || node->hi_min > t->end)
        return;
    if (node->lo_min >= t->start && node->hi_max <= t->end) {
        t->best = node->first;
        return;
    }
    if (to - from <= LEAF) {
        for (int32_t i = from; i < to; i++) {
            const struct corner *c = &t->corner[i];
            if (c->lo >= t->start && c->hi <= t->end && c->rank < t->best)
                t->best = c->rank;
        }
        return;
    }
    int32_t middle = from + (to - from) / 2;
    tree_search(t, 2 * k, from, middle);
    tree_search(t, 2 * k + 1, middle, to);
}

// The least rank among items with lo >= start and hi <= end; INT32_MAX: there is none.
static int32_t tree_find(struct tree *t, int32_t n, int32_t start, int32_t end) {
    t->start = start;
    t->end = end;
    t->best = INT32_MAX;
    tree_search(t, 1, 0, n);
    return t->best;
}

static int32_t tree_remove(struct tree *t, int32_t k, int32_t from, int32_t to, int32_t place) {
    int32_t first = INT32_MAX;
    if (to - from <= LEAF) {
        t->corner[place].rank = INT32_MAX;
        for (int32_t i = from; i < to; i++)
            first = min_of(first, t->corner[i].rank);
    } else {
        int32_t middle = from + (to - from) / 2;
        if (place < middle)
            first = min_of(tree_remove(t, 2 * k, from, middle, place), t->node[2 * k + 1].first);
        else
            first = min_of(t->node[2 * k].first, tree_remove(t, 2 * k + 1, middle, to, place));
    }
    return t->node[k].first = first;
}

static bool lower(const struct skyline *s, int32_t x, int32_t y) {
    return s->at[x].height != s->at[y].height ? s->at[x].height < s->at[y].height : x < y;
}

static void heap_put(struct skyline *s, int32_t slot, int32_t start) {
    s->heap[slot] = start;
    s->at[start].slot = slot;
}

// Moves the stretch in this slot to where it belongs.
static void heap_sift(struct skyline *s, int32_t slot) {
    int32_t start = s->heap[slot];
    for (; slot > 0 && lower(s, start, s->heap[(slot - 1) / 2]); slot = (slot - 1) / 2)
        heap_put(s, slot, s->heap[(slot - 1) / 2]);
    for (int32_t child; (child = 2 * slot + 1) < s->n; slot = child) {
        child += child + 1 < s->n && lower(s, s->heap[child + 1], s->heap[child]);
        if (!lower(s, s->heap[child], start))
            break;
        heap_put(s, slot, s->heap[child]);
    }
    heap_put(s, slot, start);
}

static void skyline_insert(struct skyline *s, int32_t start, int32_t end, int32_t before,
                           int64_t height) {
    s->at[start] = (struct stretch){height, start, end, before, s->n};
    if (end < s->n_sections)
        s->at[end].before = start;
    heap_put(s, s->n, start);
    heap_sift(s, s->n++);
}

// The stretch right of `start` becomes part of it.
static void skyline_merge(struct skyline *s, int32_t start) {
    struct stretch *left = &s->at[start], *right = &s->at[left->end];
    int32_t slot = right->slot, last = s->heap[--s->n];
    left->end = right->end;
    if (right->end < s->n_sections)
        s->at[right->end].before = start;
    if (slot < s->n) {
        heap_put(s, slot, last);
        heap_sift(s, slot);
    }
}

static void skyline_set(struct skyline *s, int32_t start, int64_t height) {
    s->at[start].height = height;
    heap_sift(s, s->at[start].slot);
    if (s->at[start].end < s->n_sections && s->at[s->at[start].end].height == height)
        skyline_merge(s, start);
    if (s->at[start].before >= 0 && s->at[s->at[start].before].height == height)
        skyline_merge(s, s->at[start].before);
}

// Cuts lo .. hi-1 out of its stretch and lifts it.
static void skyline_place(struct skyline *s, int32_t start, int32_t lo, int32_t hi,
                          int64_t height) {
    int32_t end = s->at[start].end;
    if (lo > start) {
        s->at[start].end = lo;
        skyline_insert(s, lo, end, start, s->at[start].height);
    }
    if (hi < end) {
        s->at[lo].end = hi;
        skyline_insert(s, hi, end, lo, s->at[lo].height);
    }
    skyline_set(s, lo, height);
}

static void skyline_rise(struct skyline *s, int32_t start) {
    const struct stretch *x = &s->at[start];
    int64_t height = INT64_MAX;
    if (x->before >= 0)
        height = s->at[x->before].height;
    if (x->end < s->n_sections && s->at[x->end].height < height)
        height = s->at[x->end].height;
    skyline_set(s, start, height);
}

static void skyline_run(struct offsets_part *p, struct tree *t, struct skyline *s,
                        const int32_t *order, int64_t *offset, struct offsets_work *work) {
    tree_build(t, 1, 0, p->n, true);
    skyline_insert(s, 0, p->n_sections, -1, 0);
    for (int32_t n_left = p->n; n_left > 0;) {
        int32_t start = s->heap[0];
        int32_t rank = tree_find(t, p->n, start, s->at[start].end);
        if (rank == INT32_MAX) {
            skyline_rise(s, start);
            continue;
        }
        int32_t i = order[rank];
        tree_remove(t, 1, 0, p->n, t->place[rank]);
        offset[i] = offsets_align_up(s->at[start].height, p->align[i]);
        skyline_place(s, start, p->lo[i], p->hi[i], offset[i] + p->size[i]);
        n_left--;
    }
    offsets_spend(work, 8 * t->steps);
}

status offsets_skyline(struct offsets_part *p, const int32_t *order, struct offsets_work *work,
                       struct arena *a, struct diags *d) {
    assert(!p->has_fixed);
    struct arena scratch = arena_make(a->mem);
    size_t n_nodes = 4;
    while (n_nodes < (size_t)p->n)
        n_nodes *= 2;
    struct tree t = {.node = ARENA_ARRAY(&scratch, struct node, n_nodes),
                     .corner = ARENA_ARRAY(&scratch, struct corner, p->n),
                     .place = ARENA_ARRAY(&scratch, int32_t, p->n)};
    struct skyline s = {.at = ARENA_ARRAY(&scratch, struct stretch, p->n_sections),
                        .heap = ARENA_ARRAY(&scratch, int32_t, p->n_sections),
                        .n_sections = p->n_sections};
    int64_t *offset = ARENA_ARRAY(&scratch, int64_t, p->n);
    if (!t.node || !t.corner || !t.place || !s.at || !s.heap || !offset) {
        arena_free(&scratch);
        return diag_out_of_memory(d);
    }
    for (int32_t r = 0; r < p->n; r++)
        t.corner[r] = (struct corner){p->lo[order[r]], p->hi[order[r]], r};
    skyline_run(p, &t, &s, order, offset, work);
    offsets_part_offer(p, offset);
    arena_free(&scratch);
    return ST_OK;
}
