// The window of a convolution or a pooling: kernel, strides, dilations and pads over the spatial
// dimensions, with defaults and auto_pad resolved, for shape rules, cost rules and gradient rules.
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

// For Conv (`weights` is the type of its weights) and poolings (NULL: kernel_shape is given). `x`
// is [N, C, spatial…].
status conv_window_read(const struct shape *s, const struct type *x, const struct type *weights,
                        struct conv_window *w);
// For ConvTranspose: `in` is its input, `out` its output; pads as they apply to the output.
status conv_window_read_transposed(const struct shape *s, const struct type *x,
                                   const struct type *weights, struct conv_window *w);
