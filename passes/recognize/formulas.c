// Activations as formulas: see formulas.h.
#include "passes/recognize/formulas.h"

#include <math.h>

static value_id number(struct builder *b, enum elem e, double x) {
    return build_scalar(b, e, x);
}

value_id formula_gelu(struct builder *b, enum elem e, value_id x) {
    value_id erf = BUILD(b, "Erf", BUILD(b, "Div", x, number(b, e, sqrt(2))));
    value_id gate = BUILD(b, "Add", erf, number(b, e, 1));
    return BUILD(b, "Mul", BUILD(b, "Mul", x, gate), number(b, e, .5));
}

value_id formula_gelu_tanh(struct builder *b, enum elem e, value_id x) {
    value_id cubic = BUILD(b, "Mul", BUILD(b, "Pow", x, number(b, e, 3)), number(b, e, .044715));
    value_id inner = BUILD(b, "Mul", BUILD(b, "Add", x, cubic), number(b, e, sqrt(2 / acos(-1))));
    value_id gate = BUILD(b, "Add", BUILD(b, "Tanh", inner), number(b, e, 1));
    return BUILD(b, "Mul", BUILD(b, "Mul", x, number(b, e, .5)), gate);
}

value_id formula_swish(struct builder *b, enum elem e, value_id x, double alpha) {
    value_id scaled = alpha == 1 ? x : BUILD(b, "Mul", x, number(b, e, alpha));
    return BUILD(b, "Mul", x, BUILD(b, "Sigmoid", scaled));
}

value_id formula_hard_swish(struct builder *b, value_id x) {
    value_id gate = build_op(b, "HardSigmoid", VALUES(x),
                             ATTRS(attr_float("alpha", 1.0 / 6), attr_float("beta", .5)));
    return BUILD(b, "Mul", x, gate);
}

value_id formula_mish(struct builder *b, value_id x) {
    return BUILD(b, "Mul", x, BUILD(b, "Tanh", BUILD(b, "Softplus", x)));
}
