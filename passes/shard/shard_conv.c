// Sharding of convolutions and poolings: batch, channels of the result, groups, channels of the
// operand (summed), and space, where a part reads the elements under its windows: a halo.
#include "passes/shard/shard_rule.h"

static void spatial_labels(struct shard_rule *r) {
    for (int32_t i = 0; i < r->window.n; i++) {
        uint32_t l = shard_label(r, SHARD_CONCAT, shard_size(shard_out_type(r, 0), 2 + i));
        if (l)
            r->label[l].window = i;
        shard_in(r, 0, 2 + i, l);
        shard_out(r, 0, 2 + i, l);
    }
}

// Groups are divided whole: each is a convolution of its own.
static void group_label(struct shard_rule *r, int64_t n_groups) {
    const struct type *x = shard_in_type(r, 0), *w = shard_in_type(r, 1), *y = shard_out_type(r, 0);
    uint32_t l = shard_label(r, SHARD_CONCAT, n_groups);
    shard_in_units(r, 0, 1, (struct shard_dim){l, shard_size(x, 1) / n_groups});
    shard_in_units(r, 1, 0, (struct shard_dim){l, shard_size(w, 0) / n_groups});
    shard_in_units(r, 2, 0, (struct shard_dim){l, shard_size(y, 1) / n_groups});
    shard_out_units(r, 0, 1, (struct shard_dim){l, shard_size(y, 1) / n_groups});
}

static void channel_labels(struct shard_rule *r, int32_t out_dim) {
    const struct type *x = shard_in_type(r, 0), *y = shard_out_type(r, 0);
    int64_t n_groups = node_int(r->s->n, "group", 1);
    shard_both(r, 0);
    if (n_groups > 1) {
        group_label(r, n_groups);
        return;
    }
    uint32_t out = shard_label(r, SHARD_CONCAT, shard_size(y, 1));
    shard_in(r, 1, out_dim, out);
    shard_in(r, 2, 0, out);
    shard_out(r, 0, 1, out);
    uint32_t in = shard_label(r, SHARD_SUM, shard_size(x, 1));
    shard_in(r, 0, 1, in);
    shard_in(r, 1, 1 - out_dim, in);
}

void shard_conv(struct shard_rule *r) {
    if (conv_window_read(r->s, shard_in_type(r, 0), shard_in_type(r, 1), &r->window))
        return;
    channel_labels(r, 0);
    spatial_labels(r);
}

// Along space its windows overlap in the result.
void shard_conv_transpose(struct shard_rule *r) {
    channel_labels(r, 1);
}

// Positions of maxima count elements of the whole operand. Parts along the batch hold positions in
// the part, to which the positions before it are added; along other dimensions they are not shifted
// alike.
void shard_pool(struct shard_rule *r) {
    bool has_indices = r->s->n->n_out > 1 && r->s->n->out[1].i;
    uint32_t l = shard_both(r, 0);
    if (has_indices) {
        shard_out(r, 1, 0, l);
        r->label[l].local_indices = l != 0;
        return;
    }
    if (conv_window_read(r->s, shard_in_type(r, 0), NULL, &r->window))
        return;
    shard_both(r, 1);
    // Means near the end of an operand of ceil_mode count elements differently in a part.
    if (!r->window.ceil)
        spatial_labels(r);
}

void shard_max_unpool(struct shard_rule *r) {
    uint32_t l = shard_both(r, 0);
    shard_in(r, 1, 0, l);
    r->label[l].local_indices = l != 0;
}

void shard_global_pool(struct shard_rule *r) {
    shard_both(r, 0);
    shard_both(r, 1);
}

// Batches alone.
void shard_batch(struct shard_rule *r) {
    if (shard_out_type(r, 0)->rank > 0 &&
        shard_size(shard_in_type(r, 0), 0) == shard_size(shard_out_type(r, 0), 0))
        shard_both(r, 0);
}
