// Gradients of poolings.
#include "passes/grad/grad.h"

#include <math.h>

#include "ir/base/limits.h"
#include "passes/shape/conv_window.h"

static bool read_window(struct grad *r, struct conv_window *w) {
    struct shape s = grad_shape(r);
    r->b->failed = conv_window_read(&s, grad_type(r, r->x[0]), NULL, w);
    return !r->b->failed;
}

// Whether windows do not overlap and have no padding: then each gradient goes to an element of its
// own.
static bool is_apart(const struct conv_window *w) {
    bool apart = true;
    for (int32_t i = 0; i < w->n && apart; i++)
        apart = w->dilation[i] == 1 && w->kernel[i] <= w->stride[i] && !w->begin[i] && !w->end[i] &&
                (w->out[i] - 1) * w->stride[i] + w->kernel[i] <= w->in[i];
    return apart;
}

// The indices of MaxPool refer to the flattened input. If windows do not overlap, MaxUnpool writes
// every gradient to the position of its maximum. It needs half the memory of the general rule; ONNX
// Runtime supports it for f32.
static value_id unpool(struct grad *r, const struct conv_window *w, value_id indices) {
    int64_t dims[WINDOW_DIMS + 2];
    for (int32_t i = 0; i < w->n + 2; i++)
        dims[i] = grad_dim(r, r->x[0], i);
    size_t n = (size_t)w->n;
    return build_op(
        r->b, "MaxUnpool", VALUES(r->dy[0], indices, build_ints(r->b, dims, w->n + 2)),
        ATTRS(attr_ints("kernel_shape", w->kernel, n), attr_ints("strides", w->stride, n)));
}

// A scatter that adds, since overlapping windows may have the same maximum.
static value_id scatter(struct grad *r, value_id indices) {
    int64_t n = grad_elements(r, r->x[0]), n_out = grad_elements(r, r->y[0]);
    value_id where = grad_reshape(r, indices, &n_out, 1),
             what = grad_reshape(r, r->dy[0], &n_out, 1);
    return grad_reshape_like(r, grad_scatter_elements(r, &n, 1, 0, where, what), r->x[0]);
}

void back_max_pool(struct grad *r) {
    struct conv_window w;
    if (node_int(r->n, "storage_order", 0)) {
        grad_refuse(r, "storage_order 1 has no gradient rule");
        return;
    }
    value_id indices = grad_output(r, 1);
    if (!read_window(r, &w))
        return;
    bool fits = grad_elem(r, r->x[0]) == ELEM_F32 && is_apart(&w);
    r->dx[0] = fits ? unpool(r, &w, indices) : scatter(r, indices);
}

// Spreads every element of `each` over its window and sums: a depthwise ConvTranspose with a kernel
// of ones.
static value_id spread(struct grad *r, const struct conv_window *w, value_id each) {
    int64_t c = grad_dim(r, r->x[0], 1), dims[WINDOW_DIMS + 2] = {c, 1}, taps = 1;
    int64_t pads[2 * WINDOW_DIMS], extra[WINDOW_DIMS];
    size_t n = (size_t)w->n;
    int64_t cut_begin[LIMIT_RANK] = {0}, cut_end[LIMIT_RANK] = {0};
    bool cut = false;
    for (int32_t i = 0; i < w->n; i++) {
        dims[2 + i] = w->kernel[i];
        taps *= w->kernel[i];
        pads[i] = w->begin[i];
        pads[w->n + i] = w->end[i];
        extra[i] = w->in[i] - ((w->out[i] - 1) * w->stride[i] +
                               w->dilation[i] * (w->kernel[i] - 1) + 1 - w->begin[i] - w->end[i]);
        // ceil_mode: the last window reaches beyond the padding; that part is cut off.
        if (extra[i] < 0) {
            cut_end[2 + i] = extra[i];
            extra[i] = 0;
            cut = true;
        }
    }
    double *ones = ARENA_ARRAY(r->a, double, (size_t)(c * taps));
    for (int64_t i = 0; ones && i < c * taps; i++)
        ones[i] = 1;
    struct tensor *t =
        ones ? tensor_from_reals(r->g->model->arena, grad_elem(r, each), ones, dims, w->n + 2)
             : NULL;
    value_id dx =
        build_op(r->b, "ConvTranspose", VALUES(each, build_tensor(r->b, t)),
                 ATTRS(attr_ints("strides", w->stride, n), attr_ints("dilations", w->dilation, n),
                       attr_ints("pads", pads, 2 * n), attr_ints("output_padding", extra, n),
                       attr_int("group", c)));
    return cut ? grad_pad(r, dx, cut_begin, cut_end) : dx;
}

// The number of elements of each window, as a constant [1, 1, out…]; and whether all are equal.
static value_id window_counts(struct grad *r, const struct conv_window *w, bool with_pads,
                              bool *same) {
    int64_t dims[WINDOW_DIMS + 2] = {1, 1}, n = 1;
    for (int32_t i = 0; i < w->n; i++)
        n *= dims[2 + i] = w->out[i];
    double *count = ARENA_ARRAY(r->a, double, (size_t)n);
    *same = true;
    for (int64_t k = 0; count && k < n; k++) {
        int64_t at = k;
        count[k] = 1;
        for (int32_t i = w->n; i-- > 0;) {
            int64_t from = at % w->out[i] * w->stride[i] - w->begin[i], hits = 0;
            at /= w->out[i];
            for (int64_t tap = 0; tap < w->kernel[i]; tap++) {
                int64_t pos = from + tap * w->dilation[i];
                int64_t low = with_pads ? -w->begin[i] : 0,
                        high = w->in[i] + (with_pads ? w->end[i] : 0);
                hits += pos >= low && pos < high;
            }
            count[k] *= (double)hits;
        }
        *same = *same && count[k] == count[0];
    }
    struct tensor *t =
        count ? tensor_from_reals(r->g->model->arena, grad_elem(r, r->y[0]), count, dims, w->n + 2)
              : NULL;
    return *same && count && n > 0 ? grad_real(r, r->y[0], count[0]) : build_tensor(r->b, t);
}

void back_average_pool(struct grad *r) {
    struct conv_window w;
    bool same;
    if (!read_window(r, &w))
        return;
    value_id counts = window_counts(r, &w, node_int(r->n, "count_include_pad", 0) != 0, &same);
    r->dx[0] = spread(r, &w, grad_div(r, r->dy[0], counts));
}

// y = (sum |x|^p)^(1/p): dx = sign(x) |x|^(p-1) y^(1-p) dy, spread.
static value_id lp_power(struct grad *r, value_id v, int64_t p) {
    return p == 1 ? v : BUILD(r->b, "Pow", v, build_scalar(r->b, grad_elem(r, v), (double)p));
}

static value_id lp_each(struct grad *r, int64_t p) { // y^(1-p) dy, 0 where y is 0
    if (p == 1)
        return r->dy[0];
    value_id y = r->y[0], zero = grad_real(r, y, 0);
    value_id safe = BUILD(r->b, "Where", BUILD(r->b, "Equal", y, zero), grad_real(r, y, 1), y);
    return grad_div(r, r->dy[0], lp_power(r, safe, p - 1));
}

static value_id lp_local(struct grad *r, int64_t p,
                         value_id spread_out) { // sign(x) |x|^(p-1) times it
    value_id x = r->x[0];
    if (p == 2)
        return grad_mul(r, x, spread_out);
    value_id sign = BUILD(r->b, "Sign", x);
    if (p == 1)
        return grad_mul(r, sign, spread_out);
    return grad_mul(r, grad_mul(r, sign, lp_power(r, BUILD(r->b, "Abs", x), p - 1)), spread_out);
}

void back_lp_pool(struct grad *r) {
    struct conv_window w;
    int64_t p = node_int(r->n, "p", 2);
    if (read_window(r, &w))
        r->dx[0] = lp_local(r, p, spread(r, &w, lp_each(r, p)));
}

void back_global_lp_pool(struct grad *r) {
    int64_t p = node_int(r->n, "p", 2);
    r->dx[0] = lp_local(r, p, lp_each(r, p));
}

void back_global_average_pool(struct grad *r) {
    int64_t n = grad_elements(r, r->x[0]), n_out = grad_elements(r, r->y[0]);
    r->dx[0] =
        grad_expand_like(r, grad_scale(r, r->dy[0], n ? (double)n_out / (double)n : 0), r->x[0]);
}

void back_global_max_pool(struct grad *r) { // on ties the gradient is shared equally
    int64_t axes[LIMIT_RANK], n = 0;
    for (int32_t i = 2; i < grad_rank(r, r->x[0]); i++)
        axes[n++] = i;
    value_id hit = grad_cast(r, BUILD(r->b, "Equal", r->x[0], r->y[0]), grad_elem(r, r->y[0]));
    r->dx[0] =
        grad_mul(r, hit, grad_div(r, r->dy[0], grad_reduce(r, "ReduceSum", hit, axes, n, true)));
}

// The indices name elements of the flattened output.
void back_max_unpool(struct grad *r) {
    int64_t n = grad_elements(r, r->x[0]), n_out = grad_elements(r, r->y[0]);
    value_id flat = grad_reshape(r, r->dy[0], &n_out, 1), where = grad_reshape(r, r->x[1], &n, 1);
    r->dx[0] = grad_reshape_like(r, BUILD(r->b, "Gather", flat, where), r->x[0]);
}
