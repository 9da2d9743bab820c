// Keys of expressions: see expression.h.
#include "passes/expression.h"

#include <string.h>

enum { SHARED_ELEMENTS = 8 }; // ONNX Runtime compares constants up to this size by content

static bool add_small(struct str *key, const struct tensor *t) {
    struct diags silent = diags_make(key->arena);
    bool is_int = elem_is_int(t->elem) || t->elem == ELEM_BOOL;
    int64_t n, *ints = NULL;
    double *reals = NULL;
    if (!tensor_elements(t, &n) || n > SHARED_ELEMENTS || (n > 0 && !t->data.source) ||
        (is_int ? tensor_ints(t, key->arena, &silent, &ints)
                : tensor_reals(t, key->arena, &silent, &reals)))
        return false;
    str_addf(key, "c%d:", (int)t->elem);
    for (int32_t i = 0; i < t->rank; i++)
        str_addf(key, "%lld,", (long long)t->dims[i]);
    str_add_n(key, is_int ? (const void *)ints : reals, (size_t)n * sizeof(int64_t));
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
        str_addf(key, "%zu ", a->s.n);
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

bool expression_add(const struct graph *g, const struct node *n, struct str *key) {
    if (op_info(n->op)->flags & (OPF_RANDOM | OPF_CONTROL))
        return false;
    str_addf(key, "%s %s %u ", n->domain, n->type, n->n_out);
    for (uint32_t k = 0; k < n->n_in; k++)
        add_operand(key, g, n->in[k]);
    return add_attrs(key, n);
}
