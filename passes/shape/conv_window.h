// The window of a convolution or a pooling: kernel, strides, dilations and pads over the spatial
// dimensions, with every default and auto_pad resolved. Shape rules, cost rules and gradients all
// look at it this way.
#pragma once

#include "passes/shape/shape.h"

enum { WINDOW_DIMS = 8 };

struct conv_window {
    int32_t n; // spatial dimensions
    int64_t kernel[WINDOW_DIMS], stride[WINDOW_DIMS], dilation[WINDOW_DIMS];
    int64_t begin[WINDOW_DIMS], end[WINDOW_DIMS]; // pads; may be negative
    int64_t in[WINDOW_DIMS], out[WINDOW_DIMS];    // sizes before and after; DIM_UNKNOWN
    bool ceil;
};

// For Conv (weights = its type), and for pools (weights = NULL: kernel_shape says it). `x` is N x C
// x spatial.
status conv_window_read(const struct shape *s, const struct type *x, const struct type *weights,
                        struct conv_window *w);
// For ConvTranspose: `in` is its input, `out` its output; pads as they apply to the output.
status conv_window_read_transposed(const struct shape *s, const struct type *x,
                                   const struct type *weights, struct conv_window *w);
