// Activations as formulas of operators that every opset from 17 on has, in the forms that ONNX
// Runtime fuses into one kernel. They share no subexpression with their gradients
// (passes/grad/grad_unary.c), or that would stay alive between forward and backward pass.
#pragma once

#include "ir/build.h"

// x/2 (1 + erf(x / sqrt 2)); e is the element type of x.
value_id formula_gelu(struct builder *b, enum elem e, value_id x);
// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x³)))
value_id formula_gelu_tanh(struct builder *b, enum elem e, value_id x);
// x sigmoid(alpha x)
value_id formula_swish(struct builder *b, enum elem e, value_id x, double alpha);
// x hardsigmoid(x) with the slope 1/6
value_id formula_hard_swish(struct builder *b, value_id x);
// x tanh(softplus(x))
value_id formula_mish(struct builder *b, value_id x);
