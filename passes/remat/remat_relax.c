// The relaxation that bounds every plan of a graph: a problem of which each plan is a schedule, at
// a peak and a cost that are no higher than the plan's own. docs/solver.md has the argument. What
// it leaves out is what a written plan may save against the problem of single nodes
// (remat_problem.c):
//
//   - A node of several results makes one node of the problem per result, since results are freed
//     one by one; their costs add up to the node's. While one of them runs, those that the node
//     allocates in any case count as its workspace.
//   - Results that no output of the graph depends on are left out, and count as workspace where the
//     operator cannot omit them.
//   - A reader of a view holds the storage of the view, but not the view's other operands.
//   - A view that is an output has a storage of its own, but its recomputations have none: nothing
//     need be held for its readers, and it costs nothing.
//   - An output that ONNX Runtime may write over an input takes no memory while the node runs: its
//     workspace is negative.
//   - Constants count only if they are read.
#include <assert.h>
#include <stdlib.h>

#include "passes/dead_outputs.h"
#include "passes/remat/remat.h"

struct relaxing {
    const struct graph *g;
    const struct remat_units *u;
    struct pass_context *c;
    struct arena *scratch;
    bool overwrites;      // the runtime may write outputs over inputs
    bool *is_live;        // per product: an output of the graph depends on it
    bool *live_unit;      // per unit: it makes one
    uint32_t *storage_of; // per product
    uint32_t *slot_of;    // per product: which output of its node it is
    uint32_t *read_by;    // per storage: the last unit that was seen to read it, + 1
    int32_t *node_of;     // per product: its node in the problem, + 1; 0: it has none
    uint32_t *product;    // per node of the problem
    int32_t n;
};

static const struct node *node_at(const struct relaxing *x, uint32_t unit) {
    return graph_node(x->g, x->u->unit[unit].node);
}

static bool open_relaxing(struct relaxing *x) {
    size_t products = x->u->product.n;
    x->is_live = ARENA_ARRAY(x->scratch, bool, products);
    x->live_unit = ARENA_ARRAY(x->scratch, bool, x->u->n);
    x->storage_of = ARENA_ARRAY(x->scratch, uint32_t, products);
    x->slot_of = ARENA_ARRAY(x->scratch, uint32_t, products);
    x->read_by = ARENA_ARRAY(x->scratch, uint32_t, x->u->storage.n);
    x->node_of = ARENA_ARRAY(x->scratch, int32_t, products);
    x->product = ARENA_ARRAY(x->scratch, uint32_t, products);
    return x->is_live && x->live_unit && x->storage_of && x->slot_of && x->read_by && x->node_of &&
           x->product;
}

// The storages of products, in the order in which remat_units.c lists them.
static void find_storages(struct relaxing *x) {
    const struct storage *s = &x->u->storage;
    for (uint32_t i = 0; i < x->u->n; i++) {
        const struct node *n = node_at(x, i);
        uint32_t p = x->u->unit[i].products;
        for (uint32_t o = 0; o < n->n_out; o++)
            if (n->out[o].i && s->of[n->out[o].i]) {
                x->slot_of[p] = o;
                x->storage_of[p++] = s->of[n->out[o].i];
            }
        assert(p == x->u->unit[i].products + x->u->unit[i].n_products);
    }
}

// Readers come later, so one backward walk suffices.
static void find_live(struct relaxing *x) {
    for (uint32_t i = x->u->n; i-- > 0;) {
        const struct remat_unit *u = &x->u->unit[i];
        for (uint32_t p = u->products; p < u->products + u->n_products; p++) {
            x->is_live[p] |= x->u->product.at[p].is_output;
            x->live_unit[i] |= x->is_live[p];
        }
        for (uint32_t e = u->reads; x->live_unit[i] && e < u->reads + u->n_reads; e++)
            x->is_live[x->u->read.at[e]] = true;
    }
}

// ---- Products of one unit ----

// The runtime may write the product over an operand.
static bool may_overwrite(const struct relaxing *x, uint32_t p) {
    const struct storage *s = &x->u->storage;
    const struct node *n = node_at(x, x->u->product.at[p].unit);
    uint32_t in = x->slot_of[p] == 0 && n->n_in > 0 ? s->of[n->in[0].i] : 0;
    return x->overwrites && in && op_info(n->op)->flags & OPF_INPLACE && !s->is_persistent[in] &&
           s->bytes[in] == x->u->product.at[p].bytes;
}

// Every execution of the node allocates the product, in memory of its own.
static bool is_certain(const struct relaxing *x, uint32_t p) {
    const struct node *n = node_at(x, x->u->product.at[p].unit);
    return !may_overwrite(x, p) && !dead_outputs_may_drop(n, x->slot_of[p]);
}

// Nodes of a unit in the problem: the largest product first, and what may be written over an
// operand last, when all else is in memory.
static bool comes_before(const struct relaxing *x, uint32_t p, uint32_t q) {
    if (may_overwrite(x, p) != may_overwrite(x, q))
        return may_overwrite(x, q);
    return x->u->product.at[p].bytes > x->u->product.at[q].bytes;
}

static void number_products(struct relaxing *x, uint32_t unit) {
    const struct remat_unit *u = &x->u->unit[unit];
    int32_t first = x->n;
    for (uint32_t p = u->products; p < u->products + u->n_products; p++) {
        if (!x->is_live[p])
            continue;
        int32_t at = x->n++;
        for (; at > first && comes_before(x, p, x->product[at - 1]); at--)
            x->product[at] = x->product[at - 1];
        x->product[at] = p;
    }
    for (int32_t at = first; at < x->n; at++)
        x->node_of[x->product[at]] = at + 1;
}

// A recomputed view costs nothing; without costs, no recomputation does.
static int64_t unit_cost(const struct relaxing *x, uint32_t unit) {
    const struct node *n = node_at(x, unit);
    return op_info(n->op)->flags & OPF_VIEW || n->cost < 0 ? 0 : n->cost;
}

// Workspace of product p: the node's, and the results that are allocated with it and do not yet
// count as held.
static int64_t workspace_of(const struct relaxing *x, uint32_t p) {
    const struct remat_unit *u = &x->u->unit[x->u->product.at[p].unit];
    int64_t n_bytes = u->workspace_bytes;
    for (uint32_t q = u->products; q < u->products + u->n_products; q++)
        if (is_certain(x, q) && (!x->is_live[q] || x->node_of[q] > x->node_of[p]))
            n_bytes += x->u->product.at[q].bytes;
    return may_overwrite(x, p) ? n_bytes - x->u->product.at[p].bytes : n_bytes;
}

// The cost of the unit, shared by its products in proportion to their sizes. The first one gets the
// remainder.
static void share_cost(const struct relaxing *x, uint32_t unit, struct problem *out) {
    const struct remat_unit *u = &x->u->unit[unit];
    int64_t cost = unit_cost(x, unit), left = cost, first = -1;
    double sum = 0;
    for (uint32_t p = u->products; p < u->products + u->n_products; p++) {
        sum += x->is_live[p] ? (double)x->u->product.at[p].bytes : 0;
        if (x->is_live[p] && (first < 0 || x->node_of[p] - 1 < first))
            first = x->node_of[p] - 1;
    }
    for (uint32_t p = u->products; p < u->products + u->n_products; p++) {
        int32_t at = x->node_of[p] - 1;
        if (at < 0 || at == first)
            continue;
        double part = sum > 0 ? (double)x->u->product.at[p].bytes / sum : 0;
        out->cost[at] = (int64_t)((double)cost * part);
        out->cost[at] = out->cost[at] < left ? out->cost[at] : left;
        left -= out->cost[at];
    }
    out->cost[first] = left;
}

// ---- The problem ----

struct read_mark {
    struct relaxing *x;
    uint32_t unit;
};

static void mark_read(void *to, value_id v, node_id user) {
    struct read_mark *m = to;
    (void)user;
    m->x->read_by[m->x->u->storage.of[v.i]] = m->unit + 1;
}

static void mark_reads(struct relaxing *x, uint32_t unit) {
    const struct node *n = node_at(x, unit);
    struct read_mark m = {x, unit};
    for (uint32_t k = 0; k < n->n_in; k++)
        if (n->in[k].i)
            mark_read(&m, n->in[k], NODE_NONE);
    node_captured(x->g, x->u->unit[unit].node, mark_read, &m);
}

// A reader of the product holds its storage: not if the product is a view.
static bool is_held(const struct relaxing *x, uint32_t p) {
    return !(op_info(node_at(x, x->u->product.at[p].unit)->op)->flags & OPF_VIEW);
}

static void add_edges(struct relaxing *x, uint32_t unit, struct problem_edge *edge,
                      int64_t *n_edges) {
    const struct remat_unit *u = &x->u->unit[unit];
    mark_reads(x, unit);
    for (uint32_t p = u->products; p < u->products + u->n_products; p++)
        for (uint32_t e = u->reads; x->node_of[p] && e < u->reads + u->n_reads; e++) {
            uint32_t from = x->u->read.at[e];
            if (x->read_by[x->storage_of[from]] == unit + 1 && is_held(x, from))
                edge[(*n_edges)++] = (struct problem_edge){x->node_of[from] - 1, x->node_of[p] - 1};
        }
}

static void fill_node(const struct relaxing *x, int32_t at, struct problem *out) {
    uint32_t p = x->product[at];
    const struct remat_product *made = &x->u->product.at[p];
    const struct remat_unit *u = &x->u->unit[made->unit];
    out->bytes[at] = made->bytes;
    out->keep[at] = made->is_output;
    out->once[at] = u->once;
    out->backward[at] = u->backward;
    out->name[at] = graph_value(x->g, node_at(x, made->unit)->out[x->slot_of[p]])->name;
}

// Inputs and weights, and the constants that are read.
static int64_t persistent_bytes(const struct relaxing *x) {
    const struct storage *s = &x->u->storage;
    int64_t n_bytes = 0;
    for (uint32_t i = 1; i < s->n; i++) {
        const struct value *v = graph_value(x->g, s->first[i]);
        if (s->is_persistent[i] && (!v->def.i || x->read_by[i]))
            n_bytes += s->bytes[i];
    }
    return n_bytes;
}

static size_t count_edges(const struct relaxing *x) {
    size_t n = 0;
    for (uint32_t i = 0; i < x->u->n; i++)
        n += (size_t)x->u->unit[i].n_products * x->u->unit[i].n_reads;
    return n;
}

static status fill_problem(struct relaxing *x, struct remat_relaxed *out) {
    struct problem *p = &out->problem;
    struct problem_edge *edge = ARENA_ARRAY(x->scratch, struct problem_edge, count_edges(x));
    bool *is_counted = ARENA_ARRAY(x->scratch, bool, x->g->nodes.n);
    int64_t n_edges = 0;
    if (!edge || !is_counted)
        return diag_out_of_memory(x->c->diags);
    status st = problem_alloc(x->c->arena, x->c->diags, x->n, p);
    if (st)
        return st;
    for (int32_t at = 0; at < x->n; at++)
        fill_node(x, at, p);
    for (uint32_t i = 0; i < x->u->n; i++) {
        uint32_t node = x->u->unit[i].node.i;
        if (!x->live_unit[i])
            continue;
        share_cost(x, i, p);
        add_edges(x, i, edge, &n_edges);
        // The first execution of a view that is an output costs what it costs in the step.
        int64_t cost = graph_node(x->g, x->u->unit[i].node)->cost;
        bool is_other = !is_counted[node] && cost > 0 && unit_cost(x, i) == 0;
        out->other_cost += is_other ? cost : 0;
        is_counted[node] = true;
    }
    p->has_forward = x->u->has_forward;
    p->persistent_bytes = persistent_bytes(x);
    st = problem_link(x->c->arena, x->c->diags, edge, n_edges, x->g->model->path, p);
    for (int32_t at = 0; at < x->n && !st; at++) // after the check of signs: some are negative
        p->workspace[at] = workspace_of(x, x->product[at]);
    return st;
}

status remat_relax(const struct graph *g, const struct remat_units *u, bool overwrites,
                   struct pass_context *c, struct remat_relaxed *out) {
    assert(g && u && c && out);
    struct arena scratch = arena_make(c->arena->mem);
    struct relaxing x = {.g = g, .u = u, .c = c, .scratch = &scratch, .overwrites = overwrites};
    *out = (struct remat_relaxed){0};
    status st = open_relaxing(&x) ? ST_OK : diag_out_of_memory(c->diags);
    if (!st) {
        find_storages(&x);
        find_live(&x);
        for (uint32_t i = 0; i < u->n; i++)
            number_products(&x, i);
    }
    if (!st && x.n > 0)
        st = fill_problem(&x, out);
    arena_free(&scratch);
    return st;
}
