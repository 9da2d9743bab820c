// From requests to one division for each node. A request names a kind of dimension:
//
//   sample      the batch
//   parameter   a dimension of the result that a parameter has too, such as output channels
//   attribute   another dimension of the result, such as height or the position in a sequence
//   sum         a dimension that is summed, such as the common one of a product
//   1, 2, …     one of those that the rule lists
//
// A node without parameters follows the division of its operands, so that a region of layers stays
// divided in one way.
#include "passes/shard/shard_inner.h"

// How a value is divided by the choice of its producer.
struct division {
    int32_t axis; // -1: not
    uint32_t n;
    const int64_t *bound;
    bool is_scattered; // as a sum in pieces is, or what depends on it
};

struct chooser {
    struct graph *g;
    struct arena *a;
    struct diags *d;
    const struct shard_samples *samples;
    struct division *of; // per value
    struct shard_choice *choice;
    const char *why; // the node was not divided
};

int64_t *shard_bounds(struct arena *a, int64_t extent, uint32_t n, int64_t scale) {
    int64_t *bound = ARENA_ARRAY(a, int64_t, (size_t)n + 1);
    for (uint32_t k = 0; bound && k <= n; k++)
        bound[k] = extent / n * k + extent % n * k / n;
    for (uint32_t k = 0; bound && k <= n; k++)
        bound[k] *= scale;
    return bound;
}

static bool has_label(const struct shard_dim *dims, const struct type *t, uint32_t label) {
    for (int32_t i = 0; t && i < t->rank; i++)
        if (dims[i].label == label)
            return true;
    return false;
}

// Whether an operand without samples has the label.
static bool in_parameter(const struct shard_samples *s, const struct shard_rule *r,
                         uint32_t label) {
    bool found = false;
    for (uint32_t k = 0; k < r->s->n->n_in; k++) {
        value_id v = r->s->n->in[k];
        found |= v.i && s->of[v.i].axis < 0 && has_label(r->in[k], shard_in_type(r, k), label);
    }
    return found;
}

// Whether a label is of this kind; sample labels are found by shard_sample_label.
static bool is_of_kind(const struct shard_samples *s, const struct shard_rule *r, uint32_t l,
                       enum shard_kind kind) {
    int64_t per;
    bool is_sum = r->label[l].join != SHARD_CONCAT && r->label[l].join != SHARD_MOMENTS;
    bool is_sample = shard_sample_label(s, r, &per) == l;
    if (kind == SHARD_BY_SUM)
        return is_sum;
    return !is_sum && !is_sample && in_parameter(s, r, l) == (kind == SHARD_BY_PARAMETER);
}

// 0: it has none.
static uint32_t label_of_kind(const struct shard_samples *s, const struct shard_rule *r,
                              enum shard_kind kind) {
    for (uint32_t l = 1; l <= r->n_labels; l++)
        if (is_of_kind(s, r, l, kind))
            return l;
    return 0;
}

int64_t shard_extent(const struct shard_samples *s, const struct shard_rule *r,
                     enum shard_kind kind) {
    int64_t per;
    if (kind == SHARD_BY_SAMPLE)
        return shard_sample_label(s, r, &per) ? s->n : 0;
    uint32_t l = label_of_kind(s, r, kind);
    return l ? r->label[l].extent : 0;
}

// The division of the first operand that is divided as often as asked for, carried over;
// `scattered`: of the first such operand.
static bool follow(struct chooser *c, const struct shard_rule *r, uint32_t ways, bool scattered,
                   struct shard_choice *out) {
    for (uint32_t k = 0; k < r->s->n->n_in; k++) {
        value_id v = r->s->n->in[k];
        const struct division *d = v.i ? &c->of[v.i] : NULL;
        if (!d || d->axis < 0 || d->n != ways || (scattered && !d->is_scattered))
            continue;
        struct shard_dim x = r->in[k][d->axis];
        int64_t *bound = ARENA_ARRAY(c->a, int64_t, (size_t)d->n + 1);
        bool fits = x.label && bound && r->label[x.label].window < 0;
        for (uint32_t i = 0; fits && i <= d->n; i++) {
            fits = d->bound[i] % x.unit == 0;
            bound[i] = d->bound[i] / x.unit;
        }
        if (fits) {
            *out = (struct shard_choice){.label = x.label, .n = d->n, .bound = bound};
            return true;
        }
    }
    return false;
}

// The label, divided almost evenly.
static status divide(struct chooser *c, const struct shard_rule *r, const struct shard_request *ask,
                     struct shard_choice *out) {
    int64_t extent = r->label[out->label].extent, scale = 1;
    if (ask->kind == SHARD_BY_SAMPLE) {
        shard_sample_label(c->samples, r, &scale);
        extent = c->samples->n;
    }
    if (extent < ask->ways) {
        c->why = str_format(c->a, "%u ways are more than the %lld elements of the dimension",
                            ask->ways, (long long)extent);
        out->label = 0;
        return c->why ? ST_OK : diag_out_of_memory(c->d);
    }
    out->n = ask->ways;
    out->bound = shard_bounds(c->a, extent, ask->ways, scale);
    return out->bound ? ST_OK : diag_out_of_memory(c->d);
}

static const char *without(struct chooser *c, const struct shard_rule *r, enum shard_kind kind) {
    if (kind == SHARD_BY_SAMPLE)
        return "it does not keep samples apart, or does not depend on them";
    return kind == SHARD_BY_NUMBER ? str_format(c->a, "its rule lists %u dimensions", r->n_labels)
                                   : "it has no such dimension";
}

static status choose_by(struct chooser *c, const struct shard_rule *r,
                        const struct shard_request *ask, struct shard_choice *out) {
    int64_t per;
    bool by_operands = ask->kind == SHARD_BY_PARAMETER || ask->kind == SHARD_BY_ATTRIBUTE;
    c->why = r->why;
    if (!r->n_labels)
        return ST_OK;
    uint32_t own = by_operands ? label_of_kind(c->samples, r, ask->kind) : 0;
    bool has_weights =
        own && !(op_info(r->s->n->op)->flags & OPF_ELEMENTWISE) && in_parameter(c->samples, r, own);
    if (by_operands && !has_weights && follow(c, r, ask->ways, false, out))
        return ST_OK;
    if (ask->kind == SHARD_BY_SAMPLE)
        out->label = shard_sample_label(c->samples, r, &per);
    else if (ask->kind == SHARD_BY_NUMBER)
        out->label = ask->number <= r->n_labels ? ask->number : 0;
    else
        out->label = label_of_kind(c->samples, r, ask->kind);
    if (out->label)
        return divide(c, r, ask, out);
    if (ask->scatter && follow(c, r, ask->ways, true, out))
        return ST_OK;
    c->why = without(c, r, ask->kind);
    return c->why ? ST_OK : diag_out_of_memory(c->d);
}

// Whether each part of a node that reads windows has elements to read.
static bool has_elements(const struct shard_rule *r, const struct shard_choice *x) {
    struct shard_cut c = {.n = *r->s->n, .r = *r, .choice = *x};
    int32_t axis = c.n.n_in ? shard_operand_axis(&c, 0) : -1;
    for (uint32_t k = 0; axis >= 0 && k < x->n; k++) {
        struct shard_range range = shard_operand_range(&c, 0, axis, k);
        if (range.lo >= range.hi)
            return false;
    }
    return true;
}

// A large sum over parts is made in pieces along the first dimension that has enough elements.
static void scatter(struct chooser *c, const struct shard_rule *r, struct shard_choice *x) {
    enum shard_join join = r->label[x->label].join;
    const struct type *y = shard_out_type(r, 0);
    int64_t n_bytes;
    if ((join != SHARD_SUM && join != SHARD_MEAN) || r->s->n->n_out != 1 ||
        !type_bytes(y, &n_bytes) || n_bytes < SHARD_MIN_SCATTERED)
        return;
    for (int32_t i = 0; i < y->rank && !x->piece; i++)
        if (shard_size(y, i) >= x->n) {
            x->axis = i;
            x->piece = shard_bounds(c->a, shard_size(y, i), x->n, 1);
            c->of[r->s->n->out[0].i] = (struct division){i, x->n, x->piece, true};
        }
}

// Whether an operand is a sum in pieces.
static bool reads_scattered(const struct chooser *c, const struct shard_rule *r) {
    for (uint32_t k = 0; k < r->s->n->n_in; k++)
        if (r->s->n->in[k].i && c->of[r->s->n->in[k].i].is_scattered)
            return true;
    return false;
}

// What a choice means for the results.
static void set_divisions(struct chooser *c, const struct shard_rule *r,
                          const struct shard_choice *x) {
    const struct node *n = r->s->n;
    for (uint32_t k = 0; k < n->n_out; k++)
        for (int32_t i = 0; n->out[k].i && i < shard_out_type(r, k)->rank; i++) {
            struct shard_dim d = r->out[k][i];
            int64_t *bound = d.label == x->label ? ARENA_ARRAY(c->a, int64_t, x->n + 1) : NULL;
            for (uint32_t p = 0; bound && p <= x->n; p++)
                bound[p] = x->bound[p] * d.unit;
            if (bound)
                c->of[n->out[k].i] = (struct division){i, x->n, bound, reads_scattered(c, r)};
        }
}

static status choose_node(struct chooser *c, node_id id, const struct shard_request *ask) {
    struct shard_choice *x = &c->choice[id.i];
    struct shard_rule r;
    x->region = ask->region;
    status st = shard_rule_of(c->g, id, c->a, c->d, &r);
    if (!st)
        st = choose_by(c, &r, ask, x);
    if (!st && x->label && !has_elements(&r, x)) {
        x->label = 0;
        c->why = "a part of it would read nothing but padding; use fewer ways";
    }
    if (st || !x->label)
        return st;
    set_divisions(c, &r, x);
    if (ask->scatter)
        scatter(c, &r, x);
    x->rule = arena_copy(c->a, &r, sizeof r);
    return x->rule ? ST_OK : diag_out_of_memory(c->d);
}

status shard_choose(struct graph *g, const struct shard_request *ask, struct pass_context *pc,
                    struct shard_choices *out) {
    struct shard_samples samples;
    struct chooser c = {.g = g,
                        .a = pc->arena,
                        .d = pc->diags,
                        .samples = &samples,
                        .of = ARENA_ARRAY(pc->arena, struct division, g->values.n),
                        .choice = ARENA_ARRAY(pc->arena, struct shard_choice, g->nodes.n)};
    const char **why = ARENA_ARRAY(pc->arena, const char *, g->nodes.n);
    status st = c.of && c.choice && why ? shard_samples_of(g, pc->arena, pc->diags, &samples)
                                        : diag_out_of_memory(pc->diags);
    for (size_t i = 0; !st && i < g->values.n; i++)
        c.of[i].axis = -1;
    for (size_t i = 0; !st && i < g->order.n; i++) {
        uint32_t id = g->order.at[i].i;
        if (ask[id].ways < 2)
            continue;
        st = choose_node(&c, g->order.at[i], &ask[id]);
        why[id] = c.choice[id].label ? NULL : c.why;
    }
    *out = (struct shard_choices){c.choice, why};
    return st;
}
