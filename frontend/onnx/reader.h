// State and helpers of the ONNX reader. Each onnx_read_*.c converts one kind of protobuf message
// into its counterpart in the IR. An error is recorded (the first one sets `st`) and reading
// continues, so that one run reports all errors.
#pragma once

#include "frontend/onnx/external.h"
#include "frontend/onnx/wire.h"
#include "ir/graph.h"
#include "third_party/onnx/onnx.pb-c.h"

struct reader {
    struct model *m;
    struct arena *a; // the model's
    struct arena *scratch;
    struct diags *d;
    const struct source *source;
    const struct wire_scan *scan;
    struct external external;
    size_t n_negative;    // dimensions that are -1
    size_t n_disagreeing; // values with two declarations that differ
    status st;            // of the first error
};

// The position in the model, for messages: a linked list on the stack, from the inside out. It
// becomes text only when there is an error to report.
struct reader_path {
    const struct reader_path *in;
    const char *what; // "node", "attribute", "initializer"; NULL: a graph
    const char *name; // may be NULL
    const char *type; // of a node: its operator
    size_t index;     // of a node
};

// Records an error. `where` may be NULL.
__attribute__((format(printf, 4, 5))) void reader_error(struct reader *r, enum diag_code code,
                                                        const struct reader_path *where,
                                                        const char *format, ...);
struct loc reader_loc(const struct reader *r, const struct reader_path *where, struct arena *a);
void reader_out_of_memory(struct reader *r);
void *reader_require(struct reader *r, void *block); // returns block; NULL: records out of memory

// NULL stays NULL.
const char *reader_name(struct reader *r, const char *text);
struct bytes reader_bytes(struct reader *r, const void *at, size_t n);
struct pairs reader_pairs(struct reader *r, Onnx__StringStringEntryProto *const *at, size_t n);
// The unknown fields of a message, in wire format.
struct bytes reader_extra(struct reader *r, const ProtobufCMessage *m);
// Messages packed in wire format; with `field` > 0, each behind its tag and length.
struct bytes reader_packed(struct reader *r, const ProtobufCMessage *const *at, size_t n,
                           uint32_t field);

const struct type *reader_type(struct reader *r, const struct reader_path *where,
                               const Onnx__TypeProto *t);
struct tensor *reader_tensor(struct reader *r, const struct reader_path *where,
                             const Onnx__TensorProto *t);
struct sparse *reader_sparse(struct reader *r, const struct reader_path *where,
                             const Onnx__SparseTensorProto *t);
// `g` is the graph of the node; subgraphs see its values.
struct attr *reader_attrs(struct reader *r, const struct reader_path *where, struct graph *g,
                          Onnx__AttributeProto *const *at, size_t n);
void reader_graph(struct reader *r, const struct reader_path *where, struct graph *g,
                  const Onnx__GraphProto *p);
void reader_function(struct reader *r, const Onnx__FunctionProto *p, struct function *f);
