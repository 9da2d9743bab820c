// The requests that a step makes to the allocator of ONNX Runtime, one by one, against those that
// the model predicts. The arena is off, so that each request reaches posix_memalign, which this
// program replaces. Every request must have the predicted size (rounded up to 64, as ONNX Runtime
// does), and between two requests exactly the predicted buffers must be freed.
//
//     events LIBRARY STEP.onnx ...
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/ort_step.h"
#include "tests/runtime/predicted.h"

enum { MAX_EVENTS = 1 << 18, UNIT_BYTES = 64 };

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

static int fail(const char *path, int request, const char *what) {
    printf("FAIL %s: request %d: %s\n", path, request, what);
    return 1;
}

static int compare(const char *path, struct cursor *c) {
    for (int i = 0; i <= n_seen; i++) {
        if (i < n_seen && !seen[i].n_bytes) {
            end(c, seen[i].request);
            continue;
        }
        read_predicted(c);
        if (c->n_unmatched)
            return fail(path, c->n_requests, "before it, other releases than predicted");
        if (i == n_seen || c->at == c->e->list.n)
            break;
        const struct ort_event *x = &c->e->list.at[c->at++];
        int64_t n_bytes = c->e->buffers.at[x->buffer].n_bytes;
        if (rounded(n_bytes) != rounded((int64_t)seen[i].n_bytes))
            return fail(path, c->n_requests, "another size");
        c->request[x->buffer] = c->n_requests++;
    }
    if (c->n_requests != n_requests || c->at != c->e->list.n)
        return fail(path, c->n_requests, "more requests, or fewer");
    printf("ok   %s: %d requests\n", path, n_requests);
    return 0;
}

static int check(const char *library, const char *path, struct mem *mem) {
    struct arena a = arena_make(mem);
    struct ort_events e;
    struct ort_step s;
    predicted_events(path, &a, &e);
    ort_step_open(&s, library, path, &(struct ort_settings){0});
    ort_step_make_inputs(&s);
    n_seen = n_requests = 0;
    records = true;
    ort_step_run(&s);
    records = false;
    ort_step_release_outputs(&s);
    struct cursor c = {.e = &e,
                       .request = ARENA_ARRAY(&a, int, e.buffers.n),
                       .unmatched = ARENA_ARRAY(&a, bool, e.buffers.n + (size_t)n_requests)};
    int failed = c.request && c.unmatched ? compare(path, &c) : 1;
    arena_free(&a);
    return failed;
}

int main(int n_args, char **args) {
    struct mem mem = mem_make(MEM_UNLIMITED);
    int n_failed = n_args < 3;
    for (int i = 2; i < n_args; i++)
        n_failed += check(args[1], args[i], &mem);
    return n_failed > 0;
}
