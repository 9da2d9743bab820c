// Duplicates: nodes that compute the same from the same operands. ONNX Runtime merges them into the
// first one (CommonSubexpressionElimination, after ConstantSharing has merged small equal
// constants), which undoes recomputation and extends the life of the first result. A key states
// what a node computes: operator, attributes and operands, with small constants by content.
#include <string.h>

#include "passes/rewrite/rewrite.h"

enum { SHARED_ELEMENTS = 8 }; // ConstantSharing merges constants up to this size

// A false match is harmless: it costs one anchor.
static bool add_small(struct str *key, const struct tensor *t) {
    struct diags silent = diags_make(key->arena);
    int64_t n;
    double *x;
    if (!tensor_elements(t, &n) || n > SHARED_ELEMENTS || (n > 0 && !t->data.source) ||
        tensor_reals(t, key->arena, &silent, &x))
        return false;
    str_addf(key, "c%d:", (int)t->elem);
    for (int32_t i = 0; i < t->rank; i++)
        str_addf(key, "%lld,", (long long)t->dims[i]);
    str_add_n(key, x, (size_t)n * sizeof *x);
    return true;
}

static void add_operand(struct str *key, const struct graph *g, value_id v) {
    const struct value *at = v.i ? graph_value(g, v) : NULL;
    str_add_char(key, '(');
    if (!at || !at->init || at->is_input || !add_small(key, at->init))
        str_addf(key, "v%u", v.i);
    str_add_char(key, ')');
}

// False: an attribute that is never equal to that of another node.
static bool add_attr(struct str *key, const struct attr *a) {
    str_addf(key, " %s %d %zu ", a->name, (int)a->kind, a->n);
    switch (a->kind) {
    case ATTR_FLOAT:
        str_add_n(key, &a->f, sizeof a->f);
        return true;
    case ATTR_INT:
        str_add_n(key, &a->i, sizeof a->i);
        return true;
    case ATTR_STRING:
        str_add_n(key, a->s.at, a->s.n);
        return true;
    case ATTR_FLOATS:
        str_add_n(key, a->floats, a->n * sizeof *a->floats);
        return true;
    case ATTR_INTS:
        str_add_n(key, a->ints, a->n * sizeof *a->ints);
        return true;
    case ATTR_TENSOR: // of ConstantOfShape; compared by content
        return add_small(key, a->t);
    default:
        return false;
    }
}

// In order of their names; they are few.
static bool add_attrs(struct str *key, const struct node *n) {
    const char *last = "";
    for (uint32_t done = 0; done < n->n_attrs; done++) {
        const struct attr *next = NULL;
        for (uint32_t k = 0; k < n->n_attrs; k++)
            if ((done == 0 || strcmp(n->attrs[k].name, last) > 0) &&
                (!next || strcmp(n->attrs[k].name, next->name) < 0))
                next = &n->attrs[k];
        if (!next || !add_attr(key, next))
            return false;
        last = next->name;
    }
    return true;
}

node_id rewrite_duplicate(struct rewrite *r, node_id id) {
    const struct node *n = graph_node(r->g, id);
    struct str key = str_make(r->c->arena);
    int64_t first;
    if (op_info(n->op)->flags & (OPF_RANDOM | OPF_CONTROL))
        return NODE_NONE; // never merged
    str_addf(&key, "%s %s ", n->domain, n->type);
    for (uint32_t k = 0; k < n->n_in; k++)
        add_operand(&key, r->g, n->in[k]);
    if (!add_attrs(&key, n))
        return NODE_NONE;
    if (!key.failed && map_get(&r->expressions, key.at, key.n, &first))
        return (node_id){(uint32_t)first};
    if (key.failed || !map_put(&r->expressions, key.at, key.n, id.i))
        r->b.failed = diag_out_of_memory(r->c->diags);
    return NODE_NONE;
}
