// All limits in one place. A limit exists where an input could otherwise make mfc use memory, stack
// or time out of proportion to what the user asked for.
#pragma once

#include <stdint.h>

#define LIMIT_WIRE_DEPTH      64 // nested protobuf messages, text IR braces, JSON values
#define LIMIT_FIELD_NUMBER    ((1u << 29) - 1)   // protobuf's own
#define LIMIT_WIRE_FIELDS     50000000           // of one message; protobuf-c takes 67 million
#define LIMIT_RANK            64                 // dimensions of a tensor
#define LIMIT_DIM             ((int64_t)1 << 48) // one dimension: sums of a few stay in 64 bits
#define LIMIT_FOOTPRINT       ((int64_t)8 << 30) // bytes that an unpacked model may take, without weights
#define LIMIT_FOOTPRINT_BASE  ((int64_t)16 << 20) // ... in any case
#define LIMIT_FOOTPRINT_RATIO 48                  // ... and per byte of the file, without weights
#define LIMIT_PROTO_BYTES     ((int64_t)2 << 30)  // protobuf's own bound on one message
#define LIMIT_JSON_BYTES      ((int64_t)1 << 30)  // a problem, schedule, rig or profile file
#define LIMIT_TEXT_BYTES      ((int64_t)1 << 30)  // a text IR file
#define LIMIT_SOLVER_NODES    5000000             // nodes of a plain problem
#define LIMIT_DIAGS           1000                // further diagnostics are counted, not kept
#define LIMIT_FOLD_ELEMENTS   65536 // elements of a tensor that constant folding touches
#define LIMIT_FOLD_REALS      1024  // ... when they are floats
