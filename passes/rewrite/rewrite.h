// What the files of the rewrite pass share: see rewrite.c.
#pragma once

#include "ir/build.h"
#include "ir/runtime/ort_shapes.h"
#include "ir/storage.h"
#include "passes/pass.h"

struct rewrite {
    struct graph *g;
    struct pass_context *c;
    struct builder b;
    bool hides_shapes;
    struct uses uses; // of the graph as the walk finds it
    struct storage s;
    struct liveness live;   // of the order as it came
    int64_t light_bytes;    // a storage of at most so many bytes is light
    size_t n_nodes, n_vals; // of the graph as it came; what has a higher id is control
    uint32_t *place;        // by node: its place in the order, from 1
    uint32_t *reach;        // by node: the number of the latest heavy node that it is or needs
    value_id *token;        // by node: its control token, once made
    value_id hiding_token;  // exists as soon as the step starts; made when first needed
    value_id *alias;        // by value: the alias that hides its shape, once made
    bool *known;            // by value: ONNX Runtime knows its shape
    value_id *unread_mask;  // by node: a Dropout's, until it is read
    bool *bared;            // by value: has fewer readers than in the unplanned step, and may be
                            // fused away
    struct map twins;       // what a node computes -> the node
    VEC(node_id) order;     // as it will be
    node_id heavy;          // the latest so far; none: there was none
    uint32_t n_heavy;
    int64_t n_pairs, n_twins, n_hidden, n_apart, n_loose;
};

// rewrite_heavy.c: which storages and nodes are heavy.
status rewrite_weigh(struct rewrite *r);
bool rewrite_is_heavy_value(const struct rewrite *r, value_id v);
bool rewrite_is_heavy(const struct rewrite *r, node_id n);
// The number of the latest heavy node that the operands of n need; 0: none.
uint32_t rewrite_reach(const struct rewrite *r, node_id n);

// rewrite_anchor.c: building control nodes. A token is an empty vector that exists only after a
// node; an anchor is an alias of a value that exists only after a token.
value_id rewrite_token(struct rewrite *r, node_id after); // none: no output can be one
value_id rewrite_empty(struct rewrite *r, value_id v);    // the same of a value
value_id rewrite_hiding_token(struct rewrite *r);
value_id rewrite_anchor(struct rewrite *r, value_id v, value_id token);
bool rewrite_can_anchor(const struct graph *g, value_id v);

// rewrite_duplicates.c: an earlier node that computes the same from the same operands; none: n is
// the first, and is remembered.
node_id rewrite_twin(struct rewrite *r, node_id n);

// rewrite_dead_outputs.c: dead outputs go, where an operator may leave them out.
status rewrite_drop_dead_outputs(struct rewrite *r);

// rewrite_masks.c: random Dropouts get a mask that is read; before the walk, and on it.
status rewrite_add_masks(struct rewrite *r);
void rewrite_read_masks(struct rewrite *r, node_id reader);

// rewrite_fusions.c: what only a plan lets ONNX Runtime fuse stays apart; before the walk, and on
// it.
status rewrite_find_bared(struct rewrite *r);
void rewrite_keep_apart(struct rewrite *r, node_id reader);

// rewrite_label.c: names and metadata of nodes, before control nodes are added and after.
status rewrite_label(struct rewrite *r);
status rewrite_label_control(struct rewrite *r);
