// `mfc verify MODEL PLAN`: all that a plan claims, derived again from the two files alone. Nothing
// that the plan says is believed: not its types, not its sizes, not which nodes are copies.
#pragma once

#include "ir/base/json_write.h"
#include "ir/check/forced_order.h"
#include "passes/pass.h"

// What a device holds at most, of what it has; INT64_MAX: no limit.
struct verified_device {
    const char *name;
    int64_t peak_bytes, memory_bytes;
};

struct verified {
    size_t n_outputs, n_nodes;       // of the plan
    size_t n_step;                   // nodes of the unplanned step
    const char *runtime;             // that the promise is about
    struct forced forced;            // what its dependencies make of the order of the file
    int64_t persistent_bytes;        // held throughout
    int64_t liveness_bytes;          // peak in the order of the file
    int64_t peak_bytes;              // peak on that runtime
    int64_t budget_bytes;            // -1: the plan promises none
    int64_t arena_bytes;             // -1: the plan gives no addresses
    struct verified_device *devices; // of a plan that promises something of them
    size_t n_devices;
};

// Makes the unplanned step of `model` with the options that the plan has recorded (step_recall) and
// are in c->options, and holds the plan against it: the same outputs, the order forced, the peak
// within the budget and as said. ST_VERIFY: what is not so is told in the diagnostics, all of it.
// Changes both models: the model becomes its step, and the plan's values get their types.
status verify_plan(struct model *model, struct model *plan, struct pass_context *c,
                   struct verified *out);

// A short table of it, and its members as JSON.
void verify_plan_print(struct str *out, const struct verified *v);
void verify_plan_json(struct json_writer *w, const char *key, const struct verified *v);
