// A streaming writer of the protobuf wire format: see emit.h.
#include "backend/onnx/emit.h"

#include <assert.h>
#include <string.h>

#include "ir/base/checked.h"
#include "ir/varint.h"

enum emit_wire { EMIT_VARINT = 0, EMIT_DELIMITED = 2, EMIT_FIXED32 = 5 };

static void count(struct emit *e, int64_t n_bytes) {
    if (!e->failed && !checked_add(e->n_bytes, n_bytes, &e->n_bytes))
        e->failed = diag_error(e->d, DIAG_LIMIT, loc_none(), "the model has more than 2^63 bytes");
}

static void raw(struct emit *e, const void *bytes, size_t n) {
    count(e, (int64_t)n);
    if (e->out && !e->failed)
        e->failed = output_write(e->out, e->d, bytes, n);
}

static void varint(struct emit *e, uint64_t x) {
    uint8_t b[VARINT_BYTES];
    raw(e, b, varint_put(b, x));
}

static void tag(struct emit *e, uint32_t field, enum emit_wire wire) {
    varint(e, (uint64_t)field << 3 | wire);
}

void emit_measure(struct emit *e) {
    e->out = NULL;
    e->sizes.n = 0;
    e->n_bytes = 0;
}

void emit_to(struct emit *e, struct output *out) {
    assert(out && !e->out); // a walk has measured
    e->out = out;
    e->next = 0;
    e->measured = e->n_bytes;
    e->n_bytes = 0;
}

status emit_finish(struct emit *e) {
    if (!e->failed && e->out && (e->next != e->sizes.n || e->n_bytes != e->measured))
        e->failed = diag_error(e->d, DIAG_INTERNAL, loc_file(e->out->path),
                               "the size written differs from the size measured; please report "
                               "this");
    return e->failed;
}

// While measuring, the slot holds the offset of the content until emit_end.
size_t emit_begin(struct emit *e, uint32_t field) {
    tag(e, field, EMIT_DELIMITED);
    if (!e->out) {
        if (!e->failed && !VEC_PUSH(e->arena, &e->sizes, e->n_bytes))
            e->failed = diag_out_of_memory(e->d);
        return e->sizes.n - 1;
    }
    size_t slot = e->next++;
    if (!e->failed && slot < e->sizes.n)
        varint(e, (uint64_t)e->sizes.at[slot]);
    return slot;
}

void emit_end(struct emit *e, size_t begun) {
    if (e->out || e->failed)
        return;
    e->sizes.at[begun] = e->n_bytes - e->sizes.at[begun];
    varint(e, (uint64_t)e->sizes.at[begun]);
}

void emit_int(struct emit *e, uint32_t field, int64_t x) {
    tag(e, field, EMIT_VARINT);
    varint(e, (uint64_t)x);
}

void emit_float(struct emit *e, uint32_t field, float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint8_t b[4] = {(uint8_t)bits, (uint8_t)(bits >> 8), (uint8_t)(bits >> 16),
                    (uint8_t)(bits >> 24)};
    tag(e, field, EMIT_FIXED32);
    raw(e, b, sizeof b);
}

void emit_bytes(struct emit *e, uint32_t field, struct bytes b) {
    tag(e, field, EMIT_DELIMITED);
    varint(e, b.n);
    raw(e, b.at, b.n);
}

void emit_text(struct emit *e, uint32_t field, const char *text) {
    if (text)
        emit_bytes(e, field, (struct bytes){(const uint8_t *)text, strlen(text)});
}

void emit_span(struct emit *e, uint32_t field, struct span s) {
    tag(e, field, EMIT_DELIMITED);
    varint(e, (uint64_t)s.n_bytes);
    count(e, s.n_bytes);
    if (e->out && !e->failed)
        e->failed = output_copy(e->out, e->d, s);
}

void emit_fields(struct emit *e, struct bytes b) {
    raw(e, b.at, b.n);
}
