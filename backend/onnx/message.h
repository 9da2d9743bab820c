// The ONNX messages: the fields of each part of the IR, in ascending order. The same walk measures
// and writes (emit.h). The measuring walk also collects the tensors, which may have to move to
// another file, and the lowest IR version that has all features in use.
#pragma once

#include "backend/onnx/emit.h"
#include "ir/graph.h"

// The external data of a tensor in the output.
struct payload_target {
    const char *location;
    bool moved;              // into the data file of this output; else only the location changes
    int64_t offset, n_bytes; // of a moved one
};

struct tensor_use {
    const struct tensor *tensor;
    bool is_init; // an initializer; else part of an attribute
};

struct message {
    struct emit e;
    const struct model *model;
    VEC(struct tensor_use) tensors; // in file order; filled by a walk with `collect`
    bool collect;
    int64_t min_ir_version;
    struct map target_of; // tensor -> index into `targets`
    struct payload_target *targets;
};

void message_model(struct message *m); // one walk over the model

// The first IR version with a feature.
enum ir_version {
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
void message_metadata(struct message *m, uint32_t field, struct pairs p); // below the model
void message_type(struct message *m, uint32_t field, const struct type *t);
// A `name` that is not NULL replaces the tensor's own.
void message_tensor(struct message *m, uint32_t field, const struct tensor *t, const char *name,
                    bool is_init);
void message_sparse(struct message *m, uint32_t field, const struct sparse *s, const char *name,
                    bool is_init);
