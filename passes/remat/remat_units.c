// Units: see remat.h. Stages: find the forward pass; apply the pins (--keep, --recompute); find for
// each view the values that it is a view of; order the units; list for each unit the products that
// it makes and reads.
#include "passes/remat/remat.h"

#include <stdlib.h>

#include "ir/base/checked.h"
#include "passes/patterns.h"

struct maker {
    const struct graph *g;
    struct pass_context *c;
    struct remat_units *u;
    bool *forward;        // per node: the loss depends on it
    bool *once, *pinned;  // per node: never recomputed; not held from forward to backward pass
    size_t *key;          // per node: position in the order at which its second unit runs
    uint32_t *unit_of;    // per node: its unit + 1
    uint32_t *second_of;  // per node: its unit for the backward pass + 1
    uint32_t *product_of; // per storage: which of its unit's products it is
    uint32_t *root, *n_root;
    VEC(value_id) roots; // roots of value v: roots.at[root[v] .. root[v] + n_root[v] - 1]
    uint32_t *seen;      // per value or product: the last reader that listed it; avoids duplicates
    int64_t cost, bytes; // of all units so far
};

static bool has_subgraphs(const struct node *n) {
    for (uint32_t k = 0; k < n->n_attrs; k++)
        if (n->attrs[k].kind == ATTR_GRAPH || n->attrs[k].kind == ATTR_GRAPHS)
            return true;
    return false;
}

// ---- Forward and backward ----

static void mark_maker(void *to, value_id v, node_id user) {
    (void)user;
    struct maker *k = to;
    k->forward[graph_value(k->g, v)->def.i] = true;
}

// The forward pass is everything that the loss, the step's first output, depends on.
static void find_forward(struct maker *k) {
    const struct graph *g = k->g;
    k->u->has_forward = g->model->facts & FACT_GRAD && g->outputs.n > 0;
    if (!k->u->has_forward)
        return;
    mark_maker(k, g->outputs.at[0], NODE_NONE);
    for (size_t i = g->order.n; i-- > 0;) {
        const struct node *n = graph_node(g, g->order.at[i]);
        if (!k->forward[g->order.at[i].i])
            continue;
        for (uint32_t o = 0; o < n->n_in; o++)
            mark_maker(k, n->in[o], NODE_NONE);
        node_captured(g, g->order.at[i], mark_maker, k);
    }
}

// ---- Pins ----

// A pattern matches the name of a node or of one of its results.
static bool is_named(const struct graph *g, const struct node *n, struct patterns *t) {
    bool any = patterns_match(t, n->name);
    for (uint32_t o = 0; o < n->n_out; o++)
        any |= n->out[o].i && patterns_match(t, graph_value(g, n->out[o])->name);
    return any;
}

static status refuse_pin(struct maker *k, node_id id, const char *reason) {
    return diag_error(k->c->diags, DIAG_USAGE,
                      loc_path(k->g->model->path, node_path(k->g, id, k->c->arena)), "%s", reason);
}

static status pin_node(struct maker *k, node_id id, bool keep, bool recompute) {
    const struct node *n = graph_node(k->g, id);
    bool counts = storage_is_executed(&k->u->storage, n), makes_output = false;
    for (uint32_t o = 0; o < n->n_out; o++)
        makes_output |= graph_value(k->g, n->out[o])->is_output;
    if (keep && recompute)
        return refuse_pin(k, id, "both --keep and --recompute name this node; take it out of one");
    if (recompute && counts && k->once[id.i])
        return refuse_pin(k, id,
                          "--recompute names this node, but it cannot be recomputed: its result is "
                          "random, or it has subgraphs or is read by one");
    if (recompute && counts && makes_output)
        return refuse_pin(k, id,
                          "--recompute names this node, but its result is an output of the step, "
                          "which is held to the end");
    k->once[id.i] |= keep;
    k->pinned[id.i] = recompute && counts && k->forward[id.i];
    return ST_OK;
}

static void mark_once(void *to, value_id v, node_id user) {
    struct maker *k = to;
    k->once[user.i] = true;
    // A subgraph captures a value by name, so the value must not have a recomputed copy.
    for (node_id def = graph_value(k->g, v)->def; def.i;) {
        const struct node *n = graph_node(k->g, def);
        k->once[def.i] = true;
        def = storage_is_view(&k->u->storage, n) ? graph_value(k->g, n->in[0])->def : NODE_NONE;
    }
}

static status find_pins(struct maker *k) {
    const struct graph *g = k->g;
    struct patterns keep, recompute;
    status st = patterns_open(k->c, "keep", &keep);
    if (!st)
        st = patterns_open(k->c, "recompute", &recompute);
    if (!st && recompute.list->list.n && !k->u->has_forward)
        return diag_error(k->c->diags, DIAG_USAGE, loc_none(),
                          "--recompute needs a training step: the graph has no backward pass");
    for (size_t i = 0; i < g->order.n && !st; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        if (op_info(n->op)->flags & OPF_RANDOM || has_subgraphs(n))
            k->once[g->order.at[i].i] = true;
        node_captured(g, g->order.at[i], mark_once, k);
    }
    for (size_t i = 0; i < g->order.n && !st; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        bool kept = is_named(g, n, &keep), again = is_named(g, n, &recompute);
        st = pin_node(k, g->order.at[i], kept, again);
    }
    if (!st)
        st = patterns_close(k->c, &keep, "node or value");
    return st ? st : patterns_close(k->c, &recompute, "node or value");
}

// ---- Views ----

static bool add_root(struct maker *k, value_id of, value_id v) {
    for (uint32_t i = 0; i < k->n_root[v.i]; i++) {
        value_id r = k->roots.at[k->root[v.i] + i];
        if (k->seen[r.i] == of.i)
            continue;
        k->seen[r.i] = of.i;
        if (!VEC_PUSH(k->c->arena, &k->roots, r))
            return false;
    }
    return true;
}

// The roots of a value are the values that must be held for it to be read: itself; for a view the
// roots of its operands. Persistent values have none.
static bool find_roots(struct maker *k) {
    const struct storage *s = &k->u->storage;
    for (size_t i = 0; i < k->g->order.n; i++) {
        const struct node *n = graph_node(k->g, k->g->order.at[i]);
        bool view = storage_is_view(s, n);
        for (uint32_t o = 0; o < n->n_out; o++) {
            value_id v = n->out[o];
            k->root[v.i] = (uint32_t)k->roots.n;
            if (v.i && storage_is_executed(s, n) && !VEC_PUSH(k->c->arena, &k->roots, v))
                return false;
            for (uint32_t in = 0; view && in < n->n_in; in++)
                if (!add_root(k, v, n->in[in]))
                    return false;
            k->n_root[v.i] = (uint32_t)k->roots.n - k->root[v.i];
        }
    }
    k->n_root[0] = 0;
    return true;
}

// ---- Order ----

struct unit_slot {
    size_t key;    // position in the order before which, or at which, it runs
    bool itself;   // the node at that position, not a second unit that it needs
    size_t origin; // position of its node
};

static int by_slot(const void *a, const void *b) {
    const struct unit_slot *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->itself != y->itself)
        return x->itself ? 1 : -1;
    return (x->origin > y->origin) - (x->origin < y->origin);
}

static void require_before(struct maker *k, value_id v, size_t key) {
    for (uint32_t i = 0; i < k->n_root[v.i]; i++) {
        node_id def = graph_value(k->g, k->roots.at[k->root[v.i] + i])->def;
        if (k->pinned[def.i] && key < k->key[def.i])
            k->key[def.i] = key;
    }
}

// A second unit runs just before its first reader. Readers come later in the order, so one backward
// walk finds them all.
static size_t find_seconds(struct maker *k) {
    size_t n_seconds = 0;
    for (size_t i = k->g->order.n; i-- > 0;) {
        node_id id = k->g->order.at[i];
        const struct node *n = graph_node(k->g, id);
        bool second = k->pinned[id.i] && k->key[id.i] != SIZE_MAX;
        n_seconds += second;
        if (!second && (k->forward[id.i] || !storage_is_executed(&k->u->storage, n)))
            continue;
        for (uint32_t o = 0; o < n->n_in; o++)
            require_before(k, n->in[o], second ? k->key[id.i] : i);
    }
    return n_seconds;
}

static status order_units(struct maker *k) {
    const struct graph *g = k->g;
    for (size_t i = 0; i < g->nodes.n; i++)
        k->key[i] = SIZE_MAX;
    size_t n = 0, n_slots = g->order.n + find_seconds(k);
    struct unit_slot *p = ARENA_ARRAY(k->c->arena, struct unit_slot, n_slots);
    if (!p || !(k->u->unit = ARENA_ARRAY(k->c->arena, struct remat_unit, n_slots)))
        return diag_out_of_memory(k->c->diags);
    for (size_t i = 0; i < g->order.n; i++) {
        if (!storage_is_executed(&k->u->storage, graph_node(g, g->order.at[i])))
            continue;
        size_t second = k->key[g->order.at[i].i];
        p[n++] = (struct unit_slot){i, true, i};
        if (second != SIZE_MAX)
            p[n++] = (struct unit_slot){second, false, i};
    }
    qsort(p, n, sizeof *p, by_slot);
    for (size_t i = 0; i < n; i++) {
        node_id id = g->order.at[p[i].origin];
        uint32_t *slot = p[i].itself ? k->unit_of : k->second_of;
        slot[id.i] = ++k->u->n;
        k->u->unit[i] = (struct remat_unit){.node = id,
                                            .second = !p[i].itself,
                                            .once = k->once[id.i],
                                            .backward = !p[i].itself || !k->forward[id.i]};
    }
    return ST_OK;
}

// ---- Products and reads ----

static status fill_products(struct maker *k, struct remat_unit *u) {
    const struct storage *s = &k->u->storage;
    const struct node *n = graph_node(k->g, u->node);
    u->products = (uint32_t)k->u->product.n;
    for (uint32_t o = 0; o < n->n_out; o++) {
        uint32_t of = s->of[n->out[o].i];
        if (!n->out[o].i || !of)
            continue;
        k->product_of[of] = u->n_products++;
        struct remat_product one = {.unit = (uint32_t)(u - k->u->unit),
                                    .bytes = s->bytes[of],
                                    .is_output = s->is_output[of] && !u->second};
        if (!VEC_PUSH(k->c->arena, &k->u->product, one))
            return diag_out_of_memory(k->c->diags);
    }
    return ST_OK;
}

struct reading {
    struct maker *k;
    struct remat_unit *u;
    bool failed;
};

static void read_value(void *to, value_id v, node_id user) {
    (void)user;
    struct reading *r = to;
    struct maker *k = r->k;
    for (uint32_t i = 0; i < k->n_root[v.i] && !r->failed; i++) {
        value_id root = k->roots.at[k->root[v.i] + i];
        uint32_t def = graph_value(k->g, root)->def.i;
        uint32_t by = r->u->backward && k->second_of[def] ? k->second_of[def] : k->unit_of[def];
        uint32_t product = k->u->unit[by - 1].products + k->product_of[k->u->storage.of[root.i]];
        uint32_t reader = (uint32_t)(r->u - k->u->unit) + 1;
        if (k->seen[product] == reader)
            continue;
        k->seen[product] = reader;
        r->u->n_reads++;
        r->failed = !VEC_PUSH(k->c->arena, &k->u->read, product);
    }
}

// The cost that the costs pass has set; without it the bytes that the node reads and writes.
static bool cost_of(struct maker *k, const struct node *n, int64_t *cost) {
    const struct storage *s = &k->u->storage;
    *cost = n->cost;
    if (n->cost >= 0)
        return true;
    *cost = 0;
    bool ok = true;
    for (uint32_t o = 0; o < n->n_in + n->n_out && ok; o++) {
        value_id v = o < n->n_in ? n->in[o] : n->out[o - n->n_in];
        ok = checked_add(*cost, s->bytes[s->of[v.i]], cost);
    }
    return ok;
}

static status fill_unit(struct maker *k, struct remat_unit *u) {
    const struct node *n = graph_node(k->g, u->node);
    struct reading r = {.k = k, .u = u};
    u->workspace_bytes = n->workspace_bytes;
    u->reads = (uint32_t)k->u->read.n;
    for (uint32_t o = 0; o < n->n_in; o++)
        read_value(&r, n->in[o], u->node);
    node_captured(k->g, u->node, read_value, &r);
    if (r.failed)
        return diag_out_of_memory(k->c->diags);
    int64_t held = u->workspace_bytes;
    bool fits = cost_of(k, n, &u->cost) && checked_add(k->cost, u->cost, &k->cost) &&
                k->cost <= PROBLEM_MAX_COST;
    for (uint32_t p = u->products; p < u->products + u->n_products; p++)
        fits = fits && checked_add(held, k->u->product.at[p].bytes, &held);
    fits = fits && checked_add(k->bytes, held, &k->bytes) && k->bytes <= PROBLEM_MAX_BYTES;
    if (!fits)
        return diag_error(
            k->c->diags, DIAG_LIMIT,
            loc_path(k->g->model->path, node_path(k->g, u->node, k->c->arena)),
            "the sum of all tensor sizes, or of all node costs, exceeds the limit of what "
            "can be planned");
    if (!u->second)
        k->u->base_cost += u->cost;
    return ST_OK;
}

static bool open_maker(struct maker *k) {
    struct arena *a = k->c->arena;
    size_t nodes = k->g->nodes.n, values = k->g->values.n;
    k->forward = ARENA_ARRAY(a, bool, nodes);
    k->once = ARENA_ARRAY(a, bool, nodes);
    k->pinned = ARENA_ARRAY(a, bool, nodes);
    k->key = ARENA_ARRAY(a, size_t, nodes);
    k->unit_of = ARENA_ARRAY(a, uint32_t, nodes);
    k->second_of = ARENA_ARRAY(a, uint32_t, nodes);
    k->product_of = ARENA_ARRAY(a, uint32_t, values);
    k->root = ARENA_ARRAY(a, uint32_t, values);
    k->n_root = ARENA_ARRAY(a, uint32_t, values);
    k->seen = ARENA_ARRAY(a, uint32_t, values);
    return k->forward && k->once && k->pinned && k->key && k->unit_of && k->second_of &&
           k->product_of && k->root && k->n_root && k->seen;
}

status remat_units_make(const struct graph *g, struct pass_context *c, struct remat_units *out) {
    *out = (struct remat_units){0};
    struct maker k = {.g = g, .c = c, .u = out};
    status st = storage_of(g, c->arena, c->diags, &out->storage);
    if (!st && !open_maker(&k))
        st = diag_out_of_memory(c->diags);
    if (st)
        return st;
    find_forward(&k);
    st = find_pins(&k);
    if (!st && !find_roots(&k))
        st = diag_out_of_memory(c->diags);
    if (!st)
        st = order_units(&k);
    for (uint32_t i = 0; i < out->n && !st; i++)
        st = fill_products(&k, &out->unit[i]);
    if (!st && !(k.seen = ARENA_ARRAY(c->arena, uint32_t, out->product.n)))
        st = diag_out_of_memory(c->diags);
    for (uint32_t i = 0; i < out->n && !st; i++)
        st = fill_unit(&k, &out->unit[i]);
    if (!st)
        remat_find_parts(g, out);
    return st;
}
