// The model of ONNX Runtime's arena against the arena itself: the requests of a step, and random
// ones, go to the allocator of a real session and to the model. Every address must be the same.
// Only where a new region lies is taken from the real arena.
//
//     arena LIBRARY SESSION.onnx [STEP.onnx ...]     SESSION: any small model, to get a session
#include <stdio.h>

#include "ir/base/rng.h"
#include "tests/runtime/ort_step.h"
#include "tests/runtime/predicted.h"

enum { N_RANDOM = 20000, N_SLOTS = 200 };

struct both {
    struct ort_step step;
    ort_handle allocator;
    struct arena scratch;
    struct ort_arena model;
    uint32_t n_seen; // regions of the model that have the address of the real one
    int64_t n_requests;
};

struct slot {
    void *real;
    uint32_t chunk;
};

static bool is_after(const struct ort_chunk *x, const struct ort_chunk *y) {
    return x->n_bytes > y->n_bytes || (x->n_bytes == y->n_bytes && x->at > y->at);
}

// The system chooses the addresses of regions. They decide between free chunks of one size in two
// regions, so the model gets those of the real ones.
static void move_region(struct ort_arena *o, uint32_t region, int64_t to) {
    int64_t by = to - o->regions.at[region].at;
    o->regions.at[region].at = to;
    for (size_t i = 1; i < o->chunks.n; i++)
        if (o->chunks.at[i].region == region)
            o->chunks.at[i].at += by;
    for (size_t i = 1; i < o->free.n; i++)
        for (size_t k = i; k > 0; k--) {
            uint32_t *x = &o->free.at[k - 1], *y = &o->free.at[k], kept = *x;
            if (!is_after(&o->chunks.at[*x], &o->chunks.at[*y]))
                break;
            *x = *y;
            *y = kept;
        }
}

static bool is_same(struct both *b, const struct slot *s) {
    const struct ort_chunk *c = &b->model.chunks.at[s->chunk];
    int64_t base = (intptr_t)s->real - (c->at - b->model.regions.at[c->region].at);
    if (c->region == b->n_seen) {
        move_region(&b->model, c->region, base);
        b->n_seen++;
    }
    return (intptr_t)s->real == c->at;
}

static bool request(struct both *b, int64_t n_bytes, struct slot *s) {
    s->real = ort_step_alloc(&b->step, b->allocator, (size_t)n_bytes);
    s->chunk = ort_arena_alloc(&b->model, n_bytes, true);
    b->n_requests++;
    if (is_same(b, s))
        return true;
    fprintf(stderr, "request %lld of %lld bytes: another address\n", (long long)b->n_requests,
            (long long)n_bytes);
    return false;
}

static void release(struct both *b, struct slot *s) {
    if (s->real)
        ort_step_free(&b->step, b->allocator, s->real);
    ort_arena_free(&b->model, s->chunk);
    *s = (struct slot){0};
}

static bool replay(struct both *b, const struct ort_events *e) {
    struct slot *slots = ARENA_ARRAY(&b->scratch, struct slot, e->buffers.n);
    bool same = slots != NULL;
    for (size_t i = 0; i < e->list.n && same; i++) {
        uint32_t k = e->list.at[i].buffer;
        if (e->buffers.at[k].kind == ORT_PLAIN)
            continue;
        if (e->list.at[i].is_alloc)
            same = request(b, e->buffers.at[k].n_bytes, &slots[k]);
        else
            release(b, &slots[k]);
    }
    for (size_t i = 0; i < e->buffers.n && slots; i++)
        release(b, &slots[i]);
    return same;
}

// Sizes from bytes to a hundred megabytes, most of them small.
static bool replay_random(struct both *b) {
    struct slot slots[N_SLOTS] = {0};
    struct rng rng = rng_make(7, 0);
    bool same = true;
    for (int i = 0; i < N_RANDOM && same; i++) {
        struct slot *s = &slots[rng_below(&rng, N_SLOTS)];
        if (s->chunk)
            release(b, s);
        else
            same = request(b, 1 + (int64_t)rng_below(&rng, UINT64_C(1) << rng_below(&rng, 27)), s);
    }
    for (int i = 0; i < N_SLOTS; i++)
        release(b, &slots[i]);
    return same;
}

int main(int n_args, char **args) {
    struct mem mem = mem_make(MEM_UNLIMITED);
    bool same = n_args > 2;
    for (int i = 2; i < n_args && same; i++) { // each on a session of its own
        struct both b = {.scratch = arena_make(&mem)};
        struct ort_events e;
        ort_step_open(&b.step, args[1], args[2], &(struct ort_settings){99, true, true});
        b.allocator = ort_step_allocator(&b.step);
        ort_arena_reset(&b.model, &b.scratch);
        if (i > 2)
            predicted_events(args[i], "disabled", &b.scratch, &e);
        same = i == 2 ? replay_random(&b) : replay(&b, &e) && replay(&b, &e);
        printf("%s %s: %lld requests, %zu regions\n", same ? "ok  " : "FAIL",
               i == 2 ? "random" : args[i], (long long)b.n_requests, b.model.n_regions);
        arena_free(&b.scratch);
    }
    return same ? 0 : 1;
}
