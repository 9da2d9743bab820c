// Costs of elementwise operators. Most are bound by memory traffic; for some the arithmetic
// matters.
#include "passes/cost/cost.h"

// Operations per element where arithmetic matters, measured by bench/costs in ONNX Runtime's
// kernels at 100 operations per nanosecond.
static const int16_t work[OP_COUNT_] = {
    [OP_Acos] = 90,
    [OP_Acosh] = 1400,
    [OP_Asin] = 150,
    [OP_Asinh] = 1500,
    [OP_Atan] = 100,
    [OP_Atanh] = 900,
    [OP_Bernoulli] = 400,
    [OP_BlackmanWindow] = 400,
    [OP_Celu] = 220,
    [OP_Cos] = 200,
    [OP_Cosh] = 840,
    [OP_CumProd] = 330,
    [OP_CumSum] = 330,
    [OP_DepthToSpace] = 350,
    [OP_Dropout] = 450,
    [OP_Elu] = 250,
    [OP_Erf] = 60,
    [OP_Exp] = 25,
    [OP_Gelu] = 100,
    [OP_HammingWindow] = 200,
    [OP_HannWindow] = 200,
    [OP_Hardmax] = 80,
    [OP_Log] = 200,
    [OP_Mish] = 1800,
    [OP_Mod] = 600,
    [OP_Multinomial] = 400,
    [OP_OneHot] = 190,
    [OP_Pow] = 600,
    [OP_RandomNormal] = 1100,
    [OP_RandomNormalLike] = 1100,
    [OP_RandomUniform] = 400,
    [OP_RandomUniformLike] = 400,
    [OP_Selu] = 200,
    [OP_Shrink] = 60,
    [OP_Sigmoid] = 35,
    [OP_Sign] = 110,
    [OP_Sin] = 200,
    [OP_Sinh] = 2500,
    [OP_Softplus] = 1700,
    [OP_SpaceToDepth] = 70,
    [OP_Swish] = 40,
    [OP_Tan] = 1600,
    [OP_Tanh] = 30,
    [OP_Tile] = 200,
};

static int64_t largest_out(const struct cost *c) {
    int64_t most = 0;
    for (uint32_t k = 0; k < c->s.n->n_out; k++)
        most = cost_out(c, k) > most ? cost_out(c, k) : most;
    return most;
}

void cost_elementwise(struct cost *c) {
    c->flops = largest_out(c);
    c->work = cost_product(work[c->s.n->op], c->flops);
}

// Squares and cubes are products, when the exponent is known.
void cost_power(struct cost *c) {
    double exponent;
    cost_elementwise(c);
    if (shape_real(&c->s, 1, &exponent) && (exponent == 2 || exponent == 3))
        c->work = c->flops;
}

// Sum, Mean, Max and Min of several operands run pair by pair, each result in a buffer of its own;
// two of these are live at a time.
void cost_variadic(struct cost *c) {
    uint32_t n = c->s.n->n_in;
    c->flops = cost_product(n > 1 ? n - 1 : 1, cost_out(c, 0));
    c->workspace_bytes = cost_product(n > 3 ? 2 : n > 2 ? 1 : 0, c->out_bytes);
    if (n > 2)
        c->bytes = cost_sum(c->bytes, cost_product(2 * (int64_t)(n - 2), c->out_bytes));
}

// The kernel copies the indices to make negative ones positive.
void cost_one_hot(struct cost *c) {
    cost_elementwise(c);
    c->workspace_bytes = cost_in_bytes(c, 0);
}

// The kernel blends two selections, each of the size of the output.
void cost_where(struct cost *c) {
    c->flops = cost_out(c, 0);
    c->workspace_bytes = cost_product(2, c->out_bytes);
    c->bytes = cost_sum(c->bytes, cost_product(2, c->workspace_bytes));
}
