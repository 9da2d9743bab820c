// The gradient of RoiAlign: average pooling of regions, with bilinear interpolation. Interpolation
// is linear in the image and separable, so the result for a region is A X B: one matrix for the
// rows and one for the columns, built from the region. The gradient for X is A' dY B', added up
// over the regions of an image. As in the frameworks, regions have no gradient.
#include <string.h>

#include "passes/grad/grad.h"

struct roi {
    struct grad *r;
    value_id regions; // [R,4]: x and y of both corners
    int64_t n, samples;
    double scale, offset;
    bool at_least_one; // regions are at least one pixel wide
};

static value_id corner(struct roi *q, int32_t column) {
    struct grad *r = q->r;
    value_id v = grad_scale(r, grad_slice(r, q->regions, 1, column, column + 1), q->scale);
    return grad_sub(r, v, grad_real(r, v, q->offset));
}

static value_id table(struct roi *q, const double *x, const int64_t *dims, int32_t rank) {
    struct grad *r = q->r;
    enum elem e = grad_elem(r, q->regions);
    return build_tensor(r->b, x ? tensor_from_reals(r->g->model->arena, e, x, dims, rank) : NULL);
}

// Where samples are, in bins from the start of the region: [1, out * samples].
static value_id sample_table(struct roi *q, int64_t out) {
    double *x = ARENA_ARRAY(q->r->a, double, out * q->samples);
    for (int64_t bin = 0; x && bin < out; bin++)
        for (int64_t s = 0; s < q->samples; s++)
            x[bin * q->samples + s] = (double)bin + ((double)s + 0.5) / (double)q->samples;
    return table(q, x, (int64_t[]){1, out * q->samples}, 2);
}

static value_id index_table(struct roi *q, int64_t size) {
    double *x = ARENA_ARRAY(q->r->a, double, size);
    for (int64_t i = 0; x && i < size; i++)
        x[i] = (double)i;
    return table(q, x, (int64_t[]){1, 1, size}, 3);
}

// [R, out, size]: how much each of `size` rows weighs in each row of the result; `first`: the
// column of the regions with the start. Samples more than a pixel outside count as 0.
static value_id weights(struct roi *q, int32_t first, int64_t size, int64_t out) {
    struct grad *r = q->r;
    int64_t n = q->n, all = out * q->samples;
    value_id start = corner(q, first), length = grad_sub(r, corner(q, first + 2), start);
    if (q->at_least_one)
        length = BUILD(r->b, "Max", length, grad_real(r, length, 1));
    value_id bin = grad_scale(r, length, 1.0 / (double)out);
    value_id at = grad_add(r, start, grad_mul(r, bin, sample_table(q, out))); // [R, all]
    value_id inside = BUILD(r->b, "And", BUILD(r->b, "GreaterOrEqual", at, grad_real(r, at, -1)),
                            BUILD(r->b, "LessOrEqual", at, grad_real(r, at, (double)size)));
    value_id near =
        BUILD(r->b, "Clip", at, grad_real(r, at, 0), grad_real(r, at, (double)(size - 1)));
    value_id away =
        grad_sub(r, grad_reshape(r, near, (int64_t[]){n, all, 1}, 3), index_table(q, size));
    value_id hat = BUILD(r->b, "Relu", grad_sub(r, grad_real(r, at, 1), BUILD(r->b, "Abs", away)));
    value_id counts =
        grad_reshape(r, grad_cast(r, inside, grad_elem(r, at)), (int64_t[]){n, all, 1}, 3);
    value_id each =
        grad_reshape(r, grad_mul(r, hat, counts), (int64_t[]){n, out, q->samples, size}, 4);
    return grad_reduce(r, "ReduceMean", each, (int64_t[]){2}, 1, false);
}

void back_roi_align(struct grad *r) {
    struct roi q = {.r = r,
                    .regions = r->x[1],
                    .n = grad_dim(r, r->x[1], 0),
                    .samples = node_int(r->n, "sampling_ratio", 0),
                    .scale = node_real(r->n, "spatial_scale", 1)};
    bool half = strcmp(node_text(r->g, r->n, "coordinate_transformation_mode", "half_pixel"),
                       "half_pixel") == 0;
    q.offset = half ? 0.5 : 0;
    q.at_least_one = !half;
    if (strcmp(node_text(r->g, r->n, "mode", "avg"), "avg") != 0 || q.samples < 1) {
        grad_refuse(r, "only mode avg with a fixed sampling_ratio has a gradient: export with a "
                       "sampling_ratio of 2, or freeze what is before it");
        return;
    }
    int64_t dims[4];
    for (int32_t i = 0; i < 4; i++)
        dims[i] = grad_dim(r, r->x[0], i);
    int64_t h = dims[2], w = dims[3], out_h = grad_dim(r, r->y[0], 2),
            out_w = grad_dim(r, r->y[0], 3), n = q.n;
    value_id rows = weights(&q, 1, h, out_h), columns = weights(&q, 0, w, out_w);
    rows = grad_reshape(r, grad_swap_last(r, rows), (int64_t[]){n, 1, h, out_h}, 4);
    columns = grad_reshape(r, columns, (int64_t[]){n, 1, out_w, w}, 4);
    value_id each = BUILD(r->b, "MatMul", BUILD(r->b, "MatMul", rows, r->dy[0]), columns);
    value_id image = grad_reshape(r, grad_cast(r, r->x[2], ELEM_I64), (int64_t[]){n, 1}, 2);
    r->dx[0] = grad_scatter_nd(r, dims, 4, image, each);
}
