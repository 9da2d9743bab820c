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
    struct uses uses; // of the graph before the walk
    struct storage s;
    struct liveness live;   // of the given order
    int64_t light_bytes;    // storages of at most this size are light
    size_t n_nodes, n_vals; // of the given graph; higher ids are control
    uint32_t *place;        // by node: its position in the order, from 1
    uint32_t *reach;        // by node: number of the latest heavy node it is or depends on
    value_id *token;        // by node: its control token, once made
    value_id hiding_token;  // exists from the start of the step; made when first needed
    value_id *alias;        // by value: the alias that hides its shape, once made
    value_id *copy;         // by value: a copy that may be overwritten, once made
    bool *known;            // by value: ONNX Runtime knows its shape
    value_id *unread_mask;  // by node: a Dropout's, until it is read
    bool *newly_fusible;    // by value: the plan, unlike the baseline step, lets it be fused away
    struct map expressions; // what a node computes -> the first node that does
    VEC(node_id) order;     // the new one
    node_id heavy;          // the latest so far; or none
    uint32_t n_heavy;
    int64_t n_dependencies, n_unmerged, n_unfused, n_hidden, n_unordered;
};

// rewrite_heavy.c: which storages and nodes are heavy.
status rewrite_weigh(struct rewrite *r);
bool rewrite_is_heavy_value(const struct rewrite *r, value_id v);
bool rewrite_is_heavy(const struct rewrite *r, node_id n);
// The number of the latest heavy node that n depends on; 0: none.
uint32_t rewrite_reach(const struct rewrite *r, node_id n);

// rewrite_anchor.c: building control nodes. A token is an empty vector that exists only after a
// node; an anchor is an alias of a value that exists only after a token.
value_id rewrite_token(struct rewrite *r, node_id after); // none: no output can be a token
value_id rewrite_empty(struct rewrite *r, value_id v);    // a token that exists after a value
value_id rewrite_hiding_token(struct rewrite *r);
value_id rewrite_anchor(struct rewrite *r, value_id v, value_id token);
bool rewrite_can_anchor(const struct graph *g, value_id v);

// rewrite_duplicates.c: an earlier node that computes the same from the same operands; none: n is
// the first, and is recorded.
node_id rewrite_duplicate(struct rewrite *r, node_id n);

// rewrite_dead_outputs.c: drops dead outputs where the operator allows it.
status rewrite_drop_dead_outputs(struct rewrite *r);

// rewrite_masks.c: gives random Dropouts a mask that is read; before the walk, and during it.
status rewrite_add_masks(struct rewrite *r);
void rewrite_read_masks(struct rewrite *r, node_id reader);

// rewrite_statistics.c: a BatchNormalization that would overwrite its operands reads copies.
void rewrite_copy_statistics(struct rewrite *r, node_id n);

// rewrite_fusions.c: prevents fusions that the baseline step does not have; before the walk, and
// during it.
status rewrite_find_fusible(struct rewrite *r);
void rewrite_prevent_fusion(struct rewrite *r, node_id reader);

// rewrite_label.c: names and metadata of nodes, before control nodes are added and after.
status rewrite_label(struct rewrite *r);
status rewrite_label_control(struct rewrite *r);
