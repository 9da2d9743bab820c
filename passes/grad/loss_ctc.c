// Connectionist temporal classification (Graves et al., 2006), in plain operators: minus the log of
// the probability that a sequence of class scores reads as the labels, over all alignments. The
// recursion over time is unrolled, in logarithms, with -1e30 for the logarithm of 0.
//
// The labels [N,S] are padded with blanks at the end. The extended sequence has a blank before,
// between and after them, 2 S + 1 positions; alpha[s] is the log probability of all alignments that
// have read position s by now:
//
//     alpha'[s] = log p(extended[s]) + logsumexp(alpha[s], alpha[s-1], alpha[s-2] if it may skip)
//
// and a sequence of n labels ends at position 2 n or 2 n - 1. The loss of each sample is divided by
// its number of labels, and the mean is taken, as in PyTorch; samples whose labels do not fit into
// the time steps count as 0 (PyTorch's zero_infinity).
#include "passes/grad/loss.h"
#include "passes/shape/shape.h"

#define LOG_ZERO  -1e30
#define IS_FINITE 1e29

struct ctc {
    struct loss *l;
    struct builder *b;
    int64_t n_steps, batch, n_labels, n_positions, blank;
    enum elem label, real; // real: f64 for models of f64, else f32
    value_id log_zero;
};

static value_id ints(struct ctc *c, const int64_t *x, int64_t n) {
    return build_ints(c->b, x, n);
}

static value_id number(struct ctc *c, enum elem e, double x) {
    return build_scalar(c->b, e, x);
}

static value_id slice(struct ctc *c, value_id v, int64_t axis, int64_t from, int64_t to) {
    return BUILD(c->b, "Slice", v, ints(c, &from, 1), ints(c, &to, 1), ints(c, &axis, 1));
}

static value_id transpose(struct ctc *c, value_id v, const int64_t *perm, size_t n) {
    return build_op(c->b, "Transpose", VALUES(v), ATTRS(attr_ints("perm", perm, n)));
}

// The log-probabilities, [T,N,C].
static value_id log_probabilities(struct ctc *c, const struct loss_choice *k) {
    value_id x = k->of;
    int64_t perm[] = {k->time_axis, k->batch_axis, k->class_axis};
    if (graph_value(c->l->g, x)->type->elem != c->real)
        x = build_op(c->b, "Cast", VALUES(x), ATTRS(attr_int("to", c->real)));
    if (perm[0] != 0 || perm[1] != 1)
        x = transpose(c, x, perm, 3);
    return build_op(c->b, "LogSoftmax", VALUES(x), ATTRS(attr_int("axis", 2)));
}

// The labels with blanks between them, [N, 2 S + 1].
static value_id extended_labels(struct ctc *c, value_id labels) {
    int64_t pairs[] = {c->batch, c->n_labels, 1}, flat[] = {c->batch, 2 * c->n_labels};
    int64_t last[] = {0, 0, 0, 1};
    value_id column = BUILD(c->b, "Reshape", labels, ints(c, pairs, 3));
    value_id blank = number(c, c->label, (double)c->blank);
    value_id blanks = BUILD(c->b, "Expand", blank, ints(c, pairs, 3));
    value_id both = build_op(c->b, "Concat", VALUES(blanks, column), ATTRS(attr_int("axis", 2)));
    value_id row = BUILD(c->b, "Reshape", both, ints(c, flat, 2));
    return BUILD(c->b, "Pad", row, ints(c, last, 4), blank);
}

// Moves positions up by n along the last axis of [1,N,L]; log zero comes in.
static value_id shift(struct ctc *c, value_id v, int64_t n) {
    int64_t pads[] = {0, 0, n, 0, 0, 0};
    return BUILD(c->b, "Pad", slice(c, v, 2, 0, c->n_positions - n), ints(c, pads, 6), c->log_zero);
}

// [1,N,L] of 0 where the condition [N,L] holds, and log zero elsewhere.
static value_id only_where(struct ctc *c, value_id condition) {
    int64_t zero = 0;
    value_id mask = BUILD(c->b, "Where", condition, number(c, c->real, 0), c->log_zero);
    return BUILD(c->b, "Unsqueeze", mask, ints(c, &zero, 1));
}

// A position may be reached from the last but one when both hold different labels.
static value_id skips(struct ctc *c, value_id extended) {
    value_id blank = number(c, c->label, (double)c->blank);
    int64_t pads[] = {0, 2, 0, 0};
    value_id before =
        BUILD(c->b, "Pad", slice(c, extended, 1, 0, c->n_positions - 2), ints(c, pads, 4), blank);
    value_id same = BUILD(c->b, "Equal", extended, before),
             is_blank = BUILD(c->b, "Equal", extended, blank);
    return only_where(c, BUILD(c->b, "Not", BUILD(c->b, "Or", same, is_blank)));
}

static value_id positions(struct ctc *c) {
    return BUILD(c->b, "Range", number(c, ELEM_I64, 0), number(c, ELEM_I64, (double)c->n_positions),
                 number(c, ELEM_I64, 1));
}

// log(exp x + exp y + exp z). Floor keeps the gradient from the maximum, where it would cancel.
static value_id log_sum(struct ctc *c, value_id x, value_id y, value_id z) {
    value_id top = BUILD(c->b, "Floor", BUILD(c->b, "Max", x, y, z)), parts[3] = {x, y, z};
    value_id sum = VALUE_NONE;
    for (int i = 0; i < 3; i++) {
        value_id part = BUILD(c->b, "Exp", BUILD(c->b, "Sub", parts[i], top));
        sum = i ? BUILD(c->b, "Add", sum, part) : part;
    }
    return BUILD(c->b, "Add", BUILD(c->b, "Log", sum), top);
}

// alpha after the last step, [1,N,L].
static value_id recursion(struct ctc *c, value_id logp, value_id extended) {
    int64_t shape[] = {c->n_steps, c->batch, c->n_positions}, axis = 0;
    value_id index = BUILD(c->b, "Expand", BUILD(c->b, "Unsqueeze", extended, ints(c, &axis, 1)),
                           ints(c, shape, 3));
    value_id all =
        build_op(c->b, "GatherElements", VALUES(logp, index), ATTRS(attr_int("axis", 2)));
    value_id skip = skips(c, extended), row = positions(c), two = number(c, ELEM_I64, 2);
    int64_t start[] = {1, c->n_positions};
    value_id first = BUILD(c->b, "Expand", BUILD(c->b, "Less", row, two), ints(c, start, 2));
    value_id alpha = BUILD(c->b, "Add", slice(c, all, 0, 0, 1), only_where(c, first));
    for (int64_t t = 1; t < c->n_steps && !c->b->failed; t++) {
        value_id jump = BUILD(c->b, "Add", shift(c, alpha, 2), skip);
        alpha = BUILD(c->b, "Add", log_sum(c, alpha, shift(c, alpha, 1), jump),
                      slice(c, all, 0, t, t + 1));
    }
    return alpha;
}

// The number of labels of each sample, i64 [N,1].
static value_id lengths(struct ctc *c, value_id labels) {
    int64_t axis = 1;
    value_id blank = number(c, c->label, (double)c->blank);
    value_id is_label = BUILD(c->b, "Not", BUILD(c->b, "Equal", labels, blank));
    value_id ones = build_op(c->b, "Cast", VALUES(is_label), ATTRS(attr_int("to", ELEM_I64)));
    return BUILD(c->b, "ReduceSum", ones, ints(c, &axis, 1));
}

static value_id max_along(struct ctc *c, value_id v, int64_t axis) {
    if (model_opset(c->l->g->model, "") >= 18)
        return BUILD(c->b, "ReduceMax", v, ints(c, &axis, 1));
    return build_op(c->b, "ReduceMax", VALUES(v), ATTRS(attr_ints("axes", &axis, 1)));
}

// The mean over the samples of -log p / max(n, 1), from alpha and the numbers n of labels.
static value_id mean_loss(struct ctc *c, value_id alpha, value_id n) {
    int64_t shape[] = {c->batch};
    value_id row = positions(c), two = number(c, ELEM_I64, 2), one = number(c, ELEM_I64, 1);
    value_id last = BUILD(c->b, "Mul", n, two);
    value_id at_end = BUILD(c->b, "Or", BUILD(c->b, "Equal", row, last),
                            BUILD(c->b, "Equal", row, BUILD(c->b, "Sub", last, one)));
    value_id ends = BUILD(c->b, "Add", alpha, only_where(c, at_end));
    value_id flat = BUILD(c->b, "Reshape", ends, ints(c, (int64_t[]){c->batch, -1}, 2));
    value_id top = BUILD(c->b, "Floor", max_along(c, flat, 1));
    value_id sum = BUILD(c->b, "ReduceSum", BUILD(c->b, "Exp", BUILD(c->b, "Sub", flat, top)),
                         ints(c, (int64_t[]){1}, 1));
    value_id logp = BUILD(c->b, "Add", BUILD(c->b, "Log", sum), top);
    value_id count =
        build_op(c->b, "Cast", VALUES(BUILD(c->b, "Max", n, one)), ATTRS(attr_int("to", c->real)));
    value_id each = BUILD(c->b, "Neg", BUILD(c->b, "Div", logp, count));
    value_id fits = BUILD(c->b, "Greater", top, number(c, c->real, -IS_FINITE));
    value_id kept = BUILD(c->b, "Where", fits, each, number(c, c->real, 0));
    return build_op(c->b, "ReduceMean", VALUES(BUILD(c->b, "Reshape", kept, ints(c, shape, 1))),
                    ATTRS(attr_int("keepdims", 0)));
}

value_id loss_build_ctc(struct loss *l, const struct loss_choice *k) {
    const struct type *t = graph_value(l->g, k->of)->type;
    struct ctc c = {.l = l,
                    .b = &l->b,
                    .n_steps = t->dims[k->time_axis].size,
                    .batch = t->dims[k->batch_axis].size,
                    .n_labels = options_int(l->c->options, "label-length"),
                    .blank = options_int(l->c->options, "blank"),
                    .label = loss_label_elem(l),
                    .real = t->elem == ELEM_F64 ? ELEM_F64 : ELEM_F32};
    if (c.n_labels == 0)
        c.n_labels = c.n_steps / 2 ? c.n_steps / 2 : 1;
    c.n_positions = 2 * c.n_labels + 1;
    if (c.blank >= t->dims[k->class_axis].size) {
        l->b.failed =
            diag_error(l->c->diags, DIAG_USAGE, loc_none(), "--blank %lld: there are %lld classes",
                       (long long)c.blank, (long long)t->dims[k->class_axis].size);
        return VALUE_NONE;
    }
    c.log_zero = number(&c, c.real, LOG_ZERO);
    struct dim dims[] = {dim_of(c.batch), dim_of(c.n_labels)};
    value_id labels = loss_add_input(l, "labels", c.label, dims, 2);
    value_id logp = log_probabilities(&c, k);
    value_id extended = extended_labels(&c, labels);
    value_id alpha = recursion(&c, logp, extended);
    value_id loss = mean_loss(&c, alpha, lengths(&c, labels));
    if (t->elem != c.real)
        loss = build_op(&l->b, "Cast", VALUES(loss), ATTRS(attr_int("to", t->elem)));
    return loss;
}
