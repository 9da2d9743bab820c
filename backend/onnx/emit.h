// Protobuf's wire format, written as a stream. A nested message is preceded by its length, so every
// message is described twice by the same code: a first walk measures and notes the length of each
// nested message in the order in which they begin, a second walk writes and takes the lengths from
// those notes. So nothing is ever gathered in memory, least of all weights.
//
//     size_t at = emit_begin(e, 7);
//     emit_text(e, 2, g->name);
//     emit_end(e, at);
//
// The first failure sticks: from then on every call does nothing, and `failed` says why.
#pragma once

#include "ir/base/file.h"
#include "ir/type.h"

struct emit {
    struct arena *arena;
    struct diags *d;
    struct output *out; // NULL: measure
    VEC(int64_t) sizes; // of nested messages, in the order in which they begin
    size_t next;        // the next of `sizes`, when writing
    int64_t n_bytes;    // so far
    int64_t measured;   // what the last walk came to
    status failed;
};

void emit_measure(struct emit *e); // starts a walk that only counts
void emit_to(struct emit *e,
             struct output *out);   // starts the walk that writes, as the last one measured
status emit_finish(struct emit *e); // what became of a walk; it is a defect when the walks differ

size_t emit_begin(struct emit *e, uint32_t field);
void emit_end(struct emit *e, size_t begun);

void emit_int(struct emit *e, uint32_t field, int64_t x);
void emit_float(struct emit *e, uint32_t field, float x);
void emit_text(struct emit *e, uint32_t field, const char *text); // NULL: absent
void emit_bytes(struct emit *e, uint32_t field, struct bytes b);  // present even when empty
void emit_span(struct emit *e, uint32_t field, struct span s);    // from file to file
void emit_fields(struct emit *e, struct bytes b); // whole fields that are in wire format already
