// What the guard needs to know of each message type, in a form that one lookup per field answers.
// It is made from protobuf-c's own descriptors, so guard and unpacker cannot disagree about what a
// field is.
#pragma once

#include <protobuf-c/protobuf-c.h>

#include "ir/base/mem.h"

enum wire_action {
    WIRE_UNKNOWN, // a field that the descriptors lack: kept as bytes
    WIRE_SCALAR,
    WIRE_STRING,
    WIRE_BYTES,
    WIRE_MESSAGE,
    WIRE_PAYLOAD,  // elements of a tensor: stays in the file
    WIRE_TRAINING, // a message that stays in the file
};

// Wire types of protobuf; 3 and 4 (groups) are history and refused.
enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_DELIMITED = 2, WIRE_FIXED32 = 5 };

struct wire_kind;

struct wire_rule {
    const char *name;
    const struct wire_kind *child; // MESSAGE, TRAINING
    uint8_t action;
    uint8_t wire; // the wire type it must have; a repeated scalar may be WIRE_DELIMITED too
    uint8_t item; // bytes of one element in memory
    bool repeated;
};

#define WIRE_RULES 32 // field numbers below it are looked up; the ONNX format has none above

struct wire_kind {
    const ProtobufCMessageDescriptor *message;
    struct wire_rule rules[WIRE_RULES]; // by field number
};

// The kind of `top`, and through it of all it contains. NULL: no room.
const struct wire_kind *wire_kinds(const ProtobufCMessageDescriptor *top, struct arena *a);
