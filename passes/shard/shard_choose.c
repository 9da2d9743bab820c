// From --shard to one division for each node. An entry is PATTERN:DIMENSION:WAYS; the last one that
// matches a node counts. A dimension is
//
//   sample      the batch
//   parameter   a dimension of the result that a parameter has too, such as output channels
//   attribute   another dimension of the result, such as height or the position in a sequence
//   sum         a dimension that is summed, such as the common one of a product
//   1, 2, …     one of those that the rule lists
//
// A node without parameters follows the division of its operands, so that a region of layers stays
// divided in one way.
#include <stdlib.h>
#include <string.h>

#include "passes/shard/shard.h"

enum shard_kind { KIND_SAMPLE, KIND_PARAMETER, KIND_ATTRIBUTE, KIND_SUM, KIND_NUMBER };

static const char *const kind_names[] = {"sample", "parameter", "attribute", "sum"};

struct entry {
    const char *pattern, *text;
    enum shard_kind kind;
    uint32_t number, ways;
    size_t n_matched, n_divided;
    const char *why, *refused; // the first node that could not be divided
};

// How a value is divided by the choice of its producer.
struct division {
    int32_t axis; // -1: not
    uint32_t n;
    const int64_t *bound;
};

struct chooser {
    struct graph *g;
    struct pass_context *c;
    struct entry *entry;
    size_t n_entries;
    struct shard_samples samples;
    struct division *of; // per value
    struct shard_choice *choice;
};

int64_t *shard_bounds(struct arena *a, int64_t extent, uint32_t n, int64_t scale) {
    int64_t *bound = ARENA_ARRAY(a, int64_t, (size_t)n + 1);
    for (uint32_t k = 0; bound && k <= n; k++)
        bound[k] = extent / n * k + extent % n * k / n;
    for (uint32_t k = 0; bound && k <= n; k++)
        bound[k] *= scale;
    return bound;
}

static status bad_entry(struct chooser *c, const char *text) {
    return diag_error(c->c->diags, DIAG_USAGE, loc_none(),
                      "--shard %s is not PATTERN:DIMENSION:WAYS, with a dimension of sample, "
                      "parameter, attribute, sum, or a number, and ways from 2 to 1024",
                      text);
}

static bool read_number(const char *text, long max, uint32_t *out) {
    char *end;
    long x = strtol(text, &end, 10);
    *out = (uint32_t)x;
    return end != text && !*end && x >= 1 && x <= max;
}

static status read_entry(struct chooser *c, const char *text, struct entry *e) {
    char *own = arena_copy(c->c->arena, text, strlen(text) + 1);
    if (!own)
        return diag_out_of_memory(c->c->diags);
    char *ways = strrchr(own, ':');
    if (ways)
        *ways++ = 0;
    char *dim = strrchr(own, ':');
    if (!ways || !dim || !read_number(ways, 1024, &e->ways) || e->ways < 2)
        return bad_entry(c, text);
    *dim++ = 0;
    e->pattern = own;
    e->text = text;
    for (e->kind = KIND_SAMPLE; e->kind < KIND_NUMBER; e->kind++)
        if (strcmp(dim, kind_names[e->kind]) == 0)
            return ST_OK;
    return read_number(dim, SHARD_LABELS, &e->number) ? ST_OK : bad_entry(c, text);
}

static bool has_label(const struct shard_dim *dims, const struct type *t, uint32_t label) {
    for (int32_t i = 0; t && i < t->rank; i++)
        if (dims[i].label == label)
            return true;
    return false;
}

// Whether an operand without samples has the label.
static bool in_parameter(const struct chooser *c, const struct shard_rule *r, uint32_t label) {
    bool found = false;
    for (uint32_t k = 0; k < r->s->n->n_in; k++) {
        value_id v = r->s->n->in[k];
        found |=
            v.i && c->samples.of[v.i].axis < 0 && has_label(r->in[k], shard_in_type(r, k), label);
    }
    return found;
}

static bool is_of_kind(const struct chooser *c, const struct shard_rule *r, uint32_t l,
                       enum shard_kind kind) {
    int64_t per;
    bool is_sum = r->label[l].join != SHARD_CONCAT && r->label[l].join != SHARD_MOMENTS;
    bool is_sample = shard_sample_label(&c->samples, r, &per) == l;
    switch (kind) {
    case KIND_PARAMETER:
        return !is_sum && !is_sample && in_parameter(c, r, l);
    case KIND_ATTRIBUTE:
        return !is_sum && !is_sample && !in_parameter(c, r, l);
    default:
        return is_sum;
    }
}

static uint32_t label_of_kind(const struct chooser *c, const struct shard_rule *r,
                              const struct entry *e) {
    for (uint32_t l = 1; l <= r->n_labels; l++)
        if (is_of_kind(c, r, l, e->kind))
            return l;
    return 0;
}

// The division of the first operand that is divided as often as the entry wants, carried over.
static bool follow(struct chooser *c, const struct shard_rule *r, const struct entry *e,
                   struct shard_choice *out) {
    for (uint32_t k = 0; k < r->s->n->n_in; k++) {
        value_id v = r->s->n->in[k];
        const struct division *d = v.i ? &c->of[v.i] : NULL;
        if (!d || d->axis < 0 || d->n != e->ways)
            continue;
        struct shard_dim x = r->in[k][d->axis];
        int64_t *bound = ARENA_ARRAY(c->c->arena, int64_t, (size_t)d->n + 1);
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

// One label, divided almost evenly.
static status divide(struct chooser *c, const struct shard_rule *r, struct entry *e,
                     struct shard_choice *out) {
    int64_t extent = r->label[out->label].extent, scale = 1;
    if (e->kind == KIND_SAMPLE) {
        shard_sample_label(&c->samples, r, &scale);
        extent = c->samples.n;
    }
    if (extent < e->ways) {
        e->why = str_format(c->c->arena, "%u ways are more than the %lld elements of the dimension",
                            e->ways, (long long)extent);
        out->label = 0;
        return e->why ? ST_OK : diag_out_of_memory(c->c->diags);
    }
    out->n = e->ways;
    out->bound = shard_bounds(c->c->arena, extent, e->ways, scale);
    return out->bound ? ST_OK : diag_out_of_memory(c->c->diags);
}

static status choose_by(struct chooser *c, const struct shard_rule *r, struct entry *e,
                        struct shard_choice *out) {
    int64_t per;
    bool by_operands = e->kind == KIND_PARAMETER || e->kind == KIND_ATTRIBUTE;
    e->why = r->why;
    if (!r->n_labels)
        return ST_OK;
    bool has_weights = by_operands && !(op_info(r->s->n->op)->flags & OPF_ELEMENTWISE) &&
                       label_of_kind(c, r, e) && in_parameter(c, r, label_of_kind(c, r, e));
    if (by_operands && !has_weights && follow(c, r, e, out))
        return ST_OK;
    if (e->kind == KIND_SAMPLE)
        out->label = shard_sample_label(&c->samples, r, &per);
    else if (e->kind == KIND_NUMBER)
        out->label = e->number <= r->n_labels ? e->number : 0;
    else
        out->label = label_of_kind(c, r, e);
    e->why = e->kind == KIND_SAMPLE ? "it does not keep samples apart, or does not depend on them"
             : e->kind == KIND_NUMBER
                 ? str_format(c->c->arena, "its rule lists %u dimensions", r->n_labels)
                 : "it has no such dimension";
    return out->label ? divide(c, r, e, out) : ST_OK;
}

// What a choice means for the results.
static void set_divisions(struct chooser *c, const struct shard_rule *r,
                          const struct shard_choice *x) {
    const struct node *n = r->s->n;
    for (uint32_t k = 0; k < n->n_out; k++)
        for (int32_t i = 0; n->out[k].i && i < shard_out_type(r, k)->rank; i++) {
            struct shard_dim d = r->out[k][i];
            int64_t *bound =
                d.label == x->label ? ARENA_ARRAY(c->c->arena, int64_t, x->n + 1) : NULL;
            for (uint32_t p = 0; bound && p <= x->n; p++)
                bound[p] = x->bound[p] * d.unit;
            if (bound)
                c->of[n->out[k].i] = (struct division){i, x->n, bound};
        }
}

static status choose_node(struct chooser *c, node_id id) {
    struct shard_choice *x = &c->choice[id.i];
    struct entry *e = NULL;
    struct shard_rule r;
    for (size_t i = 0; i < c->n_entries; i++)
        if (str_match(c->entry[i].pattern, node_called(c->g, id))) {
            e = &c->entry[i];
            x->region = (uint32_t)i + 1;
        }
    if (!e)
        return ST_OK;
    e->n_matched++;
    status st = shard_rule_of(c->g, id, c->c->arena, c->c->diags, &r);
    if (!st)
        st = choose_by(c, &r, e, x);
    if (st)
        return st;
    if (x->label) {
        e->n_divided++;
        set_divisions(c, &r, x);
    } else if (!e->refused) {
        e->refused = str_format(c->c->arena, "%s (%s): %s", node_called(c->g, id),
                                graph_node(c->g, id)->type, e->why ? e->why : "");
    }
    return ST_OK;
}

static status report(struct chooser *c) {
    status st = ST_OK;
    for (size_t i = 0; i < c->n_entries; i++) {
        const struct entry *e = &c->entry[i];
        if (!e->n_matched)
            st = diag_error(c->c->diags, DIAG_USAGE, loc_none(),
                            "--shard %s: no node has such a name", e->text);
        else if (!e->n_divided)
            st = diag_error(c->c->diags, DIAG_SHARD, loc_none(),
                            "--shard %s: none of %zu nodes can be divided so; %s", e->text,
                            e->n_matched, e->refused);
        else if (e->n_divided < e->n_matched)
            diag_note(c->c->diags, DIAG_SHARD, loc_none(),
                      "--shard %s: %zu of %zu nodes are divided; the first of the others is %s",
                      e->text, e->n_divided, e->n_matched, e->refused);
    }
    return st;
}

status shard_choose(struct graph *g, struct pass_context *pc, struct shard_choice **out) {
    const struct option_value *given = options_get(pc->options, "shard");
    struct chooser c = {.g = g,
                        .c = pc,
                        .n_entries = given->list.n,
                        .entry = ARENA_ARRAY(pc->arena, struct entry, given->list.n),
                        .of = ARENA_ARRAY(pc->arena, struct division, g->values.n),
                        .choice = ARENA_ARRAY(pc->arena, struct shard_choice, g->nodes.n)};
    status st = c.entry && c.of && c.choice ? shard_samples_of(g, pc->arena, pc->diags, &c.samples)
                                            : diag_out_of_memory(pc->diags);
    for (size_t i = 0; !st && i < g->values.n; i++)
        c.of[i].axis = -1;
    for (size_t i = 0; !st && i < c.n_entries; i++)
        st = read_entry(&c, given->list.at[i], &c.entry[i]);
    for (size_t i = 0; !st && i < g->order.n; i++)
        st = choose_node(&c, g->order.at[i]);
    *out = c.choice;
    return st ? st : report(&c);
}
