// Constant tensors. A tensor has its type and the location of its bytes, which stay in their file
// until they are read. Payloads keep their ONNX encoding, so that a model that is read and written
// again stays the same.
#pragma once

#include "ir/base/diag.h"
#include "ir/base/file.h"
#include "ir/type.h"

// The ONNX encoding of the elements. RAW: little-endian bytes. The typed ones are the payload of a
// packed protobuf field: floats and doubles little-endian, integers as varints.
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
    struct span data; // all but STRINGS; EXTERNAL: without a source if the file was not found
    const struct bytes *strings; // STRINGS
    size_t n_strings;
    struct pairs external; // EXTERNAL: location, offset, length, checksum, as in the file
    bool has_segment;      // TensorProto.segment, passed through
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

// Whether tensor_ints can give its elements: integers or bools.
static inline bool tensor_has_ints(const struct tensor *t) {
    return elem_is_int(t->elem) || t->elem == ELEM_BOOL;
}

// Reads the elements as numbers. Errors: more than LIMIT_FOLD_ELEMENTS, no payload, or a payload
// whose number of elements differs from that of the dimensions. _ints reads integers and bool,
// _reals also floats.
status tensor_ints(const struct tensor *t, struct arena *a, struct diags *d, int64_t **out);
status tensor_reals(const struct tensor *t, struct arena *a, struct diags *d, double **out);

// The tensor with its elements as plain bytes: those of its file where they are plain there, else
// decoded into memory. Its payload is RAW.
status tensor_as_raw(const struct tensor *t, struct arena *a, struct diags *d, struct tensor *out);

// The elements as RAW bytes, of any number, and one of them as a number. The caller has checked
// that they fit into memory by the size of the file; errors as above.
status tensor_raw(const struct tensor *t, struct arena *a, struct diags *d, uint8_t **raw,
                  int64_t *n);
double tensor_raw_real(enum elem e, const uint8_t *raw, int64_t i);

// A new RAW tensor of f32 zeros, and where to write its elements. NULL: out of memory.
struct tensor *tensor_floats(struct arena *a, const int64_t *dims, int32_t rank, float **at);

// The tensor in another element type; both are f16, bf16, f32 or f64. Rounds to nearest.
status tensor_convert(const struct tensor *t, enum elem to, struct arena *a, struct diags *d,
                      struct tensor *out);

// New RAW tensors in memory. Values are converted to the element type (integers, bool, f16, bf16,
// f32, f64). NULL: out of memory.
struct tensor *tensor_from_ints(struct arena *a, enum elem e, const int64_t *values,
                                const int64_t *dims, int32_t rank);
struct tensor *tensor_from_reals(struct arena *a, enum elem e, const double *values,
                                 const int64_t *dims, int32_t rank);
