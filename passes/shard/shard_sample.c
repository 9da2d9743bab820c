// Where the batch is in every value, as a data flow through the sharding rules: it begins in the
// first dimension of the inputs that the caller provides, and follows the labels. Where samples
// meet in a sum it ends.
#include "passes/shard/shard.h"

static bool begins(const struct graph *g, value_id v, int64_t n) {
    const struct value *x = graph_value(g, v);
    return x->is_input && !x->init && type_is_static(x->type) && x->type->rank > 0 &&
           (n == 0 || x->type->dims[0].size == n);
}

uint32_t shard_sample_label(const struct shard_samples *s, const struct shard_rule *r,
                            int64_t *per_sample) {
    uint32_t label = 0;
    for (uint32_t k = 0; k < r->s->n->n_in; k++) {
        value_id v = r->s->n->in[k];
        struct shard_sample x = v.i ? s->of[v.i] : (struct shard_sample){-1, 0};
        if (x.axis < 0)
            continue;
        struct shard_dim d = r->in[k][x.axis];
        int64_t per = d.label && x.unit % d.unit == 0 ? x.unit / d.unit : 0;
        if (!per || (label && (label != d.label || per != *per_sample)))
            return 0;
        label = d.label;
        *per_sample = per;
    }
    return label;
}

static void set_outputs(struct shard_samples *s, const struct shard_rule *r) {
    int64_t per = 0;
    uint32_t label = shard_sample_label(s, r, &per);
    const struct node *n = r->s->n;
    for (uint32_t k = 0; label && k < n->n_out; k++)
        for (int32_t i = 0; n->out[k].i && i < shard_out_type(r, k)->rank; i++)
            if (r->out[k][i].label == label)
                s->of[n->out[k].i] = (struct shard_sample){i, per * r->out[k][i].unit};
}

status shard_samples_of(struct graph *g, struct arena *a, struct diags *d,
                        struct shard_samples *out) {
    *out = (struct shard_samples){.of = ARENA_ARRAY(a, struct shard_sample, g->values.n)};
    struct arena scratch = arena_make(a->mem);
    status st = out->of ? ST_OK : diag_out_of_memory(d);
    for (size_t i = 0; !st && i < g->values.n; i++)
        out->of[i].axis = -1;
    for (size_t i = 0; !st && i < g->inputs.n; i++)
        if (begins(g, g->inputs.at[i], out->n)) {
            out->n = graph_value(g, g->inputs.at[i])->type->dims[0].size;
            out->of[g->inputs.at[i].i] = (struct shard_sample){0, 1};
        }
    for (size_t i = 0; !st && i < g->order.n; i++) {
        struct shard_rule r;
        st = shard_rule_of(g, g->order.at[i], &scratch, d, &r);
        if (!st)
            set_outputs(out, &r);
        arena_free(&scratch);
    }
    return st;
}
