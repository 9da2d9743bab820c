// Divisions of a step for several devices: see plan_divide.h. A candidate is a list of requests for
// the pass `shard`. Each is carried out on a copy of the step, so that it is evaluated by the costs
// of its parts: they are placed (part k on device k; or a stage of consecutive layers on each
// device), scheduled (solver/place/place_assigned.c) and replayed.
#include "passes/plan/plan_divide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/checked.h"
#include "ir/copy.h"
#include "passes/shard/shard.h"

enum { MAX_WAYS = 64, MAX_LAYERS = 64, N_HYBRIDS = 3 };

struct layer { // a product with a large parameter
    node_id node;
    value_id weight;
    int64_t bytes;
};

struct divider {
    const struct model *m;
    const struct rig *rig;
    struct pass_context *c;
    const struct mcmc_objective *objective;
    struct layer layer[MAX_LAYERS];
    size_t n_layers;
    int32_t n_devices;
    struct plan_division *best;
    double best_value;
    struct str considered; // a list for the report
    struct stop stop;      // no more candidates
};

// ---- Parts of clusters, and devices for them ----

// Of each cluster, from 0; -1: none.
static int32_t *parts_of(const struct remat *r, struct arena *a) {
    int32_t *part = ARENA_ARRAY(a, int32_t, r->clusters.n);
    for (uint32_t i = 0; part && i < r->clusters.n; i++) {
        part[i] = -1;
        for (uint32_t k = r->clusters.start[i]; k < r->clusters.start[i + 1]; k++)
            if (r->units.unit[r->clusters.member[k]].part)
                part[i] = r->units.unit[r->clusters.member[k]].part - 1;
    }
    return part;
}

static bool *on_device(const struct placement *p, bool *on, int32_t v, int32_t d) {
    return &on[(int64_t)v * p->n_devices + d];
}

static int32_t first_device(const struct placement *p, const bool *on, int32_t v) {
    int32_t d = 0;
    while (d < p->n_devices - 1 && !on[(int64_t)v * p->n_devices + d])
        d++;
    return d;
}

// What has no device yet runs on all devices that read it.
static void place_by_readers(const struct placement *p, bool *on) {
    const struct problem *g = &p->graph;
    for (int32_t v = g->n; v-- > 0;) {
        bool is_placed = false;
        for (int32_t d = 0; d < p->n_devices; d++)
            is_placed = is_placed || *on_device(p, on, v, d);
        for (int32_t e = g->out_start[v]; e < g->out_start[v + 1] && !is_placed; e++)
            for (int32_t d = 0; d < p->n_devices; d++)
                *on_device(p, on, v, d) |= *on_device(p, on, g->out_of[e], d);
        if (!is_placed && g->out_start[v] == g->out_start[v + 1])
            *on_device(p, on, v, 0) = true;
    }
}

// Whether operand u is a better neighbour of v than w: larger, or in a part, or else by turns, so
// that sums over the parts go from device to device.
static bool is_nearer(const struct problem *g, const int32_t *part, int32_t v, int32_t u,
                      int32_t w) {
    if (w < 0 || g->bytes[u] != g->bytes[w])
        return w < 0 || g->bytes[u] > g->bytes[w];
    if ((part[u] < 0) != (part[w] < 0))
        return part[w] < 0;
    return v % 2;
}

// Part k runs on device k. What is in no part runs with its largest operand; what depends on
// parameters alone, on all devices that read it.
static void place_parts(const struct placement *p, const int32_t *part, bool *on) {
    const struct problem *g = &p->graph;
    for (int32_t v = 0; v < g->n; v++) {
        int32_t device = part[v] >= 0 ? part[v] % p->n_devices : -1;
        int32_t nearest = -1;
        for (int32_t e = g->in_start[v]; e < g->in_start[v + 1] && part[v] < 0; e++)
            if (is_nearer(g, part, v, g->in_of[e], nearest))
                nearest = g->in_of[e];
        if (nearest >= 0)
            device = first_device(p, on, nearest);
        if (device >= 0)
            *on_device(p, on, v, device) = true;
    }
    place_by_readers(p, on);
}

// In the forward pass the last layer that v reads from. In the backward pass the last one whose
// results it reads, for these were kept for it; else the first that it has gradients from. -1:
// none.
static int32_t layer_of_inputs(const struct problem *g, const int32_t *layer, int32_t v) {
    int32_t last = -1, first = -1;
    for (int32_t e = g->in_start[v]; e < g->in_start[v + 1]; e++) {
        int32_t u = g->in_of[e];
        if (!g->backward[u] && layer[u] > last)
            last = layer[u];
        else if (g->backward[u] && layer[u] >= 0 && (first < 0 || layer[u] < first))
            first = layer[u];
    }
    return last >= 0 ? last : first;
}

// Layers: the k-th cluster of the forward pass of every part is layer k, and so is its group. What
// is in none belongs where its inputs are; -1: it has none. Returns the number of layers.
static int32_t find_layers(const struct placement *p, const int32_t *part, int32_t *layer,
                           int32_t *of_group) {
    const struct problem *g = &p->graph;
    int32_t next[SHARD_MAX_WAYS] = {0}, n = 1;
    for (int32_t k = 0; k < p->n_groups; k++)
        of_group[k] = -1;
    for (int32_t v = 0; v < g->n; v++) {
        if (part[v] < 0 || g->backward[v])
            continue;
        int32_t own = next[part[v]]++, *group = &of_group[p->group[v]];
        *group = *group < 0 || own < *group ? own : *group;
        n = own >= n ? own + 1 : n;
    }
    for (int32_t v = 0; v < g->n; v++) {
        int32_t found = layer_of_inputs(g, layer, v);
        int32_t k = p->group[v];
        if (of_group[k] < 0 && p->group_start[k + 1] - p->group_start[k] > 1)
            of_group[k] = found < 0 ? 0 : found;
        layer[v] = of_group[k] >= 0 ? of_group[k] : found;
    }
    return n;
}

// Consecutive layers on each device, with even loads.
static bool place_stages(const struct placement *p, const int32_t *part, struct arena *scratch,
                         bool *on) {
    const struct problem *g = &p->graph;
    int32_t *layer = ARENA_ARRAY(scratch, int32_t, g->n);
    int32_t *of_group = ARENA_ARRAY(scratch, int32_t, p->n_groups);
    int64_t *cost = ARENA_ARRAY(scratch, int64_t, g->n + 1), sum = 0, before = 0;
    int32_t *device = ARENA_ARRAY(scratch, int32_t, g->n + 1);
    if (!layer || !of_group || !cost || !device)
        return false;
    int32_t n = find_layers(p, part, layer, of_group);
    for (int32_t v = 0; v < g->n; v++) {
        cost[layer[v] < 0 ? 0 : layer[v]] += g->cost[v];
        sum += g->cost[v];
    }
    for (int32_t k = 0; k < n; k++) {
        double middle = (double)before + (double)cost[k] / 2;
        device[k] = (int32_t)fmin(p->n_devices - 1, middle / (double)(sum + 1) * p->n_devices);
        before += cost[k];
    }
    for (int32_t v = 0; v < g->n; v++)
        if (layer[v] >= 0)
            *on_device(p, on, v, device[layer[v]]) = true;
    place_by_readers(p, on);
    return true;
}

// ---- Candidates ----

static status divide(struct divider *x, struct plan_division *d, struct pass_context *c) {
    d->model = model_copy(x->m, c->arena);
    if (!d->model || !options_copy(c->options, c->arena, &d->options))
        return diag_out_of_memory(c->diags);
    c->options = &d->options;
    status st = options_set(&d->options, c->diags, "shard", d->shard);
    if (!st)
        st = pass_run_all(PASS_PIPELINE(&pass_shard, &pass_names, &pass_costs), d->model, c);
    return st ? st : remat_make(d->model->graph, c, false, &d->placement.remat);
}

static status start(struct divider *x, struct plan_division *d, struct pass_context *c) {
    struct placement *p = &d->placement.problem;
    int32_t *part = parts_of(&d->placement.remat, c->arena);
    if (!part)
        return diag_out_of_memory(c->diags);
    d->placement.rig = x->rig;
    status st = placement_problem_make(d->model->graph, &d->placement.remat, x->rig,
                                       d->by_part ? part : NULL, c, p);
    bool *on = st ? NULL : ARENA_ARRAY(c->arena, bool, (size_t)p->graph.n *(size_t)p->n_devices);
    if (st || !on)
        return st ? st : diag_out_of_memory(c->diags);
    if (d->by_part)
        place_parts(p, part, on);
    else if (!place_stages(p, part, c->arena, on))
        return diag_out_of_memory(c->diags);
    if (!place_assigned(p, on, c->arena, &d->start))
        return diag_out_of_memory(c->diags);
    return strategy_replay(p, &d->start, c->arena, c->diags, &d->facts);
}

// The candidate becomes the best if it is. One that cannot be carried out is none.
static status consider(struct divider *x, struct plan_division d) {
    if (x->considered.n && stop_now(&x->stop))
        return ST_OK;
    struct diags quiet = diags_make(x->c->arena); // what cannot be divided stays whole
    struct pass_context own = *x->c;
    own.diags = &quiet;
    status st = divide(x, &d, &own);
    if (!st)
        st = start(x, &d, &own);
    if (st)
        return st == ST_LIMIT ? diag_out_of_memory(x->c->diags) : ST_OK;
    double value = mcmc_value_of_facts(x->objective, &d.placement.problem, &d.facts);
    double over = d.facts.excess_bytes > 0 ? 1 + (double)d.facts.excess_bytes : 0;
    str_addf(&x->considered, "%s%s: ", x->considered.n ? "; " : "", d.summary);
    if (over > 0)
        str_add(&x->considered, "over memory");
    else if (x->objective->goal == MCMC_CUSTOM)
        str_addf(&x->considered, "%g", value);
    else
        str_addf(&x->considered, "%.3f ms", value * 1e-6);
    value = over > 0 ? 1e30 * over : value; // within memory first
    if (value < x->best_value) {
        x->best_value = value;
        *x->best = d;
    }
    return ST_OK;
}

// ---- Products with large parameters ----

static int64_t bytes_of(const struct graph *g, value_id v) {
    int64_t n = 0;
    const struct type *t = graph_value(g, v)->type;
    return t && type_bytes(t, &n) ? n : 0;
}

static int by_bytes(const void *a, const void *b) {
    const struct layer *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return (x->node.i > y->node.i) - (x->node.i < y->node.i);
}

// A product is worth dividing by its parameter when that is larger than what goes in and out.
static void find_products(struct divider *x) {
    const struct graph *g = x->m->graph;
    for (size_t i = 0; i < g->order.n && x->n_layers < MAX_LAYERS; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        if ((n->op != OP_Gemm && n->op != OP_MatMul) || n->n_in < 2 ||
            strpbrk(node_called(g, g->order.at[i]), ",*?\n"))
            continue;
        value_id w = n->in[1];
        bool is_parameter = graph_value(g, w)->init != NULL;
        int64_t bytes = bytes_of(g, w), moved = bytes_of(g, n->in[0]) + bytes_of(g, n->out[0]);
        if (is_parameter && bytes > moved && graph_value(g, w)->type->rank == 2)
            x->layer[x->n_layers++] = (struct layer){g->order.at[i], w, bytes};
    }
    qsort(x->layer, x->n_layers, sizeof *x->layer, by_bytes);
}

static void add_request(struct divider *x, struct str *out, node_id n, uint32_t label) {
    const char *name = node_called(x->m->graph, n);
    if (label && !strpbrk(name, ",*?\n"))
        str_addf(out, ",%s:%u:%d", name, label, x->n_devices);
}

static bool is_read_label(const struct shard_rule *r, uint32_t k, int32_t dim, uint32_t *out) {
    const struct type *t = shard_in_type(r, k);
    *out = t && dim < t->rank ? r->in[k][dim].label : 0;
    return *out != 0;
}

// A node of the backward pass that reads the weight, or makes its gradient from the operand of the
// product; `at`: the dimension of the weight that is divided.
static status request_gradient(struct divider *x, struct str *out, const struct layer *l,
                               node_id id, int32_t at) {
    struct graph *g = x->m->graph;
    const struct node *n = graph_node(g, id), *product = graph_node(g, l->node);
    const struct type *weight = graph_value(g, l->weight)->type;
    uint32_t read_as = UINT32_MAX, label = 0;
    bool makes_gradient = false;
    for (uint32_t k = 0; k < n->n_in; k++) {
        read_as = n->in[k].i == l->weight.i ? k : read_as;
        makes_gradient |= n->in[k].i == product->in[0].i;
    }
    makes_gradient &= (n->op == OP_Gemm || n->op == OP_MatMul);
    if (read_as == UINT32_MAX && !makes_gradient)
        return ST_OK;
    struct shard_rule r;
    status st = shard_rule_of(g, id, x->c->arena, x->c->diags, &r);
    if (st || !r.n_labels)
        return st;
    const struct type *y = shard_out_type(&r, 0);
    if (read_as != UINT32_MAX)
        is_read_label(&r, read_as, at, &label);
    else if (y && y->rank == weight->rank && y->rank > at &&
             y->dims[at].size == weight->dims[at].size &&
             y->dims[1 - at].size == weight->dims[1 - at].size)
        label = r.out[0][at].label;
    add_request(x, out, id, label);
    return ST_OK;
}

// The columns of a product: of the forward pass those of its result, which the gradient of the
// operand sums over, and which are rows or columns of the gradient of the parameter.
static status request_product(struct divider *x, struct str *out, const struct layer *l) {
    struct graph *g = x->m->graph;
    struct shard_rule r;
    uint32_t label;
    status st = shard_rule_of(g, l->node, x->c->arena, x->c->diags, &r);
    if (st)
        return st;
    const struct type *y = shard_out_type(&r, 0);
    uint32_t columns = r.n_labels && y ? r.out[0][y->rank - 1].label : 0;
    int32_t at = 0; // where they are in the parameter
    while (is_read_label(&r, 1, at, &label) && label != columns)
        at++;
    if (!columns || label != columns)
        return ST_OK;
    add_request(x, out, l->node, columns);
    for (size_t i = 0; i < g->order.n && !st; i++)
        if (g->order.at[i].i != l->node.i)
            st = request_gradient(x, out, l, g->order.at[i], at);
    return st;
}

static status consider_hybrid(struct divider *x, size_t n_layers) {
    struct str text = str_make(x->c->arena);
    str_addf(&text, "*:sample:%d", x->n_devices);
    status st = ST_OK;
    for (size_t k = 0; k < n_layers && !st; k++)
        st = request_product(x, &text, &x->layer[k]);
    if (st)
        return st;
    const char *summary =
        str_format(x->c->arena, "data parallelism, %d ways; tensor parallelism of %zu product%s",
                   x->n_devices, n_layers, n_layers == 1 ? "" : "s");
    return consider(
        x, (struct plan_division){.shard = str_text(&text), .summary = summary, .by_part = true});
}

static status consider_all(struct divider *x, int64_t microbatches) {
    struct arena *a = x->c->arena;
    status st = consider(x, (struct plan_division){
                                .shard = str_format(a, "*:sample:%d", x->n_devices),
                                .summary = str_format(a, "data parallelism, %d ways", x->n_devices),
                                .by_part = true});
    find_products(x);
    for (size_t n = x->n_layers, k = 0; n > 0 && k < N_HYBRIDS && !st; n /= 4, k++)
        st = consider_hybrid(x, n);
    int64_t first = microbatches > 0 ? microbatches : x->n_devices;
    int64_t last = microbatches > 0 ? microbatches : 4 * (int64_t)x->n_devices;
    for (int64_t n = first; n <= last && n >= 2 && n <= MAX_WAYS && !st; n *= 2)
        st = consider(x,
                      (struct plan_division){
                          .shard = str_format(a, "*:sample:%lld", (long long)n),
                          .summary = str_format(a, "pipeline, %lld micro-batches", (long long)n)});
    return st;
}

static double half_of_time(int64_t end_ns) {
    return end_ns == STOP_NEVER ? INFINITY : (double)(end_ns - stop_clock_ns()) * 1e-9 / 2;
}

status plan_divide(const struct model *m, const struct rig *rig, struct pass_context *c,
                   const struct mcmc_objective *objective, int64_t end_ns,
                   struct plan_division *out) {
    *out = (struct plan_division){0};
    struct divider x = {.m = m,
                        .rig = rig,
                        .c = c,
                        .objective = objective,
                        .n_devices = rig->places.n_devices,
                        .best = out,
                        .best_value = INFINITY,
                        .stop = stop_child(c->stop, half_of_time(end_ns)),
                        .considered = str_make(c->arena)};
    bool is_off = options_flag(c->options, "no-shard") || options_get(c->options, "shard")->list.n;
    const char *micro = options_text(c->options, "microbatches");
    bool is_auto = strcmp(micro, "auto") == 0;
    char *end = NULL;
    int64_t n = is_auto ? 0 : strtoll(micro, &end, 10);
    if (!is_auto && (*end || end == micro || n < 1 || n > MAX_WAYS))
        return diag_error(c->diags, DIAG_USAGE, loc_none(),
                          "--microbatches is %s, neither auto nor 1 .. %d", micro, MAX_WAYS);
    if (is_off || x.n_devices < 2 || x.n_devices > MAX_WAYS)
        return ST_OK;
    status st = consider_all(&x, n);
    out->others = str_text(&x.considered);
    return st;
}
