// Dividing a step: some nodes are replaced by parts, which are ordinary nodes.
//
//   shard_rule.h      along which dimensions a node may be divided: the rules, by operator family
//   shard_sample.c    where the batch is in every value
//   shard_choose.c    from requests to one division for each node
//   shard_options.c   requests of --shard
//   shard_values.c    values as pieces: joined, sliced and exchanged between divisions
//   shard_parts.c     the parts of a node
//   shard_sums.c      sums over parts
//   shard_positions.c positions of maxima, which a part counts from its own beginning
//   shard_moments.c   BatchNormalization in training mode, whose statistics are of the whole batch
//   shard_apply.c     all nodes, in an order in which a part of a region ends before the next
//                     begins
//   shard.c           the pass
//
// Neighbours with the same division are joined directly. Slices and concatenations are made only
// where divisions differ or a node needs a value whole.
#pragma once

#include "passes/pass.h"
#include "passes/shard/shard_rule.h"

// Of each value: the dimension that the batch is in, in units of one sample.
struct shard_sample {
    int32_t axis; // -1: none
    int64_t unit; // elements of the dimension for each sample
};

struct shard_samples {
    int64_t n; // size of the batch; 0: there is none
    struct shard_sample *of;
};

status shard_samples_of(struct graph *g, struct arena *a, struct diags *d,
                        struct shard_samples *out);
// The label of a node that divides the batch, and its units for each sample; 0: none.
uint32_t shard_sample_label(const struct shard_samples *s, const struct shard_rule *r,
                            int64_t *per_sample);

// The division of a node: label and bounds[0 .. n], in units of the label.
struct shard_choice {
    uint32_t label; // 0: not divided
    uint32_t n;
    const int64_t *bound;
    uint32_t region; // parts of one region are ordered part by part
    const struct shard_rule *rule;
    const int64_t *piece; // a sum in pieces: their bounds; else NULL
    int32_t axis;         // along which
};

// Bounds of n almost equal ranges. NULL: out of memory.
int64_t *shard_bounds(struct arena *a, int64_t extent, uint32_t n, int64_t scale);

enum { SHARD_MAX_WAYS = 1024, SHARD_MIN_SCATTERED = 1 << 20 }; // bytes of a sum in pieces

enum shard_kind {
    SHARD_BY_SAMPLE,
    SHARD_BY_PARAMETER,
    SHARD_BY_ATTRIBUTE,
    SHARD_BY_SUM,
    SHARD_BY_NUMBER
};

// How a node is to be divided.
struct shard_request {
    enum shard_kind kind;
    uint32_t number; // SHARD_BY_NUMBER: the label
    uint32_t ways;   // < 2: not divided
    uint32_t region; // the parts of all nodes of a region are ordered part by part
    // Large sums over the parts are made in pieces, one for each part: a reduce-scatter, if parts
    // are on devices of their own. What depends on such a sum alone is divided like it.
    bool scatter;
};

// Units that a division of this kind can be of, the greatest number of ways; 0: there is none.
int64_t shard_extent(const struct shard_samples *s, const struct shard_rule *r,
                     enum shard_kind kind);

// Indexed by node.
struct shard_choices {
    struct shard_choice *of;
    const char **why; // it was asked for and not done: the reason; else NULL
};

// Requests that cannot be fulfilled are no errors: those nodes stay whole.
status shard_choose(struct graph *g, const struct shard_request *ask, struct pass_context *c,
                    struct shard_choices *out);

// Replaces the nodes by their parts, and removes dead nodes; the model keeps its facts but
// FACT_COSTS.
status shard_apply(struct model *m, const struct shard_choice *choice, struct pass_context *c);

// Both: `ask` is indexed by node.
status shard_divide(struct model *m, const struct shard_request *ask, struct pass_context *c);
