// The guard in front of protobuf-c. protobuf-c trusts its input: it recurses once per nested
// message and allocates whatever the bytes ask for. The guard goes over the bytes first, without
// recursion and in linear time, and lets through only what is well formed, not nested deeper than
// LIMIT_WIRE_DEPTH, and unpacks into an amount of memory that is in proportion. What is wrong is
// told with its exact position.
//
// On the way it finds the payloads of tensors, which mfc does not load, and from them makes the
// slim copy: the same message in which each payload is a short reference to its place in the file.
// That is what protobuf-c unpacks.
#pragma once

#include <protobuf-c/protobuf-c.h>

#include "ir/base/file.h"

// Bytes that stay in the file, and the number of the field that they were the content of.
struct wire_lift {
    int64_t offset, n_bytes;
    uint32_t field;
};

// One difference between the file and its slim copy: at `at`, `cut` bytes make way for something
// short.
enum wire_patch { WIRE_NOTHING, WIRE_LENGTH, WIRE_REFERENCE };

struct wire_edit {
    int64_t at, cut;
    int64_t value; // the new length, or the index of the payload
    enum wire_patch patch;
};

struct wire_scan {
    VEC(struct wire_lift) payloads; // of TensorProto, any *_data but string_data
    VEC(struct wire_lift) training; // ModelProto.training_info
    VEC(struct wire_edit) edits;    // in the order of the file
    int64_t slim_bytes;             // size of the slim copy
    int64_t footprint_bytes;        // what protobuf-c will allocate for it, at most
};

// Scans one message of type `top`. The lists are in the arena.
status wire_scan(const struct source *s, const ProtobufCMessageDescriptor *top, struct arena *a,
                 struct diags *d, struct wire_scan *out);

// Makes the slim copy, scan.slim_bytes long.
status wire_slim(const struct source *s, const struct wire_scan *scan, struct arena *a,
                 struct diags *d, uint8_t **bytes);

// In the slim copy a payload is raw_data of four bytes: which of scan.payloads it was. -1: it is
// not one.
int64_t wire_reference(const struct wire_scan *scan, const uint8_t *bytes, size_t n);

// At most 10 bytes; returns how many.
static inline size_t wire_put_varint(uint8_t *to, uint64_t x) {
    size_t n = 0;
    for (; x >= 0x80; x >>= 7)
        to[n++] = (uint8_t)(x | 0x80);
    to[n++] = (uint8_t)x;
    return n;
}

// What a file that is no ONNX model seems to be ("a PNG picture"), by its first bytes; NULL: no
// idea.
const char *wire_guess(const struct source *s);
