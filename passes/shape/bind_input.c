// Inputs with given values: see bind_input.h. NAME=X fills the input with X; NAME=X:Y:Z gives every
// element. Control flow and shapes that the input decides fold away then (passes/fold).
#include "passes/shape/bind_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/limits.h"
#include "passes/shape/shape.h"

// A number, or true or false.
static bool read_number(const char **at, double *x) {
    static const char *const words[] = {"false", "true"};
    for (int i = 0; i < 2; i++)
        if (strncmp(*at, words[i], strlen(words[i])) == 0) {
            *at += strlen(words[i]);
            *x = i;
            return true;
        }
    char *end;
    errno = 0;
    *x = strtod(*at, &end);
    bool ok = end != *at && errno == 0;
    *at = end;
    return ok;
}

// The numbers of a text such as 1:2:3; -1: it is not one.
static int64_t read_numbers(const char *text, double *x, int64_t max) {
    int64_t n = 0;
    do {
        if (n == max || !read_number(&text, &x[n++]))
            return -1;
    } while (*text == ':' && text++);
    return *text ? -1 : n;
}

static status refuse(struct pass_context *c, const char *text, const char *why) {
    return diag_error(c->diags, DIAG_USAGE, loc_none(), "--input-value %s: %s", text, why);
}

static bool is_number_type(enum elem e) {
    return elem_is_int(e) || e == ELEM_BOOL || e == ELEM_F16 || e == ELEM_BF16 || e == ELEM_F32 ||
           e == ELEM_F64;
}

// All elements from the n given ones.
static struct tensor *make_tensor(struct model *m, const struct type *t, const double *x,
                                  int64_t n) {
    int64_t count = n, dims[LIMIT_RANK];
    type_elements(t, &count);
    for (int32_t i = 0; i < t->rank; i++)
        dims[i] = dim_known(t->dims[i]) ? t->dims[i].size : n;
    double *all = ARENA_ARRAY(m->arena, double, count);
    int64_t *whole = ARENA_ARRAY(m->arena, int64_t, count);
    for (int64_t i = 0; all && whole && i < count; i++) {
        all[i] = x[n == 1 ? 0 : i];
        whole[i] = elem_is_float(t->elem) ? 0 : (int64_t)all[i];
    }
    if (!all || !whole)
        return NULL;
    return elem_is_float(t->elem) ? tensor_from_reals(m->arena, t->elem, all, dims, t->rank)
                                  : tensor_from_ints(m->arena, t->elem, whole, dims, t->rank);
}

static status bind_one(struct model *m, struct pass_context *c, const char *text) {
    struct graph *g = m->graph;
    const char *eq = strrchr(text, '=');
    const char *name = eq ? pool_intern_n(m->pool, text, (size_t)(eq - text)) : NULL;
    value_id v = name ? graph_find(g, name) : VALUE_NONE;
    double *x = ARENA_ARRAY(c->arena, double, LIMIT_FOLD_ELEMENTS);
    if (!x)
        return diag_out_of_memory(c->diags);
    int64_t n = eq ? read_numbers(eq + 1, x, LIMIT_FOLD_ELEMENTS) : -1, count;
    if (n < 1)
        return refuse(c, text, "must be NAME=NUMBER or NAME=NUMBER:NUMBER:…");
    if (!v.i || !graph_value(g, v)->is_input)
        return refuse(c, text, "the model has no such input");
    const struct type *t = graph_value(g, v)->type;
    if (!t || t->kind != TYPE_TENSOR || !is_number_type(t->elem))
        return refuse(c, text, "the input is no tensor of numbers");
    bool counted = type_elements(t, &count), open_vector = t->has_shape && t->rank == 1 && !counted;
    if (!counted && !open_vector)
        return refuse(c, text, "the input has unknown dimensions; give them with --shape or --dim");
    if (counted && n != 1 && n != count)
        return refuse(c, text, "the input has another number of elements");
    struct tensor *made = make_tensor(m, t, x, n);
    if (!made)
        return diag_out_of_memory(c->diags);
    graph_remove_input(g, v);
    graph_value(g, v)->init = NULL;
    if (!graph_add_init(g, v, made))
        return diag_out_of_memory(c->diags);
    made->name = graph_value(g, v)->name;
    graph_value(g, v)->is_constant = true;
    graph_value(g, v)->type = tensor_type(m->arena, made);
    return graph_value(g, v)->type ? ST_OK : diag_out_of_memory(c->diags);
}

status bind_input_values(struct model *m, struct pass_context *c) {
    const struct option_value *o = options_get(c->options, "input-value");
    status st = ST_OK;
    for (size_t i = 0; i < o->list.n && !st; i++)
        st = bind_one(m, c, o->list.at[i]);
    return st;
}
