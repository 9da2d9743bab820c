// Arithmetic of constants: see fold_reals.h. Results are computed in double precision and rounded
// to the element type. For float that is the correctly rounded result of + - * / and the square
// root.
#include "passes/fold/fold_reals.h"

#include <math.h>

#include "ir/base/limits.h"

enum { MAX_ELEMENTS = 64 };

struct operand {
    const double *x;
    int64_t n;
};

// The numbers of a constant; false: it is none, or too large.
static bool read_constant(const struct graph *g, value_id id, enum elem e, struct arena *scratch,
                          struct operand *out) {
    const struct value *v = id.i ? graph_value(g, id) : NULL;
    struct diags ignored = diags_make(scratch);
    double *x;
    if (!v || !v->init || !v->is_constant || v->is_input || v->init->elem != e ||
        !tensor_elements(v->init, &out->n) || out->n < 1 || out->n > MAX_ELEMENTS ||
        !v->init->data.source || tensor_reals(v->init, scratch, &ignored, &x))
        return false;
    out->x = x;
    return true;
}

static bool is_view(enum op op) {
    return op == OP_Reshape || op == OP_Squeeze || op == OP_Unsqueeze || op == OP_Flatten;
}

static bool compute(enum op op, double x, double y, double *z) {
    switch (op) {
    case OP_Add:
        *z = x + y;
        return true;
    case OP_Sub:
        *z = x - y;
        return true;
    case OP_Mul:
        *z = x * y;
        return true;
    case OP_Div:
        *z = x / y;
        return true;
    case OP_Pow:
        *z = pow(x, y);
        return true;
    case OP_Neg:
        *z = -x;
        return true;
    case OP_Sqrt:
        *z = sqrt(x);
        return true;
    default:
        *z = x;
        return is_view(op);
    }
}

bool fold_reals(const struct graph *g, const struct node *n, struct arena *a, struct arena *scratch,
                struct tensor **out) {
    const struct type *t = n->n_out == 1 ? graph_value(g, n->out[0])->type : NULL;
    int64_t count, dims[LIMIT_RANK];
    uint32_t n_in = is_view(n->op) ? 1 : n->n_in;
    struct operand in[2] = {{0}, {0}};
    double z[MAX_ELEMENTS];
    if (!t || !type_is_static(t) || (t->elem != ELEM_F32 && t->elem != ELEM_F64) ||
        !type_elements(t, &count) || count < 1 || count > MAX_ELEMENTS || !n_in || n_in > 2 ||
        !compute(n->op, 1, 1, z))
        return false;
    for (uint32_t k = 0; k < n_in; k++)
        if (!read_constant(g, n->in[k], t->elem, scratch, &in[k]) ||
            (in[k].n != 1 && in[k].n != count))
            return false;
    for (int64_t i = 0; i < count; i++)
        compute(n->op, in[0].x[in[0].n > 1 ? i : 0], in[1].x ? in[1].x[in[1].n > 1 ? i : 0] : 0,
                &z[i]);
    for (int32_t i = 0; i < t->rank; i++)
        dims[i] = t->dims[i].size;
    *out = tensor_from_reals(a, t->elem, z, dims, t->rank);
    return true;
}
