// The ONNX messages: how each part of the IR is laid out in fields, in ascending order. The same
// walk measures and writes (emit.h). While measuring it also notes what it comes across: the
// tensors, which may have to move to another file, and the least IR version that has every feature
// in use.
#pragma once

#include "backend/onnx/emit.h"
#include "ir/graph.h"

// Where the bytes of a tensor are to be found, when that is another file.
struct payload_target {
    const char *location;
    bool moved;              // into the data file of this output; else only its location changes
    int64_t offset, n_bytes; // of a moved one
};

struct found {
    const struct tensor *tensor;
    bool is_init; // an initializer; else part of an attribute
};

struct message {
    struct emit e;
    const struct model *model;
    VEC(struct found) tensors; // in the order of the file, when `note`
    bool note;
    int64_t least_version;
    struct map places; // tensor -> index into `place`
    struct payload_target *place;
};

void message_model(struct message *m); // one walk over everything

// For the above.
enum ir_version {       // the first version that has a feature
    IR_LOOSE_INITS = 4, // initializers that are not inputs; bfloat16
    IR_QUANTIZATION = 5,
    IR_SPARSE = 6,
    IR_TRAINING = 7,
    IR_FUNCTIONS = 8, // also optional and sparse types
    IR_DEFAULTS = 9,  // of function attributes; 8-bit floats
    IR_METADATA = 10, // below the model; overloads, value_info of functions, 4-bit integers
    IR_DEVICES = 11,  // also 4-bit floats
    IR_F8E8M0 = 12,
    IR_2BIT = 13,
};
void message_needs(struct message *m, enum ir_version v);
void message_pairs(struct message *m, uint32_t field, struct pairs p);
void message_metadata(struct message *m, uint32_t field, struct pairs p); // not the model's
void message_type(struct message *m, uint32_t field, const struct type *t);
// A name other than NULL stands in for the tensor's own.
void message_tensor(struct message *m, uint32_t field, const struct tensor *t, const char *name,
                    bool is_init);
void message_sparse(struct message *m, uint32_t field, const struct sparse *s, const char *name,
                    bool is_init);
