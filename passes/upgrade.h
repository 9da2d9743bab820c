// Conversion between versions of the operator set; see upgrade.c.
#pragma once

#include "passes/pass.h"

#define UPGRADE_OPSET 17 // the oldest that shape rules and gradient rules handle

// Converts a node, without its subgraphs. Nodes that this needs go to the end of the order.
status upgrade_node(struct graph *g, node_id n, int64_t from, int64_t to, struct pass_context *c);
// Converts the graph of a model that is older than `to`, and the version that it declares.
status upgrade_model(struct model *m, int64_t to, struct pass_context *c);
