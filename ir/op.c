// The operator table: see op.h.
#include "ir/op.h"

#include <assert.h>
#include <string.h>

static const struct op_info infos[OP_COUNT_] = {
    [OP_UNKNOWN] = {"?", 0, 0, OP_MANY, 0, OP_MANY, OPF_NONE},
#define OP(name, since, min_in, max_in, min_out, max_out, flags, shape, cost, shard, grad)         \
    [OP_##name] = {#name, since, min_in, max_in, min_out, max_out, flags},
#include "ir/op.def"
#undef OP
};

const struct op_info *op_info(enum op op) {
    assert(op < OP_COUNT_);
    return &infos[op];
}

enum op op_find(const char *domain, const char *name) {
    assert(domain && name);
    if (*domain && strcmp(domain, "ai.onnx") != 0)
        return OP_UNKNOWN;
    int low = 1, high = OP_COUNT_; // the rows are sorted by name
    while (low < high) {
        int mid = (low + high) / 2;
        int c = strcmp(infos[mid].name, name);
        if (c == 0)
            return (enum op)mid;
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return OP_UNKNOWN;
}
