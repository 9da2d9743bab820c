// Field tables of the wire guard: one lookup per field. They are made from protobuf-c's own
// descriptors, so guard and unpacker agree about every field.
#pragma once

#include <protobuf-c/protobuf-c.h>

#include "ir/base/mem.h"

enum wire_action {
    WIRE_UNKNOWN, // not in the descriptors: kept as bytes
    WIRE_SCALAR,
    WIRE_STRING,
    WIRE_BYTES,
    WIRE_MESSAGE,
    WIRE_PAYLOAD,  // elements of a tensor: lifted
    WIRE_TRAINING, // a message that is lifted as a whole
};

// Wire types of protobuf; 3 and 4 (groups) are obsolete and refused.
enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_DELIMITED = 2, WIRE_FIXED32 = 5 };

struct wire_kind;

struct wire_rule {
    const char *name;
    const struct wire_kind *child; // MESSAGE, TRAINING
    uint8_t action;
    uint8_t wire; // required wire type; a repeated scalar may be WIRE_DELIMITED (packed) too
    uint8_t item; // bytes of one element in memory
    bool repeated;
};

#define WIRE_RULES 32 // ONNX has no field numbers from here on

struct wire_kind {
    const ProtobufCMessageDescriptor *message;
    struct wire_rule rules[WIRE_RULES]; // by field number
};

// The table of `top` and, through its fields, of all messages it contains. NULL: out of memory.
const struct wire_kind *wire_kinds(const ProtobufCMessageDescriptor *top, struct arena *a);
