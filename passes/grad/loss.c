// The pass `loss`: attaches the chosen loss to the model and makes it the first output. Losses are
// built from plain operators, because ONNX Runtime inlines SoftmaxCrossEntropyLoss as new nodes at
// the end of the graph, which would change the order of execution.
#include <stdlib.h>
#include <string.h>

#include "ir/base/limits.h"
#include "ir/build.h"
#include "passes/pass.h"
#include "passes/shape/shape.h"

static const struct option_spec options[] = {
    {"Loss and training", 0, OPTION_GROUP, NULL, NULL, 0, 0, NULL},
    {"loss", 0, OPTION_TEXT, "auto|cross-entropy|mse|bce-logits|sum|output:NAME|vjp", "auto", 0, 0,
     "what to differentiate"},
    {"label-type", 0, OPTION_CHOICE, "int64|int32", "int64", 0, 0, "element type of class labels"},
    {0}};

struct loss {
    struct graph *g;
    struct builder b;
    struct pass_context *c;
};

static const struct type *type_of(const struct loss *l, value_id v) {
    return graph_value(l->g, v)->type;
}

static bool is_float(const struct loss *l, value_id v) {
    const struct type *t = type_of(l, v);
    return t && t->kind == TYPE_TENSOR && elem_is_float(t->elem);
}

static value_id first_float(const struct loss *l) {
    for (size_t i = 0; i < l->g->outputs.n; i++)
        if (is_float(l, l->g->outputs.at[i]))
            return l->g->outputs.at[i];
    return VALUE_NONE;
}

static status refuse(struct loss *l, const char *format, const char *name) {
    return diag_error(l->c->diags, DIAG_LOSS, loc_file(l->g->model->path), format, name);
}

// A new graph input of the given type.
static value_id add_input(struct loss *l, const char *name, enum elem e, const struct dim *dims,
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

// Mean over all positions of -log_softmax(logits)[label], for logits [N,C] or [N,C,d…]. The classes
// are selected by a product with a one-hot tensor, whose gradient is another product.
static value_id cross_entropy(struct loss *l, value_id logits) {
    const struct type *t = type_of(l, logits);
    struct dim dims[LIMIT_RANK];
    int32_t rank = 0;
    for (int32_t i = 0; i < t->rank; i++)
        if (i != 1)
            dims[rank++] = t->dims[i];
    enum elem label =
        strcmp(options_text(l->c->options, "label-type"), "int32") == 0 ? ELEM_I32 : ELEM_I64;
    value_id labels = add_input(l, "labels", label, dims, rank);
    int64_t n_labels = 1;
    for (int32_t i = 0; i < rank; i++)
        n_labels *= dims[i].size;
    double off_on[] = {0, 1};
    value_id values = build_tensor(
        &l->b, tensor_from_reals(l->g->model->arena, t->elem, off_on, (int64_t[]){2}, 1));
    value_id depth = build_scalar(&l->b, ELEM_I64, (double)t->dims[1].size);
    value_id hot =
        build_op(&l->b, "OneHot", VALUES(labels, depth, values), ATTRS(attr_int("axis", 1)));
    value_id logp = build_op(&l->b, "LogSoftmax", VALUES(logits), ATTRS(attr_int("axis", 1)));
    value_id picked = BUILD(&l->b, "Mul", logp, hot);
    value_id sum = sum_all(l, picked, "ReduceSum");
    return BUILD(&l->b, "Mul", sum,
                 build_scalar(&l->b, t->elem, n_labels ? -1.0 / (double)n_labels : 0));
}

static value_id target_like(struct loss *l, value_id v) {
    const struct type *t = type_of(l, v);
    return add_input(l, "target", t->elem, t->dims, t->rank);
}

static value_id mse(struct loss *l, value_id v) {
    value_id diff = BUILD(&l->b, "Sub", v, target_like(l, v));
    return sum_all(l, BUILD(&l->b, "Mul", diff, diff), "ReduceMean");
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
        if (!is_float(l, y))
            continue;
        const struct type *t = type_of(l, y);
        const char *name = str_format(l->g->model->arena, "seed(%s)", graph_value(l->g, y)->name);
        value_id seed = add_input(l, name ? name : "seed", t->elem, t->dims, t->rank);
        value_id product = BUILD(&l->b, "Mul", y, seed);
        value_id sum = t->rank ? sum_all(l, product, "ReduceSum") : product;
        total = total.i ? BUILD(&l->b, "Add", total, sum) : sum;
    }
    return total;
}

static bool is_scalar(const struct loss *l, value_id v) {
    int64_t n;
    return is_float(l, v) && type_elements(type_of(l, v), &n) && n == 1;
}

// A loss of one element in some other shape becomes rank 0.
static value_id as_scalar(struct loss *l, value_id v) {
    if (!v.i || !type_of(l, v) || type_of(l, v)->rank == 0)
        return v;
    return BUILD(&l->b, "Reshape", v, build_ints(&l->b, NULL, 0));
}

static status choose(struct loss *l, const char *how, value_id *loss) {
    value_id y = first_float(l);
    if (strncmp(how, "output:", 7) == 0) {
        *loss = graph_find(l->g, how + 7);
        if (!loss->i || !graph_value(l->g, *loss)->is_output)
            return diag_error(l->c->diags, DIAG_USAGE, loc_none(),
                              "--loss %s: the model has no such output", how);
        if (!is_scalar(l, *loss))
            return refuse(l, "--loss %s: a loss must be a float with one element", how);
        return ST_OK;
    }
    if (!y.i)
        return refuse(l, "%s", "the model has no float output to compute a loss from");
    const char *name = graph_value(l->g, y)->name;
    if (strcmp(how, "auto") == 0) {
        how = "cross-entropy";
        for (size_t i = l->g->outputs.n; i-- > 0;)
            if (is_scalar(l, l->g->outputs.at[i])) {
                *loss = l->g->outputs.at[i];
                how = "output";
            }
        pass_progress(l->c, "loss: %s %s", how, graph_value(l->g, loss->i ? *loss : y)->name);
        if (loss->i)
            return ST_OK;
    }
    if (strcmp(how, "cross-entropy") == 0) {
        if (type_of(l, y)->rank < 2)
            return refuse(l,
                          "cross-entropy needs scores [N,C] or [N,C,d…], which output %s does not "
                          "have; choose "
                          "another --loss",
                          name);
        *loss = cross_entropy(l, y);
    } else if (strcmp(how, "mse") == 0) {
        *loss = mse(l, y);
    } else if (strcmp(how, "bce-logits") == 0) {
        *loss = bce_logits(l, y);
    } else if (strcmp(how, "sum") == 0) {
        *loss = sum_all(l, y, "ReduceSum");
    } else if (strcmp(how, "vjp") == 0) {
        *loss = vjp(l);
    } else {
        return diag_error(
            l->c->diags, DIAG_USAGE, loc_none(),
            "--loss %s: must be auto, cross-entropy, mse, bce-logits, sum, output:NAME or vjp",
            how);
    }
    return l->b.failed;
}

static status run(struct model *m, struct pass_context *c) {
    struct loss l = {.g = m->graph, .b = builder_make(m->graph, c->diags), .c = c};
    l.b.infer = shape_infer;
    l.b.scope = "loss";
    value_id loss = VALUE_NONE;
    status st = shape_demand(m, c);
    if (!st)
        st = choose(&l, options_text(c->options, "loss"), &loss);
    if (!st) {
        loss = as_scalar(&l, loss);
        st = l.b.failed;
    }
    if (st)
        return st;
    // The first output, as the pass grad expects, and named "loss" if that name is free.
    struct graph *g = m->graph;
    if (!graph_value(g, loss)->is_output && !graph_find(g, "loss").i &&
        !graph_rename(g, loss, "loss"))
        return diag_out_of_memory(c->diags);
    if (!graph_add_output(g, loss))
        return diag_out_of_memory(c->diags);
    memmove(g->outputs.at + 1, g->outputs.at, (g->outputs.n - 1) * sizeof *g->outputs.at);
    g->outputs.at[0] = loss;
    size_t n = 1;
    for (size_t i = 1; i < g->outputs.n; i++)
        if (!value_same(g->outputs.at[i], loss))
            g->outputs.at[n++] = g->outputs.at[i];
    g->outputs.n = n;
    return ST_OK;
}

const struct pass pass_loss = {
    .name = "loss",
    .summary = "attach the loss and make it the first output",
    .needs = FACT_TOPO | FACT_SHAPES,
    .gives = FACT_LOSS,
    .breaks = FACT_COSTS,
    .options = options,
    .run = run,
};
