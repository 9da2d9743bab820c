// Constant tensors. A tensor knows its type and where its bytes are; the bytes themselves stay in
// the file they came from until somebody asks for them. Payloads keep the form in which ONNX stored
// them, so that a model which is only passed through comes out as it was.
#pragma once

#include "ir/base/diag.h"
#include "ir/base/file.h"
#include "ir/type.h"

// Where ONNX keeps the elements. RAW: little-endian bytes. The typed ones are the payload of a
// packed protobuf field: floats and doubles little-endian, the integers as varints.
enum payload {
    PAYLOAD_NONE,
    PAYLOAD_RAW,
    PAYLOAD_FLOATS,   // float_data: also complex64
    PAYLOAD_INT32S,   // int32_data: also all smaller types, 16-bit floats as their bits
    PAYLOAD_INT64S,   // int64_data
    PAYLOAD_DOUBLES,  // double_data: also complex128
    PAYLOAD_UINT64S,  // uint64_data: also uint32
    PAYLOAD_STRINGS,  // string_data
    PAYLOAD_EXTERNAL, // in another file
};

struct tensor {
    const char *name, *doc; // NULL or interned
    enum elem elem;
    int32_t rank;
    const int64_t *dims; // >= 0
    enum payload payload;
    struct span data; // all but STRINGS; EXTERNAL: only when the file was found, else no source
    const struct bytes *strings; // STRINGS
    size_t n_strings;
    struct pairs external; // EXTERNAL: location, offset, length, checksum as they were in the file
    bool has_segment;      // TensorProto.segment, carried along
    int64_t segment_begin, segment_end;
    struct bytes segment_extra;
    struct pairs metadata;
    struct bytes extra; // unknown fields, in wire format
};

struct sparse {
    struct tensor *values, *indices;
    int32_t rank;
    const int64_t *dims;
    struct bytes extra;
};

bool tensor_elements(const struct tensor *t, int64_t *n); // false: the product overflows
bool tensor_bytes(const struct tensor *t, int64_t *n_bytes);
const struct type *tensor_type(struct arena *a, const struct tensor *t);

// The elements as numbers, read now; refused above LIMIT_FOLD_ELEMENTS, and when the payload is
// absent or does not have as many elements as the dimensions say. Integers and bool for _ints;
// those and floats for _reals.
status tensor_ints(const struct tensor *t, struct arena *a, struct diags *d, int64_t **out);
status tensor_reals(const struct tensor *t, struct arena *a, struct diags *d, double **out);

// New tensors in memory, RAW. Values are converted to the element type (integers, bool, f16, bf16,
// f32, f64). NULL: no room.
struct tensor *tensor_from_ints(struct arena *a, enum elem e, const int64_t *values,
                                const int64_t *dims, int32_t rank);
struct tensor *tensor_from_reals(struct arena *a, enum elem e, const double *values,
                                 const int64_t *dims, int32_t rank);
