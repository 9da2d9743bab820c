// The nodes of a loss: see loss.h. Losses are built from plain operators, because ONNX Runtime
// inlines SoftmaxCrossEntropyLoss as new nodes at the end of the graph, which would change the
// order of execution.
#include <string.h>

#include "ir/base/limits.h"
#include "passes/grad/loss.h"

static const struct type *type_of(const struct loss *l, value_id v) {
    return graph_value(l->g, v)->type;
}

enum elem loss_label_elem(const struct loss *l) {
    return strcmp(options_text(l->c->options, "label-type"), "int32") == 0 ? ELEM_I32 : ELEM_I64;
}

value_id loss_add_input(struct loss *l, const char *name, enum elem e, const struct dim *dims,
                        int32_t rank) {
    const char *fresh = graph_fresh_name(l->g, name);
    const struct type *t = type_tensor(l->g->model->arena, e, dims, rank);
    value_id v = fresh && t ? graph_add_value(l->g, fresh, t) : VALUE_NONE;
    if (!v.i || !graph_add_input(l->g, v))
        l->b.failed = diag_out_of_memory(l->c->diags);
    return v;
}

static value_id sum_all(struct loss *l, value_id v, const char *how) {
    return build_op(&l->b, how, VALUES(v), ATTRS(attr_int("keepdims", 0)));
}

// Mean over all positions of -log_softmax(logits)[label]. The classes are selected by a product
// with a one-hot tensor, whose gradient is another product.
static value_id cross_entropy(struct loss *l, const struct loss_choice *k) {
    const struct type *t = type_of(l, k->of);
    struct dim dims[LIMIT_RANK];
    int32_t rank = 0;
    for (int32_t i = 0; i < t->rank; i++)
        if (i != k->class_axis)
            dims[rank++] = t->dims[i];
    value_id labels = loss_add_input(l, "labels", loss_label_elem(l), dims, rank);
    int64_t n_labels = 1;
    for (int32_t i = 0; i < rank; i++)
        n_labels *= dims[i].size;
    double off_on[] = {0, 1};
    value_id values = build_tensor(
        &l->b, tensor_from_reals(l->g->model->arena, t->elem, off_on, (int64_t[]){2}, 1));
    value_id depth = build_scalar(&l->b, ELEM_I64, (double)t->dims[k->class_axis].size);
    struct attrs axis = ATTRS(attr_int("axis", k->class_axis));
    value_id hot = build_op(&l->b, "OneHot", VALUES(labels, depth, values), axis);
    value_id logp = build_op(&l->b, "LogSoftmax", VALUES(k->of), axis);
    value_id picked = BUILD(&l->b, "Mul", logp, hot);
    value_id sum = sum_all(l, picked, "ReduceSum");
    return BUILD(&l->b, "Mul", sum,
                 build_scalar(&l->b, t->elem, n_labels ? -1.0 / (double)n_labels : 0));
}

static value_id target_like(struct loss *l, value_id v) {
    const struct type *t = type_of(l, v);
    return loss_add_input(l, "target", t->elem, t->dims, t->rank);
}

static value_id mse(struct loss *l, value_id v) {
    value_id diff = BUILD(&l->b, "Sub", v, target_like(l, v));
    return sum_all(l, BUILD(&l->b, "Mul", diff, diff), "ReduceMean");
}

static value_id l1(struct loss *l, value_id v) {
    value_id diff = BUILD(&l->b, "Sub", v, target_like(l, v));
    return sum_all(l, BUILD(&l->b, "Abs", diff), "ReduceMean");
}

// With c = min(|d|, 1): c (|d| - c / 2) is d²/2 below 1, and |d| - 1/2 above.
static value_id huber(struct loss *l, value_id v) {
    enum elem e = type_of(l, v)->elem;
    value_id size = BUILD(&l->b, "Abs", BUILD(&l->b, "Sub", v, target_like(l, v)));
    value_id low = BUILD(&l->b, "Clip", size, VALUE_NONE, build_scalar(&l->b, e, 1));
    value_id half = BUILD(&l->b, "Mul", low, build_scalar(&l->b, e, 0.5));
    return sum_all(l, BUILD(&l->b, "Mul", low, BUILD(&l->b, "Sub", size, half)), "ReduceMean");
}

static value_id sum_along(struct loss *l, value_id v, int64_t axis) {
    return build_op(&l->b, "ReduceSum", VALUES(v, build_ints(&l->b, &axis, 1)), NO_ATTRS);
}

// 1 - the mean cosine of the vectors along the class axis. Each square of a length is at least
// epsilon, as in PyTorch's cosine_similarity.
static value_id cosine(struct loss *l, const struct loss_choice *k) {
    enum elem e = type_of(l, k->of)->elem;
    value_id x = k->of, t = target_like(l, x), epsilon = build_scalar(&l->b, e, 1e-8),
             one = build_scalar(&l->b, e, 1);
    value_id dot = sum_along(l, BUILD(&l->b, "Mul", x, t), k->class_axis);
    value_id xx = sum_along(l, BUILD(&l->b, "Mul", x, x), k->class_axis);
    value_id tt = sum_along(l, BUILD(&l->b, "Mul", t, t), k->class_axis);
    value_id squares =
        BUILD(&l->b, "Mul", BUILD(&l->b, "Max", xx, epsilon), BUILD(&l->b, "Max", tt, epsilon));
    value_id each = BUILD(&l->b, "Div", dot, BUILD(&l->b, "Sqrt", squares));
    return BUILD(&l->b, "Sub", one, sum_all(l, each, "ReduceMean"));
}

// mean(softplus(x) - x t), with softplus(x) = max(x, 0) + log(1 + exp(-|x|)), which does not
// overflow.
static value_id bce_logits(struct loss *l, value_id x) {
    enum elem e = type_of(l, x)->elem;
    value_id decay = BUILD(&l->b, "Exp", BUILD(&l->b, "Neg", BUILD(&l->b, "Abs", x)));
    value_id tail = BUILD(&l->b, "Log", BUILD(&l->b, "Add", decay, build_scalar(&l->b, e, 1)));
    value_id soft = BUILD(&l->b, "Add", BUILD(&l->b, "Relu", x), tail);
    value_id each = BUILD(&l->b, "Sub", soft, BUILD(&l->b, "Mul", x, target_like(l, x)));
    return sum_all(l, each, "ReduceMean");
}

// For pipelines with a loss of their own: the sum over all float outputs of output times seed.
static value_id vjp(struct loss *l) {
    value_id total = VALUE_NONE;
    size_t n = l->g->outputs.n;
    for (size_t i = 0; i < n; i++) {
        value_id y = l->g->outputs.at[i];
        const struct type *t = type_of(l, y);
        if (!t || t->kind != TYPE_TENSOR || !elem_is_float(t->elem))
            continue;
        const char *name = str_format(l->g->model->arena, "seed(%s)", graph_value(l->g, y)->name);
        value_id seed = loss_add_input(l, name ? name : "seed", t->elem, t->dims, t->rank);
        value_id product = BUILD(&l->b, "Mul", y, seed);
        value_id sum = t->rank ? sum_all(l, product, "ReduceSum") : product;
        total = total.i ? BUILD(&l->b, "Add", total, sum) : sum;
    }
    return total;
}

value_id loss_build(struct loss *l, const struct loss_choice *k) {
    switch (k->kind) {
    case LOSS_BCE:
        return bce_logits(l, k->of);
    case LOSS_COSINE:
        return cosine(l, k);
    case LOSS_CROSS_ENTROPY:
        return cross_entropy(l, k);
    case LOSS_CTC:
        return loss_build_ctc(l, k);
    case LOSS_HUBER:
        return huber(l, k->of);
    case LOSS_L1:
        return l1(l, k->of);
    case LOSS_MSE:
        return mse(l, k->of);
    case LOSS_SUM:
        return sum_all(l, k->of, "ReduceSum");
    case LOSS_VJP:
        return vjp(l);
    default:
        return k->of;
    }
}
