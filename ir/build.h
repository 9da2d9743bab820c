// A builder of nodes and constants, used by gradient rules, the loss and the rewriter. The first
// failure is sticky: every later call does nothing and returns VALUE_NONE. So rules read as
// formulas, and a pass tests `failed` once at the end.
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
    const char *scope; // prefix of new names, such as "grad/conv1"; NULL: none
    bool numbers;      // new names are the scope and a number, such as "control/7": short
    uint32_t n_named;
    // Infers the output types of a new node; set by a pass that has shape rules. May be NULL.
    status (*infer)(struct graph *g, node_id n, struct diags *d);
    struct map constants; // type and bytes of a constant -> value; equal constants are shared
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

// Appends an ai.onnx node with one output to the order and returns the output. VALUE_NONE omits an
// optional input.
value_id build_op(struct builder *b, const char *type, struct values in, struct attrs at);
// The same with several outputs: out[0 .. n_out-1] are set.
void build_outputs(struct builder *b, const char *type, struct values in, struct attrs at,
                   value_id *out, uint32_t n_out);
#define BUILD(b, type, ...) build_op((b), (type), VALUES(__VA_ARGS__), NO_ATTRS)

// Constants are initializers that are not graph inputs. A builder shares equal constants.
value_id build_ints(struct builder *b, const int64_t *x, int64_t n); // i64[n]
value_id build_scalar(struct builder *b, enum elem e, double x);     // rank 0
value_id build_tensor(struct builder *b, struct tensor *t); // in memory; NULL: out of memory
