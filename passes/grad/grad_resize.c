// Gradient of Resize. Interpolation is linear and acts on one axis at a time, so it is a matrix per
// axis, known from the sizes and attributes; the gradient applies the transposed matrices, axis by
// axis.
#include "passes/grad/grad.h"

#include <math.h>
#include <string.h>

#include "ir/base/limits.h"

struct sampling {
    const char *mode, *grid, *nearest;
    double cubic;
    bool exclude_outside;
};

static double source_position(const struct sampling *s, int64_t i, int64_t n_in, int64_t n_out,
                              double scale) {
    double x = (double)i;
    if (strcmp(s->grid, "align_corners") == 0)
        return n_out == 1 ? 0 : x * (double)(n_in - 1) / (double)(n_out - 1);
    if (strcmp(s->grid, "asymmetric") == 0)
        return x / scale;
    if (strcmp(s->grid, "tf_half_pixel_for_nn") == 0)
        return (x + .5) / scale;
    if (strcmp(s->grid, "pytorch_half_pixel") == 0)
        return n_out > 1 ? (x + .5) / scale - .5 : 0;
    if (strcmp(s->grid, "half_pixel_symmetric") == 0) {
        double adjust = (double)n_out / (scale * (double)n_in), centre = (double)n_in / 2;
        return centre * (1 - adjust) + (x + .5) / scale - .5;
    }
    return (x + .5) / scale - .5; // half_pixel
}

static int64_t nearest_of(const struct sampling *s, double x) {
    if (strcmp(s->nearest, "floor") == 0)
        return (int64_t)floor(x);
    if (strcmp(s->nearest, "ceil") == 0)
        return (int64_t)ceil(x);
    if (strcmp(s->nearest, "round_prefer_ceil") == 0)
        return (int64_t)floor(x + .5);
    return (int64_t)ceil(x - .5); // round_prefer_floor
}

// Keys' cubic with parameter a, for the four neighbours of a position with fraction t.
static double cubic_weight(double a, double d) {
    d = fabs(d);
    return d <= 1  ? ((a + 2) * d - (a + 3)) * d * d + 1
           : d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
                   : 0;
}

static void add_weight(double *matrix, int64_t n_in, int64_t n_out, int64_t from, int64_t to,
                       double weight) {
    from = from < 0 ? 0 : from >= n_in ? n_in - 1 : from; // positions outside repeat the border
    matrix[from * n_out + to] += weight;
}

// The transposed interpolation matrix [n_in, n_out].
static void fill(const struct sampling *s, double *matrix, int64_t n_in, int64_t n_out,
                 double scale) {
    for (int64_t i = 0; i < n_out; i++) {
        double x = source_position(s, i, n_in, n_out, scale);
        if (strcmp(s->mode, "nearest") == 0) {
            add_weight(matrix, n_in, n_out, nearest_of(s, x), i, 1);
        } else if (strcmp(s->mode, "linear") == 0) {
            x = x < 0 ? 0 : x > (double)(n_in - 1) ? (double)(n_in - 1) : x;
            int64_t low = (int64_t)floor(x);
            add_weight(matrix, n_in, n_out, low, i, 1 - (x - (double)low));
            add_weight(matrix, n_in, n_out, low + 1, i, x - (double)low);
        } else {
            int64_t low = (int64_t)floor(x);
            double sum = 0, w[4];
            for (int64_t k = 0; k < 4; k++) {
                int64_t at = low - 1 + k;
                w[k] = cubic_weight(s->cubic, x - (double)at);
                if (s->exclude_outside && (at < 0 || at >= n_in))
                    w[k] = 0;
                sum += w[k];
            }
            for (int64_t k = 0; k < 4; k++)
                add_weight(matrix, n_in, n_out, low - 1 + k, i,
                           s->exclude_outside ? w[k] / sum : w[k]);
        }
    }
}

// Scales as given, or computed from the sizes.
static double scale_of(struct grad *r, int32_t axis) {
    double *scales;
    int64_t n;
    const struct attr *axes = node_attr(r->n, "axes");
    double by_size = (double)grad_dim(r, r->y[0], axis) / (double)grad_dim(r, r->x[0], axis);
    if (grad_has(r, 3) || !grad_reals(r, 2, &scales, &n) || n == 0)
        return by_size;
    for (int64_t i = 0; axes && i < n; i++)
        if ((axes->ints[i] < 0 ? axes->ints[i] + grad_rank(r, r->x[0]) : axes->ints[i]) == axis)
            return scales[i];
    return axes ? 1 : scales[axis];
}

void back_resize(struct grad *r) {
    struct sampling s = {.mode = node_text(r->g, r->n, "mode", "nearest"),
                         .grid =
                             node_text(r->g, r->n, "coordinate_transformation_mode", "half_pixel"),
                         .nearest = node_text(r->g, r->n, "nearest_mode", "round_prefer_floor"),
                         .cubic = node_real(r->n, "cubic_coeff_a", -0.75),
                         .exclude_outside = node_int(r->n, "exclude_outside", 0) != 0};
    if (strcmp(s.grid, "tf_crop_and_resize") == 0 || node_int(r->n, "antialias", 0)) {
        grad_refuse(r, "tf_crop_and_resize and antialias have no gradient rule");
        return;
    }
    value_id dx = r->dy[0];
    for (int32_t axis = grad_rank(r, r->x[0]); axis-- > 0;) {
        int64_t n_in = grad_dim(r, r->x[0], axis), n_out = grad_dim(r, r->y[0], axis);
        double scale = scale_of(r, axis);
        if (n_in == n_out && scale == 1)
            continue;
        double *matrix = ARENA_ARRAY(r->a, double, (size_t)(n_in * n_out));
        if (!matrix) {
            r->b->failed = diag_out_of_memory(r->b->d);
            return;
        }
        fill(&s, matrix, n_in, n_out, scale);
        dx = grad_along(r, dx, axis, matrix, n_in);
    }
    r->dx[0] = dx;
}
