// The helpers of shape rules, and running the rule of one node: see shape.h. Inferred types are
// merged with declared ones; element types that contradict each other are an error that names both,
// and of shapes that do the inferred one is used.
#include "passes/shape/shape.h"

#include <assert.h>
#include <string.h>

#include "ir/base/checked.h"
#include "ir/base/limits.h"
#include "passes/shape/shape_content.h"

static shape_rule *const rules[OP_COUNT_] = {
    [OP_UNKNOWN] = shape_unknown,
#define OP(name, since, min_in, max_in, min_out, max_out, flags, shape, cost, shard, grad)         \
    [OP_##name] = shape_##shape,
#include "ir/op.def"
#undef OP
};

bool dim_same(struct dim a, struct dim b) {
    return dim_known(a) ? a.size == b.size
                        : !dim_known(b) && a.symbol && b.symbol && strcmp(a.symbol, b.symbol) == 0;
}

struct dim dim_add(struct dim a, struct dim b) {
    struct dim r = dim_unknown();
    if (dim_known(a) && dim_known(b))
        return checked_add(a.size, b.size, &r.size) ? r : dim_unknown();
    return a.size == 0 ? b : b.size == 0 ? a : r;
}

struct dim dim_mul(struct dim a, struct dim b) {
    struct dim r = dim_unknown();
    if (dim_known(a) && dim_known(b))
        return checked_mul(a.size, b.size, &r.size) ? r : dim_unknown();
    if (a.size == 0 || b.size == 0)
        return dim_of(0);
    return a.size == 1 ? b : b.size == 1 ? a : r;
}

bool dim_broadcast(struct dim a, struct dim b, struct dim *out) {
    if (a.size == 1 || dim_same(a, b))
        *out = b;
    else if (b.size == 1)
        *out = a;
    else if (dim_known(a) && dim_known(b))
        return false;
    else // a number other than 1 is the result, whatever the unknown one is
        *out = dim_known(a) ? a : dim_known(b) ? b : dim_unknown();
    return true;
}

struct dim dim_from_term(struct term t) {
    return t.known ? dim_of(t.x < 0 ? DIM_UNKNOWN : t.x)
                   : (struct dim){.size = DIM_UNKNOWN, .symbol = t.symbol};
}

struct term term_from_dim(struct dim d) {
    return (struct term){.x = d.size, .known = dim_known(d), .symbol = d.symbol};
}

bool shape_has(const struct shape *s, uint32_t k) {
    return k < s->n->n_in && s->n->in[k].i;
}

const struct type *shape_in(const struct shape *s, uint32_t k) {
    return shape_has(s, k) ? graph_value(s->g, s->n->in[k])->type : NULL;
}

const struct type *shape_ranked(const struct shape *s, uint32_t k) {
    const struct type *t = shape_in(s, k);
    return t && t->kind == TYPE_TENSOR && t->has_shape ? t : NULL;
}

enum elem shape_elem(const struct shape *s, uint32_t k) {
    const struct type *t = shape_in(s, k);
    return t && t->kind == TYPE_TENSOR ? t->elem : ELEM_NONE;
}

// The definition of an outer value is in the enclosing graph.
static const struct value *resolve(const struct graph *g, value_id v) {
    const struct value *x = graph_value(g, v);
    while (x->outer.i && g->outer) {
        g = g->outer;
        x = graph_value(g, x->outer);
    }
    return x;
}

// The elements of a small float initializer, as terms.
static bool real_terms(const struct shape *s, const struct tensor *t, const struct term **at,
                       int64_t *n) {
    bool known =
        t->elem == ELEM_F16 || t->elem == ELEM_BF16 || t->elem == ELEM_F32 || t->elem == ELEM_F64;
    struct diags ignored = diags_make(s->a); // a file of weights may be absent or cut off
    double *x;
    if (!known || !tensor_elements(t, n) || *n > LIMIT_FOLD_REALS || !t->data.source ||
        tensor_reals(t, s->a, &ignored, &x))
        return false;
    struct term *terms = ARENA_ARRAY(s->a, struct term, *n);
    for (int64_t i = 0; terms && i < *n; i++)
        terms[i] = shape_content_of_real(x[i], t->elem);
    *at = terms;
    return terms != NULL;
}

bool shape_content(const struct shape *s, uint32_t k, const struct term **at, int64_t *n) {
    return !elem_is_float(shape_elem(s, k)) && shape_content_any(s, k, at, n);
}

bool shape_may_have_content(const struct shape *s, uint32_t k) {
    const struct value *v = resolve(s->g, s->n->in[k]);
    int64_t n;
    return v->content || v->init || (v->type && type_elements(v->type, &n) && n == 0);
}

bool shape_content_any(const struct shape *s, uint32_t k, const struct term **at, int64_t *n) {
    if (!shape_has(s, k))
        return false;
    const struct value *v = resolve(s->g, s->n->in[k]);
    if (v->content && type_elements(v->type, n)) {
        *at = v->content;
        return true;
    }
    static const struct term nothing[1];
    if (v->type && type_elements(v->type, n) && *n == 0) { // no elements: all are known
        *at = nothing;
        return true;
    }
    // An initializer that is an input may be overridden, so its content is unknown.
    int64_t *x;
    if (v->init && !v->is_input && elem_is_float(v->init->elem))
        return real_terms(s, v->init, at, n);
    if (!v->init || v->is_input || !tensor_has_ints(v->init) || !tensor_elements(v->init, n) ||
        *n > LIMIT_FOLD_ELEMENTS || (*n > 0 && !v->init->data.source) ||
        tensor_ints(v->init, s->a, s->d, &x))
        return false;
    struct term *terms = ARENA_ARRAY(s->a, struct term, *n);
    for (int64_t i = 0; terms && i < *n; i++)
        terms[i] = term_of(x[i]);
    *at = terms;
    return terms != NULL;
}

bool shape_numbers(const struct shape *s, uint32_t k, int64_t **at, int64_t *n) {
    const struct term *terms;
    if (!shape_content(s, k, &terms, n) || !(*at = ARENA_ARRAY(s->a, int64_t, *n)))
        return false;
    for (int64_t i = 0; i < *n; i++) {
        if (!terms[i].known)
            return false;
        (*at)[i] = terms[i].x;
    }
    return true;
}

// The node of this graph that makes an input, or NULL.
static const struct node *maker(const struct shape *s, uint32_t k) {
    const struct value *v = shape_has(s, k) ? graph_value(s->g, s->n->in[k]) : NULL;
    return v && v->def.i ? graph_node(s->g, v->def) : NULL;
}

// Some exporters concatenate the scales of a Resize from those of the batch and of the image.
static bool concat_reals(const struct shape *s, const struct node *concat, double **at,
                         int64_t *n) {
    struct shape part = *s;
    double *all = ARENA_ARRAY(s->a, double, LIMIT_RANK), *x;
    int64_t count;
    part.n = concat;
    *at = all;
    *n = 0;
    for (uint32_t k = 0; k < concat->n_in; k++) {
        const struct node *def = maker(&part, k);
        if (!all || (def && def->op == OP_Concat) || !shape_reals(&part, k, &x, &count) ||
            *n + count > LIMIT_RANK)
            return false;
        memcpy(all + *n, x, (size_t)count * sizeof *x);
        *n += count;
    }
    return true;
}

// The floats that shape arithmetic has found.
static bool content_reals(const struct shape *s, const struct value *v, double **at, int64_t *n) {
    if (!v || !v->content || !v->type || !elem_is_float(v->type->elem) ||
        !type_elements(v->type, n) || !(*at = ARENA_ARRAY(s->a, double, *n)))
        return false;
    for (int64_t i = 0; i < *n; i++) {
        if (!v->content[i].known)
            return false;
        (*at)[i] = shape_content_real(v->content[i]);
    }
    return true;
}

bool shape_reals(const struct shape *s, uint32_t k, double **at, int64_t *n) {
    const struct value *v = shape_has(s, k) ? resolve(s->g, s->n->in[k]) : NULL;
    if (content_reals(s, v, at, n))
        return true;
    const struct node *def = maker(s, k);
    const struct type *type = v ? v->type : NULL;
    if (def && def->op == OP_Concat && type && type->has_shape && type->rank == 1)
        return concat_reals(s, def, at, n);
    const struct tensor *t = v && !v->is_input ? v->init : NULL;
    if (def && def->op == OP_Constant && def->n_attrs == 1 && !def->attrs[0].ref) {
        const struct attr *a = &def->attrs[0];
        if (a->kind == ATTR_FLOATS) {
            *n = (int64_t)a->n;
            *at = ARENA_ARRAY(s->a, double, a->n);
            for (size_t i = 0; *at && i < a->n; i++)
                (*at)[i] = (double)a->floats[i];
            return *at != NULL;
        }
        t = a->kind == ATTR_TENSOR ? a->t : NULL;
    }
    return t && tensor_elements(t, n) && *n <= LIMIT_FOLD_ELEMENTS && t->data.source &&
           !tensor_reals(t, s->a, s->d, at);
}

bool shape_real(const struct shape *s, uint32_t k, double *x) {
    int64_t *ints, n;
    double *reals;
    if (shape_numbers(s, k, &ints, &n) && n == 1) {
        *x = (double)ints[0];
        return true;
    }
    const struct node *def = maker(s, k);
    if (def && def->op == OP_Cast && elem_is_float(shape_elem(s, k))) {
        struct shape cast = *s;
        cast.n = def;
        return shape_numbers(&cast, 0, &ints, &n) && n == 1 && (*x = (double)ints[0], true);
    }
    return shape_reals(s, k, &reals, &n) && n == 1 && (*x = reals[0], true);
}

status shape_axis(const struct shape *s, int64_t axis, int32_t rank, int32_t *out) {
    if (axis < -rank || axis >= rank)
        return shape_fail(s, "axis %lld is outside of a tensor of rank %d", (long long)axis, rank);
    *out = (int32_t)(axis < 0 ? axis + rank : axis);
    return ST_OK;
}

status shape_axes(const struct shape *s, uint32_t k, int32_t rank, int64_t **axes, int64_t *n,
                  bool *known) {
    *n = 0;
    *known = true;
    const struct attr *a = node_attr(s->n, "axes");
    if (shape_has(s, k)) {
        if (!shape_numbers(s, k, axes, n)) {
            *known = false;
            *n = 0; // some may be known, but none was checked
            return ST_OK;
        }
    } else if (a && a->kind == ATTR_INTS) {
        *n = (int64_t)a->n;
        if (!(*axes = arena_copy(s->a, a->ints, a->n * sizeof *a->ints)))
            return diag_out_of_memory(s->d);
    }
    for (int64_t i = 0; i < *n; i++) {
        int32_t axis = 0;
        status st = shape_axis(s, (*axes)[i], rank, &axis);
        if (st)
            return st;
        (*axes)[i] = axis;
        for (int64_t j = 0; j < i; j++)
            if ((*axes)[j] == axis)
                return shape_fail(s, "axis %d is given twice", axis);
    }
    return ST_OK;
}

status shape_fail(const struct shape *s, const char *format, ...) {
    struct loc where = loc_path(s->g->model->path, node_path(s->g, s->id, s->a));
    va_list args;
    va_start(args, format);
    status st = diag_errorv(s->d, DIAG_SHAPE, where, format, args);
    va_end(args);
    return st;
}

// The union of what both types state; false: they contradict each other. ONNX Runtime takes models
// whose declared shapes are wrong; *wrong: this is one, and *out is what was found.
static bool merge(struct arena *a, const struct type *declared, const struct type *found,
                  const struct type **out, bool *wrong) {
    *out = found;
    *wrong = false;
    if (!declared || declared->kind == TYPE_NONE)
        return true;
    if (declared->kind != found->kind ||
        (declared->elem && found->elem && declared->elem != found->elem))
        return false;
    if (found->kind != TYPE_TENSOR) {
        *out = declared;
        return true;
    }
    const struct type *shaped = found->has_shape ? found : declared;
    if (declared->has_shape && found->has_shape && declared->rank != found->rank)
        return (*wrong = true);
    struct dim *dims = arena_copy(a, shaped->dims, (size_t)shaped->rank * sizeof *dims);
    struct type *t = arena_copy(a, shaped, sizeof *t);
    if (!dims || !t) {
        *out = NULL;
        return true;
    }
    t->dims = dims;
    t->elem = found->elem ? found->elem : declared->elem;
    t->denotation = declared->denotation;
    t->extra = declared->extra;
    for (int32_t i = 0; declared->has_shape && found->has_shape && i < t->rank; i++) {
        struct dim x = declared->dims[i], y = found->dims[i];
        if (dim_known(x) && dim_known(y) && x.size != y.size)
            return (*wrong = true);
        dims[i] = dim_known(y) ? y : dim_known(x) ? x : y.symbol ? y : x;
        dims[i].denotation = x.denotation;
    }
    *out = t;
    return true;
}

status shape_set_like(struct shape *s, uint32_t k, const struct type *t) {
    if (!t || k >= s->n->n_out || !s->n->out[k].i)
        return ST_OK;
    struct value *v = graph_value(s->g, s->n->out[k]);
    const struct type *merged;
    bool wrong;
    if (!merge(s->a, v->type, t, &merged, &wrong)) {
        struct str declared = str_make(s->a), found = str_make(s->a);
        type_print(&declared, v->type);
        type_print(&found, t);
        return shape_fail(s, "output %s is declared as %s, but is %s", v->name, str_text(&declared),
                          str_text(&found));
    }
    if (!merged)
        return diag_out_of_memory(s->d);
    if (wrong)
        v->declared = v->type;
    v->type = merged;
    return ST_OK;
}

status shape_set(struct shape *s, uint32_t k, enum elem e, const struct dim *dims, int32_t rank) {
    if (rank > LIMIT_RANK)
        return shape_fail(s, "an output would have %d dimensions; the limit is %d", rank,
                          LIMIT_RANK);
    for (int32_t i = 0; i < rank; i++)
        if (dims[i].size < DIM_UNKNOWN || dims[i].size > LIMIT_DIM)
            return shape_fail(s, "dimension %d of an output would be %lld, which is out of range",
                              i, (long long)dims[i].size);
    const struct type *t = type_tensor(s->a, e, dims, rank);
    return t ? shape_set_like(s, k, t) : diag_out_of_memory(s->d);
}

status shape_set_unranked(struct shape *s, uint32_t k, enum elem e) {
    const struct type *t = type_unranked(s->a, e);
    return t ? shape_set_like(s, k, t) : diag_out_of_memory(s->d);
}

status shape_set_content(struct shape *s, uint32_t k, const struct term *at, int64_t n) {
    if (k >= s->n->n_out || !s->n->out[k].i)
        return ST_OK;
    struct term *copy = arena_copy(s->g->model->arena, at, (size_t)n * sizeof *at);
    graph_value(s->g, s->n->out[k])->content = copy;
    return copy ? ST_OK : diag_out_of_memory(s->d);
}

status shape_unknown(struct shape *s) {
    (void)s; // the declared types of the outputs remain
    return ST_OK;
}

status shape_infer(struct graph *g, node_id id, struct diags *d) {
    assert(id.i > 0 && id.i < g->nodes.n && !graph_node(g, id)->removed);
    struct model *m = g->model;
    const struct node *n = graph_node(g, id);
    struct shape s = {g, id, n, m->arena, d, model_opset(m, "")};
    status st = rules[n->op](&s);
    return st ? st : shape_content_infer(&s);
}
