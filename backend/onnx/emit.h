// A streaming writer of the protobuf wire format. A nested message is preceded by its length, so
// the same code walks every message twice: the first walk measures and records the length of each
// nested message in the order in which they begin, the second walk writes and takes the lengths
// from that list. No message is ever held in memory.
//
//     size_t at = emit_begin(e, 7);
//     emit_text(e, 2, g->name);
//     emit_end(e, at);
//
// The first error is kept in `failed`; all later calls do nothing.
#pragma once

#include "ir/base/file.h"
#include "ir/type.h"

struct emit {
    struct arena *arena;
    struct diags *d;
    struct output *out; // NULL: measure
    VEC(int64_t) sizes; // of nested messages, in the order in which they begin
    size_t next;        // while writing: index of the next size
    int64_t n_bytes;    // of this walk so far
    int64_t measured;   // n_bytes of the measuring walk
    status failed;
};

// Starts a walk that measures.
void emit_measure(struct emit *e);
// Starts the walk that writes. It must describe the same message as the walk that measured.
void emit_to(struct emit *e, struct output *out);
// Ends a walk. DIAG_INTERNAL: the two walks differ.
status emit_finish(struct emit *e);

size_t emit_begin(struct emit *e, uint32_t field);
void emit_end(struct emit *e, size_t begun);

void emit_int(struct emit *e, uint32_t field, int64_t x);
void emit_float(struct emit *e, uint32_t field, float x);
void emit_text(struct emit *e, uint32_t field, const char *text); // NULL: absent
void emit_bytes(struct emit *e, uint32_t field, struct bytes b);  // present even when empty
void emit_span(struct emit *e, uint32_t field, struct span s);    // from file to file
void emit_fields(struct emit *e, struct bytes b);                 // fields in wire format
