// Weights packed into blocks of 2, 4 or 8 bits: MatMulNBits, MatMulBnb4, GatherBlockQuantized. They
// become float initializers, since ai.onnx has no operator for them before opset 21; with
// --dequantize, such that are trained.
#include "ir/base/limits.h"
#include "passes/decompose/decompose.h"

static const int64_t max_size = INT64_C(1) << 31; // of a dimension, so that products fit

// A matrix [rows, columns] of integers, with a scale for each block of a row. Packed into bytes,
// the first element in the low bits, or of a 4-bit type.
struct packed {
    value_id x, scale, zero; // zero points are packed as x, or floats; none: `middle`
    value_id block_of;       // none, or the block of each column
    int64_t rows, columns, block, middle;
    int bits;
};

static int64_t per_element(const struct elements *e, int bits) {
    return e->elem == ELEM_U8 ? 8 / bits : 1; // elements in one of the tensor
}

// Integer i of a row of `width` integers; rows begin with a tensor element of their own.
static double unpack(const struct elements *e, int bits, int64_t row, int64_t i, int64_t width) {
    int64_t n = per_element(e, bits), at = row * ((width + n - 1) / n) + i / n;
    if (n == 1)
        return decompose_element(e, at);
    return e->raw[at] >> (i % n * bits) & ((1 << bits) - 1);
}

static bool fits(const struct elements *e, int bits, int64_t rows, int64_t width) {
    int64_t n = per_element(e, bits);
    return e->n == rows * ((width + n - 1) / n);
}

// In the type of the scales: that of the model's floats.
static value_id add_in_type(struct decompose *d, value_id from, struct tensor *t, enum elem e) {
    struct grad *r = &d->tools;
    struct tensor *as = t && e != ELEM_F32 ? ARENA_NEW(r->g->model->arena, struct tensor) : t;
    if (as && as != t && tensor_convert(t, e, r->g->model->arena, r->b->d, as))
        as = NULL;
    d->n_frozen += !d->trains_base;
    return decompose_add_weights(d, from, as);
}

// The floats, as `dims`: in the order of the matrix, or transposed.
static value_id unpacked(struct decompose *d, const struct packed *p, const int64_t *dims,
                         int32_t rank, bool transposed) {
    struct grad *r = &d->tools;
    struct elements x, scale, zero, block_of;
    if (!decompose_read(d, p->x, &x) || !decompose_read(d, p->scale, &scale) ||
        !decompose_read(d, p->zero, &zero) || !decompose_read(d, p->block_of, &block_of))
        return VALUE_NONE;
    int64_t blocks = (p->columns + p->block - 1) / p->block;
    // Whole blocks are stored of MatMulNBits, and elements of GatherBlockQuantized.
    int64_t width = fits(&x, p->bits, p->rows, p->columns) ? p->columns : blocks * p->block;
    bool zeros_fit =
        !zero.raw || (elem_is_float(zero.elem) ? zero.n == p->rows * blocks
                                               : fits(&zero, p->bits, p->rows, blocks));
    if (!fits(&x, p->bits, p->rows, width) || scale.n != p->rows * blocks || !zeros_fit ||
        (block_of.raw && block_of.n < p->columns)) {
        decompose_refuse(d, "its weights, scales or zero points do not have the sizes that its "
                            "attributes require");
        return VALUE_NONE;
    }
    float *y;
    struct tensor *t = tensor_floats(r->g->model->arena, dims, rank, &y);
    for (int64_t row = 0; t && row < p->rows; row++)
        for (int64_t i = 0; i < p->columns; i++) {
            int64_t b = block_of.raw ? (int64_t)decompose_element(&block_of, i) : i / p->block;
            if (b < 0 || b >= blocks) {
                decompose_refuse(d, "a column is in a block that does not exist");
                return VALUE_NONE;
            }
            double z = !zero.raw                  ? (double)p->middle
                       : elem_is_float(zero.elem) ? decompose_element(&zero, row * blocks + b)
                                                  : unpack(&zero, p->bits, row, b, blocks);
            double v = (unpack(&x, p->bits, row, i, width) - z) *
                       tensor_raw_real(scale.elem, scale.raw, row * blocks + b);
            y[transposed ? i * p->rows + row : row * p->columns + i] = (float)v;
        }
    return add_in_type(d, p->x, t, scale.elem);
}

static bool all_sizes(int64_t a, int64_t b, int64_t c) {
    return a >= 1 && a <= max_size && b >= 1 && b <= max_size && c >= 1 && c <= max_size;
}

static value_id given(const struct decompose *d, uint32_t k) {
    return grad_has(&d->tools, k) ? d->tools.x[k] : VALUE_NONE;
}

// A, B [N, blocks, bytes], scales [N, blocks], zero points, the block of each column, bias.
void decompose_matmul_nbits(struct decompose *d) {
    struct grad *r = &d->tools;
    int64_t bits = node_int(r->n, "bits", 4), k = node_int(r->n, "K", 0),
            n = node_int(r->n, "N", 0), block = node_int(r->n, "block_size", 0);
    if (bits != 2 && bits != 4 && bits != 8) {
        decompose_refuse(d, "only 2, 4 and 8 bits have a formula");
        return;
    }
    if (!all_sizes(k, n, block) || block * bits % 8) {
        decompose_refuse(d, "its sizes K, N and block_size are not positive, or too large");
        return;
    }
    struct packed p = {.x = r->x[1],
                       .scale = r->x[2],
                       .zero = given(d, 3),
                       .block_of = given(d, 4),
                       .rows = n,
                       .columns = k,
                       .block = block,
                       .middle = (int64_t)1 << (bits - 1),
                       .bits = (int)bits};
    value_id w = unpacked(d, &p, (int64_t[]){k, n}, 2, true);
    if (!w.i)
        return;
    value_id y = BUILD(r->b, "MatMul", r->x[0], w);
    d->y[0] = grad_has(r, 5) ? grad_add(r, y, r->x[5]) : y;
}

// A table of rows, packed along its last axis, and indices into another axis.
void decompose_gather_blocks(struct decompose *d) {
    struct grad *r = &d->tools;
    if (!decompose_has_shapes(d, 3))
        return;
    int32_t rank = grad_rank(r, r->x[0]);
    int64_t axis = node_int(r->n, "gather_axis", 0), along = node_int(r->n, "quantize_axis", 1);
    int64_t block = node_int(r->n, "block_size", 128);
    bool bytes = grad_elem(r, r->x[0]) == ELEM_U8;
    int bits = bytes ? (int)node_int(r->n, "bits", 4) : 4;
    if (rank < 1 || (along < 0 ? along + rank : along) != rank - 1 ||
        (bits != 2 && bits != 4 && bits != 8)) {
        decompose_refuse(d, "only blocks along the last axis, of 2, 4 or 8 bits, have a formula");
        return;
    }
    int64_t dims[LIMIT_RANK], rows = 1;
    for (int32_t i = 0; i < rank; i++) {
        dims[i] = grad_dim(r, r->x[0], i);
        if (!all_sizes(rows, dims[i], block)) {
            decompose_refuse(d, "its table is empty, or too large");
            return;
        }
        rows *= i < rank - 1 ? dims[i] : 1;
    }
    dims[rank - 1] *= bytes ? 8 / bits : 1;
    struct packed p = {.x = r->x[0],
                       .scale = r->x[2],
                       .zero = given(d, 3),
                       .rows = rows,
                       .columns = dims[rank - 1],
                       .block = block,
                       .bits = bits,
                       .middle = bytes ? (int64_t)1 << (bits - 1) : 0};
    value_id table = unpacked(d, &p, dims, rank, false);
    if (table.i)
        d->y[0] = build_op(r->b, "Gather", VALUES(table, r->x[1]), ATTRS(attr_int("axis", axis)));
}

// The 16 numbers that bitsandbytes rounds to: fp4 (sign, 2 bits of exponent, 1 of mantissa) and
// nf4 (quantiles of the normal distribution).
static const float codes[2][16] = {
    {0.0F, 5.208333333e-03F, 0.66666667F, 1.0F, 0.33333333F, 0.5F, 0.16666667F, 0.25F, -0.0F,
     -5.208333333e-03F, -0.66666667F, -1.0F, -0.33333333F, -0.5F, -0.16666667F, -0.25F},
    {-1.0F, -0.6961928009986877F, -0.5250730514526367F, -0.39491748809814453F,
     -0.28444138169288635F, -0.18477343022823334F, -0.09105003625154495F, 0.0F,
     0.07958029955625534F, 0.16093020141124725F, 0.24611230194568634F, 0.33791524171829224F,
     0.44070982933044434F, 0.5626170039176941F, 0.7229568362236023F, 1.0F},
};

// A, B: codes of a matrix [N,K] as one sequence, the first one in the high bits; the largest
// absolute value of each block of the sequence.
void decompose_matmul_bnb4(struct decompose *d) {
    struct grad *r = &d->tools;
    int64_t k = node_int(r->n, "K", 0), n = node_int(r->n, "N", 0),
            block = node_int(r->n, "block_size", 0), kind = node_int(r->n, "quant_type", 1);
    struct elements x, scale;
    if (!decompose_read(d, r->x[1], &x) || !decompose_read(d, r->x[2], &scale))
        return;
    if (!all_sizes(k, n, block) || kind < 0 || kind > 1 || x.n != (n * k + 1) / 2 ||
        scale.n != (n * k + block - 1) / block || !node_int(r->n, "transB", 1)) {
        decompose_refuse(d, "its weights or scales do not have the sizes that its attributes "
                            "require");
        return;
    }
    float *y;
    struct tensor *t = tensor_floats(r->g->model->arena, (int64_t[]){k, n}, 2, &y);
    for (int64_t i = 0; t && i < n * k; i++) {
        float code = codes[kind][i % 2 ? x.raw[i / 2] & 15 : x.raw[i / 2] >> 4];
        y[i % k * n + i / k] = code * (float)decompose_element(&scale, i / block);
    }
    value_id w = add_in_type(d, r->x[1], t, scale.elem);
    if (w.i)
        d->y[0] = BUILD(r->b, "MatMul", r->x[0], w);
}
