// The windows of convolutions and poolings: see conv_window.h.
#include "passes/shape/conv_window.h"

#include <string.h>

// Of every size, stride and pad: products of two and sums of some of these fit in 64 bits.
#define WINDOW_MAX ((int64_t)1 << 30)

// An attribute with one number per spatial dimension; absent: `otherwise` everywhere.
static status window_list(const struct shape *s, const char *name, int32_t n, int64_t min,
                          int64_t otherwise, int64_t *out) {
    const struct attr *a = node_attr(s->n, name);
    for (int32_t i = 0; i < n; i++)
        out[i] = otherwise;
    if (!a || a->kind != ATTR_INTS || a->n == 0)
        return ST_OK;
    if (a->n != (size_t)n)
        return shape_fail(s, "attribute \"%s\" has %zu numbers for %d spatial dimensions", name,
                          a->n, n);
    for (int32_t i = 0; i < n; i++) {
        if (a->ints[i] < min || a->ints[i] > WINDOW_MAX)
            return shape_fail(s, "attribute \"%s\" has the value %lld, which is out of range", name,
                              (long long)a->ints[i]);
        out[i] = a->ints[i];
    }
    return ST_OK;
}

static status window_pads(const struct shape *s, struct conv_window *w) {
    int64_t both[2 * WINDOW_DIMS];
    const struct attr *a = node_attr(s->n, "pads");
    memset(both, 0, sizeof both);
    if (a && a->kind == ATTR_INTS && a->n) {
        if (a->n != 2 * (size_t)w->n)
            return shape_fail(s, "attribute \"pads\" has %zu numbers for %d spatial dimensions",
                              a->n, w->n);
        for (size_t i = 0; i < a->n; i++) {
            if (a->ints[i] < -WINDOW_MAX || a->ints[i] > WINDOW_MAX)
                return shape_fail(s, "attribute \"pads\" has the value %lld, which is out of range",
                                  (long long)a->ints[i]);
            both[i] = a->ints[i];
        }
    }
    for (int32_t i = 0; i < w->n; i++) {
        w->begin[i] = both[i];
        w->end[i] = both[w->n + i];
    }
    return ST_OK;
}

static status window_basics(const struct shape *s, const struct type *x, const struct type *weights,
                            struct conv_window *w) {
    *w = (struct conv_window){.n = x->rank - 2, .ceil = node_int(s->n, "ceil_mode", 0) != 0};
    if (x->rank < 3 || w->n > WINDOW_DIMS)
        return shape_fail(s, "needs an input of rank 3 to %d, not %d", WINDOW_DIMS + 2, x->rank);
    status st = window_list(s, "strides", w->n, 1, 1, w->stride);
    if (!st)
        st = window_list(s, "dilations", w->n, 1, 1, w->dilation);
    if (!st)
        st = window_list(s, "kernel_shape", w->n, 1, DIM_UNKNOWN, w->kernel);
    if (!st)
        st = window_pads(s, w);
    for (int32_t i = 0; !st && i < w->n; i++) {
        w->in[i] = x->dims[2 + i].size;
        struct dim k = weights ? weights->dims[2 + i] : dim_unknown();
        if (dim_known(k) && w->kernel[i] >= 0 && k.size != w->kernel[i])
            st = shape_fail(s, "kernel_shape is %lld, but the weights have %lld",
                            (long long)w->kernel[i], (long long)k.size);
        if (dim_known(k))
            w->kernel[i] = k.size;
        if (w->in[i] > WINDOW_MAX || w->kernel[i] > WINDOW_MAX)
            return shape_fail(s, "spatial dimension %d of the input or kernel is too large", i);
        if (!weights && w->kernel[i] < 0)
            st = shape_fail(s, "attribute \"kernel_shape\" is missing");
    }
    return st;
}

status conv_window_read(const struct shape *s, const struct type *x, const struct type *weights,
                        struct conv_window *w) {
    status st = window_basics(s, x, weights, w);
    if (st)
        return st;
    const char *pad = node_text(s->g, s->n, "auto_pad", "NOTSET");
    bool same = strncmp(pad, "SAME", 4) == 0, valid = strcmp(pad, "VALID") == 0;
    for (int32_t i = 0; i < w->n; i++) {
        w->out[i] = DIM_UNKNOWN;
        if (w->in[i] < 0 || w->kernel[i] < 0)
            continue;
        int64_t reach = w->dilation[i] * (w->kernel[i] - 1) + 1;
        if (valid)
            w->begin[i] = w->end[i] = 0;
        if (same) {
            int64_t out = (w->in[i] + w->stride[i] - 1) / w->stride[i];
            int64_t total = (out - 1) * w->stride[i] + reach - w->in[i];
            total = total > 0 ? total : 0;
            w->begin[i] = strcmp(pad, "SAME_LOWER") == 0 ? total - total / 2 : total / 2;
            w->end[i] = total - w->begin[i];
        }
        int64_t slack = w->in[i] + w->begin[i] + w->end[i] - reach;
        if (slack < 0)
            return shape_fail(s,
                              "the window covers %lld elements, but spatial dimension %d has %lld",
                              (long long)reach, i, (long long)(w->in[i] + w->begin[i] + w->end[i]));
        w->out[i] = slack / w->stride[i] + 1;
        // ceil_mode: one more window at the end, unless it would start in the padding there.
        if (w->ceil && !same && slack % w->stride[i] &&
            w->out[i] * w->stride[i] < w->in[i] + w->begin[i])
            w->out[i]++;
    }
    return ST_OK;
}

status conv_window_read_transposed(const struct shape *s, const struct type *x,
                                   const struct type *weights, struct conv_window *w) {
    int64_t extra[WINDOW_DIMS], wanted[WINDOW_DIMS];
    status st = window_basics(s, x, weights, w);
    if (!st)
        st = window_list(s, "output_padding", w->n, 0, 0, extra);
    const struct attr *shape = node_attr(s->n, "output_shape");
    if (!st && shape && shape->kind == ATTR_INTS && shape->n == (size_t)w->n + 2) {
        // Some exporters list batch and channels too.
        for (int32_t i = 0; i < w->n; i++)
            wanted[i] = shape->ints[i + 2];
    } else if (!st) {
        st = window_list(s, "output_shape", w->n, 1, DIM_UNKNOWN, wanted);
    }
    if (st)
        return st;
    const char *pad = node_text(s->g, s->n, "auto_pad", "NOTSET");
    bool same = strncmp(pad, "SAME", 4) == 0;
    for (int32_t i = 0; i < w->n; i++) {
        w->out[i] = wanted[i];
        if (w->in[i] < 0 || w->kernel[i] < 0)
            continue;
        if (same && wanted[i] < 0)
            wanted[i] = w->in[i] * w->stride[i];
        if (strcmp(pad, "VALID") == 0)
            w->begin[i] = w->end[i] = 0;
        int64_t full =
            w->stride[i] * (w->in[i] - 1) + extra[i] + w->dilation[i] * (w->kernel[i] - 1) + 1;
        if (wanted[i] >= 0) {
            int64_t total = full - wanted[i];
            total = total > 0 ? total : 0;
            w->begin[i] = strcmp(pad, "SAME_UPPER") == 0 ? total / 2 : total - total / 2;
            w->end[i] = total - w->begin[i];
        }
        // An output_shape beyond the reach of the windows is padded at the end.
        w->out[i] = wanted[i] >= 0 ? wanted[i] : full - w->begin[i] - w->end[i];
        if (w->out[i] < 0)
            return shape_fail(s, "the pads are larger than spatial dimension %d of the output", i);
    }
    return ST_OK;
}
