// The pass `transfer`: where a node reads a value that another device makes, inserts an Identity
// node on the reader's device, which stands for the transfer. There is one per value and device,
// right before the first node that needs it, so that a device does not wait for values that it does
// not need yet. For a runtime without devices the node is a view, so the plan runs everywhere.
//
// Inputs, initializers and constants are not transferred: every device that reads them holds them.
#include "ir/base/map.h"
#include "ir/devices.h"
#include "passes/pass.h"

struct transfers {
    struct model *m;
    struct graph *g;
    struct diags *diags;
    struct arena *arena;
    struct map sent; // value and device -> the transferred value
    VEC(node_id) order;
    size_t n_nodes;
    status failed;
};

static struct loc at_node(struct transfers *t, node_id id) {
    return loc_path(t->m->path, node_path(t->g, id, t->arena));
}

// The value on the device: itself, or its transferred copy.
static value_id value_on(struct transfers *t, value_id v, uint32_t device) {
    if (!v.i || devices_resident(t->g, v) ||
        graph_node(t->g, graph_value(t->g, v)->def)->device == device)
        return v;
    int64_t key = (int64_t)v.i << 32 | device, copy;
    if (map_get_int(&t->sent, key, &copy))
        return (value_id){(uint32_t)copy};
    value_id made = devices_send(t->g, v, device);
    if (!made.i || !map_put_int(&t->sent, key, made.i) ||
        !VEC_PUSH(t->arena, &t->order, graph_value(t->g, made)->def))
        t->failed = diag_out_of_memory(t->diags);
    t->n_nodes++;
    return made;
}

// A subgraph captures by name, so the value cannot be replaced by a transferred copy.
static void check_captured(void *to, value_id v, node_id user) {
    struct transfers *t = to;
    if (devices_resident(t->g, v) ||
        graph_node(t->g, graph_value(t->g, v)->def)->device == graph_node(t->g, user)->device)
        return;
    t->failed = diag_error(t->diags, DIAG_UNSUPPORTED, at_node(t, user),
                           "its subgraph reads %s, which is made on another device; place both "
                           "on the same device",
                           graph_value(t->g, v)->name);
}

static void visit(struct transfers *t, node_id id) {
    uint32_t device = graph_node(t->g, id)->device;
    if (!device && graph_node(t->g, id)->op != OP_Constant) {
        t->failed = diag_error(t->diags, DIAG_UNPLACED, at_node(t, id),
                               "has no device, but other nodes have one; place all nodes or none");
        return;
    }
    for (uint32_t k = 0; k < graph_node(t->g, id)->n_in && !t->failed; k++) {
        value_id there = value_on(t, graph_node(t->g, id)->in[k], device);
        graph_node(t->g, id)->in[k] = there; // adding nodes moves the array
    }
    node_captured(t->g, id, check_captured, t);
    if (!VEC_PUSH(t->arena, &t->order, id))
        t->failed = diag_out_of_memory(t->diags);
}

static status run(struct model *m, struct pass_context *c) {
    struct transfers t = {
        .m = m, .g = m->graph, .diags = c->diags, .arena = c->arena, .sent = map_make(c->arena)};
    status st = devices_from_metadata(m, c->diags);
    if (st || !m->device_names.n)
        return st;
    size_t n = t.g->order.n; // nodes added after these are transfers
    for (size_t i = 0; i < n && !t.failed; i++)
        visit(&t, t.g->order.at[i]);
    if (t.failed)
        return t.failed;
    for (size_t i = 0; i < t.order.n; i++)
        t.g->order.at[i] = t.order.at[i];
    pass_progress(c, "transfer: %zu transfers", t.n_nodes);
    return devices_to_metadata(m, c->diags);
}

const struct pass pass_transfer = {
    .name = "transfer",
    .summary = "insert nodes for transfers between devices",
    .needs = FACT_TOPO,
    .run = run,
};
