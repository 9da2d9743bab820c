// An interpreter for small graphs that takes operators as free: what an operator gives is a hash of
// all that goes into it, so that two values are equal when they are the same expression, and else
// never, but for chance. The operators that control dependencies are made of (Reshape, Slice,
// Concat, Compress, Unsqueeze, Cast, Identity) do what ONNX says. A judge of ir/check/equivalence.h
// that shares nothing with it.
#pragma once

#include <string.h>

#include "ir/base/rng.h"
#include "ir/graph.h"

#define FREE_ROOM 64 // elements

struct free_tensor {
    bool ok; // false: not made, or the node that makes it cannot run
    enum elem elem;
    int rank, n;
    int64_t dims[8], at[FREE_ROOM];
};

static inline uint64_t free_hash(uint64_t h, const void *bytes, size_t n) {
    for (size_t i = 0; i < n; i++)
        h = rng_mix(h * 31 + ((const uint8_t *)bytes)[i] + 1);
    return h;
}

static inline uint64_t free_hash_tensor(uint64_t h, const struct free_tensor *t) {
    h = free_hash(h, &t->elem, sizeof t->elem);
    h = free_hash(h, t->dims, (size_t)t->rank * sizeof *t->dims);
    return free_hash(h, t->at, (size_t)t->n * sizeof *t->at);
}

static inline bool free_count(struct free_tensor *t) {
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++)
        n *= t->dims[i];
    t->n = (int)n;
    return n >= 0 && n <= FREE_ROOM;
}

static inline bool free_reshape(const struct free_tensor *x, const struct free_tensor *shape,
                                bool allow_zero, struct free_tensor *y) {
    int open = -1;
    int64_t known = 1;
    if (shape->rank != 1 || shape->elem != ELEM_I64 || shape->n > 8)
        return false;
    *y = *x;
    y->rank = shape->n;
    for (int i = 0; i < shape->n; i++) {
        y->dims[i] = shape->at[i];
        if (shape->at[i] == 0 && !allow_zero) {
            if (i >= x->rank)
                return false;
            y->dims[i] = x->dims[i];
        }
        if (shape->at[i] == -1 && open >= 0)
            return false;
        if (shape->at[i] < -1 || y->dims[i] > FREE_ROOM)
            return false;
        if (shape->at[i] == -1)
            open = i;
        else
            known *= y->dims[i];
    }
    if (open >= 0 && (known == 0 || x->n % known))
        return false;
    if (open >= 0)
        y->dims[open] = x->n / known;
    return free_count(y) && y->n == x->n;
}

// Along the first dimension of a vector only, forwards.
static inline bool free_slice(const struct free_tensor *x, const struct free_tensor *start,
                              const struct free_tensor *end, struct free_tensor *y) {
    if (x->rank != 1 || start->n != 1 || end->n != 1 || start->elem != ELEM_I64 ||
        end->elem != ELEM_I64 || start->rank != 1 || end->rank != 1)
        return false;
    int64_t from = start->at[0], to = end->at[0], dim = x->dims[0];
    from = from < 0 ? from + dim : from;
    to = to < 0 ? to + dim : to;
    from = from < 0 ? 0 : from > dim ? dim : from;
    to = to < from ? from : to > dim ? dim : to;
    *y = *x;
    y->dims[0] = to - from;
    memmove(y->at, y->at + from, (size_t)(to - from) * sizeof *y->at);
    return free_count(y);
}

static inline bool free_compress(const struct free_tensor *x, const struct free_tensor *keep,
                                 struct free_tensor *y) {
    if (x->rank < 1 || keep->rank != 1 || keep->elem != ELEM_BOOL || keep->n > x->n)
        return false;
    y->elem = x->elem;
    y->rank = 1;
    y->dims[0] = 0;
    for (int i = 0; i < keep->n; i++)
        if (keep->at[i])
            y->at[y->dims[0]++] = x->at[i];
    return free_count(y);
}

static inline bool free_concat(const struct free_tensor *const *x, uint32_t n_in, int64_t axis,
                               struct free_tensor *y) {
    *y = *x[0];
    if (y->rank != 1 || (axis != 0 && axis != -1))
        return false;
    for (uint32_t k = 1; k < n_in; k++) {
        if (x[k]->rank != 1 || x[k]->elem != y->elem || y->n + x[k]->n > FREE_ROOM)
            return false;
        memcpy(y->at + y->n, x[k]->at, (size_t)x[k]->n * sizeof *y->at);
        y->dims[0] += x[k]->n;
        y->n += x[k]->n;
    }
    return true;
}

static inline bool free_unsqueeze(const struct free_tensor *x, const struct free_tensor *axes,
                                  struct free_tensor *y) {
    int rank = x->rank + axes->n, from = 0;
    bool is_new[8] = {false};
    if (axes->rank != 1 || axes->elem != ELEM_I64 || rank > 8)
        return false;
    *y = *x;
    y->rank = rank;
    for (int i = 0; i < axes->n; i++) {
        int64_t a = axes->at[i] < 0 ? axes->at[i] + rank : axes->at[i];
        if (a < 0 || a >= rank || is_new[a])
            return false;
        is_new[a] = true;
    }
    for (int i = 0; i < rank; i++)
        y->dims[i] = is_new[i] ? 1 : x->dims[from++];
    return true;
}

// Any other operator: a hash of operator, attributes and operands. A random one without a seed adds
// the name of what it makes.
static inline void free_apply(const struct graph *g, const struct node *n,
                              const struct free_tensor *const *in, uint32_t slot,
                              struct free_tensor *y) {
    uint64_t h = free_hash(slot, n->type, strlen(n->type)), of_attrs = 0;
    for (uint32_t k = 0; k < n->n_attrs; k++) { // in any order
        const struct attr *a = &n->attrs[k];
        uint64_t one = free_hash(a->kind, a->name, strlen(a->name));
        of_attrs += a->kind == ATTR_FLOAT ? free_hash(one, &a->f, sizeof a->f)
                                          : free_hash(one, &a->i, sizeof a->i);
    }
    h = rng_mix(h ^ of_attrs);
    if (op_info(n->op)->flags & OPF_RANDOM && !node_attr(n, "seed"))
        h = free_hash(h, graph_value(g, n->out[0])->name, strlen(graph_value(g, n->out[0])->name));
    for (uint32_t k = 0; k < n->n_in; k++)
        h = free_hash_tensor(h + k, in[k]);
    *y = *in[0];
    for (int i = 0; i < y->n; i++)
        y->at[i] = (int64_t)rng_mix(h + (uint64_t)i);
    y->ok = true;
}

static inline bool free_structural(const struct node *n, const struct free_tensor *const *in,
                                   struct free_tensor *y, bool *is_structural) {
    *is_structural = true;
    switch (n->op) {
    case OP_Identity:
        *y = *in[0];
        return true;
    case OP_Cast:
        *y = *in[0];
        y->elem = (enum elem)node_int(n, "to", 0);
        return y->elem > 0 && y->elem < ELEM_LIMIT_;
    case OP_Reshape:
        return n->n_in == 2 && free_reshape(in[0], in[1], node_int(n, "allowzero", 0), y);
    case OP_Slice:
        return n->n_in == 3 && free_slice(in[0], in[1], in[2], y);
    case OP_Compress:
        return free_compress(in[0], in[1], y);
    case OP_Concat:
        return free_concat(in, n->n_in, node_int(n, "axis", 7), y);
    case OP_Unsqueeze:
        return n->n_in == 2 && free_unsqueeze(in[0], in[1], y);
    default:
        *is_structural = false;
        return true;
    }
}

// Runs the graph; t has room for all values. Inputs are a function of their names and the seed.
static inline void free_run(const struct graph *g, uint64_t seed, struct free_tensor *t,
                            struct arena *a, struct diags *d) {
    memset(t, 0, g->values.n * sizeof *t);
    for (uint32_t v = 1; v < g->values.n; v++) {
        const struct value *x = &g->values.at[v];
        if (!x->is_input && !x->init)
            continue;
        t[v] = (struct free_tensor){.ok = true, .elem = x->type->elem, .rank = x->type->rank};
        for (int i = 0; i < t[v].rank; i++)
            t[v].dims[i] = x->type->dims[i].size;
        t[v].ok = free_count(&t[v]);
        int64_t *ints = NULL;
        if (x->init && tensor_ints(x->init, a, d, &ints) == ST_OK)
            memcpy(t[v].at, ints, (size_t)t[v].n * sizeof *ints);
        for (int i = 0; x->is_input && i < t[v].n; i++)
            t[v].at[i] = (int64_t)free_hash(seed + (uint64_t)i, x->name, strlen(x->name));
    }
    for (size_t i = 0; i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        const struct free_tensor *in[8];
        bool ok = n->n_in > 0 && n->n_in <= 8, is_structural;
        for (uint32_t k = 0; ok && k < n->n_in; k++) {
            in[k] = &t[n->in[k].i];
            ok = in[k]->ok;
        }
        if (!ok)
            continue;
        struct free_tensor y = {0};
        ok = free_structural(n, in, &y, &is_structural);
        for (uint32_t k = 0; k < n->n_out; k++) {
            if (!is_structural)
                free_apply(g, n, in, k, &y);
            y.ok = ok;
            t[n->out[k].i] = y;
        }
    }
}
