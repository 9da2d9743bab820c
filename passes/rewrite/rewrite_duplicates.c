// Duplicates: nodes that compute the same from the same operands. ONNX Runtime merges them into the
// first one (CommonSubexpressionElimination, after ConstantSharing has merged small equal
// constants), which undoes recomputation and extends the life of the first result. A false match of
// keys would be harmless here: it costs one anchor.
#include "passes/expression.h"
#include "passes/rewrite/rewrite.h"

node_id rewrite_duplicate(struct rewrite *r, node_id id) {
    const struct node *n = graph_node(r->g, id);
    struct str key = str_make(r->c->arena);
    int64_t first;
    if (!expression_add(r->g, n, &key) && !key.failed)
        return NODE_NONE; // never merged
    if (!key.failed && map_get(&r->expressions, key.at, key.n, &first))
        return (node_id){(uint32_t)first};
    if (key.failed || !map_put(&r->expressions, key.at, key.n, id.i))
        r->b.failed = diag_out_of_memory(r->c->diags);
    return NODE_NONE;
}
