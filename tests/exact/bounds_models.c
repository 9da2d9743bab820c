// Random models for exact_bounds: see bounds_models.h.
#include "tests/exact/bounds_models.h"

// The layers of a network of [1,4,rows,4] tensors: several readers of a tensor, several results of
// a node, views, random nodes.
static void add_layer(struct str *t, struct rng *rng, int i) {
    int a = (int)rng_below(rng, (uint64_t)i), b = i - 1;
    switch (rng_below(rng, 10)) {
    case 0:
        str_addf(t, "  %%v%d = Relu(%%v%d)\n", i, b);
        break;
    case 1:
        str_addf(t, "  %%v%d = Add(%%v%d, %%v%d)\n", i, a, b);
        break;
    case 2:
        str_addf(t, "  %%v%d = Mul(%%v%d, %%v%d)\n", i, b, a);
        break;
    case 3:
        str_addf(t, "  %%v%d = Conv(%%v%d, %%c, kernel_shape=[1,1])\n", i, b);
        break;
    case 4:
        str_addf(t, "  %%x%d = Reshape(%%v%d, %%flat)\n  %%y%d = Sigmoid(%%x%d)\n", i, b, i, i);
        str_addf(t, "  %%v%d = Reshape(%%y%d, %%back)\n", i, i);
        break;
    case 5:
        str_addf(t,
                 "  %%v%d, %%rm%d, %%rv%d = BatchNormalization(%%v%d, %%s, %%b, %%m, %%u, "
                 "training_mode=1)\n",
                 i, i, i, b);
        break;
    case 6:
        str_addf(t, "  %%v%d = Softmax(%%v%d)\n", i, b);
        break;
    case 7:
        str_addf(t, "  %%v%d, %%k%d = Dropout(%%v%d, %%r, %%t)\n", i, i, b);
        break;
    case 8:
        str_addf(t, "  %%v%d = MaxPool(%%v%d, kernel_shape=[3,3], pads=[1,1,1,1])\n", i, b);
        break;
    default:
        str_addf(t, "  %%v%d = MatMul(%%v%d, %%w)\n", i, b);
    }
}

void bounds_models_network(struct str *t, struct rng *rng) {
    int rows = 4 << rng_below(rng, 4), n = 2 + (int)rng_below(rng, 4);
    str_addf(t,
             "mfc 1\nir_version 8\nopset 17\ngraph \"g\" {\n  input %%v0 : f32[1,4,%d,4]\n"
             "  const %%flat : i64[2] = {4,%d}\n  const %%back : i64[4] = {1,4,%d,4}\n"
             "  const %%out : i64[2] = {%d,4}\n  const %%r : f32[] = {0.25}\n"
             "  const %%t : bool[] = {1}\n"
             "  param %%s : f32[4] = {1.0,1.0,1.0,1.0}\n  param %%b : f32[4] = {0.0,0.0,0.0,0.0}\n"
             "  param %%m : f32[4] = {0.0,0.0,0.0,0.0}\n  param %%u : f32[4] = {1.0,1.0,1.0,1.0}\n"
             "  param %%c : f32[4,4,1,1] = {1.0,0.5,0.5,1.0,0.5,1.0,1.0,0.5,1.0,1.0,0.5,0.5,0.5,"
             "0.5,1.0,1.0}\n"
             "  param %%w : f32[4,4] = {1.0,0.5,0.5,1.0,0.5,1.0,1.0,0.5,1.0,1.0,0.5,0.5,0.5,0.5,"
             "1.0,1.0}\n",
             rows, 4 * rows, rows, 4 * rows);
    for (int i = 1; i <= n; i++)
        add_layer(t, rng, i);
    str_addf(t, "  %%z = MatMul(%%v%d, %%w)\n  %%y = Reshape(%%z, %%out)\n  output %%y\n}\n", n);
}

static void add_tiny(struct str *t, struct str *outputs, struct rng *rng, int i) {
    int a = rng_below(rng, 3) ? i - 1 : (int)rng_below(rng, (uint64_t)i);
    int b = (int)rng_below(rng, (uint64_t)i), cost = (int)rng_below(rng, 100);
    bool is_output = rng_below(rng, 2);
    switch (rng_below(rng, 8)) {
    case 0:
        str_addf(t, "  %%v%d = Relu(%%v%d) : f32[1,2,8] cost=%d\n", i, a, cost);
        break;
    case 1: // the Relu in place needs the least memory of the three
        str_addf(t, "  %%d%d = Concat(%%v%d, %%v%d, axis=0) : f32[2,2,8] cost=3\n", i, a, a);
        str_addf(t, "  %%r%d = Relu(%%d%d) : f32[2,2,8] cost=%d\n", i, i, cost);
        str_addf(t, "  %%v%d = ReduceMax(%%r%d, axes=[0]) : f32[1,2,8] cost=3\n", i, i);
        break;
    case 2:
        str_addf(t,
                 "  %%v%d, %%i%d = MaxPool(%%v%d, kernel_shape=[1]) : f32[1,2,8], i64[1,2,8] "
                 "cost=%d\n",
                 i, i, a, cost);
        if (is_output)
            str_addf(outputs, "  output %%i%d\n", i);
        break;
    case 3:
        str_addf(t, "  %%x%d = Reshape(%%v%d, %%flat) : f32[16] cost=%d\n", i, a, cost);
        str_addf(t, "  %%v%d = Reshape(%%x%d, %%back) : f32[1,2,8] cost=1\n", i, i);
        if (is_output)
            str_addf(outputs, "  output %%x%d\n", i);
        break;
    case 4:
        str_addf(t, "  %%d%d = Concat(%%v%d, %%v%d, axis=0) : f32[2,2,8] cost=%d\n", i, a, b, cost);
        str_addf(t, "  %%v%d, %%s%d = Split(%%d%d, axis=0) : f32[1,2,8], f32[1,2,8] cost=7\n", i, i,
                 i);
        if (is_output)
            str_addf(outputs, "  output %%s%d\n", i);
        break;
    default:
        str_addf(t, "  %%v%d = Add(%%v%d, %%v%d) : f32[1,2,8] cost=%d\n", i, a, b, cost);
    }
}

void bounds_models_tiny(struct str *t, struct rng *rng) {
    int n = 3 + (int)rng_below(rng, 3);
    struct str outputs = str_make(t->arena);
    str_add(t, "mfc 1\nir_version 8\nopset 17\ngraph \"g\" {\n  input %v0 : f32[1,2,8]\n"
               "  const %flat : i64[1] = {16}\n  const %back : i64[3] = {1,2,8}\n");
    for (int i = 1; i <= n; i++)
        add_tiny(t, &outputs, rng, i);
    if (rng_below(rng, 2))
        str_addf(t, "  %%y = Relu(%%v%d) : f32[1,2,8] cost=5\n", n);
    else
        str_addf(t, "  %%y = Mul(%%v%d, %%v%d) : f32[1,2,8] cost=5\n", n,
                 (int)rng_below(rng, (uint64_t)n));
    str_addf(t, "%s  output %%y\n}\n", str_text(&outputs));
}
