// The wire guard in front of protobuf-c. protobuf-c trusts its input: it recurses once per nested
// message and allocates as much as the bytes ask for. The guard scans the bytes first, without
// recursion and in linear time. It accepts only messages that are well formed, nested at most
// LIMIT_WIRE_DEPTH deep, and unpack into memory in proportion to their size. Errors have an exact
// byte offset.
//
// The scan also finds the payloads of tensors, which mfc does not load, and makes the slim copy:
// the same message with each payload replaced by a short reference to its bytes in the file.
// protobuf-c unpacks the slim copy.
#pragma once

#include <protobuf-c/protobuf-c.h>

#include "ir/base/file.h"
#include "ir/varint.h"

// Bytes that the slim copy leaves out, and the number of their field.
struct wire_lift {
    int64_t offset, n_bytes;
    uint32_t field;
};

// One difference between the file and its slim copy: a short patch replaces `cut` bytes at `at`.
enum wire_patch { WIRE_NOTHING, WIRE_LENGTH, WIRE_REFERENCE };

struct wire_edit {
    int64_t at, cut;
    int64_t value; // the new length, or the index of the payload
    enum wire_patch patch;
};

struct wire_scan {
    VEC(struct wire_lift) payloads; // TensorProto.*_data except string_data
    VEC(struct wire_lift) training; // ModelProto.training_info
    VEC(struct wire_edit) edits;    // in file order
    int64_t slim_bytes;             // size of the slim copy
    int64_t footprint_bytes;        // upper bound of what protobuf-c will allocate for it
};

// Scans one message of type `top`. The lists are in the arena.
status wire_scan(const struct source *s, const ProtobufCMessageDescriptor *top, struct arena *a,
                 struct diags *d, struct wire_scan *out);

// Makes the slim copy, scan.slim_bytes long.
status wire_slim(const struct source *s, const struct wire_scan *scan, struct arena *a,
                 struct diags *d, uint8_t **bytes);

// In the slim copy a payload is a raw_data of four bytes: its index in scan.payloads, or -1 when
// the bytes are no reference.
int64_t wire_reference(const struct wire_scan *scan, const uint8_t *bytes, size_t n);

// What kind of file a non-ONNX file is ("a PNG image"), by its first bytes; NULL: unknown.
const char *wire_guess(const struct source *s);
