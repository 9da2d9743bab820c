// The formulas of the optimizers. They are PyTorch's; Lion's are those of its paper.
#include <string.h>

#include "ir/base/limits.h"
#include "passes/update/update.h"

static value_id one_minus(struct update *u, value_id a) {
    return update_sub(u, update_real(u, 1), a);
}

// a + (b - a) t, as m' = t m + (1 - t) g is written for moments.
static value_id blend(struct update *u, value_id t, value_id old, value_id new) {
    return update_add(u, update_mul(u, t, old), update_mul(u, one_minus(u, t), new));
}

// p (1 - lr * decay), for parameters that decay.
static value_id decayed(struct update *u) {
    if (!u->decays)
        return u->p;
    value_id rate =
        update_mul(u, update_scalar(u, UPDATE_LR), update_scalar(u, UPDATE_WEIGHT_DECAY));
    return update_mul(u, u->p, one_minus(u, rate));
}

static void step_by(struct update *u, value_id from, value_id direction) {
    value_id d = update_mul(u, update_scalar(u, UPDATE_LR), direction);
    update_publish(u, u->p, update_sub(u, from, d));
}

static void sgd(struct update *u) {
    step_by(u, u->p, u->dp);
}

static void
momentum(struct update *u) { // v' = mu v + g; p' = p - lr v', Nesterov: p - lr (g + mu v')
    value_id v = update_state_like(u, "momentum"), mu = update_scalar(u, UPDATE_MOMENTUM);
    value_id next = update_add(u, update_mul(u, mu, v), u->dp);
    update_publish(u, v, next);
    step_by(u, u->p, u->nesterov ? update_add(u, u->dp, update_mul(u, mu, next)) : next);
}

// m' = b1 m + (1 - b1) g
// v' = b2 v + (1 - b2) g²
// p' = p - lr / (1 - b1^t) m' / (sqrt(v' / (1 - b2^t)) + eps)
// AdamW first scales p by 1 - lr * decay.
static void adam(struct update *u, bool decays) {
    value_id m = update_state_like(u, "adam.m"), v = update_state_like(u, "adam.v");
    value_id b1 = update_scalar(u, UPDATE_BETA1), b2 = update_scalar(u, UPDATE_BETA2);
    value_id t = update_scalar(u, UPDATE_STEP), lr = update_scalar(u, UPDATE_LR);
    value_id m1 = blend(u, b1, m, u->dp), v1 = blend(u, b2, v, update_mul(u, u->dp, u->dp));
    value_id rate = update_div(u, lr, one_minus(u, BUILD(&u->b, "Pow", b1, t)));
    value_id bias = BUILD(&u->b, "Sqrt", one_minus(u, BUILD(&u->b, "Pow", b2, t)));
    value_id size = update_add(u, update_div(u, BUILD(&u->b, "Sqrt", v1), bias),
                               update_scalar(u, UPDATE_EPSILON));
    value_id p = decays ? decayed(u) : u->p;
    value_id p1 = update_sub(u, p, update_mul(u, rate, update_div(u, m1, size)));
    update_publish(u, m, m1);
    update_publish(u, v, v1);
    update_publish(u, u->p, p1);
}

// p' = p (1 - lr decay) - lr sign(b1 m + (1 - b1) g); m' = b2 m + (1 - b2) g  (Chen et al. 2023)
static void lion(struct update *u) {
    value_id m = update_state_like(u, "lion.m");
    value_id b1 = update_scalar(u, UPDATE_BETA1), b2 = update_scalar(u, UPDATE_BETA2);
    value_id sign = BUILD(&u->b, "Sign", blend(u, b1, m, u->dp));
    value_id next = blend(u, b2, m, u->dp);
    step_by(u, decayed(u), sign);
    update_publish(u, m, next);
}

// Root of the mean of the squares of all elements.
static value_id root_mean_square(struct update *u, value_id v) {
    value_id squares = update_mul(u, v, v);
    return BUILD(&u->b, "Sqrt", update_reduce(u, "ReduceMean", squares, INT32_MAX));
}

// The mean square of the gradient along an axis, averaged over the steps.
static value_id adafactor_side(struct update *u, const char *kind, int32_t axis, value_id share) {
    const struct type *t = graph_value(u->g, u->p)->type;
    struct dim dims[LIMIT_RANK];
    memcpy(dims, t->dims, (size_t)t->rank * sizeof *dims);
    dims[axis] = (struct dim){.size = 1};
    value_id old = update_state(u, kind, dims, t->rank);
    value_id mean = update_reduce(u, "ReduceMean", update_mul(u, u->dp, u->dp), axis);
    value_id next = blend(u, one_minus(u, share), old, mean);
    update_publish(u, old, next);
    return next;
}

// Of a matrix (or a stack of them) only the means of the rows and columns of g² are kept:
// v = rows columns / mean(rows). Of anything else all of it.
static value_id adafactor_variance(struct update *u, value_id share) {
    const int32_t rank = graph_value(u->g, u->p)->type->rank;
    if (rank < 2) {
        value_id old = update_state_like(u, "adafactor.v");
        value_id next = blend(u, one_minus(u, share), old, update_mul(u, u->dp, u->dp));
        update_publish(u, old, next);
        return next;
    }
    value_id rows = adafactor_side(u, "adafactor.row", rank - 1, share);
    value_id columns = adafactor_side(u, "adafactor.column", rank - 2, share);
    value_id mean = update_reduce(u, "ReduceMean", rows, rank - 2);
    value_id least = update_real(u, 0x1p-23); // the distance of 1 from the next float
    value_id product = BUILD(&u->b, "MatMul", rows, columns);
    return update_div(u, product, BUILD(&u->b, "Max", mean, least));
}

// As torch.optim.Adafactor with its defaults: beta2_decay -0.8, eps (float's, 1e-3), d 1.
static void adafactor(struct update *u) {
    value_id t = update_scalar(u, UPDATE_STEP), lr = update_scalar(u, UPDATE_LR);
    value_id share = BUILD(&u->b, "Pow", t, update_real(u, -0.8));
    value_id slow = update_div(u, update_real(u, 1), BUILD(&u->b, "Sqrt", t));
    value_id size = BUILD(&u->b, "Max", update_real(u, 1e-3), root_mean_square(u, u->p));
    value_id rate = update_mul(u, size, BUILD(&u->b, "Min", lr, slow));
    value_id v = BUILD(&u->b, "Max", adafactor_variance(u, share), update_real(u, 0x1p-46));
    value_id d = update_div(u, u->dp, BUILD(&u->b, "Sqrt", v));
    value_id most = BUILD(&u->b, "Max", update_real(u, 1), root_mean_square(u, d));
    value_id p = decayed(u);
    update_publish(u, u->p, update_sub(u, p, update_mul(u, update_div(u, rate, most), d)));
}

void update_rule(struct update *u, const char *kind) {
    if (strcmp(kind, "sgd") == 0)
        sgd(u);
    else if (strcmp(kind, "momentum") == 0)
        momentum(u);
    else if (strcmp(kind, "lion") == 0)
        lion(u);
    else if (strcmp(kind, "adafactor") == 0)
        adafactor(u);
    else
        adam(u, strcmp(kind, "adamw") == 0);
}
