// A session of onnxruntime-web: see web_session.h. There is no arena and no memory pattern: every
// tensor, workspace and copy of an input is a chunk of the heap. Stages:
//   1. loading: the file is copied into the heap and parsed, and each initializer is then copied to
//      a tensor of its own; what is freed leaves holes;
//   2. some runs: inputs are copied into the heap, the step allocates and frees as elsewhere
//      (ort_events.h), outputs and inputs are freed. Inputs with initializers have their values.
//      A tensor also has two small objects, which break up free chunks and so have a large effect.
// The memory of a session's nodes and names is that of ort_loaded.h, with pointers of 32 bits: the
// share below was fitted to ten steps and plans of six networks on onnxruntime-web 1.30, error up
// to 0.5 MiB of 5 to 42. Small objects that outlive a run are not modelled: where they break up a
// chunk that a later run needs, the heap ends higher, by a tenth at most in those plans, at the
// default level.
#include "ir/runtime/web_session.h"

#include <assert.h>

#include "ir/runtime/ort_loaded.h"
#include "ir/runtime/web_heap.h"

enum {
    SESSION_RUNS = 3,
    HEAP_START = 6309872,    // behind the program's own data and stack
    LIBRARY_BYTES = 2700000, // registries of operators, before any session
    GRAPH_PERMILLE = 663,    // of the memory of a native session
    TENSOR_BYTES = 80,       // the object of a tensor
    COUNT_BYTES = 24,        // its reference count
    BROKEN_SHARE = 10,       // that the heap may end higher: a tenth
    GROWTH_SHARE = 5,        // by which memory grows: a fifth
    MAX_GROWTH_BYTES = 96 << 20,
    MIN_MEMORY_BYTES = 16 << 20,
    PAGE_BYTES = 65536,
};

struct web_buffer {
    uint32_t chunk, object, count; // chunks of the heap
};

struct web_session {
    const struct graph *g;
    const struct ort_events *e;
    struct web_heap heap;
    struct web_buffer *buffer;
    uint32_t *value; // by value of the graph: what loading parses, then the copy of an input
};

// Bytes of an initializer; `in_file`: 0 unless it is in the model file itself.
static int64_t initializer_bytes(const struct value *v, bool in_file) {
    int64_t n_bytes;
    if (!v->init || (in_file && v->init->payload == PAYLOAD_EXTERNAL) ||
        !tensor_bytes(v->init, &n_bytes))
        return 0;
    return n_bytes;
}

static void load(struct web_session *s) {
    int64_t file_bytes = 0, native_bytes = ort_loaded_graph_bytes(s->g, false);
    for (size_t v = 1; v < s->g->values.n; v++)
        file_bytes += initializer_bytes(&s->g->values.at[v], true);
    uint32_t file = web_heap_alloc(&s->heap, file_bytes, false);
    for (size_t v = 1; v < s->g->values.n; v++) {
        int64_t n_bytes = initializer_bytes(&s->g->values.at[v], true);
        s->value[v] = n_bytes ? web_heap_alloc(&s->heap, n_bytes, false) : 0;
    }
    web_heap_alloc(&s->heap, LIBRARY_BYTES + native_bytes / 1000 * GRAPH_PERMILLE, false);
    for (size_t v = 1; v < s->g->values.n; v++) {
        int64_t n_bytes = initializer_bytes(&s->g->values.at[v], false);
        if (n_bytes)
            web_heap_alloc(&s->heap, n_bytes, true);
        web_heap_free(&s->heap, s->value[v]);
    }
    web_heap_free(&s->heap, file);
}

static void make(struct web_session *s, uint32_t b) {
    const struct ort_buffer *is = &s->e->buffers.at[b];
    struct web_buffer *to = &s->buffer[b];
    bool is_tensor = is->kind == ORT_TENSOR || is->kind == ORT_OUTPUT;
    if (is_tensor)
        to->object = web_heap_alloc(&s->heap, TENSOR_BYTES, false);
    to->chunk = web_heap_alloc(&s->heap, is->n_bytes, is->kind != ORT_PLAIN);
    if (is_tensor)
        to->count = web_heap_alloc(&s->heap, COUNT_BYTES, false);
}

static void release(struct web_session *s, uint32_t b) {
    web_heap_free(&s->heap, s->buffer[b].chunk);
    web_heap_free(&s->heap, s->buffer[b].object);
    web_heap_free(&s->heap, s->buffer[b].count);
    s->buffer[b] = (struct web_buffer){0};
}

static void run(struct web_session *s) {
    for (size_t i = 0; i < s->g->inputs.n; i++) {
        const struct value *v = graph_value(s->g, s->g->inputs.at[i]);
        int64_t n_bytes;
        bool is_given = !v->init && type_bytes(v->type, &n_bytes);
        s->value[s->g->inputs.at[i].i] = is_given ? web_heap_alloc(&s->heap, n_bytes, false) : 0;
    }
    for (size_t i = 0; i < s->e->list.n; i++)
        (s->e->list.at[i].is_alloc ? make : release)(s, s->e->list.at[i].buffer);
    for (uint32_t b = 1; b < s->e->buffers.n; b++) // held to the end, and outputs
        release(s, b);
    for (size_t i = 0; i < s->g->inputs.n; i++)
        web_heap_free(&s->heap, s->value[s->g->inputs.at[i].i]);
}

status web_session_of(const struct graph *g, const struct ort_events *e, struct arena *a,
                      int64_t *end_at) {
    assert(g && e && a && end_at);
    struct web_session s = {.g = g,
                            .e = e,
                            .buffer = ARENA_ARRAY(a, struct web_buffer, e->buffers.n),
                            .value = ARENA_ARRAY(a, uint32_t, g->values.n)};
    if (!s.buffer || !s.value)
        return ST_LIMIT;
    web_heap_reset(&s.heap, a, HEAP_START);
    load(&s);
    for (int i = 0; i < SESSION_RUNS; i++)
        run(&s);
    *end_at = s.heap.end_at;
    return s.heap.failed ? ST_LIMIT : ST_OK;
}

int64_t web_memory_bytes(int64_t end_at) {
    assert(end_at >= 0 && end_at < (int64_t)1 << 60);
    int64_t end = end_at + end_at / BROKEN_SHARE, growth = end / GROWTH_SHARE;
    end += growth < MAX_GROWTH_BYTES ? growth : MAX_GROWTH_BYTES;
    end = (end + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    return end > MIN_MEMORY_BYTES ? end : MIN_MEMORY_BYTES;
}
