// Nodes of a plan that are parts of a whole: see equivalence_parts.h. The wholes are the nodes of
// the step, and nodes over whole operands that only the parts imply (sums of BatchNormalization).
// They are found by operator and first operand. A node is part of a whole along a letter if
//
//   - every operand with the letter is the same range of the whole's, and the others are equal;
//   - the attributes are equal, but for what a part has to have different;
//   - a shape that it is given is that of its part.
//
// Under windows (Conv along space) the range of the operand and the pads must give the elements
// that the windows of the part have in the whole.
#include <string.h>

#include "ir/check/equivalence_parts.h"

static uint32_t key_operand(enum op op, const uint32_t *in, uint32_t n_in) {
    return n_in > 0 && op != OP_ConstantOfShape ? in[0] : 0;
}

static int64_t whole_key(enum op op, uint32_t class) {
    return (int64_t)op << 32 | class;
}

uint32_t equiv_first_whole(const struct numbering *s, enum op op, uint32_t class) {
    int64_t at;
    return map_get_int(&s->by_operand, whole_key(op, class), &at) ? (uint32_t)at : 0;
}

void equiv_push_whole(struct numbering *s, struct equiv_whole w) {
    enum op op = graph_node(w.g, w.node)->op;
    uint32_t class = key_operand(op, w.in, w.n_in);
    w.next = equiv_first_whole(s, op, class);
    if (!VEC_PUSH(s->a, &s->wholes, w) ||
        !map_put_int(&s->by_operand, whole_key(op, class), (int64_t)s->wholes.n))
        s->failed = diag_out_of_memory(s->d);
}

void equiv_add_whole(struct numbering *s, const struct graph *g, node_id id, const uint32_t *in,
                     uint32_t n_in, const uint32_t *class) {
    const struct node *n = graph_node(g, id);
    uint32_t *out = ARENA_ARRAY(s->a, uint32_t, n->n_out);
    if (!out && !s->failed)
        s->failed = diag_out_of_memory(s->d);
    for (uint32_t k = 0; out && k < n->n_out; k++)
        out[k] = n->out[k].i ? class[n->out[k].i] : 0;
    if (!s->failed)
        equiv_push_whole(
            s, (struct equiv_whole){
                   .g = g, .node = id, .in = in, .n_in = n_in, .out = out, .n_out = n->n_out});
}

// ---- Classes of parts ----

const struct type *equiv_part_type(struct numbering *s, const struct equiv_part *p) {
    const struct type *t = equiv_static_type(s, p->of);
    int64_t dims[LAW_RANK];
    for (int32_t i = 0; t && i < t->rank; i++)
        dims[i] = t->dims[i].size;
    if (t && p->kind != EQUIV_SUM && p->axis < t->rank)
        dims[p->axis] = p->hi - p->lo;
    return t ? type_static(s->a, t->elem, dims, t->rank) : NULL;
}

uint32_t equiv_part_class(struct numbering *s, struct equiv_part p) {
    const struct type *whole = equiv_static_type(s, p.of);
    bool is_new, is_sum = p.kind == EQUIV_SUM;
    bool is_all = p.lo == 0 && p.hi == (is_sum ? p.extent : whole ? whole->dims[p.axis].size : -1);
    if (is_all && p.kind != EQUIV_LOCAL && !(is_sum && p.has_bias != p.needs_bias) &&
        !(is_sum && p.scale != 1)) {
        s->completes |= is_sum;
        return p.of;
    }
    equiv_key(s, 'S');
    const int64_t key[] = {p.kind, p.of,     p.axis,  p.letter,   p.join,      p.lo,
                           p.hi,   p.extent, p.scale, p.has_bias, p.needs_bias};
    equiv_put_bytes(s, key, sizeof key);
    uint32_t class = equiv_intern(s, &is_new);
    if (!is_new)
        return class;
    const struct type *t = equiv_part_type(s, &p);
    struct equiv_class *c = equiv_at(s, class);
    *c = (struct equiv_class){.part = p, .type = t, .name = "a part"};
    return class;
}

// The piece that a class is; NULL: it is none.
const struct equiv_part *equiv_piece(struct numbering *s, uint32_t class,
                                     enum equiv_part_kind kind) {
    const struct equiv_part *p = class ? &equiv_at(s, class)->part : NULL;
    return p && p->kind == kind ? p : NULL;
}

// ---- One whole, one letter ----

static bool gives_shape(enum op op, uint32_t k) {
    return (k == 1 && (op == OP_Reshape || op == OP_Expand)) ||
           (k == 0 && op == OP_ConstantOfShape) || (k == 2 && op == OP_MaxUnpool);
}

static bool same_range(struct equiv_match *m, const struct equiv_part *p, int64_t unit) {
    if (unit <= 0 || p->lo % unit || p->hi % unit)
        return false;
    int64_t lo = p->lo / unit, hi = p->hi / unit;
    if (p->kind == EQUIV_UNIFORM) {
        bool same = m->length < 0 || m->length == hi - lo;
        m->length = hi - lo;
        return same;
    }
    bool same = m->hi < 0 || (m->lo == lo && m->hi == hi);
    m->lo = lo;
    m->hi = hi;
    return same;
}

static bool is_bias(const struct equiv_match *m, uint32_t k) {
    enum op op = m->n->op;
    return k == 2 && (op == OP_Conv || op == OP_Gemm || op == OP_ConvTranspose);
}

// Where parts add in turns, the first operand is the sum of the parts before.
static bool continues_chain(struct numbering *s, const struct equiv_match *m, uint32_t k) {
    bool is_chain = m->n->op == OP_ScatterElements || m->n->op == OP_ScatterND;
    const struct equiv_part *p = equiv_piece(s, m->in[0], EQUIV_SUM);
    return k == 0 && is_chain && p && p->of == m->w->out[0] && p->letter == m->letter;
}

// ---- Operands ----

static bool match_operand(struct numbering *s, struct equiv_match *m, uint32_t k) {
    uint32_t in = k < m->n_in ? m->in[k] : 0, whole = k < m->w->n_in ? m->w->in[k] : 0;
    const struct type *t = equiv_static_type(s, whole);
    int32_t dim = k < m->w->n_in ? law_dim_of(m->w->x[k], t, m->letter) : -1;
    if (gives_shape(m->n->op, k) && in && whole)
        return true; // checked with the result
    if (is_bias(m, k) && whole && equiv_is_summed(s, m)) {
        m->has_bias = in != 0;
        return in == 0 || in == whole;
    }
    if (dim < 0)
        return in == whole || continues_chain(s, m, k);
    if (m->letter >= LAW_WINDOW && k == 0)
        return true; // checked with the attributes
    const struct equiv_part *p = in ? &equiv_at(s, in)->part : NULL;
    enum equiv_part_kind kind = equiv_reads_positions(s, m, k) ? EQUIV_LOCAL : EQUIV_PIECE;
    bool is_view = m->n->op == OP_Reshape && k == 0; // of positions they are positions
    if (p && p->kind == EQUIV_LOCAL && !is_view && p->scale != equiv_positions_before(s, m, p))
        return false;
    if (p && p->kind == EQUIV_LOCAL && is_view)
        kind = EQUIV_LOCAL;
    bool is_of = p && (p->of == whole ||
                       (p->kind == EQUIV_UNIFORM && whole && equiv_same_filling(s, p->of, whole)));
    return is_of && p->axis == dim &&
           (p->kind == kind || (p->kind == EQUIV_UNIFORM && kind == EQUIV_PIECE)) &&
           same_range(m, p, m->w->x[k][dim].unit);
}

// ---- Results ----

static struct equiv_part piece_of_result(struct numbering *s, const struct equiv_match *m,
                                         uint32_t k, int32_t dim) {
    int64_t unit = m->letter >= LAW_WINDOW ? 1 : m->w->y[k][dim].unit;
    bool is_uniform = m->hi < 0;
    int64_t lo = is_uniform ? 0 : m->lo * unit, hi = (is_uniform ? m->length : m->hi) * unit;
    int64_t before = 0;
    bool is_local = equiv_makes_positions(s, m, k, lo, &before);
    return (struct equiv_part){.kind = is_uniform ? EQUIV_UNIFORM
                                       : is_local ? EQUIV_LOCAL
                                                  : EQUIV_PIECE,
                               .of = m->w->out[k],
                               .axis = dim,
                               .lo = lo,
                               .hi = hi,
                               .scale = before};
}

static struct equiv_part sum_of_result(struct numbering *s, const struct equiv_match *m) {
    const struct equiv_part *before = equiv_piece(s, m->in[0], EQUIV_SUM);
    struct equiv_part p = {.kind = EQUIV_SUM,
                           .of = m->w->out[0],
                           .letter = m->letter,
                           .join = m->w->join,
                           .lo = m->lo,
                           .hi = m->hi,
                           .extent = m->w->extent[m->letter],
                           .scale = m->w->scale,
                           .has_bias = m->has_bias,
                           .needs_bias = m->w->n_in > 2 && m->w->in[2] && is_bias(m, 2)};
    if (m->n->op == OP_ScatterElements || m->n->op == OP_ScatterND) {
        p.join = m->n->op; // parts take what is before them
        p.lo = before && before->of == p.of ? before->lo : m->lo;
    }
    return p;
}

// Parts of a chain begin with the first one, and continue where the one before ended.
static bool is_in_turn(struct numbering *s, const struct equiv_match *m) {
    const struct equiv_part *before = equiv_piece(s, m->in[0], EQUIV_SUM);
    if (m->n->op != OP_ScatterElements && m->n->op != OP_ScatterND)
        return true;
    return before && before->of == m->w->out[0] ? before->hi == m->lo : m->lo == 0;
}

// The dimensions that a shape operand gives are those of the part.
static bool match_shape(struct numbering *s, const struct equiv_match *m,
                        const struct equiv_part *p) {
    const struct type *y = equiv_part_type(s, p), *x = NULL;
    for (uint32_t k = 0; k < m->n_in; k++) {
        if (!gives_shape(m->n->op, k))
            continue;
        const struct equiv_class *c = equiv_at(s, m->in[k]);
        int64_t n_known = 0;
        x = k > 0 ? equiv_static_type(s, m->in[0]) : NULL;
        if (!y || !c->ints || (m->n->op != OP_Expand && c->n_ints != y->rank))
            return false;
        for (int64_t i = 0; i < c->n_ints; i++) {
            int64_t dim = i + y->rank - c->n_ints, size = c->ints[i];
            bool copies = m->n->op == OP_Reshape && size == 0 && !node_int(m->n, "allowzero", 0);
            if (dim < 0 || (copies && (!x || i >= x->rank)))
                return false;
            size = copies ? x->dims[i].size : size;
            n_known += size != -1;
            bool broadcasts = m->n->op == OP_Expand && size == 1;
            if (size != -1 && size != y->dims[dim].size && !broadcasts)
                return false;
            int64_t own = x ? dim - (y->rank - x->rank) : -1, had = own < 0 ? 1 : x->dims[own].size;
            if (broadcasts && had != y->dims[dim].size)
                return false;
        }
        if (n_known < c->n_ints - (m->n->op == OP_Reshape))
            return false;
    }
    return true;
}

// Expand and ConstantOfShape: the shape alone says that it is a part.
static void find_length(struct numbering *s, struct equiv_match *m) {
    const struct type *y = equiv_static_type(s, m->w->out[0]);
    uint32_t k = m->n->op == OP_Expand ? 1 : 0;
    if ((m->n->op != OP_Expand && m->n->op != OP_ConstantOfShape) || m->hi >= 0 || m->length >= 0 ||
        k >= m->n_in)
        return;
    const struct equiv_class *c = m->in[k] ? equiv_at(s, m->in[k]) : NULL;
    int32_t dim = law_dim_of(m->w->y[0], y, m->letter);
    int64_t at = c && c->ints && dim >= 0 ? dim - (y->rank - c->n_ints) : -1;
    if (at >= 0 && at < c->n_ints && c->ints[at] > 0 && c->ints[at] < y->dims[dim].size)
        m->length = c->ints[at];
}

static bool set_results(struct numbering *s, const struct equiv_match *m, uint32_t *class) {
    for (uint32_t k = 0; k < m->n->n_out; k++) {
        if (!m->n->out[k].i)
            continue;
        const struct type *y = k < m->w->n_out ? equiv_static_type(s, m->w->out[k]) : NULL;
        int32_t dim = y ? law_dim_of(m->w->y[k], y, m->letter) : -1;
        if (!y ||
            (dim < 0 && (k > 0 || m->w->join == OP_UNKNOWN || m->hi < 0 || !is_in_turn(s, m))))
            return false;
        struct equiv_part p = dim >= 0 ? piece_of_result(s, m, k, dim) : sum_of_result(s, m);
        if (dim >= 0 && k == 0 && !match_shape(s, m, &p))
            return false;
        class[m->n->out[k].i] = equiv_part_class(s, p);
    }
    return true;
}

static bool match_letter(struct numbering *s, struct equiv_match *m, uint32_t *class) {
    uint32_t n = m->n_in > m->w->n_in ? m->n_in : m->w->n_in;
    m->lo = m->hi = m->length = -1;
    m->has_bias = false;
    bool is_mean = m->n->op != graph_node(m->w->g, m->w->node)->op; // the axes may be an attribute
    for (uint32_t k = 0; k < n; k++)
        if (!(is_mean && k > 0) && !match_operand(s, m, k))
            return false;
    find_length(s, m);
    if (m->length >= 0 && m->hi >= 0 && m->length != m->hi - m->lo)
        return false;
    if (m->letter < LAW_WINDOW && m->hi < 0 && m->length < 0)
        return false;
    return equiv_match_attrs(s, m) && set_results(s, m, class);
}

static bool match_whole(struct numbering *s, struct equiv_match *m, uint32_t *class) {
    equiv_law_of(s, &s->wholes.at[m->w - s->wholes.at]);
    bool is_variadic = m->n->op == OP_Split; // its meaning depends on the number of results
    if (!m->w->has_law || s->failed || (is_variadic && m->n->n_out != m->w->n_out))
        return false;
    for (int letter = 1; letter < LAW_LETTERS; letter++) {
        m->letter = (uint8_t)letter;
        if (m->w->extent[letter] > 1 && match_letter(s, m, class))
            return true;
    }
    return false;
}

static bool match_any(struct numbering *s, struct equiv_match *m, enum op op, uint32_t first,
                      uint32_t *class) {
    for (uint32_t at = equiv_first_whole(s, op, first); at && !s->failed;
         at = s->wholes.at[at - 1].next) {
        m->w = &s->wholes.at[at - 1];
        if (match_whole(s, m, class))
            return true;
    }
    return false;
}

static bool is_part(struct numbering *s, struct equiv_match *m, uint32_t *class) {
    enum op op = m->n->op;
    uint32_t first = key_operand(op, m->in, m->n_in);
    const struct equiv_part *p = first ? &equiv_at(s, first)->part : NULL;
    uint32_t of = p && p->kind != EQUIV_NO_PART ? p->of : 0;
    if (p && p->kind == EQUIV_SUM) // a chain: the operand of the whole
        for (size_t i = 0; i < s->wholes.n && (op == OP_ScatterElements || op == OP_ScatterND); i++)
            if (s->wholes.at[i].n_out && s->wholes.at[i].out[0] == of)
                first = s->wholes.at[i].in[0];
    for (size_t i = 0; p && p->kind == EQUIV_UNIFORM && op == OP_ScatterElements; i++) {
        if (i == s->wholes.n || s->failed)
            break;
        m->w = &s->wholes.at[i];
        if (graph_node(m->w->g, m->w->node)->op == op && equiv_same_filling(s, of, m->w->in[0]) &&
            match_whole(s, m, class))
            return true;
    }
    return match_any(s, m, op, first, class) || (of && match_any(s, m, op, of, class)) ||
           (op == OP_ReduceSum && of && match_any(s, m, OP_ReduceMean, of, class));
}

bool equiv_parts(struct numbering *s, const struct graph *g, node_id id, const uint32_t *in,
                 uint32_t n_in, uint32_t *class) {
    const struct node *n = graph_node(g, id);
    struct equiv_match m = {.g = g, .n = n, .in = in, .n_in = n_in};
    if (n->op == OP_UNKNOWN || equivalence_is_random(g, id) || n->n_out == 0)
        return false;
    if (is_part(s, &m, class) || equiv_joined(s, n, in, n_in, class) ||
        equiv_moments(s, n, in, n_in, class))
        return true;
    return equiv_imply(s, g, id, in, n_in) && is_part(s, &m, class);
}
