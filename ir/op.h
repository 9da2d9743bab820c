// The operator table: one row of op.def per known operator. `passes` has the rules that a row
// names, and includes op.def again for its own tables of functions.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum op {
    OP_UNKNOWN, // of another domain or not in the table: passed through
#define OP(name, since, min_in, max_in, min_out, max_out, flags, shape, cost, shard, grad)         \
    OP_##name,
#include "ir/op.def"
#undef OP
    OP_COUNT_
};

#define OP_MANY INT16_MAX // any number

enum op_flags {
    OPF_NONE = 0,
    OPF_VIEW = 1 << 0,        // the output shares the storage of the first input
    OPF_INPLACE = 1 << 1,     // ONNX Runtime may write the output over the first input; bounds of
                              // plans (passes/remat/remat_relax.c) rely on no other doing so
    OPF_ELEMENTWISE = 1 << 2, // one output element per input element, with broadcasting
    OPF_RANDOM = 1 << 3,      // stochastic: two runs may differ
    OPF_CONTROL = 1 << 4,     // has subgraphs
    OPF_FUNCTION = 1 << 5,    // defined in terms of other operators; runtimes may inline it
};

struct op_info {
    const char *name;
    int16_t since; // its first opset version
    int16_t min_in, max_in, min_out, max_out;
    unsigned flags;
};

const struct op_info *op_info(enum op op);             // never NULL
enum op op_find(const char *domain, const char *name); // "" and "ai.onnx" are the same domain
