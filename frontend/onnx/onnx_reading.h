// What the parts of the ONNX reader share. Each part turns one kind of message into its counterpart
// in the IR; a problem is noted (the first sets `st`) and reading goes on, so that all problems are
// found in one run.
#pragma once

#include "frontend/onnx/external.h"
#include "frontend/onnx/wire.h"
#include "ir/graph.h"
#include "third_party/onnx/onnx.pb-c.h"

struct reading {
    struct model *m;
    struct arena *a; // the model's
    struct arena *scratch;
    struct diags *d;
    const struct source *source;
    const struct wire_scan *scan;
    struct external external;
    size_t n_disagreeing; // values with two declarations that differ
    status st;
};

// Where we are, for messages: a chain of these lies on the stack, and is put into words only when
// there is something to say.
struct reading_path {
    const struct reading_path *in;
    const char *what; // "node", "attribute", "initializer"; NULL: a graph
    const char *name; // may be NULL
    const char *type; // of a node: its operator
    size_t index;     // of a node
};

// Notes a problem. `where` may be NULL.
__attribute__((format(printf, 4, 5))) void reading_wrong(struct reading *r, enum diag_code code,
                                                         const struct reading_path *where,
                                                         const char *format, ...);
struct loc reading_loc(const struct reading *r, const struct reading_path *where, struct arena *a);
void *reading_room(struct reading *r, void *block); // passes it on; NULL is noted as out of memory

// NULL stays NULL.
const char *reading_name(struct reading *r, const char *text);
struct bytes reading_bytes(struct reading *r, const void *at, size_t n);
struct pairs reading_pairs(struct reading *r, Onnx__StringStringEntryProto *const *at, size_t n);
// The fields that our version of the format does not know, in wire format.
struct bytes reading_extra(struct reading *r, const ProtobufCMessage *m);
// The whole message, in wire format; `field` > 0 puts its tag and length in front.
struct bytes reading_packed(struct reading *r, const ProtobufCMessage *const *at, size_t n,
                            uint32_t field);

const struct type *reading_type(struct reading *r, const struct reading_path *where,
                                const Onnx__TypeProto *t);
struct tensor *reading_tensor(struct reading *r, const struct reading_path *where,
                              const Onnx__TensorProto *t);
struct sparse *reading_sparse(struct reading *r, const struct reading_path *where,
                              const Onnx__SparseTensorProto *t);
// `g`: the graph that the node is in; subgraphs see its values.
struct attr *reading_attrs(struct reading *r, const struct reading_path *where, struct graph *g,
                           Onnx__AttributeProto *const *at, size_t n);
void reading_graph(struct reading *r, const struct reading_path *where, struct graph *g,
                   const Onnx__GraphProto *p);
void reading_function(struct reading *r, const Onnx__FunctionProto *p, struct function *f);
