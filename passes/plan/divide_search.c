// From the best candidate on: runs of consecutive layers, each with its gradients, are divided in
// another way, and the step is evaluated again. What is better is kept. A layer is a node with a
// parameter and what follows it in the forward pass, up to the next such node.
#include <string.h>

#include "ir/base/rng.h"
#include "passes/plan/divide_inner.h"

#define GRADIENTS "grad/" // names of nodes of the backward pass begin with it, and then the node's

enum { MAX_MOVES = 400, WORK_OF_MOVE = 100, STREAM = 77 };

enum way { AS_BEFORE, BY_PARAMETER, BY_ATTRIBUTE, IN_HALF, WHOLE, N_WAYS };

static const char *const way_names[] = {"", "by parameters", "by attributes", "in half as many",
                                        "whole"};

struct layers {
    node_id *node;   // of all layers, in order
    uint32_t *start; // of each layer, and the end
    uint32_t n;
};

static bool has_parameter(const struct graph *g, const struct node *n) {
    for (uint32_t k = 0; k < n->n_in; k++) {
        const struct value *v = n->in[k].i ? graph_value(g, n->in[k]) : NULL;
        if (v && v->init && v->type && v->type->rank > 1)
            return true;
    }
    return false;
}

static bool find_layers(struct divider *x, struct layers *out) {
    const struct graph *g = x->m->graph;
    uint32_t n = 0;
    *out = (struct layers){.node = ARENA_ARRAY(x->c->arena, node_id, g->order.n),
                           .start = ARENA_ARRAY(x->c->arena, uint32_t, g->order.n + 1)};
    for (size_t i = 0; out->node && out->start && i < g->order.n; i++) {
        node_id id = g->order.at[i];
        const char *name = node_called(g, id);
        if (strncmp(name, "grad", 4) == 0 || !divide_can_name(name))
            continue;
        if (has_parameter(g, graph_node(g, id)))
            out->start[out->n++] = n;
        if (out->n)
            out->node[n++] = id;
    }
    if (out->start)
        out->start[out->n] = n;
    return out->node && out->start;
}

static void request(const struct divider *x, struct str *out, node_id n, enum way way) {
    static const char *const dimension[] = {"", "parameter", "attribute", "sample", "sample"};
    const char *name = node_called(x->m->graph, n);
    int32_t ways = way == WHOLE ? 1 : way == IN_HALF ? x->ways / 2 : x->ways;
    str_addf(out, ",%s:%s:%d," GRADIENTS "%s/*:%s:%d", name, dimension[way], ways, name,
             dimension[way], ways);
}

static status consider(struct divider *x, const struct layers *l, const struct plan_division *from,
                       const uint8_t *way) {
    struct str text = str_make(x->c->arena), summary = str_make(x->c->arena);
    uint32_t n_of[N_WAYS] = {0};
    str_add(&text, from->shard);
    for (uint32_t i = 0; i < l->n; i++) {
        n_of[way[i]]++;
        for (uint32_t k = l->start[i]; k < l->start[i + 1] && way[i] != AS_BEFORE; k++)
            request(x, &text, l->node[k], (enum way)way[i]);
    }
    str_add(&summary, from->summary);
    for (enum way w = BY_PARAMETER; w < N_WAYS; w++)
        if (n_of[w])
            str_addf(&summary, "; %u layer%s %s", n_of[w], n_of[w] == 1 ? "" : "s", way_names[w]);
    if (text.failed || summary.failed)
        return diag_out_of_memory(x->c->diags);
    return divide_consider(x,
                           (struct plan_division){.shard = str_text(&text),
                                                  .summary = str_text(&summary),
                                                  .by_part = true},
                           false);
}

static bool is_allowed(const struct divider *x, enum way w) {
    return w == BY_PARAMETER   ? x->parameters
           : w == BY_ATTRIBUTE ? x->attributes
           : w == IN_HALF      ? x->samples && x->ways >= 4
                               : true;
}

// Sets a run of layers to another way. False: it was so before.
static bool change(const struct divider *x, struct rng *rng, uint8_t *way, uint32_t n) {
    uint32_t length = n;
    while (length > 1 && rng_below(rng, 4))
        length = (length + 1) / 2;
    uint32_t first = (uint32_t)rng_below(rng, n - length + 1);
    enum way to = (enum way)rng_below(rng, N_WAYS);
    bool changes = false;
    for (uint32_t i = first; i < first + length && is_allowed(x, to); i++) {
        changes |= way[i] != to;
        way[i] = (uint8_t)to;
    }
    return changes;
}

status divide_search(struct divider *x) {
    struct plan_division from = *x->best;
    int64_t work = options_int(x->c->options, "work"), n_moves = work > 0 ? work / WORK_OF_MOVE : 0;
    n_moves = work <= 0 || n_moves > MAX_MOVES ? MAX_MOVES : n_moves;
    struct layers l;
    if (!find_layers(x, &l))
        return diag_out_of_memory(x->c->diags);
    uint8_t *now = ARENA_ARRAY(x->c->arena, uint8_t, l.n),
            *next = ARENA_ARRAY(x->c->arena, uint8_t, l.n);
    struct rng rng = rng_make((uint64_t)options_int(x->c->options, "seed"), STREAM);
    if (!now || !next)
        return diag_out_of_memory(x->c->diags);
    if (!from.by_part || l.n < 2)
        return ST_OK;
    double first = x->best_value;
    int64_t n_tried = 0;
    status st = ST_OK;
    for (int64_t k = 0; k < n_moves && !st && !stop_now(&x->stop); k++) {
        double before = x->best_value;
        memcpy(next, now, l.n);
        if (!change(x, &rng, next, l.n))
            continue;
        n_tried++;
        st = consider(x, &l, &from, next);
        if (x->best_value < before)
            memcpy(now, next, l.n);
    }
    if (n_tried)
        str_addf(&x->considered, "; %lld changes of runs of layers%s", (long long)n_tried,
                 x->best_value < first ? "" : ": none is better");
    return st;
}
