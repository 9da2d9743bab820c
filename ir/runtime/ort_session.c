// Replays the requests of a step, run after run: see ort_session.h.
#include "ir/runtime/ort_session.h"

#include <assert.h>

struct session {
    const struct ort_events *e;
    struct ort_arena arena;
    struct ort_pattern pattern;
    uint32_t *chunk; // by buffer
    uint32_t block;  // of the pattern, during a run
    int64_t plain_bytes, plain_peak_bytes;
};

static void alloc(struct session *s, uint32_t b) {
    const struct ort_buffer *buffer = &s->e->buffers.at[b];
    if (buffer->kind == ORT_PLAIN) {
        s->plain_bytes += buffer->n_bytes;
        if (s->plain_bytes > s->plain_peak_bytes)
            s->plain_peak_bytes = s->plain_bytes;
    } else if (s->block && s->pattern.offset[b] >= 0) {
        if (!buffer->is_unwritten)
            ort_arena_write(&s->arena, s->block, s->pattern.offset[b],
                            s->pattern.offset[b] + buffer->n_bytes);
    } else {
        s->chunk[b] = ort_arena_alloc(&s->arena, buffer->n_bytes, !buffer->is_unwritten);
    }
}

static void release(struct session *s, uint32_t b) {
    if (s->e->buffers.at[b].kind == ORT_PLAIN)
        s->plain_bytes -= s->e->buffers.at[b].n_bytes;
    ort_arena_free(&s->arena, s->chunk[b]);
    s->chunk[b] = ORT_ARENA_NONE;
}

static void run(struct session *s, bool use_pattern) {
    if (use_pattern)
        s->block = ort_arena_alloc(&s->arena, s->pattern.n_bytes, false);
    for (size_t i = 0; i < s->e->list.n; i++) {
        if (s->e->list.at[i].is_alloc)
            alloc(s, s->e->list.at[i].buffer);
        else
            release(s, s->e->list.at[i].buffer);
    }
    ort_arena_free(&s->arena, s->block);
    s->block = ORT_ARENA_NONE;
    for (uint32_t b = 1; b < s->e->buffers.n; b++) // held to the end, and outputs
        if (s->chunk[b])
            release(s, b);
}

status ort_session_of(const struct ort_events *e, bool pattern, struct arena *a,
                      struct ort_session *out) {
    assert(e && a && out);
    struct session s = {.e = e, .chunk = ARENA_ARRAY(a, uint32_t, e->buffers.n)};
    *out = (struct ort_session){0};
    if (!s.chunk || !ort_pattern_of(e, pattern ? ORT_TENSOR : ORT_CONDITION, a, &s.pattern))
        return ST_LIMIT;
    ort_arena_reset(&s.arena, a);
    for (int i = 0; i < ORT_SESSION_RUNS; i++) {
        run(&s, i > 0);
        out->run_bytes[i] = ort_arena_bytes(&s.arena) + s.plain_peak_bytes;
    }
    out->region_bytes = s.arena.region_bytes;
    return s.arena.failed ? ST_LIMIT : ST_OK;
}
