// Gradients of normalizations. All have one form: xhat = (x - mean) * rstd over some axes,
// y = xhat * scale + bias, and
//
//     dx = scale * rstd * (dy - mean(dy) - xhat * mean(dy * xhat))
//     dscale = sum(dy * xhat), dbias = sum(dy)
//
// where scale is applied to dy first if it varies along the axes.
#include "passes/grad/grad.h"

#include <string.h>

#include "ir/base/limits.h"

// Channels are dimension 1; a parameter [C] as [1, C, 1, …] broadcasts against the input.
static value_id per_channel(struct grad *r, value_id v) {
    int64_t dims[LIMIT_RANK];
    int32_t rank = grad_rank(r, r->x[0]);
    for (int32_t i = 0; i < rank; i++)
        dims[i] = i == 1 ? grad_elements(r, v) : 1;
    return grad_reshape(r, v, dims, rank);
}

static value_id rstd_of(struct grad *r, value_id variance, double epsilon) {
    value_id sum = grad_add(r, variance, grad_real(r, variance, epsilon));
    return BUILD(r->b, "Reciprocal", BUILD(r->b, "Sqrt", sum));
}

struct norm {
    int64_t axes[LIMIT_RANK], n; // normalized over these
    value_id xhat, rstd;         // rstd with the axes kept
};

// Mean, variance and xhat, recomputed from x: a few reductions, while keeping xhat would cost the
// memory of an activation.
static struct norm statistics(struct grad *r, value_id x, const int64_t *axes, int64_t n,
                              double epsilon) {
    struct norm s = {.n = n};
    memcpy(s.axes, axes, (size_t)n * sizeof *axes);
    value_id centred = grad_sub(r, x, grad_reduce(r, "ReduceMean", x, axes, n, true));
    value_id variance = grad_reduce(r, "ReduceMean", grad_mul(r, centred, centred), axes, n, true);
    s.rstd = rstd_of(r, variance, epsilon);
    s.xhat = grad_mul(r, centred, s.rstd);
    return s;
}

// rstd * (g - mean(g) - xhat * mean(g * xhat)), for g = the gradient of xhat.
static value_id through(struct grad *r, const struct norm *s, value_id g) {
    value_id mean = grad_reduce(r, "ReduceMean", g, s->axes, s->n, true);
    value_id along = grad_reduce(r, "ReduceMean", grad_mul(r, g, s->xhat), s->axes, s->n, true);
    value_id inner = grad_sub(r, grad_sub(r, g, mean), grad_mul(r, s->xhat, along));
    return grad_mul(r, s->rstd, inner);
}

// In inference mode mean and variance are operands like others: dmean = -scale rstd db, dvar = -½
// scale rstd² dg.
static void fixed_statistics(struct grad *r, value_id slope, value_id rstd, value_id db,
                             value_id dg) {
    if (r->want[3]) {
        value_id dmean = grad_neg(r, grad_mul(r, slope, db));
        r->dx[3] = grad_cast(r, grad_reshape_like(r, dmean, r->x[3]), grad_elem(r, r->x[3]));
    }
    if (r->want[4]) {
        value_id dvar = grad_scale(r, grad_mul(r, grad_mul(r, slope, rstd), dg), -.5);
        r->dx[4] = grad_cast(r, grad_reshape_like(r, dvar, r->x[4]), grad_elem(r, r->x[4]));
    }
}

// What both modes of batch normalization have: the scale with all dimensions, and sums over batch
// and space.
struct batch {
    int64_t axes[LIMIT_RANK], n;
    enum elem e;
    value_id scale, db; // db: the sum of dy
    double epsilon;
};

static value_id channel_sum(struct grad *r, const struct batch *b, value_id v) {
    return grad_reduce(r, "ReduceSum", v, b->axes, b->n, true);
}

static value_id vector(struct grad *r, value_id v) {
    return grad_reshape(r, v, (int64_t[]){grad_elements(r, v)}, 1);
}

// n times the number x.
static value_id filled(struct grad *r, value_id like, double x, int64_t n) {
    double *all = ARENA_ARRAY(r->a, double, (size_t)n);
    for (int64_t i = 0; all && i < n; i++)
        all[i] = x;
    return build_tensor(
        r->b, all ? tensor_from_reals(r->g->model->arena, grad_elem(r, like), all, &n, 1) : NULL);
}

// factor * (v - mean), per channel: BatchNormalization with fixed statistics does it in one pass.
static value_id shifted(struct grad *r, value_id v, value_id factor, value_id mean) {
    int64_t c = grad_elements(r, mean);
    value_id zero = filled(r, v, 0, c), one = filled(r, v, 1, c);
    return build_op(r->b, "BatchNormalization",
                    VALUES(v, vector(r, factor), zero, vector(r, mean), one),
                    ATTRS(attr_float("epsilon", 0)));
}

// In training mode the statistics depend on x. With c = x - mean and s = sum(dy c), dscale = rstd s
// and dx = scale rstd (dy - c rstd² s / m - db / m): xhat is never made.
static value_id train_batch(struct grad *r, const struct batch *b) {
    value_id x = r->x[0], dy = r->dy[0];
    value_id c = grad_sub(r, x, grad_reduce(r, "ReduceMean", x, b->axes, b->n, true));
    value_id variance = grad_reduce(r, "ReduceMean", grad_mul(r, c, c), b->axes, b->n, true);
    value_id rstd = rstd_of(r, variance, b->epsilon);
    value_id dg = grad_mul(r, channel_sum(r, b, grad_mul(r, dy, c)), rstd);
    if (r->want[0]) {
        int64_t channels = grad_dim(r, x, 1), m = channels ? grad_elements(r, x) / channels : 0;
        double share = m ? 1 / (double)m : 0;
        value_id slope = grad_scale(r, grad_mul(r, dg, rstd), share);
        r->dx[0] = shifted(r, grad_sub(r, dy, grad_mul(r, c, slope)), grad_mul(r, b->scale, rstd),
                           grad_scale(r, b->db, share));
    }
    return dg;
}

// In inference mode the statistics are constants, and the operator is an affine map per channel.
static value_id infer_batch(struct grad *r, const struct batch *b) {
    value_id x = r->x[0], dg = VALUE_NONE;
    value_id rstd = per_channel(r, rstd_of(r, grad_cast(r, r->x[4], b->e), b->epsilon));
    value_id slope = grad_mul(r, b->scale, rstd);
    if (r->want[1] || r->want[4]) {
        value_id c = grad_sub(r, x, per_channel(r, grad_cast(r, r->x[3], b->e)));
        dg = channel_sum(r, b, grad_mul(r, r->dy[0], grad_mul(r, c, rstd)));
    }
    if (r->want[0])
        r->dx[0] = grad_mul(r, r->dy[0], slope);
    fixed_statistics(r, slope, rstd, b->db, dg);
    return dg;
}

// Batch normalization: over batch and space.
void back_batch_norm(struct grad *r) {
    value_id x = r->x[0];
    struct batch b = {.e = grad_elem(r, x), .epsilon = node_real(r->n, "epsilon", 1e-5)};
    if (!r->dy[0].i)
        return; // the gradient of a running statistic only
    for (int32_t i = 0; i < grad_rank(r, x); i++)
        if (i != 1)
            b.axes[b.n++] = i;
    b.scale = per_channel(r, grad_cast(r, r->x[1], b.e));
    b.db = channel_sum(r, &b, r->dy[0]);
    bool training = node_int(r->n, "training_mode", 0) != 0;
    value_id dg = training ? train_batch(r, &b) : infer_batch(r, &b);
    if (r->want[1])
        r->dx[1] = grad_cast(r, grad_reshape_like(r, dg, r->x[1]), grad_elem(r, r->x[1]));
    if (r->want[2])
        r->dx[2] = grad_cast(r, grad_reshape_like(r, b.db, r->x[2]), grad_elem(r, r->x[2]));
}

void back_instance_norm(struct grad *r) {
    int64_t axes[LIMIT_RANK], n = 0;
    for (int32_t i = 2; i < grad_rank(r, r->x[0]); i++)
        axes[n++] = i;
    struct norm s = statistics(r, r->x[0], axes, n, node_real(r->n, "epsilon", 1e-5));
    value_id dy = r->dy[0], scale = per_channel(r, r->x[1]);
    if (r->want[0])
        r->dx[0] = grad_mul(r, scale, through(r, &s, dy));
    if (r->want[1])
        r->dx[1] =
            grad_reshape_like(r, grad_unbroadcast(r, grad_mul(r, dy, s.xhat), scale), r->x[1]);
    if (r->want[2])
        r->dx[2] = grad_reshape_like(r, grad_unbroadcast(r, dy, scale), r->x[2]);
}

// Groups of channels as [N, groups, rest]. The parameters are per group until opset 20, per channel
// from 21 on.
void back_group_norm(struct grad *r) {
    value_id x = r->x[0], dy = r->dy[0];
    int64_t groups = node_int(r->n, "num_groups", 1), c = grad_dim(r, x, 1), axis = 2;
    int64_t grouped[] = {grad_dim(r, x, 0), groups,
                         grad_elements(r, x) / (grad_dim(r, x, 0) * groups)};
    value_id scale = r->x[1];
    bool per_group = grad_elements(r, scale) == groups && groups != c;
    if (per_group) { // every channel has the parameter of its group
        int64_t spread_dims[] = {groups, c / groups};
        value_id column = grad_reshape(r, scale, (int64_t[]){groups, 1}, 2);
        scale =
            grad_reshape(r, BUILD(r->b, "Expand", column, build_ints(r->b, spread_dims, 2)), &c, 1);
    }
    value_id wide = per_channel(r, scale);
    struct norm s =
        statistics(r, grad_reshape(r, x, grouped, 3), &axis, 1, node_real(r->n, "epsilon", 1e-5));
    value_id xhat = grad_reshape_like(r, s.xhat, x);
    if (r->want[0]) {
        value_id g = grad_reshape(r, grad_mul(r, dy, wide), grouped, 3);
        r->dx[0] = grad_reshape_like(r, through(r, &s, g), x);
    }
    for (uint32_t k = 1; k < 3; k++) {
        if (!r->want[k])
            continue;
        value_id each = grad_unbroadcast(r, k == 1 ? grad_mul(r, dy, xhat) : dy, wide);
        if (per_group) {
            int64_t last = 1;
            each = grad_reduce(r, "ReduceSum",
                               grad_reshape(r, each, (int64_t[]){groups, c / groups}, 2), &last, 1,
                               false);
        }
        r->dx[k] = grad_reshape_like(r, each, r->x[k]);
    }
}

static void trailing_axes(struct grad *r, int64_t *axes, int64_t *n) {
    int32_t rank = grad_rank(r, r->x[0]);
    int64_t axis = node_int(r->n, "axis", -1);
    *n = 0;
    for (int64_t i = axis < 0 ? axis + rank : axis; i < rank; i++)
        axes[(*n)++] = i;
}

// Adds the gradients through the optional outputs if these are read: that of the mean is spread
// evenly, and d rstd / dx = -rstd² xhat / n.
static value_id layer_statistics(struct grad *r, const struct norm *s, value_id dx) {
    value_id x = r->x[0], more[2] = {VALUE_NONE, VALUE_NONE};
    double n = 1;
    for (int64_t i = 0; i < s->n; i++)
        n *= (double)grad_dim(r, x, (int32_t)s->axes[i]);
    if (r->n_dy > 1 && r->dy[1].i)
        more[0] = grad_scale(r, grad_cast(r, r->dy[1], grad_elem(r, x)), 1 / n);
    if (r->n_dy > 2 && r->dy[2].i) {
        value_id rr = grad_mul(r, s->rstd, s->rstd);
        value_id each = grad_mul(r, grad_cast(r, r->dy[2], grad_elem(r, x)), rr);
        more[1] = grad_mul(r, grad_scale(r, each, -1 / n), s->xhat);
    }
    for (int32_t k = 0; k < 2; k++)
        if (more[k].i)
            dx = dx.i ? grad_add(r, dx, more[k]) : grad_expand_like(r, more[k], x);
    return dx;
}

// The optional outputs, mean and reciprocal deviation, are small; with them xhat takes two
// operations.
void back_layer_norm(struct grad *r) {
    struct norm s;
    trailing_axes(r, s.axes, &s.n);
    value_id x = r->x[0], dy = r->dy[0];
    enum elem e = grad_elem(r, x);
    value_id mean = grad_cast(r, grad_output(r, 1), e);
    s.rstd = grad_cast(r, grad_output(r, 2), e);
    s.xhat = grad_mul(r, grad_sub(r, x, mean), s.rstd);
    if (r->want[0])
        r->dx[0] =
            layer_statistics(r, &s, dy.i ? through(r, &s, grad_mul(r, dy, r->x[1])) : VALUE_NONE);
    if (!dy.i)
        return;
    if (r->want[1])
        r->dx[1] = grad_unbroadcast(r, grad_mul(r, dy, s.xhat), r->x[1]);
    if (grad_has(r, 2) && r->want[2])
        r->dx[2] = grad_unbroadcast(r, dy, r->x[2]);
}

// y = x rstd scale with rstd = 1 / sqrt(mean(x²) + eps): dx = rstd (g - xhat mean(g xhat)), g = dy
// scale.
void back_rms_norm(struct grad *r) {
    int64_t axes[LIMIT_RANK], n;
    trailing_axes(r, axes, &n);
    value_id x = r->x[0], dy = r->dy[0];
    value_id power = grad_reduce(r, "ReduceMean", grad_mul(r, x, x), axes, n, true);
    value_id rstd = rstd_of(r, power, node_real(r->n, "epsilon", 1e-5)),
             xhat = grad_mul(r, x, rstd);
    if (r->want[0]) {
        value_id g = grad_mul(r, dy, r->x[1]);
        value_id along = grad_reduce(r, "ReduceMean", grad_mul(r, g, xhat), axes, n, true);
        r->dx[0] = grad_mul(r, rstd, grad_sub(r, g, grad_mul(r, xhat, along)));
    }
    if (r->want[1])
        r->dx[1] = grad_unbroadcast(r, grad_mul(r, dy, xhat), r->x[1]);
}

void back_mean_variance_norm(struct grad *r) {
    const struct attr *a = node_attr(r->n, "axes");
    static const int64_t usual[] = {0, 2, 3};
    int64_t axes[LIMIT_RANK], n = a ? (int64_t)a->n : 3;
    int32_t rank = grad_rank(r, r->x[0]);
    for (int64_t i = 0; i < n; i++) {
        int64_t axis = a ? a->ints[i] : usual[i];
        axes[i] = axis < 0 ? axis + rank : axis;
    }
    // The operator's own definition adds 1e-9 to the deviation, not to the variance; squared it is
    // far below float32.
    struct norm s = statistics(r, r->x[0], axes, n, 0);
    r->dx[0] = through(r, &s, r->dy[0]);
}

// y = x q^-beta, q = bias + alpha/size * window sum over channels of x². The window sum is a 1x1
// convolution with a banded matrix of ones, and its gradient is the convolution with the transposed
// one.
void back_lrn(struct grad *r) {
    value_id x = r->x[0], dy = r->dy[0];
    int64_t c = grad_dim(r, x, 1), size = node_int(r->n, "size", 1), n = grad_dim(r, x, 0);
    double alpha = node_real(r->n, "alpha", 1e-4), beta = node_real(r->n, "beta", .75),
           bias = node_real(r->n, "bias", 1);
    double *band = ARENA_ARRAY(r->a, double, (size_t)(c * c)),
           *turned = ARENA_ARRAY(r->a, double, (size_t)(c * c));
    if (!band || !turned) {
        r->b->failed = diag_out_of_memory(r->b->d);
        return;
    }
    for (int64_t i = 0; i < c; i++)
        for (int64_t k = i - (size - 1) / 2; k <= i + size / 2; k++)
            if (k >= 0 && k < c)
                band[i * c + k] = turned[k * c + i] = 1;
    int64_t area = n * c > 0 ? grad_elements(r, x) / (n * c) : 0, flat[] = {n, c, area};
    struct tensor *m =
        tensor_from_reals(r->g->model->arena, grad_elem(r, x), band, (int64_t[]){c, c}, 2);
    struct tensor *mt =
        tensor_from_reals(r->g->model->arena, grad_elem(r, x), turned, (int64_t[]){c, c}, 2);
    value_id xf = grad_reshape(r, x, flat, 3), df = grad_reshape(r, dy, flat, 3),
             yf = grad_reshape(r, r->y[0], flat, 3);
    value_id sums = BUILD(r->b, "MatMul", build_tensor(r->b, m), grad_mul(r, xf, xf));
    value_id q = grad_add(r, grad_scale(r, sums, alpha / (double)size), grad_real(r, x, bias));
    value_id direct = grad_mul(r, df, BUILD(r->b, "Pow", q, grad_real(r, x, -beta)));
    value_id back =
        BUILD(r->b, "MatMul", build_tensor(r->b, mt), grad_div(r, grad_mul(r, df, yf), q));
    value_id around = grad_mul(r, xf, grad_scale(r, back, 2 * alpha * beta / (double)size));
    r->dx[0] = grad_reshape_like(r, grad_sub(r, direct, around), x);
}
