// The update of parameters: shared by the pass `optimizer` (optimizer.c), the formulas of the
// optimizers (update_rules.c), and what is done to all gradients before (update_scale.c).
#pragma once

#include "ir/build.h"
#include "passes/pass.h"
#include "passes/patterns.h"

enum update_scalar {
    UPDATE_LR,
    UPDATE_MOMENTUM,
    UPDATE_BETA1,
    UPDATE_BETA2,
    UPDATE_EPSILON,
    UPDATE_WEIGHT_DECAY,
    UPDATE_STEP,
    UPDATE_LOSS_SCALE,
    UPDATE_SCALARS_
};

// A parameter and its gradient.
struct update_pair {
    value_id p, dp;
    const char *name; // of the parameter
};

struct update {
    struct graph *g;
    struct builder b;
    struct pass_context *c;
    VEC(struct update_pair) pairs;
    value_id scalar[UPDATE_SCALARS_];            // graph inputs, f32; made when first needed
    value_id cast[UPDATE_SCALARS_][ELEM_LIMIT_]; // the same in other element types
    struct str start;                            // KEY_STATE: what the state starts with
    struct patterns no_decay;
    bool nesterov;
    value_id factor; // f32: what all gradients are multiplied by; VALUE_NONE: nothing
    value_id fits;   // bool: no gradient overflowed, so the update counts; VALUE_NONE: always
    // Of the present parameter. Those of 16 bits have a master copy of 32, which is updated.
    const char *name;
    enum elem elem;
    value_id p, dp;
    bool decays;
};

// Settings and state. A scalar has the element type of the present parameter; update_state makes an
// input KIND(NAME) of the given shape that starts with zeros.
value_id update_scalar(struct update *u, enum update_scalar k);
value_id update_input(struct update *u, const char *name, enum elem e, const struct dim *dims,
                      int32_t rank);
value_id update_state(struct update *u, const char *kind, const struct dim *dims, int32_t rank);
value_id update_state_like(struct update *u, const char *kind); // in the parameter's shape
// Makes `v` the output next(NAME) of the value that it replaces, if the update counts.
void update_publish(struct update *u, value_id old, value_id v);

// update_rules.c: one update by the optimizer of this name.
void update_rule(struct update *u, const char *kind);

// update_scale.c.
// Makes `factor` and `fits` of all pairs, by --clip-norm and --loss-scale, and the output
// grad_norm.
void update_measure(struct update *u);
void update_next_scale(struct update *u); // after all updates: --loss-scale dynamic

// Building, in the element type of the operands.
value_id update_cast(struct update *u, value_id v, enum elem e);
value_id update_add(struct update *u, value_id a, value_id b);
value_id update_sub(struct update *u, value_id a, value_id b);
value_id update_mul(struct update *u, value_id a, value_id b);
value_id update_div(struct update *u, value_id a, value_id b);
value_id update_real(struct update *u, double x); // of the present parameter's type
// ReduceSum, ReduceMean, …: over one axis, kept; or over all, to rank 0, with axis INT32_MAX.
value_id update_reduce(struct update *u, const char *type, value_id v, int32_t axis);
