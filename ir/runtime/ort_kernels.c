// Requests of kernels: see ort_kernels.h.
#include "ir/runtime/ort_kernels.h"

#include <assert.h>

static void add_output(struct ort_kernel *k, uint32_t output) {
    assert(k->n < ORT_KERNEL_MAX);
    k->at[k->n++] = (struct ort_request){.is_output = true, .output = output};
    k->n_outputs = output + 1;
}

static void add_workspace(struct ort_kernel *k, int64_t n_bytes) {
    assert(k->n < ORT_KERNEL_MAX);
    k->at[k->n++] = (struct ort_request){.n_bytes = n_bytes};
}

static int64_t bytes_of(const struct graph *g, value_id v) {
    int64_t n = 0;
    return v.i && graph_value(g, v)->type && type_bytes(graph_value(g, v)->type, &n) ? n : 0;
}

static const struct type *type_of(const struct graph *g, const struct node *n, uint32_t k) {
    const struct type *t = k < n->n_in && n->in[k].i ? graph_value(g, n->in[k])->type : NULL;
    return t && type_is_static(t) ? t : NULL;
}

// Training: mean and variance of the batch.
static void batch_norm(const struct graph *g, const struct node *n, struct ort_kernel *out) {
    add_output(out, 0);
    if (node_int(n, "training_mode", 0) || n->n_out > 1) {
        add_workspace(out, bytes_of(g, n->in[1]));
        add_workspace(out, bytes_of(g, n->in[1]));
    }
}

// Along another axis than the last: a transposed copy of the operand and of the result.
static void softmax(const struct graph *g, const struct node *n, struct ort_kernel *out) {
    const struct type *x = type_of(g, n, 0);
    int64_t axis = node_int(n, "axis", -1);
    add_output(out, 0);
    if (x && axis != -1 && axis != x->rank - 1) {
        add_workspace(out, bytes_of(g, n->in[0]));
        add_workspace(out, bytes_of(g, n->in[0]));
    }
}

static int64_t dim_from_end(const struct type *t, int32_t i) {
    return i < t->rank ? t->dims[t->rank - 1 - i].size : 1;
}

// Bytes of an operand of Where after it is selected by the condition, both broadcast.
static int64_t selected_bytes(const struct type *condition, const struct type *t) {
    int64_t n = elem_bits(t->elem) / 8;
    for (int32_t i = 0; i < condition->rank || i < t->rank; i++) {
        int64_t x = dim_from_end(condition, i), y = dim_from_end(t, i);
        n *= x == 1 ? y : x;
    }
    return n;
}

// Both operands are selected first, each into a tensor of its own.
static void where(const struct graph *g, const struct node *n, struct ort_kernel *out) {
    const struct type *c = type_of(g, n, 0), *x = type_of(g, n, 1), *y = type_of(g, n, 2);
    if (c && x && y) {
        add_workspace(out, selected_bytes(c, x));
        add_workspace(out, selected_bytes(c, y));
    }
    add_output(out, 0);
}

void ort_kernel_of(const struct graph *g, const struct node *n, struct ort_kernel *out) {
    assert(g && n && out);
    *out = (struct ort_kernel){0};
    switch (n->op) {
    case OP_BatchNormalization:
        batch_norm(g, n, out);
        return;
    case OP_LogSoftmax:
    case OP_Softmax:
        softmax(g, n, out);
        return;
    case OP_Where:
        where(g, n, out);
        return;
    default:
        if (n->n_out)
            add_output(out, 0);
        add_workspace(out, n->workspace_bytes);
    }
    if (n->op == OP_ScatterND || n->op == OP_ScatterElements || n->op == OP_Scatter ||
        n->op == OP_OneHot) // indices, in a vector
        out->at[out->n - 1].is_plain = n->workspace_bytes > 0;
}
