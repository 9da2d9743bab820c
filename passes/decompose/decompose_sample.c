// Sampling of images between their pixels: GridSample and DeformConv. A sample is a weighted sum of
// the pixels around a position; the weights are differentiable in the position, and the pixels are
// gathered by index, so that both gradients follow.
#include <string.h>

#include "ir/base/limits.h"
#include "passes/decompose/decompose.h"

enum { MAX_AXES = 3, MAX_TAPS = 4 };

struct sampling {
    value_id x; // [N,C,size 0 * size 1 * …]
    int32_t n_axes;
    int64_t size[MAX_AXES];
    value_id at[MAX_AXES]; // positions in pixels, [N,P]
    const char *mode;      // nearest, linear, cubic
    const char *padding;   // zeros, border, reflection
    bool align;            // reflection is at the centres of the outer pixels, not at their edges
};

// Per axis and tap: the index of the pixel, and its weight; [N,P] each.
struct taps {
    int n;
    value_id index[MAX_TAPS], weight[MAX_TAPS];
};

static value_id real(struct decompose *d, value_id like, double x) {
    return grad_real(&d->tools, like, x);
}

// min + R - |(x - min) mod 2R - R|: a triangle wave between the two borders.
static value_id reflect(struct decompose *d, value_id x, double min, double range) {
    struct grad *r = &d->tools;
    value_id z = grad_sub(r, x, real(d, x, min));
    value_id turns = BUILD(r->b, "Floor", grad_div(r, z, real(d, x, 2 * range)));
    value_id rest = grad_sub(r, z, grad_scale(r, turns, 2 * range));
    value_id off = BUILD(r->b, "Abs", grad_sub(r, rest, real(d, x, range)));
    return grad_sub(r, real(d, x, min + range), off);
}

// The coefficients of cubic interpolation with a = -0.75 for the taps at -1, 0, 1, 2 behind t.
static value_id cubic_weight(struct decompose *d, value_id t, int tap) {
    static const double c[4][4] = {
        {0, -.75, 1.5, -.75}, {1, 0, -2.25, 1.25}, {0, .75, 1.5, -1.25}, {0, 0, -.75, .75}};
    struct grad *r = &d->tools;
    value_id sum = real(d, t, c[tap][3]);
    for (int k = 2; k >= 0; k--) { // Horner's rule
        sum = grad_mul(r, sum, t);
        sum = c[tap][k] != 0 ? grad_add(r, sum, real(d, t, c[tap][k])) : sum;
    }
    return sum;
}

// Puts an index into the image. Outside, with zeros, the weight is 0.
static void pad_tap(struct decompose *d, const struct sampling *s, int32_t axis, value_id *index,
                    value_id *weight) {
    struct grad *r = &d->tools;
    double last = (double)s->size[axis] - 1;
    if (strcmp(s->padding, "reflection") == 0 && last > 0)
        *index = reflect(d, *index, s->align ? 0 : -.5, s->align ? last : last + 1);
    value_id inside = BUILD(r->b, "Clip", *index, real(d, *index, 0), real(d, *index, last));
    if (strcmp(s->padding, "zeros") == 0) {
        value_id same = BUILD(r->b, "Equal", inside, *index);
        *weight = grad_mul(r, *weight, grad_cast(r, same, grad_elem(r, *weight)));
    }
    *index = inside;
}

static void axis_taps(struct decompose *d, const struct sampling *s, int32_t axis, struct taps *t) {
    struct grad *r = &d->tools;
    value_id at = s->at[axis];
    bool nearest = strcmp(s->mode, "nearest") == 0, cubic = strcmp(s->mode, "cubic") == 0;
    value_id low = BUILD(r->b, nearest ? "Round" : "Floor", at), f = grad_sub(r, at, low);
    t->n = nearest ? 1 : cubic ? 4 : 2;
    for (int k = 0; k < t->n; k++) {
        int step = cubic ? k - 1 : k;
        t->index[k] = step ? grad_add(r, low, real(d, low, step)) : low;
        t->weight[k] = nearest ? real(d, low, 1)
                       : cubic ? cubic_weight(d, f, k)
                       : k     ? f
                               : grad_sub(r, real(d, f, 1), f);
        pad_tap(d, s, axis, &t->index[k], &t->weight[k]);
    }
}

// The sum over all combinations of taps: [N,C,P].
static value_id sample(struct decompose *d, const struct sampling *s) {
    struct grad *r = &d->tools;
    struct taps taps[MAX_AXES];
    int64_t n = grad_dim(r, s->at[0], 0), p = grad_dim(r, s->at[0], 1), c = grad_dim(r, s->x, 1);
    int total = 1;
    for (int32_t a = 0; a < s->n_axes; a++) {
        axis_taps(d, s, a, &taps[a]);
        total *= taps[a].n;
    }
    value_id sum = VALUE_NONE;
    for (int i = 0; i < total; i++) {
        value_id index = VALUE_NONE, weight = VALUE_NONE;
        for (int32_t a = 0, rest = i; a < s->n_axes; rest /= taps[a++].n) {
            int k = rest % taps[a].n;
            index = index.i ? grad_scale(r, index, (double)s->size[a]) : index;
            index = index.i ? grad_add(r, index, taps[a].index[k]) : taps[a].index[k];
            weight = weight.i ? grad_mul(r, weight, taps[a].weight[k]) : taps[a].weight[k];
        }
        index = grad_reshape(r, grad_cast(r, index, ELEM_I64), (int64_t[]){n, 1, p}, 3);
        index = BUILD(r->b, "Expand", index, build_ints(r->b, (int64_t[]){n, c, p}, 3));
        value_id pixels =
            build_op(r->b, "GatherElements", VALUES(s->x, index), ATTRS(attr_int("axis", 2)));
        if (grad_rank(r, weight))
            weight = grad_reshape(r, weight, (int64_t[]){n, 1, p}, 3);
        value_id part = grad_mul(r, pixels, weight);
        sum = sum.i ? grad_add(r, sum, part) : part;
    }
    return sum;
}

// Component `at` of the last dimension, in pixels.
static value_id grid_positions(struct decompose *d, const struct sampling *s, int32_t axis) {
    struct grad *r = &d->tools;
    value_id grid = r->x[1];
    int32_t last = grad_rank(r, grid) - 1;
    int64_t n = grad_dim(r, grid, 0), p = grad_elements(r, grid) / (n * s->n_axes);
    int64_t at = s->n_axes - 1 - axis; // x, the first component, runs along the last axis
    double size = (double)s->size[axis];
    value_id g = grad_reshape(r, grad_slice(r, grid, last, at, at + 1), (int64_t[]){n, p}, 2);
    return s->align ? grad_scale(r, grad_add(r, g, real(d, g, 1)), (size - 1) / 2)
                    : grad_add(r, grad_scale(r, g, size / 2), real(d, g, (size - 1) / 2));
}

void decompose_grid_sample(struct decompose *d) {
    struct grad *r = &d->tools;
    if (!decompose_has_shapes(d, 2))
        return;
    value_id x = r->x[0];
    int32_t rank = grad_rank(r, x);
    struct sampling s = {.n_axes = rank - 2,
                         .mode = node_text(r->g, r->n, "mode", "linear"),
                         .padding = node_text(r->g, r->n, "padding_mode", "zeros"),
                         .align = node_int(r->n, "align_corners", 0) != 0};
    if (rank < 3 || rank > MAX_AXES + 2 || grad_elements(r, r->x[1]) == 0) {
        decompose_refuse(d, "images of %d dimensions have no formula", rank - 2);
        return;
    }
    s.mode = strcmp(s.mode, "bilinear") == 0 ? "linear" : s.mode;
    s.mode = strcmp(s.mode, "bicubic") == 0 ? "cubic" : s.mode;
    int64_t area = 1, dims[LIMIT_RANK] = {grad_dim(r, x, 0), grad_dim(r, x, 1)};
    for (int32_t a = 0; a < s.n_axes; a++) {
        area *= s.size[a] = grad_dim(r, x, a + 2);
        dims[a + 2] = grad_dim(r, r->x[1], a + 1);
    }
    for (int32_t a = 0; a < s.n_axes; a++)
        s.at[a] = grid_positions(d, &s, a);
    s.x = grad_reshape(r, x, (int64_t[]){dims[0], dims[1], area}, 3);
    d->y[0] = grad_reshape(r, sample(d, &s), dims, rank);
}

// ---- DeformConv ----

struct deform {
    int64_t n, c, h, w, out_c, group, groups; // groups: of offsets
    int64_t kernel[2], out[2], stride[2], dilation[2], pad[2];
};

static void read_pair(const struct node *n, const char *name, int64_t otherwise, int64_t *out) {
    const struct attr *a = node_attr(n, name);
    for (size_t i = 0; i < 2; i++)
        out[i] = a && a->kind == ATTR_INTS && i < a->n ? a->ints[i] : otherwise;
}

// Where the undisplaced kernel reads, along one axis: [1, kernel positions * outputs].
static value_id kernel_positions(struct decompose *d, const struct deform *c, int axis) {
    int64_t k = c->kernel[0] * c->kernel[1], l = c->out[0] * c->out[1], dims[] = {1, k * l};
    double *x = ARENA_ARRAY(d->tools.a, double, (size_t)(k * l));
    for (int64_t i = 0; x && i < k * l; i++) {
        int64_t tap = i / l, at = i % l;
        int64_t kk = axis ? tap % c->kernel[1] : tap / c->kernel[1];
        int64_t oo = axis ? at % c->out[1] : at / c->out[1];
        x[i] = (double)(oo * c->stride[axis] - c->pad[axis] + kk * c->dilation[axis]);
    }
    return decompose_table(d, d->tools.x[0], x, dims, 2);
}

// The pixels under the displaced kernel, of the channels that share offsets: [N,C/groups,K*L].
static value_id columns(struct decompose *d, const struct deform *c, int64_t g) {
    struct grad *r = &d->tools;
    int64_t k = c->kernel[0] * c->kernel[1], l = c->out[0] * c->out[1], each = c->c / c->groups;
    struct sampling s = {.n_axes = 2, .size = {c->h, c->w}, .mode = "linear", .padding = "zeros"};
    value_id part = grad_slice(r, r->x[2], 1, g * 2 * k, (g + 1) * 2 * k);
    part = grad_reshape(r, part, (int64_t[]){c->n, k, 2, l}, 4);
    for (int axis = 0; axis < 2; axis++) {
        value_id offset =
            grad_reshape(r, grad_slice(r, part, 2, axis, axis + 1), (int64_t[]){c->n, k * l}, 2);
        s.at[axis] = grad_add(r, offset, kernel_positions(d, c, axis));
    }
    s.x = grad_reshape(r, grad_slice(r, r->x[0], 1, g * each, (g + 1) * each),
                       (int64_t[]){c->n, each, c->h * c->w}, 3);
    value_id y = sample(d, &s);
    if (grad_has(r, 4))
        y = grad_mul(r, y,
                     grad_reshape(r, grad_slice(r, r->x[4], 1, g * k, (g + 1) * k),
                                  (int64_t[]){c->n, 1, k * l}, 3));
    return y;
}

void decompose_deform_conv(struct decompose *d) {
    struct grad *r = &d->tools;
    if (!decompose_has_shapes(d, 5))
        return;
    value_id w = r->x[1];
    struct deform c = {.n = grad_dim(r, r->x[0], 0),
                       .c = grad_dim(r, r->x[0], 1),
                       .h = grad_dim(r, r->x[0], 2),
                       .w = grad_dim(r, r->x[0], 3),
                       .out_c = grad_dim(r, w, 0),
                       .group = node_int(r->n, "group", 1),
                       .groups = node_int(r->n, "offset_group", 1),
                       .kernel = {grad_dim(r, w, 2), grad_dim(r, w, 3)},
                       .out = {grad_dim(r, r->x[2], 2), grad_dim(r, r->x[2], 3)}};
    read_pair(r->n, "strides", 1, c.stride);
    read_pair(r->n, "dilations", 1, c.dilation);
    read_pair(r->n, "pads", 0, c.pad);
    value_id *parts = ARENA_ARRAY(r->a, value_id, (size_t)(c.groups > 0 ? c.groups : 1));
    if (grad_rank(r, r->x[0]) != 4 || c.groups < 1 || c.group < 1 || !parts) {
        decompose_refuse(d, "only images of two dimensions have a formula");
        return;
    }
    for (int64_t g = 0; g < c.groups; g++)
        parts[g] = columns(d, &c, g);
    int64_t k = c.kernel[0] * c.kernel[1], l = c.out[0] * c.out[1], in = c.c / c.group * k;
    value_id all = decompose_concat(d, parts, (uint32_t)c.groups, 1);
    all = grad_reshape(r, all, (int64_t[]){c.n, c.group, in, l}, 4);
    value_id matrix = grad_reshape(r, w, (int64_t[]){c.group, c.out_c / c.group, in}, 3);
    int64_t dims[] = {c.n, c.out_c, c.out[0], c.out[1]};
    value_id y = grad_reshape(r, BUILD(r->b, "MatMul", matrix, all), dims, 4);
    if (grad_has(r, 3))
        y = grad_add(r, y, grad_reshape(r, r->x[3], (int64_t[]){1, c.out_c, 1, 1}, 4));
    d->y[0] = y;
}
