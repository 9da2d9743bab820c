// Shared by the files that write parts (shard.h).
//
// Nodes are placed by group and slot. A group is a run of nodes that are divided by one region: its
// slots are the parts, in order, and a tail for what needs all of them. A node that would need a
// whole value of the group that is open, or another part of it, begins a new group. So parts of a
// region follow each other, and each is finished before the next begins.
#pragma once

#include "ir/build.h"
#include "passes/shard/shard.h"

// A value that is made in parts, as pieces along a dimension.
struct shard_pieces {
    int32_t axis;
    uint32_t n; // 0: it is whole
    const int64_t *bound;
    value_id *part;
    uint32_t group;
    bool is_joined; // the value is made of the pieces too
};

struct shard_place {
    uint32_t group, slot;
    node_id node;
};

#define SHARD_TAIL UINT32_MAX

struct sharding {
    struct graph *g;
    struct arena *a;
    struct diags *d;
    struct builder b;
    struct shard_pieces *of; // per value of the step
    uint32_t *made;          // per value of the step: the group that makes it whole; 0: none
    size_t n_values;
    uint32_t group, region;
    VEC(struct shard_place) places; // one for each node of g->order
    struct map slices;              // value, axis and range in a group -> value
    struct map local;               // positions in the whole -> the same in the part
};

// One node and its division.
struct shard_cut {
    struct node n;
    struct shard_rule r;
    struct shard_choice choice;
    const char *name;
};

// shard_values.c. Places the nodes that have been added since the last call.
void shard_place(struct sharding *s, uint32_t group, uint32_t slot);
// Places with a type of its results; the node's id, or none.
node_id shard_add(struct sharding *s, const char *type, struct values in, struct values out);
value_id shard_fresh(struct sharding *s, const char *stem, uint32_t part);
value_id shard_whole(struct sharding *s, value_id v);
// Elements lo .. hi-1 of a dimension, for part k of the open group.
struct shard_range {
    int32_t axis;
    int64_t lo, hi;
};
value_id shard_take(struct sharding *s, value_id v, struct shard_range x, uint32_t k);
// Whether the open group may use it: it does not wait for other parts of the group.
bool shard_may_use_whole(const struct sharding *s, value_id v);
bool shard_may_take(const struct sharding *s, value_id v, struct shard_range x, uint32_t k);
// Results of a division.
bool shard_set_pieces(struct sharding *s, value_id v, struct shard_pieces p);
void shard_open_group(struct sharding *s, uint32_t region);

// shard_parts.c
// The elements that part k of the node reads of dimension i of operand j.
struct shard_range shard_operand_range(const struct shard_cut *c, uint32_t j, int32_t i,
                                       uint32_t k);
// The dimension of operand j that is divided; -1: none.
int32_t shard_operand_axis(const struct shard_cut *c, uint32_t j);
void shard_parts(struct sharding *s, const struct shard_cut *c);

// shard_sums.c. Joins result `one` of part k to those before it. The last one becomes the result of
// the node.
value_id shard_joined(struct sharding *s, const struct shard_cut *c, value_id before, value_id one,
                      uint32_t k);
// The result of the node in pieces, each the sum of pieces of all parts.
void shard_scatter(struct sharding *s, const struct shard_cut *c, value_id *part);

// shard_positions.c. Positions of maxima, as they count in part k and in the whole.
value_id shard_to_local(struct sharding *s, const struct shard_cut *c, value_id v, uint32_t k);
value_id shard_to_whole(struct sharding *s, const struct shard_cut *c, value_id v, uint32_t k);
// A tensor of equal elements that a part adds to is made for each part. VALUE_NONE: operand j is
// not one.
value_id shard_zeros(struct sharding *s, const struct shard_cut *c, uint32_t j, uint32_t k);

// shard_moments.c
void shard_moments(struct sharding *s, const struct shard_cut *c);
