// Layout: static memory planning, down to an address for every tensor. Values that share bytes
// (ir/storage.h), and results that are written over their operand, are one buffer; buffers that are
// not live at the same time share addresses of one arena.
//
//     struct layout l;
//     struct layout_options o = {.in_place = true, .shares = true, .n_streams = 1,
//                                .alignment = 64};
//     status st = layout_of(g, &o, &arena, diags, stop, &l);
//     int64_t at = l.buffers.at[l.of[v.i]].offset; // of value v, when l.of[v.i] > 0
//
// Persistent values (inputs, initializers, constants) are not in the arena. The workspace of a node
// is a buffer of its own that lives while the node runs.
//
// With several streams, nodes are coloured by longest paths (layout_streams.c): nodes of one colour
// form a stream and run one after the other, in the order of the graph; streams run concurrently.
// Buffers share addresses only within a stream, so that no path waits for another because of
// memory. Where the last reader of a buffer is on another stream than the node that reuses its
// address, `waits` orders the two.
#pragma once

#include "ir/base/stop.h"
#include "ir/storage.h"
#include "passes/pass.h"

struct layout_options {
    bool in_place; // a result may be written over an operand that only its node reads
    bool shares;   // dead buffers are reused
    int32_t n_streams;
    int64_t alignment; // of every offset, a power of two
    int64_t work;      // limit on the search for offsets (solver/offsets.h); 0: default
};

struct layout_buffer {
    int64_t offset, bytes;
    uint32_t from, to; // steps, both included; to = number of steps: held to the end
    uint32_t stream;   // of the node that makes it
    value_id first;    // the value that it was made for; none: a workspace
    node_id workspace; // the node whose workspace it is; none: it holds values
};

struct layout_wait {
    node_id before, after; // `after` must not start before `before` is done
};

struct layout {
    VEC(struct layout_buffer) buffers; // [0] is unused
    uint32_t *of;                      // per value: its buffer; 0: persistent, or never made
    uint32_t *stream;                  // per node
    VEC(struct layout_wait) waits;     // beyond data and the order within streams
    size_t n_in_place;                 // results written over an operand
    int64_t alignment;
    int64_t arena_bytes;
    int64_t live_bytes;       // max. sum of buffers live at once, in the order of the graph
    int64_t bound_bytes;      // no arena for these buffers is smaller
    int64_t persistent_bytes; // not in the arena
};

// All sizes must be known. Every layout has passed layout_check.
status layout_of(const struct graph *g, const struct layout_options *o, struct arena *a,
                 struct diags *d, const struct stop *stop, struct layout *out);

// By the options of the pass, with all that it writes. The layout lives in c->arena.
status layout_run(struct model *m, struct pass_context *c, struct layout *out);

// Addresses as an executor gets them, from this pass or from elsewhere.
struct layout_claim {
    const int64_t *offset;           // per value; -1: none (persistent values have none)
    const int64_t *workspace_offset; // per node; NULL: workspaces are not in the arena
    int64_t arena_bytes, alignment;
    const uint32_t *stream; // per node; NULL: all run in the graph's order
    uint32_t n_streams;
    const struct layout_wait *waits;
    size_t n_waits;
};

// The independent check: a replay that tracks the owner of every byte of the arena. Every operand
// must be intact when it is read, and every output at the end; a node may write over its operands
// only if its operator works in place; with several streams, a node may write over a value only
// after the last reader on every other stream is done. The error names the first node that violates
// this.
status layout_check(const struct graph *g, const struct layout_claim *claim, struct diags *d);

// The layout as JSON (docs/layout.md).
void layout_json(struct str *out, const struct graph *g, const struct layout *l);

// layout_streams.c: the colours of the nodes, 0 .. n_streams-1, by longest paths.
status layout_colour(const struct graph *g, int32_t n_streams, struct arena *a, struct diags *d,
                     uint32_t *stream);
// Adds the waits between streams that the addresses in `l` require.
status layout_add_waits(const struct graph *g, struct arena *a, struct diags *d, struct layout *l);

// layout_clock.c: vector clocks. The clock of a node counts, for each stream, the nodes that are
// certainly done when this one starts.
struct layout_clock {
    uint32_t n_streams;
    uint32_t *at;    // [node * n_streams + stream]
    uint32_t *place; // per node: its position in its stream, from 1
    const uint32_t *stream;
};
status layout_clock_make(const struct graph *g, const uint32_t *stream, uint32_t n_streams,
                         struct arena *a, struct diags *d, struct layout_clock *out);
// Sets the clock of a node from those of its producers and of the previous node of its stream.
void layout_clock_start(struct layout_clock *c, const struct graph *g, node_id n, node_id previous);
void layout_clock_wait(struct layout_clock *c, node_id n, node_id before);
bool layout_clock_done(const struct layout_clock *c, node_id before, node_id n);

// layout_owners.c: the owner of every byte of the arena.
struct layout_piece {
    int64_t from, to; // bytes from .. to-1
    uint32_t owner;
};
struct layout_owners {
    struct arena *a;
    VEC(struct layout_piece) pieces; // by address, without overlap
    VEC(uint32_t) lost; // owners that lost bytes in the last call of layout_owners_take
};
bool layout_owners_take(struct layout_owners *o, int64_t from, int64_t to, uint32_t owner);
bool layout_owners_has(const struct layout_owners *o, int64_t from, int64_t to, uint32_t owner);
