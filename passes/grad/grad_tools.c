// The helpers of gradient rules: see grad.h.
#include "passes/grad/grad.h"

#include <string.h>

#include "ir/base/limits.h"

const struct type *grad_type(const struct grad *r, value_id v) {
    static const struct type nothing = {.kind = TYPE_TENSOR, .has_shape = true};
    const struct type *t = v.i ? graph_value(r->g, v)->type : NULL;
    return t ? t : &nothing; // only after an error, which sticks
}

int32_t grad_rank(const struct grad *r, value_id v) {
    return grad_type(r, v)->rank;
}

int64_t grad_dim(const struct grad *r, value_id v, int32_t axis) {
    const struct type *t = grad_type(r, v);
    axis = axis < 0 ? axis + t->rank : axis;
    return axis >= 0 && axis < t->rank ? t->dims[axis].size : 1;
}

int64_t grad_elements(const struct grad *r, value_id v) {
    int64_t n;
    return type_elements(grad_type(r, v), &n) ? n : 0;
}

enum elem grad_elem(const struct grad *r, value_id v) {
    return grad_type(r, v)->elem;
}

struct shape grad_shape(const struct grad *r) {
    return (struct shape){r->g, r->id, r->n, r->g->model->arena, r->b->d, r->opset};
}

bool grad_has(const struct grad *r, uint32_t k) {
    return k < r->n->n_in && r->n->in[k].i;
}

bool grad_ints(const struct grad *r, uint32_t k, int64_t **x, int64_t *n) {
    struct shape s = grad_shape(r);
    return shape_numbers(&s, k, x, n);
}

bool grad_reals(const struct grad *r, uint32_t k, double **x, int64_t *n) {
    const struct value *v = grad_has(r, k) ? graph_value(r->g, r->x[k]) : NULL;
    return v && v->init && !v->is_input && tensor_elements(v->init, n) &&
           *n <= LIMIT_FOLD_ELEMENTS && (*n == 0 || v->init->data.source) &&
           !tensor_reals(v->init, r->g->model->arena, r->b->d, x);
}

value_id grad_output(struct grad *r, uint32_t slot) {
    struct node *n = graph_node(r->g, r->id);
    if (r->b->failed)
        return VALUE_NONE;
    if (slot < n->n_out && n->out[slot].i)
        return n->out[slot];
    struct arena *a = r->g->model->arena;
    uint32_t n_out = slot < n->n_out ? n->n_out : slot + 1;
    value_id *out = ARENA_ARRAY(a, value_id, n_out);
    char *like =
        str_format(a, "%s.%u", n->out[0].i ? graph_value(r->g, n->out[0])->name : n->type, slot);
    const char *name = like ? graph_fresh_name(r->g, like) : NULL;
    value_id v = name ? graph_add_value(r->g, name, NULL) : VALUE_NONE;
    if (!out || !v.i) {
        r->b->failed = diag_out_of_memory(r->b->d);
        return VALUE_NONE;
    }
    memcpy(out, n->out, n->n_out * sizeof *out);
    out[slot] = v;
    n->out = out;
    n->n_out = n_out;
    graph_value(r->g, v)->def = r->id;
    graph_value(r->g, v)->def_slot = slot;
    r->n = n;
    r->y = out;
    r->b->failed = shape_infer(r->g, r->id, r->b->d);
    return v;
}

void grad_refuse(struct grad *r, const char *format, ...) {
    if (r->b->failed)
        return;
    struct loc where = loc_path(r->g->model->path, node_path(r->g, r->id, r->a));
    va_list args;
    va_start(args, format);
    r->b->failed = diag_errorv(r->b->d, DIAG_NO_GRADIENT, where, format, args);
    va_end(args);
}

value_id grad_add(struct grad *r, value_id a, value_id b) {
    return BUILD(r->b, "Add", a, b);
}

value_id grad_sub(struct grad *r, value_id a, value_id b) {
    return BUILD(r->b, "Sub", a, b);
}

value_id grad_mul(struct grad *r, value_id a, value_id b) {
    return BUILD(r->b, "Mul", a, b);
}

value_id grad_div(struct grad *r, value_id a, value_id b) {
    return BUILD(r->b, "Div", a, b);
}

value_id grad_neg(struct grad *r, value_id a) {
    return BUILD(r->b, "Neg", a);
}

value_id grad_real(struct grad *r, value_id like, double x) {
    return build_scalar(r->b, grad_elem(r, like), x);
}

value_id grad_scale(struct grad *r, value_id a, double x) {
    return x == 1 ? a : grad_mul(r, a, grad_real(r, a, x));
}

value_id grad_cast(struct grad *r, value_id a, enum elem e) {
    return grad_elem(r, a) == e ? a : build_op(r->b, "Cast", VALUES(a), ATTRS(attr_int("to", e)));
}

// Copies the dimensions of a value and returns its rank.
static int32_t dims_of(const struct grad *r, value_id v, int64_t *dims) {
    const struct type *t = grad_type(r, v);
    for (int32_t i = 0; i < t->rank; i++)
        dims[i] = t->dims[i].size;
    return t->rank;
}

static bool has_dims(const struct grad *r, value_id a, const int64_t *dims, int32_t rank) {
    bool same = grad_rank(r, a) == rank;
    for (int32_t i = 0; same && i < rank; i++)
        same = grad_dim(r, a, i) == dims[i];
    return same;
}

value_id grad_reshape(struct grad *r, value_id a, const int64_t *dims, int32_t rank) {
    if (has_dims(r, a, dims, rank))
        return a;
    // Without allowzero, a dimension of 0 would mean "copy".
    bool zero = false;
    for (int32_t i = 0; i < rank; i++)
        zero |= dims[i] == 0;
    value_id shape = build_ints(r->b, dims, rank);
    return zero ? build_op(r->b, "Reshape", VALUES(a, shape), ATTRS(attr_int("allowzero", 1)))
                : BUILD(r->b, "Reshape", a, shape);
}

value_id grad_reshape_like(struct grad *r, value_id a, value_id like) {
    int64_t dims[LIMIT_RANK];
    int32_t rank = dims_of(r, like, dims);
    return grad_reshape(r, a, dims, rank);
}

value_id grad_expand_like(struct grad *r, value_id a, value_id like) {
    int64_t dims[LIMIT_RANK];
    int32_t rank = dims_of(r, like, dims);
    return has_dims(r, a, dims, rank) ? a : BUILD(r->b, "Expand", a, build_ints(r->b, dims, rank));
}

value_id grad_transpose(struct grad *r, value_id a, const int64_t *perm) {
    int32_t rank = grad_rank(r, a);
    bool moves = false;
    for (int32_t i = 0; i < rank; i++)
        moves |= perm[i] != i;
    return moves ? build_op(r->b, "Transpose", VALUES(a),
                            ATTRS(attr_ints("perm", perm, (size_t)rank)))
                 : a;
}

value_id grad_swap_last(struct grad *r, value_id a) {
    int64_t perm[LIMIT_RANK];
    int32_t rank = grad_rank(r, a);
    for (int32_t i = 0; i < rank; i++)
        perm[i] = i;
    if (rank >= 2) {
        perm[rank - 2] = rank - 1;
        perm[rank - 1] = rank - 2;
    }
    return grad_transpose(r, a, perm);
}

// ONNX Runtime's CPU kernels do not add in half precision, and long sums would lose accuracy there.
static enum elem summing_elem(enum elem e) {
    return e == ELEM_F16 || e == ELEM_BF16 ? ELEM_F32 : e;
}

static value_id reduce(struct grad *r, const char *type, value_id a, const int64_t *axes, int64_t n,
                       bool keep) {
    // ReduceSum takes its axes as an input since opset 13, the others since 18.
    if (strcmp(type, "ReduceSum") == 0 || r->opset >= 18)
        return build_op(r->b, type, VALUES(a, build_ints(r->b, axes, n)),
                        ATTRS(attr_int("keepdims", keep)));
    return build_op(r->b, type, VALUES(a),
                    ATTRS(attr_ints("axes", axes, (size_t)n), attr_int("keepdims", keep)));
}

value_id grad_reduce(struct grad *r, const char *type, value_id a, const int64_t *axes, int64_t n,
                     bool keep) {
    enum elem e = grad_elem(r, a);
    if (n == 0)
        return a;
    a = r->wide_sums ? grad_cast(r, a, summing_elem(e)) : a;
    return grad_cast(r, reduce(r, type, a, axes, n, keep), e);
}

value_id grad_unbroadcast(struct grad *r, value_id a, value_id like) {
    const struct type *from = grad_type(r, a), *to = grad_type(r, like);
    int64_t axes[LIMIT_RANK] = {0}, n = 0;
    for (int32_t i = 0; i < from->rank; i++) {
        int32_t k = i - (from->rank - to->rank);
        if (k < 0 || (to->dims[k].size == 1 && from->dims[i].size != 1))
            axes[n++] = i;
    }
    // The reshape is omitted if the shape is right already.
    bool only_leading = n == from->rank - to->rank;
    value_id sum = grad_reduce(r, "ReduceSum", a, axes, n, !only_leading);
    return grad_reshape_like(r, sum, like);
}

static value_id zeros_of(struct grad *r, enum elem e, const int64_t *dims, int32_t rank) {
    double zero = 0;
    struct tensor *t = tensor_from_reals(r->g->model->arena, e, &zero, (int64_t[]){1}, 1);
    if (!t) {
        r->b->failed = r->b->failed ? r->b->failed : diag_out_of_memory(r->b->d);
        return VALUE_NONE;
    }
    struct attr value = {.name = "value", .kind = ATTR_TENSOR, .n = 1, .t = t};
    return build_op(r->b, "ConstantOfShape", VALUES(build_ints(r->b, dims, rank)), ATTRS(value));
}

value_id grad_zeros(struct grad *r, value_id like) {
    int64_t dims[LIMIT_RANK];
    int32_t rank = dims_of(r, like, dims);
    return zeros_of(r, grad_elem(r, like), dims, rank);
}

value_id grad_scatter_nd(struct grad *r, const int64_t *dims, int32_t rank, value_id where,
                         value_id what) {
    enum elem e = grad_elem(r, what), wide = summing_elem(e);
    value_id sum = build_op(r->b, "ScatterND",
                            VALUES(zeros_of(r, wide, dims, rank), where, grad_cast(r, what, wide)),
                            ATTRS(attr_text("reduction", "add")));
    return grad_cast(r, sum, e);
}

value_id grad_scatter_elements(struct grad *r, const int64_t *dims, int32_t rank, int64_t axis,
                               value_id where, value_id what) {
    enum elem e = grad_elem(r, what), wide = summing_elem(e);
    value_id sum = build_op(r->b, "ScatterElements",
                            VALUES(zeros_of(r, wide, dims, rank), where, grad_cast(r, what, wide)),
                            ATTRS(attr_int("axis", axis), attr_text("reduction", "add")));
    return grad_cast(r, sum, e);
}

value_id grad_slice(struct grad *r, value_id a, int32_t axis, int64_t start, int64_t end) {
    if (start == 0 && end == grad_dim(r, a, axis))
        return a;
    return BUILD(r->b, "Slice", a, build_ints(r->b, &start, 1), build_ints(r->b, &end, 1),
                 build_ints(r->b, (int64_t[]){axis}, 1));
}

value_id grad_pad(struct grad *r, value_id a, const int64_t *begin, const int64_t *end) {
    int64_t pads[2 * LIMIT_RANK];
    int32_t rank = grad_rank(r, a);
    bool any = false;
    for (int32_t i = 0; i < rank; i++) {
        pads[i] = begin[i];
        pads[rank + i] = end[i];
        any |= begin[i] || end[i];
    }
    return any ? BUILD(r->b, "Pad", a, build_ints(r->b, pads, 2 * rank)) : a;
}

value_id grad_along(struct grad *r, value_id a, int32_t axis, const double *matrix, int64_t n) {
    int32_t rank = grad_rank(r, a);
    int64_t size = grad_dim(r, a, axis);
    bool last = axis == rank - 1;
    // The last axis: a times the transposed matrix. Another axis: the matrix times a, with all
    // following dimensions merged into one.
    if (last) {
        double *transposed = ARENA_ARRAY(r->a, double, (size_t)(n * size));
        for (int64_t i = 0; transposed && i < n; i++)
            for (int64_t k = 0; k < size; k++)
                transposed[k * n + i] = matrix[i * size + k];
        struct tensor *t = transposed ? tensor_from_reals(r->g->model->arena, grad_elem(r, a),
                                                          transposed, (int64_t[]){size, n}, 2)
                                      : NULL;
        return BUILD(r->b, "MatMul", a, build_tensor(r->b, t));
    }
    int64_t outer = 1, inner = 1, dims[LIMIT_RANK];
    for (int32_t i = 0; i < rank; i++) {
        dims[i] = i == axis ? n : grad_dim(r, a, i);
        outer *= i < axis ? dims[i] : 1;
        inner *= i > axis ? dims[i] : 1;
    }
    struct tensor *t =
        tensor_from_reals(r->g->model->arena, grad_elem(r, a), matrix, (int64_t[]){n, size}, 2);
    value_id flat = grad_reshape(r, a, (int64_t[]){outer, size, inner}, 3);
    return grad_reshape(r, BUILD(r->b, "MatMul", build_tensor(r->b, t), flat), dims, rank);
}
