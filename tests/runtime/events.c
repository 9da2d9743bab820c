// The requests that a step makes to the allocator of ONNX Runtime, one by one, against those that
// the model predicts for an optimization level. The arena is off, so that each request reaches
// posix_memalign, which this program replaces. Every request must have the predicted size (rounded
// up to 64, as ONNX Runtime does), and between two requests exactly the predicted buffers must be
// freed.
//
//     events LIBRARY LEVEL STEP.onnx ...      LEVEL: disabled, basic, extended or all
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/ort_step.h"
#include "tests/runtime/predicted.h"

enum { MAX_EVENTS = 1 << 18, UNIT_BYTES = 64, MAX_PRINTED = 10 };

struct event {
    void *at;       // NULL: not an event
    size_t n_bytes; // of a request; 0: it is a release
    int request;    // the number of the request; of a release: that it ends
};

static struct event seen[MAX_EVENTS];
static int n_seen, n_requests;
static bool records;

static void see_request(void *p, size_t n_bytes) {
    if (records && n_seen < MAX_EVENTS)
        seen[n_seen++] = (struct event){p, n_bytes, n_requests++};
}

#define REPLACES_LIBC __attribute__((visibility("default")))

REPLACES_LIBC int posix_memalign(void **out, size_t alignment, size_t n_bytes) {
    static int (*real)(void **, size_t, size_t);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "posix_memalign");
    int error = real(out, alignment, n_bytes);
    if (!error)
        see_request(*out, n_bytes);
    return error;
}

REPLACES_LIBC void *aligned_alloc(size_t alignment, size_t n_bytes) {
    static void *(*real)(size_t, size_t);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "aligned_alloc");
    void *p = real(alignment, n_bytes);
    see_request(p, n_bytes);
    return p;
}

REPLACES_LIBC void free(void *p) {
    static void (*real)(void *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "free");
    for (int i = n_seen; records && p && i-- > 0;)
        if (seen[i].at == p) { // the latest event of this address
            if (seen[i].n_bytes && n_seen < MAX_EVENTS)
                seen[n_seen++] = (struct event){p, 0, seen[i].request};
            break;
        }
    real(p);
}

struct check {
    const char *path, *level;
    const struct model *m;
    struct ort_events e;
    struct arena *a;
};

static int64_t rounded(int64_t n_bytes) {
    return (n_bytes + UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES;
}

struct cursor {
    const struct ort_events *e;
    int *request;    // by buffer: its number
    bool *unmatched; // by request: released, but only predicted so, or only in reality
    size_t at;
    int n_requests, n_unmatched;
};

static void end(struct cursor *c, int request) {
    c->unmatched[request] = !c->unmatched[request];
    c->n_unmatched += c->unmatched[request] ? 1 : -1;
}

// The releases up to the next request, or to the end.
static void read_predicted(struct cursor *c) {
    for (; c->at < c->e->list.n; c->at++) {
        const struct ort_event *x = &c->e->list.at[c->at];
        if (c->e->buffers.at[x->buffer].kind == ORT_PLAIN)
            continue;
        if (x->is_alloc)
            return;
        end(c, c->request[x->buffer]);
    }
}

// Whether the releases are the predicted ones. The requests are.
static bool has_same_releases(struct cursor *c) {
    for (int i = 0; i <= n_seen; i++) {
        if (i < n_seen && !seen[i].n_bytes) {
            end(c, seen[i].request);
            continue;
        }
        read_predicted(c);
        if (c->n_unmatched)
            return false;
        if (i < n_seen)
            c->request[c->e->list.at[c->at++].buffer] = c->n_requests++;
    }
    return true;
}

// The sizes of the requests: a row of the real ones, and one of the predicted.
struct sizes {
    int64_t *at;
    uint32_t *buffer; // predicted
    int n;
};

static struct sizes real_sizes(struct arena *a) {
    struct sizes s = {.at = ARENA_ARRAY(a, int64_t, n_requests + 1)};
    for (int i = 0; i < n_seen && s.at; i++)
        if (seen[i].n_bytes)
            s.at[s.n++] = rounded((int64_t)seen[i].n_bytes);
    return s;
}

static struct sizes predicted_sizes(const struct ort_events *e, struct arena *a) {
    struct sizes s = {.at = ARENA_ARRAY(a, int64_t, e->list.n + 1),
                      .buffer = ARENA_ARRAY(a, uint32_t, e->list.n + 1)};
    for (size_t i = 0; i < e->list.n && s.at && s.buffer; i++) {
        uint32_t b = e->list.at[i].buffer;
        if (!e->list.at[i].is_alloc || e->buffers.at[b].kind == ORT_PLAIN)
            continue;
        s.buffer[s.n] = b;
        s.at[s.n++] = rounded(e->buffers.at[b].n_bytes);
    }
    return s;
}

enum { LOOK_AHEAD = 200, IN_STEP = 6 };

static bool is_in_step(const struct sizes *x, int i, const struct sizes *y, int k) {
    for (int j = 0; j < IN_STEP; j++) {
        bool ends = i + j >= x->n, both = ends && k + j >= y->n;
        if (both)
            return true;
        if (ends || k + j >= y->n || x->at[i + j] != y->at[k + j])
            return false;
    }
    return true;
}

// Where the rows differ: from request `from` on, `skip` of them have no counterpart.
struct gap {
    int from, skip;
};

static void print_difference(const struct check *c, const struct sizes *real, struct gap r,
                             const struct sizes *predicted, struct gap p) {
    for (int i = r.from; i < r.from + r.skip; i++)
        printf("     request %d: not predicted: %lld B\n", i, (long long)real->at[i]);
    for (int i = p.from; i < p.from + p.skip; i++) {
        const struct ort_buffer *b = &c->e.buffers.at[predicted->buffer[i]];
        printf("     predicted %d: not made: %lld B by %s\n", i, (long long)predicted->at[i],
               b->node.i ? node_path(c->m->graph, b->node, c->a) : "If");
    }
}

// How many requests are in one row only; prints the first.
static int count_differences(const struct check *c, const struct sizes *real,
                             const struct sizes *predicted) {
    int i = 0, k = 0, n = 0;
    while (i < real->n || k < predicted->n) {
        if (i < real->n && k < predicted->n && real->at[i] == predicted->at[k]) {
            i++;
            k++;
            continue;
        }
        int d = 1, x = 0; // the fewest to skip, x of them real ones
        for (; d < LOOK_AHEAD; d++) {
            for (x = 0; x <= d; x++)
                if (i + x <= real->n && k + d - x <= predicted->n &&
                    is_in_step(real, i + x, predicted, k + d - x))
                    break;
            if (x <= d)
                break;
        }
        if (d == LOOK_AHEAD)
            return n + (real->n - i) + (predicted->n - k);
        if (n < MAX_PRINTED)
            print_difference(c, real, (struct gap){i, x}, predicted, (struct gap){k, d - x});
        n += d;
        i += x;
        k += d - x;
    }
    return n;
}

static bool compare(const struct check *c) {
    struct sizes real = real_sizes(c->a), predicted = predicted_sizes(&c->e, c->a);
    struct cursor at = {.e = &c->e,
                        .request = ARENA_ARRAY(c->a, int, c->e.buffers.n),
                        .unmatched = ARENA_ARRAY(c->a, bool, c->e.buffers.n + (size_t)n_requests)};
    if (!real.at || !predicted.buffer || !at.request || !at.unmatched)
        return false;
    int n = count_differences(c, &real, &predicted);
    bool same = n == 0 && has_same_releases(&at);
    printf("%s %s, %s: %d requests, %d differ%s\n", same ? "ok  " : "FAIL", c->path, c->level,
           n_requests, n, !n && !same ? "; other releases than predicted" : "");
    if (!n && !same)
        printf("     before request %d\n", at.n_requests);
    return same;
}

static bool check(const char *library, const char *level, const char *path, struct mem *mem) {
    struct arena a = arena_make(mem);
    struct check c = {.path = path, .level = level, .a = &a};
    struct ort_step s;
    c.m = predicted_events(path, level, &a, &c.e);
    ort_step_open(&s, library, path, &(struct ort_settings){.level = ort_step_level(level)});
    ort_step_make_inputs(&s);
    n_seen = n_requests = 0;
    records = true;
    ort_step_run(&s);
    records = false;
    ort_step_release_outputs(&s);
    bool same = compare(&c);
    arena_free(&a);
    return same;
}

int main(int n_args, char **args) {
    struct mem mem = mem_make(MEM_UNLIMITED);
    bool same = n_args > 3;
    for (int i = 3; i < n_args; i++)
        same &= check(args[1], args[2], args[i], &mem);
    return same ? 0 : 1;
}
