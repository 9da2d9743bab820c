// The pass `upgrade`: converts nodes of older opsets into the forms of opset 17, so that shape
// rules and gradient rules handle one form only, and gradients can use its operators (ScatterND
// with a sum, LayerNormalization, …). Most changes between versions turn attributes into inputs. A
// few change the meaning: Softmax flattened its input, BatchNormalization had five outputs,
// Upsample became Resize. Models of opset 17 and later stay as they are, except where a function is
// of another opset (passes/inline.c). Models of IR version 3 list their initializers among the
// inputs; these are removed from the inputs.
#include <math.h>
#include <string.h>

#include "ir/build.h"
#include "passes/pass.h"
#include "passes/upgrade.h"

enum { TARGET_IR = 8 };

struct upgrade {
    struct graph *g;
    struct builder b;
    struct pass_context *c;
    int64_t from, to; // opsets
};

typedef void upgrade_rule(struct upgrade *u, node_id id);

// Removes an attribute from a node and returns it; NULL: it has none of that name.
static const struct attr *take_attr(struct upgrade *u, node_id id, const char *name) {
    struct node *n = graph_node(u->g, id);
    for (uint32_t i = 0; i < n->n_attrs; i++)
        if (strcmp(n->attrs[i].name, name) == 0) {
            struct attr *found = arena_copy(u->g->model->arena, &n->attrs[i], sizeof *found);
            memmove(&n->attrs[i], &n->attrs[i + 1], (n->n_attrs - i - 1) * sizeof *n->attrs);
            n->n_attrs--;
            if (!found)
                u->b.failed = diag_out_of_memory(u->c->diags);
            return found;
        }
    return NULL;
}

static void set_attr(struct upgrade *u, node_id id, struct attr a) {
    if (!graph_set_attr(u->g, id, a))
        u->b.failed = diag_out_of_memory(u->c->diags);
}

// Sets input k; missing inputs before it are left out.
static void set_input(struct upgrade *u, node_id id, uint32_t k, value_id v) {
    struct node *n = graph_node(u->g, id);
    uint32_t n_in = n->n_in > k ? n->n_in : k + 1;
    value_id *in = ARENA_ARRAY(u->g->model->arena, value_id, n_in);
    if (!in) {
        u->b.failed = diag_out_of_memory(u->c->diags);
        return;
    }
    memcpy(in, n->in, n->n_in * sizeof *in);
    in[k] = v;
    n->in = in;
    n->n_in = n_in;
}

// An attribute with a list of integers becomes input k.
static void ints_to_input(struct upgrade *u, node_id id, const char *name, uint32_t k) {
    const struct attr *a = take_attr(u, id, name);
    if (a && a->kind == ATTR_INTS)
        set_input(u, id, k, build_ints(&u->b, a->ints, (int64_t)a->n));
    else if (a && a->kind == ATTR_INT)
        set_input(u, id, k, build_ints(&u->b, &a->i, 1));
}

// The declared element type of the node's first input; float32 if it is not declared, as in models
// of old exporters.
static enum elem elem_of(const struct upgrade *u, node_id id) {
    const struct node *n = graph_node(u->g, id);
    const struct value *v = n->n_in ? graph_value(u->g, n->in[0]) : NULL;
    return v && v->type && v->type->elem ? v->type->elem : v && v->init ? v->init->elem : ELEM_F32;
}

static void float_to_input(struct upgrade *u, node_id id, const char *name, uint32_t k) {
    const struct attr *a = take_attr(u, id, name);
    if (a && a->kind == ATTR_FLOAT)
        set_input(u, id, k, build_scalar(&u->b, elem_of(u, id), (double)a->f));
}

static void up_axes(struct upgrade *u, node_id id) {
    if (u->from < 13)
        ints_to_input(u, id, "axes", 1);
}

// The step to a version is part of the conversion.
static bool crosses(const struct upgrade *u, int64_t version) {
    return u->from < version && u->to >= version;
}

static void up_reduce(struct upgrade *u, node_id id) {
    if (crosses(u, 18))
        ints_to_input(u, id, "axes", 1);
}

static void up_split(struct upgrade *u, node_id id) {
    if (u->from < 13)
        ints_to_input(u, id, "split", 1);
    const struct node *n = graph_node(u->g, id);
    if (crosses(u, 18) && (n->n_in < 2 || !n->in[1].i))
        set_attr(u, id, attr_int("num_outputs", n->n_out));
}

static void up_grid_sample(struct upgrade *u, node_id id) {
    const char *mode = node_text(u->g, graph_node(u->g, id), "mode", "bilinear");
    if (crosses(u, 20) && strcmp(mode, "nearest") != 0)
        set_attr(u, id, attr_text("mode", strcmp(mode, "bicubic") == 0 ? "cubic" : "linear"));
}

static void up_dft(struct upgrade *u, node_id id) {
    if (!crosses(u, 20))
        return;
    const struct attr *axis = take_attr(u, id, "axis");
    int64_t x = axis && axis->kind == ATTR_INT ? axis->i : 1;
    set_input(u, id, 2,
              build_tensor(&u->b, tensor_from_ints(u->g->model->arena, ELEM_I64, &x, NULL, 0)));
}

// Scale and bias had an element per group, and have one per channel since opset 21.
static void up_group_norm(struct upgrade *u, node_id id) {
    const struct node *n = graph_node(u->g, id);
    int64_t groups = node_int(n, "num_groups", 1), one = 1, two = 2, last = -1;
    if (!crosses(u, 21))
        return;
    value_id channels = BUILD(&u->b, "Slice", BUILD(&u->b, "Shape", n->in[0]),
                              build_ints(&u->b, &one, 1), build_ints(&u->b, &two, 1));
    value_id n_groups = build_ints(&u->b, &groups, 1);
    value_id shape =
        build_op(&u->b, "Concat", VALUES(n_groups, BUILD(&u->b, "Div", channels, n_groups)),
                 ATTRS(attr_int("axis", 0)));
    for (uint32_t k = 1; k < 3; k++) {
        value_id column =
            BUILD(&u->b, "Unsqueeze", graph_node(u->g, id)->in[k], build_ints(&u->b, &one, 1));
        value_id wide = BUILD(&u->b, "Expand", column, shape);
        set_input(u, id, k, BUILD(&u->b, "Reshape", wide, build_ints(&u->b, &last, 1)));
    }
}

static void up_clip(struct upgrade *u, node_id id) {
    if (u->from >= 11)
        return;
    float_to_input(u, id, "min", 1);
    float_to_input(u, id, "max", 2);
}

static void up_pad(struct upgrade *u, node_id id) {
    if (u->from >= 11)
        return;
    ints_to_input(u, id, "pads", 1);
    float_to_input(u, id, "value", 2);
}

static void up_slice(struct upgrade *u, node_id id) {
    if (u->from >= 10)
        return;
    ints_to_input(u, id, "starts", 1);
    ints_to_input(u, id, "ends", 2);
    ints_to_input(u, id, "axes", 3);
}

static void up_top_k(struct upgrade *u, node_id id) {
    if (u->from < 10)
        ints_to_input(u, id, "k", 1);
}

static void up_dropout(struct upgrade *u, node_id id) {
    if (u->from >= 12)
        return;
    const struct attr *ratio = take_attr(u, id, "ratio");
    if (ratio && ratio->kind == ATTR_FLOAT)
        set_input(u, id, 1, build_scalar(&u->b, ELEM_F32, (double)ratio->f));
}

// More than one output used to mean training mode. The saved statistics, outputs 3 and 4, were for
// the backward pass of one framework; they no longer exist.
static void up_batch_norm(struct upgrade *u, node_id id) {
    const struct attr *spatial = u->from < 9 ? take_attr(u, id, "spatial") : NULL;
    struct node *n = graph_node(u->g, id);
    if (spatial && spatial->kind == ATTR_INT && spatial->i == 0)
        u->b.failed =
            diag_error(u->c->diags, DIAG_UNSUPPORTED,
                       loc_path(u->g->model->path, node_path(u->g, id, u->c->arena)),
                       "BatchNormalization over single positions (spatial = 0) is not supported");
    if (u->from >= 14 || n->n_out < 2)
        return;
    bool training = n->out[1].i || (n->n_out > 2 && n->out[2].i);
    for (uint32_t k = 3; k < n->n_out; k++)
        if (n->out[k].i)
            graph_value(u->g, n->out[k])->def = NODE_NONE;
    n->n_out = n->n_out > 3 ? 3 : n->n_out;
    if (training)
        set_attr(u, id, attr_int("training_mode", 1));
}

static void replace_node(struct upgrade *u, node_id id, const char *type) {
    struct node *n = graph_node(u->g, id);
    n->op = op_find("", type);
    if (!(n->type = pool_intern(u->g->model->pool, type)))
        u->b.failed = diag_out_of_memory(u->c->diags);
}

// Upsample and the first Resize used an asymmetric grid and rounded down.
static void as_old_resize(struct upgrade *u, node_id id) {
    set_attr(u, id, attr_text("coordinate_transformation_mode", "asymmetric"));
    set_attr(u, id, attr_text("nearest_mode", "floor"));
}

static void up_upsample(struct upgrade *u, node_id id) {
    const struct attr *a = take_attr(u, id, "scales");
    struct node *n = graph_node(u->g, id);
    value_id scales = n->n_in > 1 ? n->in[1] : VALUE_NONE;
    if (a && a->kind == ATTR_FLOATS) {
        double *x = ARENA_ARRAY(u->c->arena, double, a->n);
        for (size_t i = 0; x && i < a->n; i++)
            x[i] = (double)a->floats[i];
        int64_t count = (int64_t)a->n;
        scales = build_tensor(
            &u->b, x ? tensor_from_reals(u->g->model->arena, ELEM_F32, x, &count, 1) : NULL);
    }
    replace_node(u, id, "Resize");
    set_input(u, id, 1, VALUE_NONE);
    set_input(u, id, 2, scales);
    as_old_resize(u, id);
}

static void up_resize(struct upgrade *u, node_id id) {
    if (u->from >= 11)
        return;
    value_id scales = graph_node(u->g, id)->in[1];
    set_input(u, id, 1, VALUE_NONE);
    set_input(u, id, 2, scales);
    as_old_resize(u, id);
}

static void up_scatter(struct upgrade *u, node_id id) {
    replace_node(u, id, "ScatterElements");
}

static void up_roi_align(struct upgrade *u, node_id id) {
    if (u->from < 16)
        set_attr(u, id, attr_text("coordinate_transformation_mode", "output_half_pixel"));
}

// Softmax, LogSoftmax and Hardmax used to flatten all dimensions from `axis` on:
// y = Reshape(f(Flatten(x)), shape of x). For the last axis there is no difference.
static void up_softmax(struct upgrade *u, node_id id) {
    if (u->from >= 13)
        return;
    struct node *n = graph_node(u->g, id);
    int64_t axis = node_int(n, "axis", 1);
    const struct type *t = graph_value(u->g, n->in[0])->type;
    set_attr(u, id, attr_int("axis", -1));
    if (axis == -1 || (t && t->has_shape && axis == t->rank - 1))
        return;
    value_id x = graph_node(u->g, id)->in[0], y = graph_node(u->g, id)->out[0];
    value_id flat = build_op(&u->b, "Flatten", VALUES(x), ATTRS(attr_int("axis", axis)));
    value_id shape = BUILD(&u->b, "Shape", x);
    const char *name = graph_fresh_name(u->g, graph_value(u->g, y)->name);
    value_id inner = name ? graph_add_value(u->g, name, NULL) : VALUE_NONE;
    if (u->b.failed || !inner.i) {
        u->b.failed = u->b.failed ? u->b.failed : diag_out_of_memory(u->c->diags);
        return;
    }
    n = graph_node(u->g, id);
    n->in[0] = flat;
    n->out[0] = inner;
    graph_value(u->g, inner)->def = id;
    if (!graph_add_node(u->g, "", "Reshape", (struct values){(value_id[]){inner, shape}, 2},
                        (struct values){&y, 1})
             .i)
        u->b.failed = diag_out_of_memory(u->c->diags);
}

static upgrade_rule *const rules[OP_COUNT_] = {
    [OP_BatchNormalization] = up_batch_norm,
    [OP_Clip] = up_clip,
    [OP_DFT] = up_dft,
    [OP_Dropout] = up_dropout,
    [OP_GridSample] = up_grid_sample,
    [OP_GroupNormalization] = up_group_norm,
    [OP_Hardmax] = up_softmax,
    [OP_LogSoftmax] = up_softmax,
    [OP_Pad] = up_pad,
    [OP_ReduceL1] = up_reduce,
    [OP_ReduceL2] = up_reduce,
    [OP_ReduceLogSum] = up_reduce,
    [OP_ReduceLogSumExp] = up_reduce,
    [OP_ReduceMax] = up_reduce,
    [OP_ReduceMean] = up_reduce,
    [OP_ReduceMin] = up_reduce,
    [OP_ReduceProd] = up_reduce,
    [OP_ReduceSum] = up_axes,
    [OP_ReduceSumSquare] = up_reduce,
    [OP_Resize] = up_resize,
    [OP_RoiAlign] = up_roi_align,
    [OP_Scatter] = up_scatter,
    [OP_Slice] = up_slice,
    [OP_Softmax] = up_softmax,
    [OP_Split] = up_split,
    [OP_Squeeze] = up_axes,
    [OP_TopK] = up_top_k,
    [OP_Unsqueeze] = up_axes,
    [OP_Upsample] = up_upsample,
};

static void remove_initializer_inputs(struct graph *g) {
    size_t n = 0;
    for (size_t i = 0; i < g->inputs.n; i++) {
        struct value *v = graph_value(g, g->inputs.at[i]);
        if (v->init)
            v->is_input = false;
        else
            g->inputs.at[n++] = g->inputs.at[i];
    }
    g->inputs.n = n;
}

static status upgrade_at(struct upgrade *u, node_id id) {
    const struct node *n = graph_node(u->g, id);
    if (rules[n->op])
        rules[n->op](u, id);
    return u->b.failed;
}

static struct upgrade open_upgrade(struct graph *g, int64_t from, int64_t to,
                                   struct pass_context *c) {
    struct upgrade u = {.g = g, .b = builder_make(g, c->diags), .c = c, .from = from, .to = to};
    u.b.scope = "upgrade";
    return u;
}

status upgrade_node(struct graph *g, node_id id, int64_t from, int64_t to, struct pass_context *c) {
    struct upgrade u = open_upgrade(g, from, to, c);
    u.b.scope = node_called(g, id); // a subgraph must not hide a name of the graph around it
    return upgrade_at(&u, id);
}

static status upgrade_graph(struct graph *g, int64_t from, int64_t to, struct pass_context *c) {
    struct upgrade u = open_upgrade(g, from, to, c);
    size_t n_order = g->order.n;
    status st = ST_OK;
    for (size_t i = 0; i < n_order && !st; i++) {
        struct graph *sub;
        node_id id = g->order.at[i];
        st = upgrade_at(&u, id);
        for (size_t k = 0; !st && (sub = node_subgraph(graph_node(g, id), k)); k++)
            st = upgrade_graph(sub, from, to, c);
    }
    return st || g->order.n == n_order ? st
                                       : graph_sort(g, c->diags); // new nodes were put at the end
}

static bool is_standard(const char *domain) {
    return !domain || !*domain || strcmp(domain, "ai.onnx") == 0;
}

status upgrade_model(struct model *m, int64_t to, struct pass_context *c) {
    int64_t from = model_opset(m, "");
    if (from >= to || from == 0)
        return ST_OK;
    status st = upgrade_graph(m->graph, from, to, c);
    for (size_t i = 0; i < m->opsets.n; i++)
        if (is_standard(m->opsets.at[i].domain))
            m->opsets.at[i].version = to;
    pass_progress(c, "upgrade: opset %lld to %lld", (long long)from, (long long)to);
    return st;
}

static status run(struct model *m, struct pass_context *c) {
    if (m->ir_version < 4)
        remove_initializer_inputs(m->graph);
    if (m->ir_version < TARGET_IR)
        m->ir_version = TARGET_IR;
    if (m->functions.n && model_opset(m, "") < UPGRADE_OPSET)
        return diag_error(c->diags, DIAG_UNSUPPORTED, loc_file(m->path),
                          "the model has functions and opset %lld: run the pass inline first",
                          (long long)model_opset(m, ""));
    return upgrade_model(m, UPGRADE_OPSET, c);
}

const struct pass pass_upgrade = {
    .name = "upgrade",
    .summary = "convert a model of an older opset to opset 17",
    .needs = FACT_TOPO,
    .breaks = FACT_SHAPES | FACT_COSTS,
    .run = run,
};
