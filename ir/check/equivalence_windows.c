// Parts under windows, of Conv and poolings along space: see equivalence_parts.h. The pads of a
// part are where those of the whole are, outside of the operand; the windows of the part are then
// some of the whole's if the first one begins where one of them does.
#include <string.h>

#include "ir/check/equivalence_parts.h"

struct window {
    int64_t kernel, stride, dilation, begin, end;
};

static int64_t item(const struct node *n, const char *name, int32_t i, int64_t otherwise) {
    const struct attr *a = node_attr(n, name);
    return a && a->kind == ATTR_INTS && !a->ref && i < (int32_t)a->n ? a->ints[i] : otherwise;
}

// Of spatial dimension i. False: its pads are not numbers, and are not computed here.
static bool window_of(struct numbering *s, const struct equiv_match *m, const struct node *n,
                      int32_t i, int64_t size, struct window *out) {
    const struct type *w = m->w->n_in > 1 ? equiv_static_type(s, m->w->in[1]) : NULL;
    const struct type *x = equiv_static_type(s, m->w->in[0]);
    const char *automatic = node_text(m->g, n, "auto_pad", "NOTSET");
    int64_t by_weights = m->n->op == OP_Conv && w && i + 2 < w->rank ? w->dims[i + 2].size : 0;
    *out = (struct window){item(n, "kernel_shape", i, by_weights), item(n, "strides", i, 1),
                           item(n, "dilations", i, 1), item(n, "pads", i, 0),
                           item(n, "pads", i + x->rank - 2, 0)};
    bool is_same = strncmp(automatic, "SAME_", 5) == 0;
    if (is_same) {
        int64_t n_out = (size + out->stride - 1) / out->stride;
        int64_t pad = (n_out - 1) * out->stride + (out->kernel - 1) * out->dilation + 1 - size;
        pad = pad < 0 ? 0 : pad;
        out->begin = strcmp(automatic, "SAME_LOWER") == 0 ? pad - pad / 2 : pad / 2;
        out->end = pad - out->begin;
    } else if (strcmp(automatic, "VALID") == 0) {
        out->begin = out->end = 0;
    }
    return out->kernel > 0 && out->stride > 0 && out->dilation > 0 &&
           (is_same || strcmp(automatic, "NOTSET") == 0 || strcmp(automatic, "VALID") == 0);
}

// The windows of the part are windows lo .. hi-1 of the whole, with the same elements under them.
static bool same_windows(struct numbering *s, struct equiv_match *m) {
    int32_t i = m->letter - LAW_WINDOW, dim = i + 2;
    const struct type *x = equiv_static_type(s, m->w->in[0]),
                      *y = equiv_static_type(s, m->w->out[0]);
    const struct equiv_part *p = equiv_piece(s, m->in[0], EQUIV_PIECE);
    struct equiv_part all = {EQUIV_PIECE, .of = m->in[0], .axis = dim, .hi = x->dims[dim].size};
    struct window part, whole;
    if (m->in[0] == m->w->in[0])
        p = &all;
    if (!p || p->of != m->w->in[0] || p->axis != dim)
        return false;
    int64_t size = x->dims[dim].size;
    if (!window_of(s, m, m->n, i, p->hi - p->lo, &part) ||
        !window_of(s, m, graph_node(m->w->g, m->w->node), i, size, &whole) ||
        part.kernel != whole.kernel || part.stride != whole.stride ||
        part.dilation != whole.dilation)
        return false;
    bool pads_outside = (part.begin == 0 || p->lo == 0) && (part.end == 0 || p->hi == size);
    int64_t reach = (whole.kernel - 1) * whole.dilation + 1;
    int64_t first = p->lo - part.begin + whole.begin, read = p->hi - p->lo + part.begin + part.end;
    if (!pads_outside || part.begin < 0 || part.end < 0 || whole.begin < 0 || first < 0 ||
        first % whole.stride || read < reach)
        return false;
    m->lo = first / whole.stride;
    m->hi = m->lo + (read - reach) / whole.stride + 1;
    // A last window that only part of the padding allows would not exist in the whole.
    return m->hi <= y->dims[dim].size;
}

// The windows along other dimensions are the same.
static bool same_other_windows(struct numbering *s, const struct equiv_match *m) {
    const struct type *x = equiv_static_type(s, m->w->in[0]);
    const struct node *whole = graph_node(m->w->g, m->w->node);
    for (int32_t i = 0; i < x->rank - 2; i++) {
        struct window a, b;
        if (i == m->letter - LAW_WINDOW)
            continue;
        if (!window_of(s, m, m->n, i, x->dims[i + 2].size, &a) ||
            !window_of(s, m, whole, i, x->dims[i + 2].size, &b) || a.begin != b.begin ||
            a.end != b.end)
            return false;
    }
    return true;
}

bool equiv_windows(struct numbering *s, struct equiv_match *m) {
    return same_other_windows(s, m) && same_windows(s, m);
}
