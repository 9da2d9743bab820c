// The parts of a node: copies of it with ranges of its operands, and what differs in a part.
//
//   Conv, poolings       along space: pads only at the ends of the whole; groups
//   Conv, Gemm           where parts are summed the first one alone adds the bias
//   Reshape, Expand, …   the shape of the part
//   MaxPool, MaxUnpool   positions count from the beginning of the part (shard_positions.c)
//   ReduceMean, losses   sums, which are divided by the number of elements in the end
#include <string.h>

#include "passes/shard/shard_inner.h"

static const struct shard_label *label_of(const struct shard_cut *c) {
    return &c->r.label[c->choice.label];
}

int32_t shard_operand_axis(const struct shard_cut *c, uint32_t j) {
    const struct type *t = shard_in_type(&c->r, j);
    for (int32_t i = 0; t && i < t->rank; i++)
        if (c->r.in[j][i].label == c->choice.label)
            return i;
    return -1;
}

static int32_t result_axis(const struct shard_cut *c, uint32_t j) {
    const struct type *t = shard_out_type(&c->r, j);
    for (int32_t i = 0; t && i < t->rank; i++)
        if (c->r.out[j][i].label == c->choice.label)
            return i;
    return -1;
}

// The elements under the windows of part k, and beyond the ends of the operand if not clipped.
static struct shard_range window_range(const struct shard_cut *c, int32_t i, uint32_t k) {
    const struct conv_window *w = &c->r.window;
    int32_t d = label_of(c)->window;
    int64_t reach = w->dilation[d] * (w->kernel[d] - 1) + 1;
    return (struct shard_range){i, c->choice.bound[k] * w->stride[d] - w->begin[d],
                                (c->choice.bound[k + 1] - 1) * w->stride[d] - w->begin[d] + reach};
}

struct shard_range shard_operand_range(const struct shard_cut *c, uint32_t j, int32_t i,
                                       uint32_t k) {
    int64_t unit = c->r.in[j][i].unit;
    struct shard_range x = {i, c->choice.bound[k] * unit, c->choice.bound[k + 1] * unit};
    if (label_of(c)->window >= 0 && j == 0) {
        int64_t size = shard_size(shard_in_type(&c->r, 0), i);
        x = window_range(c, i, k);
        x.lo = x.lo < 0 ? 0 : x.lo;
        x.hi = x.hi > size ? size : x.hi;
    }
    return x;
}

// Operand j gives the shape of the first result.
static bool gives_shape(const struct shard_cut *c, uint32_t j) {
    enum op op = c->n.op;
    return (j == 1 && (op == OP_Reshape || op == OP_Expand)) ||
           (j == 0 && op == OP_ConstantOfShape) || (j == 2 && op == OP_MaxUnpool);
}

static value_id part_shape(struct sharding *s, const struct shard_cut *c, uint32_t k) {
    const struct type *y = shard_out_type(&c->r, 0);
    int64_t dims[LIMIT_RANK];
    for (int32_t i = 0; i < y->rank; i++) {
        struct shard_dim d = c->r.out[0][i];
        dims[i] = d.label == c->choice.label
                      ? (c->choice.bound[k + 1] - c->choice.bound[k]) * d.unit
                      : y->dims[i].size;
    }
    return build_ints(&s->b, dims, y->rank);
}

static value_id operand(struct sharding *s, const struct shard_cut *c, uint32_t j, uint32_t k) {
    value_id v = c->n.in[j];
    int32_t axis = v.i ? shard_operand_axis(c, j) : -1;
    enum op op = c->n.op;
    bool is_bias = j == 2 && (op == OP_Conv || op == OP_Gemm || op == OP_ConvTranspose);
    if (v.i && gives_shape(c, j))
        return part_shape(s, c, k);
    if (is_bias && label_of(c)->join == SHARD_SUM && k > 0)
        return VALUE_NONE;
    if (axis < 0)
        return v.i ? shard_whole(s, v) : v;
    value_id zeros = shard_zeros(s, c, j, k);
    if (zeros.i)
        return zeros;
    value_id x = shard_take(s, v, shard_operand_range(c, j, axis, k), k);
    return j == 1 && label_of(c)->local_indices ? shard_to_local(s, c, x, k) : x;
}

static bool set_window(struct sharding *s, const struct shard_cut *c, node_id id, uint32_t k) {
    const struct conv_window *w = &c->r.window;
    int64_t pads[2 * WINDOW_DIMS];
    int32_t d = label_of(c)->window;
    struct shard_range all = window_range(c, 2 + d, k);
    int64_t size = shard_size(shard_in_type(&c->r, 0), 2 + d);
    struct arena *a = s->g->model->arena;
    for (int32_t i = 0; i < w->n; i++) {
        pads[i] = w->begin[i];
        pads[w->n + i] = w->end[i];
    }
    pads[d] = all.lo < 0 ? -all.lo : 0;
    pads[w->n + d] = all.hi > size ? all.hi - size : 0;
    struct attr x = attr_ints("pads", arena_copy(a, pads, sizeof pads), 2 * (size_t)w->n);
    return x.ints && graph_set_attr(s->g, id, x) &&
           (!node_attr(&c->n, "auto_pad") ||
            graph_set_attr(s->g, id, attr_text("auto_pad", "NOTSET")));
}

static bool set_attrs(struct sharding *s, const struct shard_cut *c, node_id id, uint32_t k) {
    bool ok = id.i != 0;
    for (uint32_t i = 0; ok && i < c->n.n_attrs; i++)
        ok = graph_set_attr(s->g, id, c->n.attrs[i]);
    if (ok && label_of(c)->window >= 0)
        ok = set_window(s, c, id, k);
    bool is_conv = c->n.op == OP_Conv || c->n.op == OP_ConvTranspose;
    int64_t n_groups = node_int(&c->n, "group", 1);
    if (ok && is_conv && n_groups > 1 && c->r.in[1][0].label == c->choice.label)
        ok = graph_set_attr(s->g, id,
                            attr_int("group", c->choice.bound[k + 1] - c->choice.bound[k]));
    if (ok && label_of(c)->join == SHARD_MEAN && c->n.op != OP_ReduceMean)
        ok = graph_set_attr(s->g, id, attr_text("reduction", "sum"));
    if (ok) {
        graph_node(s->g, id)->device = c->n.device;
        graph_node(s->g, id)->name = graph_value(s->g, graph_node(s->g, id)->out[0])->name;
    }
    return ok;
}

// ReduceSum takes its axes as an operand in every version that mfc plans; none are all.
static value_id reduce_sum(struct sharding *s, const struct shard_cut *c, value_id x) {
    int64_t *axes, n;
    bool known;
    status st = shape_axes(c->r.s, 1, shard_in_type(&c->r, 0)->rank, &axes, &n, &known);
    if (st)
        s->b.failed = st;
    return build_op(&s->b, "ReduceSum", VALUES(x, n ? build_ints(&s->b, axes, n) : VALUE_NONE),
                    ATTRS(attr_int("keepdims", node_int(&c->n, "keepdims", 1))));
}

// Part k of the node; out[] are its results.
static void one_part(struct sharding *s, const struct shard_cut *c, uint32_t k, value_id before,
                     value_id *out) {
    const struct node *n = &c->n;
    value_id *in = ARENA_ARRAY(s->a, value_id, n->n_in);
    if (!in) {
        s->b.failed = diag_out_of_memory(s->d);
        return;
    }
    for (uint32_t j = 0; j < n->n_in; j++)
        in[j] = operand(s, c, j, k);
    if (label_of(c)->join == SHARD_CHAIN && k > 0)
        in[0] = before;
    if (n->op == OP_ReduceMean && label_of(c)->join == SHARD_MEAN) {
        out[0] = reduce_sum(s, c, in[0]);
        shard_place(s, s->group, k);
        return;
    }
    for (uint32_t j = 0; j < n->n_out; j++)
        out[j] = n->out[j].i ? shard_fresh(s, graph_value(s->g, n->out[j])->name, k) : VALUE_NONE;
    node_id id = s->b.failed
                     ? NODE_NONE
                     : graph_add_node(s->g, n->domain, n->type, (struct values){in, n->n_in},
                                      (struct values){out, n->n_out});
    if (!s->b.failed && !set_attrs(s, c, id, k))
        s->b.failed = diag_out_of_memory(s->d);
    if (!s->b.failed)
        s->b.failed = shape_infer(s->g, id, s->d);
    if (n->op == OP_MaxPool && label_of(c)->local_indices)
        out[1] = shard_to_whole(s, c, out[1], k);
    shard_place(s, s->group, k);
}

void shard_parts(struct sharding *s, const struct shard_cut *c) {
    const struct node *n = &c->n;
    value_id *out = ARENA_ARRAY(s->a, value_id, n->n_out), sum = VALUE_NONE;
    struct shard_pieces *p = arena_array(s->a, n->n_out, sizeof *p);
    bool is_joined = label_of(c)->join != SHARD_CONCAT && !c->choice.piece;
    if (!out || !p) {
        s->b.failed = diag_out_of_memory(s->d);
        return;
    }
    for (uint32_t j = 0; j < n->n_out && !s->b.failed; j++) {
        int32_t axis = result_axis(c, j);
        int64_t *bound = ARENA_ARRAY(s->a, int64_t, (size_t)c->choice.n + 1);
        p[j] = (struct shard_pieces){.axis = axis, .n = c->choice.n, .bound = bound};
        p[j].part = ARENA_ARRAY(s->a, value_id, c->choice.n);
        if (!bound || !p[j].part)
            s->b.failed = diag_out_of_memory(s->d);
        for (uint32_t k = 0; bound && axis >= 0 && k <= c->choice.n; k++)
            bound[k] = c->choice.bound[k] * c->r.out[j][axis].unit;
    }
    for (uint32_t k = 0; k < c->choice.n && !s->b.failed; k++) {
        one_part(s, c, k, sum, out);
        for (uint32_t j = 0; j < n->n_out && !s->b.failed; j++)
            p[j].part[k] = out[j];
        if (is_joined && !s->b.failed)
            sum = shard_joined(s, c, sum, out[0], k);
    }
    if (c->choice.piece && !s->b.failed)
        shard_scatter(s, c, p[0].part);
    for (uint32_t j = 0; j < n->n_out && !s->b.failed && !c->choice.piece; j++)
        if (n->out[j].i && p[j].axis >= 0)
            shard_set_pieces(s, n->out[j], p[j]);
        else if (n->out[j].i)
            s->made[n->out[j].i] = s->group;
}
