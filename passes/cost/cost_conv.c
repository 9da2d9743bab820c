// Costs of convolutions and poolings. The workspace is what ONNX Runtime's CPU kernels allocate,
// measured by bench/costs (docs/costs.md has the table).
#include "passes/cost/cost.h"
#include "passes/shape/conv_window.h"

// Bytes that the kernels unfold at a time, per thread, when they unfold in segments.
enum { SEGMENT_BYTES = 128 * 128 * 4 };

// Work of writing an element of the image matrix, of starting a run of them, of adding one to the
// result, and of reading an element under a pooling window.
enum { UNFOLD_WORK = 20, RUN_WORK = 500, FOLD_WORK = 90, WINDOW_WORK = 16 };

static int64_t spatial(const int64_t *at, int32_t n) {
    int64_t product = 1;
    for (int32_t i = 0; i < n; i++)
        product = cost_product(product, at[i]);
    return product;
}

// Rows of the image matrix of one group: the elements under one window.
static int64_t patch(const struct cost *c, uint32_t weights, const struct conv_window *w) {
    return cost_product(cost_dim(c, weights, 1), spatial(w->kernel, w->n));
}

// A 1x1 window without strides and pads: the input is the image matrix.
static bool is_pointwise(const struct conv_window *w) {
    for (int32_t i = 0; i < w->n; i++)
        if (w->kernel[i] != 1 || w->stride[i] != 1 || w->begin[i] || w->end[i])
            return false;
    return true;
}

static int64_t groups(const struct cost *c) {
    int64_t n = node_int(c->s.n, "group", 1);
    return n > 0 ? n : 1;
}

// The kernel multiplies weights by an image matrix. With more filters than output positions it
// unfolds all of the matrix, else segments of it.
static int64_t conv_workspace(const struct cost *c, const struct conv_window *w) {
    int64_t filters = cost_dim(c, 1, 0) / groups(c), positions = spatial(w->out, w->n);
    if (is_pointwise(w))
        return 0;
    if (filters <= positions)
        return SEGMENT_BYTES;
    return cost_product(cost_product(positions, patch(c, 1, w)), cost_elem_bytes(c, 0));
}

// Elements are copied in runs of one output row: short rows, as in weight gradients, are slow. All
// filters of a group read the same matrix.
static int64_t unfold_work(const struct cost *c, const struct conv_window *w, int64_t inner,
                           int64_t filters) {
    int64_t width = w->out[w->n - 1];
    if (filters < 1 || width < 1 || is_pointwise(w))
        return 0;
    int64_t n = cost_product(cost_out(c, 0) / filters, inner);
    return cost_sum(cost_product(UNFOLD_WORK, n), cost_product(RUN_WORK, n / width));
}

static void conv(struct cost *c, uint32_t weights) {
    struct conv_window w;
    const struct type *x = shape_ranked(&c->s, 0), *t = shape_ranked(&c->s, weights);
    if (!x || !t || conv_window_read(&c->s, x, t, &w))
        return;
    int64_t inner = patch(c, weights, &w), filters = cost_dim(c, weights, 0) / groups(c);
    cost_inner_product(c, cost_out(c, 0), inner);
    c->work = cost_sum(c->work, unfold_work(c, &w, inner, filters));
    if (weights == 1)
        c->workspace_bytes = conv_workspace(c, &w);
}

void cost_conv(struct cost *c) {
    conv(c, 1);
}

void cost_qlinear_conv(struct cost *c) {
    conv(c, 3);
}

// Every input element is spread over a window of the output; the kernel makes the whole image
// matrix of one example and folds it.
void cost_conv_transpose(struct cost *c) {
    struct conv_window w;
    const struct type *x = shape_ranked(&c->s, 0), *t = shape_ranked(&c->s, 1);
    if (!x || !t || conv_window_read_transposed(&c->s, x, t, &w))
        return;
    int64_t rows = patch(c, 1, &w), filters = cost_dim(c, 1, 0) / groups(c);
    int64_t matrix = cost_product(filters > 0 ? cost_in(c, 0) / filters : 0, rows);
    c->flops = cost_product(2, cost_product(matrix, filters));
    c->work = cost_sum(c->flops, cost_product(FOLD_WORK, matrix));
    c->workspace_bytes =
        cost_product(cost_product(rows, spatial(w.in, w.n)), cost_elem_bytes(c, 0));
}

void cost_pool(struct cost *c) {
    struct conv_window w;
    const struct type *x = shape_ranked(&c->s, 0);
    if (!x || conv_window_read(&c->s, x, NULL, &w))
        return;
    bool indices = c->s.n->n_out > 1 && c->s.n->out[1].i;
    c->flops = cost_product(cost_out(c, 0), spatial(w.kernel, w.n));
    c->work = cost_product(c->s.n->op == OP_LpPool ? 3000 : indices ? 110 : WINDOW_WORK, c->flops);
}
