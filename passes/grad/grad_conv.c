// Gradients of convolutions, for any number of spatial dimensions, groups, strides, dilations and
// pads.
//
//   dX  with stride 1 a convolution of dY with the mirrored weights, which needs no column buffer
//   in
//       ONNX Runtime; otherwise a ConvTranspose
//   dW  for small kernels one product per tap; otherwise a convolution of X with dY as the kernel,
//       with strides and dilations exchanged, and batch and channels too, for any number of groups
//   dB  a sum
// docs/gradients.md has the measurements behind these choices.
#include "passes/grad/grad.h"

#include "ir/base/limits.h"
#include "passes/shape/conv_window.h"

enum { MAX_TAPS = 27 }; // of a kernel whose dW is computed per tap: up to 3x3x3 and 5x5

struct conv {
    struct conv_window w;
    int64_t group, n, cin, cout; // batch and channels
    int64_t pads[2 * WINDOW_DIMS];
};

static void set_pads(struct conv *c) {
    for (int32_t i = 0; i < c->w.n; i++) {
        c->pads[i] = c->w.begin[i];
        c->pads[c->w.n + i] = c->w.end[i];
    }
}

static bool all_one(const int64_t *x, int32_t n) {
    for (int32_t i = 0; i < n; i++)
        if (x[i] != 1)
            return false;
    return true;
}

// Reshapes the first n_old dimensions, batch and channels.
static value_id regroup(struct grad *r, value_id v, int32_t n_old, const int64_t *lead,
                        int32_t n_lead) {
    int64_t dims[LIMIT_RANK];
    int32_t rank = 0;
    for (int32_t i = 0; i < n_lead; i++)
        dims[rank++] = lead[i];
    for (int32_t i = n_old; i < grad_rank(r, v); i++)
        dims[rank++] = grad_dim(r, v, i);
    return grad_reshape(r, v, dims, rank);
}

// Swaps two of the dimensions.
static value_id swap(struct grad *r, value_id v, int32_t a, int32_t b) {
    int64_t perm[LIMIT_RANK];
    for (int32_t i = 0; i < grad_rank(r, v); i++)
        perm[i] = i == a ? b : i == b ? a : i;
    return grad_transpose(r, v, perm);
}

// Mirrors all spatial dimensions.
static value_id flip(struct grad *r, value_id v, int32_t n) {
    int64_t starts[WINDOW_DIMS], ends[WINDOW_DIMS], axes[WINDOW_DIMS], steps[WINDOW_DIMS], k = 0;
    for (int32_t i = 0; i < n; i++)
        if (grad_dim(r, v, 2 + i) > 1) {
            starts[k] = -1;
            ends[k] = INT64_MIN;
            axes[k] = 2 + i;
            steps[k++] = -1;
        }
    if (k == 0)
        return v;
    return BUILD(r->b, "Slice", v, build_ints(r->b, starts, k), build_ints(r->b, ends, k),
                 build_ints(r->b, axes, k), build_ints(r->b, steps, k));
}

// Weights [Cout, Cin/g, k…] as those of the backward convolution: [Cin, Cout/g, k…].
static value_id transposed_weights(struct grad *r, const struct conv *c, value_id w) {
    int64_t split[] = {c->group, c->cout / c->group, c->cin / c->group};
    int64_t joined[] = {c->cin, c->cout / c->group};
    if (c->group == 1)
        return swap(r, w, 0, 1);
    return regroup(r, swap(r, regroup(r, w, 2, split, 3), 1, 2), 3, joined, 2);
}

static value_id conv_dx(struct grad *r, const struct conv *c, value_id dy, value_id weights,
                        value_id x) {
    const struct conv_window *w = &c->w;
    size_t n = (size_t)w->n;
    int64_t pads[2 * WINDOW_DIMS], extra[WINDOW_DIMS];
    bool turn = all_one(w->stride, w->n);
    for (int32_t i = 0; i < w->n; i++) {
        int64_t reach = w->dilation[i] * (w->kernel[i] - 1);
        pads[i] = reach - w->begin[i];
        pads[w->n + i] = reach - w->end[i];
        turn = turn && pads[i] >= 0 && pads[w->n + i] >= 0;
        // The remainder of the division by the stride, at the end.
        extra[i] =
            w->in[i] - ((w->out[i] - 1) * w->stride[i] + reach + 1 - w->begin[i] - w->end[i]);
    }
    if (turn)
        return build_op(r->b, "Conv", VALUES(dy, flip(r, transposed_weights(r, c, weights), w->n)),
                        ATTRS(attr_ints("pads", pads, 2 * n),
                              attr_ints("dilations", w->dilation, n), attr_int("group", c->group)));
    value_id dx =
        build_op(r->b, "ConvTranspose", VALUES(dy, weights),
                 ATTRS(attr_ints("strides", w->stride, n), attr_ints("dilations", w->dilation, n),
                       attr_ints("pads", c->pads, 2 * n), attr_ints("output_padding", extra, n),
                       attr_int("group", c->group)));
    return grad_reshape_like(r, dx, x);
}

// dW one tap of the kernel at a time: the elements of X under that tap, times dY. With few taps
// this is about twice as fast as the convolution below. The product is computed per image and
// summed, unless the products of all images need more memory than copies of X and dY with batch and
// channels exchanged, which make it one product.
static value_id taps_dw(struct grad *r, const struct conv *c, value_id x, value_id dy,
                        int64_t n_taps) {
    const struct conv_window *w = &c->w;
    int64_t begin[LIMIT_RANK] = {0}, end[LIMIT_RANK] = {0}, axes[WINDOW_DIMS], area = 1, batch = 0;
    for (int32_t i = 0; i < w->n; i++) {
        begin[2 + i] = w->begin[i];
        end[2 + i] = w->end[i];
        axes[i] = 2 + i;
        area *= w->out[i];
    }
    bool joint = c->cout * c->cin > (c->cout + c->cin) * area;
    int64_t rows[] = {c->cout, c->n * area}, cols[] = {c->cin, c->n * area};
    int64_t rows_each[] = {c->n, c->cout, area}, cols_each[] = {c->n, c->cin, area};
    value_id data = grad_pad(r, x, begin, end), taps[MAX_TAPS];
    if (joint)
        data = swap(r, data, 0, 1);
    value_id right = joint ? grad_reshape(r, swap(r, dy, 0, 1), rows, 2)
                           : grad_swap_last(r, grad_reshape(r, dy, rows_each, 3));
    for (int64_t t = 0; t < n_taps; t++) {
        int64_t from[WINDOW_DIMS], to[WINDOW_DIMS], at = t;
        bool whole = true;
        for (int32_t i = w->n; i-- > 0; at /= w->kernel[i]) {
            from[i] = at % w->kernel[i] * w->dilation[i];
            to[i] = from[i] + (w->out[i] - 1) * w->stride[i] + 1;
            whole = whole && from[i] == 0 && w->stride[i] == 1 && to[i] == grad_dim(r, data, 2 + i);
        }
        value_id met = data;
        if (!whole)
            met =
                BUILD(r->b, "Slice", data, build_ints(r->b, from, w->n), build_ints(r->b, to, w->n),
                      build_ints(r->b, axes, w->n), build_ints(r->b, w->stride, w->n));
        if (joint) {
            taps[t] = build_op(r->b, "Gemm", VALUES(grad_reshape(r, met, cols, 2), right),
                               ATTRS(attr_int("transB", 1)));
        } else {
            value_id each = BUILD(r->b, "MatMul", grad_reshape(r, met, cols_each, 3), right);
            taps[t] = grad_reduce(r, "ReduceSum", each, &batch, 1, false);
        }
    }
    struct values all = {taps, (uint32_t)n_taps};
    value_id stacked = taps[0]; // [Cin, Cout] for each tap
    if (n_taps > 1)
        stacked = build_op(r->b, "Concat", all, ATTRS(attr_int("axis", 0)));
    // To [Cout, Cin, kernel…] by one Transpose: a Reshape behind it would be a copy when the
    // gradient is an output.
    int64_t dims[LIMIT_RANK], perm[LIMIT_RANK] = {w->n + 1, w->n};
    for (int32_t i = 0; i < w->n; i++) {
        dims[i] = w->kernel[i];
        perm[2 + i] = i;
    }
    dims[w->n] = c->cin;
    dims[w->n + 1] = c->cout;
    return grad_transpose(r, grad_reshape(r, stacked, dims, w->n + 2), perm);
}

// X as [Cin/g, g N, spatial…], dY as the kernel [Cout, N, spatial…]: the result is [Cin/g, Cout, k…
// or more].
static value_id conv_dw(struct grad *r, const struct conv *c, value_id x, value_id dy) {
    const struct conv_window *w = &c->w;
    size_t n = (size_t)w->n;
    int64_t n_taps = 1;
    for (int32_t i = 0; i < w->n && n_taps <= MAX_TAPS; i++)
        n_taps *= w->kernel[i];
    if (c->group == 1 && n_taps <= MAX_TAPS && grad_elements(r, dy) > 0)
        return taps_dw(r, c, x, dy, n_taps);
    int64_t split[] = {c->n, c->group, c->cin / c->group},
            joined[] = {c->cin / c->group, c->group * c->n};
    value_id data = swap(r, regroup(r, x, 2, split, 3), 0, 2);
    data = regroup(r, data, 3, joined, 2);
    value_id kernel = swap(r, dy, 0, 1);
    value_id dw =
        build_op(r->b, "Conv", VALUES(data, kernel),
                 ATTRS(attr_ints("strides", w->dilation, n), attr_ints("dilations", w->stride, n),
                       attr_ints("pads", c->pads, 2 * n), attr_int("group", c->group)));
    for (int32_t i = 0; i < w->n; i++)
        dw = grad_slice(r, dw, 2 + i, 0, w->kernel[i]);
    return swap(r, dw, 0, 1);
}

static value_id bias_gradient(struct grad *r) {
    int64_t axes[LIMIT_RANK], n = 0;
    for (int32_t i = 0; i < grad_rank(r, r->dy[0]); i++)
        if (i != 1)
            axes[n++] = i;
    return grad_reduce(r, "ReduceSum", r->dy[0], axes, n, false);
}

void back_conv(struct grad *r) {
    struct shape s = grad_shape(r);
    struct conv c = {.group = node_int(r->n, "group", 1),
                     .n = grad_dim(r, r->x[0], 0),
                     .cin = grad_dim(r, r->x[0], 1),
                     .cout = grad_dim(r, r->x[1], 0)};
    if ((r->b->failed = conv_window_read(&s, grad_type(r, r->x[0]), grad_type(r, r->x[1]), &c.w)))
        return;
    set_pads(&c);
    if (r->want[0])
        r->dx[0] = conv_dx(r, &c, r->dy[0], r->x[1], r->x[0]);
    if (r->want[1])
        r->dx[1] = conv_dw(r, &c, r->x[0], r->dy[0]);
    if (grad_has(r, 2) && r->want[2])
        r->dx[2] = bias_gradient(r);
}

// ConvTranspose is the gradient of a convolution, so its own gradients are that convolution, and dW
// with X and dY exchanged. Its weights are [Cin, Cout/g, k…].
void back_conv_transpose(struct grad *r) {
    struct shape s = grad_shape(r);
    struct conv_window t;
    if ((r->b->failed =
             conv_window_read_transposed(&s, grad_type(r, r->x[0]), grad_type(r, r->x[1]), &t)))
        return;
    struct conv c = {.w = t,
                     .group = node_int(r->n, "group", 1),
                     .n = grad_dim(r, r->x[0], 0),
                     .cin = grad_dim(r, r->y[0], 1), // of the convolution that leads from dY to dX
                     .cout = grad_dim(r, r->x[0], 1)};
    for (int32_t i = 0; i < t.n; i++) {
        c.w.in[i] = t.out[i];
        c.w.out[i] = t.in[i];
    }
    set_pads(&c);
    size_t n = (size_t)t.n;
    if (r->want[0]) {
        // output_padding may make dY longer than the windows reach: surplus windows are cut off.
        value_id dx =
            build_op(r->b, "Conv", VALUES(r->dy[0], r->x[1]),
                     ATTRS(attr_ints("strides", t.stride, n), attr_ints("dilations", t.dilation, n),
                           attr_ints("pads", c.pads, 2 * n), attr_int("group", c.group)));
        for (int32_t i = 0; i < t.n; i++)
            dx = grad_slice(r, dx, 2 + i, 0, t.in[i]);
        r->dx[0] = dx;
    }
    if (r->want[1])
        r->dx[1] = conv_dw(r, &c, r->dy[0], r->x[0]);
    if (grad_has(r, 2) && r->want[2])
        r->dx[2] = bias_gradient(r);
}
