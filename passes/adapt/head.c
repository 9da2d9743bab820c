// The pass `head`: with --head CLASSES, the last linear layer of the model gets another number of
// results, and starts anew as PyTorch starts a linear layer. The layer is the last Gemm, MatMul or
// Conv with a weight of its own, or the last one that the name selects; its bias, an operand or
// added to a product, is replaced with it. Names stay, so that the trained numbers find their
// place. What is computed from the result and was declared for the old number of classes is
// declared for the new one.
#include <stdlib.h>
#include <string.h>

#include "ir/base/limits.h"
#include "ir/graph.h"
#include "passes/param/param_roles.h"
#include "passes/param/start_values.h"
#include "passes/pass.h"

#define MAX_CLASSES 16777216

static const struct option_spec options[] = {
    {"Loss and training", 0, OPTION_GROUP, NULL, NULL, 0, 0, NULL},
    {"head", 0, OPTION_TEXT, "CLASSES[:NAME]", NULL, 0, 0,
     "replace the last linear layer, or the last one whose weight, node or result matches NAME, by "
     "a new one for so many classes"},
    {0}};

struct head {
    struct model *m;
    struct graph *g;
    struct pass_context *c;
    struct uses uses;
    int64_t n_classes, old_classes;
    int64_t n_inputs; // of the layer
    const char *pattern;
};

struct layer {
    node_id node;
    value_id weight, bias; // bias: VALUE_NONE, there is none
    int32_t axis;          // of the weight: the classes
};

static uint32_t count_uses(const struct head *h, value_id v) {
    return h->uses.start[v.i + 1] - h->uses.start[v.i];
}

// The weight behind the Transpose or Identity that exporters put there; *swaps: transposed.
static value_id find_tensor(const struct head *h, value_id v, bool *swaps) {
    const struct value *x = graph_value(h->g, v);
    const struct node *def = x->def.i ? graph_node(h->g, x->def) : NULL;
    if (!def || (def->op != OP_Transpose && def->op != OP_Identity))
        return v;
    const struct attr *perm = node_attr(def, "perm");
    bool plain = !perm || (perm->kind == ATTR_INTS && perm->n == 2 && perm->ints[0] == 1);
    *swaps ^= def->op == OP_Transpose;
    return def->op == OP_Identity || plain ? def->in[0] : VALUE_NONE;
}

static bool is_bias(const struct head *h, value_id v, int64_t n_classes) {
    const struct tensor *t = v.i ? param_roles_tensor(h->g, v) : NULL;
    int64_t n;
    return t && tensor_elements(t, &n) && n == n_classes;
}

// The tensor that is added to a product.
static value_id added_tensor(const struct head *h, value_id y, int64_t n_classes) {
    const struct node *user =
        count_uses(h, y) == 1 ? graph_node(h->g, h->uses.node[h->uses.start[y.i]]) : NULL;
    if (!user || user->op != OP_Add)
        return VALUE_NONE;
    value_id other = value_same(user->in[0], y) ? user->in[1] : user->in[0];
    return is_bias(h, other, n_classes) ? other : VALUE_NONE;
}

static bool is_selected(const struct head *h, const struct node *n, value_id weight) {
    return !h->pattern || str_match(h->pattern, graph_value(h->g, weight)->name) ||
           (n->name && str_match(h->pattern, n->name)) ||
           str_match(h->pattern, graph_value(h->g, n->out[0])->name);
}

static bool is_layer(const struct head *h, node_id id, struct layer *out) {
    const struct node *n = graph_node(h->g, id);
    bool is_conv = n->op == OP_Conv && node_int(n, "group", 1) == 1;
    if ((!is_conv && n->op != OP_Gemm && n->op != OP_MatMul) || n->n_in < 2)
        return false;
    bool swaps = n->op == OP_Gemm && node_int(n, "transB", 0) != 0;
    value_id weight = find_tensor(h, n->in[1], &swaps);
    const struct tensor *t = weight.i ? param_roles_tensor(h->g, weight) : NULL;
    if (!t || (is_conv ? t->rank < 3 : t->rank != 2) || !is_selected(h, n, weight))
        return false;
    *out = (struct layer){.node = id, .weight = weight, .axis = is_conv || swaps ? 0 : 1};
    int64_t n_classes = t->dims[out->axis];
    if (n->op == OP_MatMul)
        out->bias = added_tensor(h, n->out[0], n_classes);
    else if (n->n_in > 2 && is_bias(h, n->in[2], n_classes))
        out->bias = n->in[2];
    return true;
}

// Replaces the tensor by one with the new number of classes along an axis.
static status replace(struct head *h, value_id v, int32_t axis) {
    struct arena *a = h->m->arena;
    struct value *x = graph_value(h->g, v);
    const struct tensor *old = param_roles_tensor(h->g, v);
    const struct type *was = tensor_type(a, old);
    struct dim dims[LIMIT_RANK];
    if (count_uses(h, v) > 1)
        return diag_error(h->c->diags, DIAG_UNSUPPORTED, loc_path(h->m->path, x->name),
                          "is a tensor of the last layer, but also read elsewhere, so --head "
                          "cannot replace it; name another layer with --head CLASSES:NAME");
    if (!was)
        return diag_out_of_memory(h->c->diags);
    memcpy(dims, was->dims, (size_t)was->rank * sizeof *dims);
    dims[axis] = (struct dim){.size = h->n_classes};
    const struct type *t = type_tensor(a, was->elem, dims, was->rank);
    struct tensor *fresh = t ? start_tensor(a, t, start_linear(h->n_inputs), x->name) : NULL;
    const char *value = pool_intern(h->m->pool, "value");
    if (!fresh || !value)
        return diag_out_of_memory(h->c->diags);
    fresh->name = old->name;
    x->type = t;
    if (x->init)
        x->init = fresh;
    else if (!graph_set_attr(h->g, x->def,
                             (struct attr){.name = value, .kind = ATTR_TENSOR, .n = 1, .t = fresh}))
        return diag_out_of_memory(h->c->diags);
    return ST_OK;
}

static status replace_bias(struct head *h, value_id v) {
    const struct tensor *t = param_roles_tensor(h->g, v);
    int32_t axis = 0;
    while (axis < t->rank - 1 && t->dims[axis] != h->old_classes)
        axis++;
    return replace(h, v, axis);
}

// Declared types of what depends on the layer.
static status declare_again(struct head *h, node_id layer) {
    struct graph *g = h->g;
    bool *depends = ARENA_ARRAY(h->c->arena, bool, g->values.n);
    if (!depends)
        return diag_out_of_memory(h->c->diags);
    for (size_t i = 0; i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        bool any = g->order.at[i].i == layer.i;
        for (uint32_t k = 0; k < n->n_in; k++)
            any |= depends[n->in[k].i];
        for (uint32_t k = 0; k < n->n_out; k++)
            depends[n->out[k].i] = any && n->out[k].i;
    }
    for (uint32_t v = 1; v < g->values.n; v++) {
        struct value *x = &g->values.at[v];
        struct dim dims[LIMIT_RANK];
        if (!depends[v] || !x->type || x->type->kind != TYPE_TENSOR || !x->type->has_shape)
            continue;
        memcpy(dims, x->type->dims, (size_t)x->type->rank * sizeof *dims);
        for (int32_t i = 0; i < x->type->rank; i++)
            dims[i].size = dims[i].size == h->old_classes ? h->n_classes : dims[i].size;
        if (!(x->type = type_tensor(h->m->arena, x->type->elem, dims, x->type->rank)))
            return diag_out_of_memory(h->c->diags);
    }
    return ST_OK;
}

static status read_options(struct head *h) {
    const char *text = options_text(h->c->options, "head");
    char *end;
    h->n_classes = strtoll(text, &end, 10);
    h->pattern = *end == ':' && end[1] ? end + 1 : NULL;
    bool ok = end != text && (!*end || h->pattern) && h->n_classes >= 1;
    return ok && h->n_classes <= MAX_CLASSES
               ? ST_OK
               : diag_error(
                     h->c->diags, DIAG_USAGE, loc_none(),
                     "--head %s: must be CLASSES or CLASSES:NAME, such as 10 or 10:fc.weight",
                     text);
}

static status run(struct model *m, struct pass_context *c) {
    struct head h = {.m = m, .g = m->graph, .c = c};
    struct layer l = {0};
    size_t i = m->graph->order.n;
    if (!options_given(c->options, "head"))
        return ST_OK;
    status st = read_options(&h);
    if (!st && !graph_uses(h.g, c->arena, &h.uses))
        st = diag_out_of_memory(c->diags);
    while (!st && i > 0 && !is_layer(&h, h.g->order.at[i - 1], &l))
        i--;
    if (!st && i == 0)
        st = diag_error(c->diags, DIAG_USAGE, loc_file(m->path),
                        "--head %s: no Gemm, MatMul or Conv with a weight of its own%s",
                        options_text(c->options, "head"), h.pattern ? " has such a name" : "");
    if (st)
        return st;
    int64_t n;
    const struct tensor *t = param_roles_tensor(h.g, l.weight);
    h.old_classes = t->dims[l.axis];
    h.n_inputs = tensor_elements(t, &n) && h.old_classes ? n / h.old_classes : 1;
    pass_progress(c, "head: %s for %lld classes instead of %lld", graph_value(h.g, l.weight)->name,
                  (long long)h.n_classes, (long long)h.old_classes);
    st = replace(&h, l.weight, l.axis);
    if (!st && l.bias.i)
        st = replace_bias(&h, l.bias);
    return st ? st : declare_again(&h, l.node);
}

const struct pass pass_head = {
    .name = "head",
    .summary = "replace the last linear layer by one with another number of classes",
    .needs = FACT_TOPO,
    .breaks = FACT_SHAPES | FACT_COSTS,
    .options = options,
    .run = run,
};
