// Which tensors of a model are trained by default, which are frozen by options, and which are
// constants, each with the reason.
#pragma once

#include "ir/base/options.h"
#include "ir/graph.h"
#include "ir/json/json_write.h"

enum param_state { PARAM_TRAINED, PARAM_FROZEN, PARAM_FIXED };

struct param_entry {
    const char *name, *reason;
    const struct tensor *tensor;
    enum param_state state;
    int64_t n_bytes; // -1: unknown
    bool is_init;    // else the result of a Constant node
};

struct param_list {
    VEC(struct param_entry) entries;
    bool out_of_memory;
};

// The float tensors of all graphs of the model. `o` has the options --train and --freeze, or is
// NULL.
struct param_list inspect_params(const struct model *m, const struct options *o, struct arena *a);

// One line for each state and reason, or, with `each`, one for each tensor.
void inspect_params_print(struct str *out, const struct param_list *list, bool each);
void inspect_params_json(struct json_writer *w, const struct param_list *list);
