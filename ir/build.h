// Building graph: what gradient rules, the loss and the rewriter use. The first failure sticks:
// from then on every call returns none and does nothing, so that rules read as formulas and the
// pass asks once at the end.
//
//     struct builder b = builder_make(g, d);
//     value_id mask = BUILD(&b, "Greater", x, zero);
//     value_id dx = BUILD(&b, "Where", mask, dy, zero);
//     value_id s = build_op(&b, "ReduceSum", VALUES(dx, axes), ATTRS(attr_int("keepdims", 0)));
//     if (b.failed) return b.failed;
#pragma once

#include "ir/graph.h"

struct builder {
    struct graph *g;
    struct diags *d;
    status failed;
    const char *scope; // new names start with it: "grad/conv1"; NULL: none
    // Gives the outputs of a new node their types; set by the pass that has shape rules. May be
    // NULL.
    status (*infer)(struct graph *g, node_id n, struct diags *d);
    struct map constants; // bytes of a constant -> value, so that equal ones are made once
};

struct attrs {
    const struct attr *at;
    uint32_t n;
};

#define VALUES(...)                                                                                \
    ((struct values){(value_id[]){__VA_ARGS__},                                                    \
                     sizeof((value_id[]){__VA_ARGS__}) / sizeof(value_id)})
#define ATTRS(...)                                                                                 \
    ((struct attrs){(struct attr[]){__VA_ARGS__},                                                  \
                    sizeof((struct attr[]){__VA_ARGS__}) / sizeof(struct attr)})
#define NO_ATTRS ((struct attrs){0})

// Attributes for ATTRS(…); lists are copied when the node is built.
struct attr attr_int(const char *name, int64_t x);
struct attr attr_float(const char *name, double x);
struct attr attr_text(const char *name, const char *x);
struct attr attr_ints(const char *name, const int64_t *x, size_t n);

struct builder builder_make(struct graph *g, struct diags *d);

// A node of ai.onnx at the end of the order, with one output, which is returned. VALUE_NONE among
// the inputs leaves an optional one out.
value_id build_op(struct builder *b, const char *type, struct values in, struct attrs at);
// The same with several outputs: out[0 .. n_out-1] are set.
void build_outputs(struct builder *b, const char *type, struct values in, struct attrs at,
                   value_id *out, uint32_t n_out);
#define BUILD(b, type, ...) build_op((b), (type), VALUES(__VA_ARGS__), NO_ATTRS)

// Constants are initializers that are not graph inputs. Equal ones are made once per builder.
value_id build_ints(struct builder *b, const int64_t *x, int64_t n); // i64[n]
value_id build_scalar(struct builder *b, enum elem e, double x);     // rank 0
value_id build_tensor(struct builder *b, struct tensor *t);
