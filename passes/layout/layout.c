// The layout pass: addresses for all values of a step (layout.h). Stages: streams, when several are
// asked for; buffers; offsets for the buffers of each stream, by layout_offsets.c, the streams one
// after the other in the arena; waits between streams; the check. The result is written to the
// metadata: the offset of each output on its node, the size of the arena on the model; and as JSON
// when a file is named.
#include "passes/layout/layout_inner.h"

#include <string.h>

#include "ir/base/checked.h"
#include "ir/base/file.h"
#include "ir/keys.h"
#include "solver/offsets.h"

static int64_t round_up(int64_t n, int64_t alignment) {
    return (n + alignment - 1) / alignment * alignment;
}

static status too_large(struct diags *d) {
    return diag_error(d, DIAG_LIMIT, loc_none(), "the arena exceeds 2^62 bytes");
}

// Without reuse: one buffer after the other.
static bool stack_all(struct layout *l) {
    int64_t end = 0;
    for (size_t i = 1; i < l->buffers.n; i++) {
        struct layout_buffer *b = &l->buffers.at[i];
        b->offset = round_up(end, l->alignment);
        if (!checked_add(b->offset, b->bytes, &end) || end > INT64_MAX / 2)
            return false;
    }
    l->arena_bytes = l->bound_bytes = end;
    return true;
}

// Offsets for the buffers of one stream, from l->arena_bytes on.
static status place_stream(struct layout *l, uint32_t stream, struct layout_task task) {
    struct buffer *list = ARENA_ARRAY(task.a, struct buffer, l->buffers.n);
    uint32_t *which = ARENA_ARRAY(task.a, uint32_t, l->buffers.n);
    struct layout_offsets found;
    if (!list || !which)
        return diag_out_of_memory(task.d);
    for (uint32_t i = 1; i < l->buffers.n; i++) {
        const struct layout_buffer *b = &l->buffers.at[i];
        if (b->stream != stream)
            continue;
        which[task.n] = i;
        list[task.n++] = (struct buffer){.lower = b->from,
                                         .upper = (int64_t)b->to + 1,
                                         .size = b->bytes,
                                         .alignment = l->alignment};
    }
    if (!task.n)
        return ST_OK;
    int64_t base = round_up(l->arena_bytes, l->alignment);
    task.list = list;
    status st = layout_offsets_find(&task, &found);
    if (st)
        return st;
    for (size_t i = 0; i < task.n; i++)
        l->buffers.at[which[i]].offset = base + found.offset[i];
    if (!checked_add(base, found.arena_bytes, &l->arena_bytes) || l->arena_bytes > INT64_MAX / 2)
        return too_large(task.d);
    l->bound_bytes += found.bound_bytes;
    return ST_OK;
}

static status find_max_live(struct layout *l, struct arena *a, struct diags *d) {
    struct buffer *list = ARENA_ARRAY(a, struct buffer, l->buffers.n);
    if (!list)
        return diag_out_of_memory(d);
    for (size_t i = 1; i < l->buffers.n; i++)
        list[i - 1] = (struct buffer){.lower = l->buffers.at[i].from,
                                      .upper = (int64_t)l->buffers.at[i].to + 1,
                                      .size = l->buffers.at[i].bytes};
    return offsets_max_live(list, l->buffers.n - 1, a, d, &l->live_bytes);
}

static status check(const struct graph *g, const struct layout *l, uint32_t n_streams,
                    struct arena *a, struct diags *d) {
    int64_t *offset = ARENA_ARRAY(a, int64_t, g->values.n);
    int64_t *workspace = ARENA_ARRAY(a, int64_t, g->nodes.n);
    if (!offset || !workspace)
        return diag_out_of_memory(d);
    for (size_t v = 0; v < g->values.n; v++)
        offset[v] = l->of[v] ? l->buffers.at[l->of[v]].offset : -1;
    for (size_t i = 1; i < l->buffers.n; i++)
        workspace[l->buffers.at[i].workspace.i] = l->buffers.at[i].offset;
    struct layout_claim claim = {.offset = offset,
                                 .workspace_offset = workspace,
                                 .arena_bytes = l->arena_bytes,
                                 .alignment = l->alignment,
                                 .stream = n_streams > 1 ? l->stream : NULL,
                                 .n_streams = n_streams,
                                 .waits = l->waits.at,
                                 .n_waits = l->waits.n};
    return layout_check(g, &claim, d);
}

status layout_of(const struct graph *g, const struct layout_options *o, struct arena *a,
                 struct diags *d, const struct stop *stop, struct layout *out) {
    uint32_t n_streams = o->n_streams > 1 ? (uint32_t)o->n_streams : 1;
    *out = (struct layout){.alignment = o->alignment > 0 ? o->alignment : 1,
                           .stream = ARENA_ARRAY(a, uint32_t, g->nodes.n)};
    if (!out->stream)
        return diag_out_of_memory(d);
    status st = n_streams > 1 ? layout_colour(g, (int32_t)n_streams, a, d, out->stream) : ST_OK;
    if (!st)
        st = layout_buffers(g, o->in_place, a, d, out);
    if (!st && !o->shares && !stack_all(out))
        st = too_large(d);
    for (uint32_t k = 0; k < n_streams && o->shares && !st; k++)
        st = place_stream(out, k,
                          (struct layout_task){.work = o->work, .a = a, .d = d, .stop = stop});
    if (!st)
        st = find_max_live(out, a, d);
    if (!st && n_streams > 1)
        st = layout_add_waits(g, a, d, out);
    return st ? st : check(g, out, n_streams, a, d);
}

static const char *number_text(struct model *m, int64_t n) {
    return str_format(m->arena, "%lld", (long long)n);
}

// "0,4096": one offset per output; an empty field for an output without bytes.
static status write_offsets(struct model *m, const struct layout *l, struct diags *d) {
    struct graph *g = m->graph;
    for (size_t i = 0; i < g->order.n; i++) {
        struct node *n = graph_node(g, g->order.at[i]);
        struct str text = str_make(m->arena);
        bool any = false;
        for (uint32_t k = 0; k < n->n_out; k++) {
            uint32_t b = l->of[n->out[k].i];
            str_add(&text, k ? "," : "");
            if (!l->buffers.at[b].bytes)
                continue;
            str_addf(&text, "%lld", (long long)l->buffers.at[b].offset);
            any = true;
        }
        if (text.failed || (any && !pairs_set(&n->metadata, m->arena, KEY_OFFSET, str_text(&text))))
            return diag_out_of_memory(d);
    }
    const char *arena_bytes = number_text(m, l->arena_bytes);
    const char *live_bytes = number_text(m, l->live_bytes);
    if (!arena_bytes || !live_bytes || !pairs_set(&m->metadata, m->arena, KEY_ARENA, arena_bytes) ||
        !pairs_set(&m->metadata, m->arena, KEY_ARENA_LIVE, live_bytes))
        return diag_out_of_memory(d);
    return ST_OK;
}

status layout_run(struct model *m, struct pass_context *c, struct layout *out) {
    const char *path = options_text(c->options, "layout");
    struct layout_options o = {.in_place = true,
                               .shares = true,
                               .n_streams = (int32_t)options_int(c->options, "streams"),
                               .alignment = options_int(c->options, "alignment")};
    if (o.alignment & (o.alignment - 1))
        return diag_error(c->diags, DIAG_USAGE, loc_none(), "--alignment must be a power of two");
    status st = layout_of(m->graph, &o, c->arena, c->diags, c->stop, out);
    if (!st)
        st = write_offsets(m, out, c->diags);
    if (!st && path) {
        struct str text = str_make(c->arena);
        layout_json(&text, m->graph, out);
        st = text.failed ? diag_out_of_memory(c->diags)
                         : output_text(c->arena, c->diags, path, &text);
    }
    return st;
}

static status run(struct model *m, struct pass_context *c) {
    struct layout l;
    status st = layout_run(m, c, &l);
    if (!st)
        pass_progress(c,
                      "layout: %zu buffers, arena of %lld bytes, at most %lld live at once, %zu "
                      "results in place",
                      l.buffers.n - 1, (long long)l.arena_bytes, (long long)l.live_bytes,
                      l.n_in_place);
    return st;
}

static const struct option_spec options[] = {
    {"Output", 0, OPTION_GROUP, NULL, NULL, 0, 0, NULL},
    {"layout", 0, OPTION_TEXT, "FILE", NULL, 0, 0,
     "write the address of every tensor to this file, as JSON"},
    {"streams", 0, OPTION_INT, "N", "1", 1, 64, "number of streams whose nodes run concurrently"},
    {"alignment", 0, OPTION_INT, "BYTES", "64", 1, 1 << 20,
     "alignment of every address; a power of two"},
    {0}};

const struct pass pass_layout = {
    .name = "layout",
    .summary = "give every tensor an address in one arena",
    .needs = FACT_TOPO | FACT_SHAPES,
    .options = options,
    .run = run,
};
