// Merges adapters: see merge_adapters.h. A weight is a matrix of its first dimension by all others,
// held in memory while it is merged; sums are of double precision.
#include "frontend/tools/merge_adapters.h"

#include <string.h>

#include "ir/base/checked.h"

static const char left_kind[] = "lora.left(", scale_name[] = "lora.scale";

bool adapter_is_part(const char *name) {
    return strncmp(name, "lora.", 5) == 0;
}

struct merge {
    struct model *m;
    const struct tensors *state;
    struct arena *a; // scratch for one weight
    struct diags *d;
    double scale;
};

static status misfit(struct merge *x, const char *name, const char *what) {
    return diag_error(x->d, DIAG_STATE, loc_path(x->m->path, name), "%s", what);
}

static status read_floats(struct merge *x, const struct tensor *t, const float **out) {
    struct tensor converted;
    status st = tensor_convert(t, ELEM_F32, x->a, x->d, &converted);
    *out = st ? NULL : (const float *)converted.data.source->memory;
    return st;
}

// The rows of W + scale · left · right.
static status add_product(struct merge *x, const struct tensor *w, const struct tensor *left,
                          const struct tensor *right, int64_t rank, struct tensor **out) {
    const float *base, *l, *r;
    int64_t n_rows = w->dims[0], n_columns, n;
    status st = read_floats(x, w, &base);
    if (!st)
        st = read_floats(x, left, &l);
    if (!st)
        st = read_floats(x, right, &r);
    if (st)
        return st;
    tensor_elements(w, &n); // read_floats has checked it
    n_columns = n_rows ? n / n_rows : 0;
    double *row = ARENA_ARRAY(x->a, double, n_columns);
    float *sum = ARENA_ARRAY(x->m->arena, float, n);
    struct source *memory;
    if (!row || !sum)
        return diag_out_of_memory(x->d);
    for (int64_t i = 0; i < n_rows; i++) {
        for (int64_t j = 0; j < n_columns; j++)
            row[j] = (double)base[i * n_columns + j];
        for (int64_t k = 0; k < rank; k++)
            for (int64_t j = 0; j < n_columns; j++)
                row[j] += x->scale * (double)l[i * rank + k] * (double)r[k * n_columns + j];
        for (int64_t j = 0; j < n_columns; j++)
            sum[i * n_columns + j] = (float)row[j];
    }
    st = source_memory(x->m->arena, x->d, sum, n * (int64_t)sizeof *sum, &memory);
    struct tensor whole = *w;
    whole.elem = ELEM_F32;
    whole.payload = PAYLOAD_RAW;
    whole.external = (struct pairs){0};
    whole.data = (struct span){.source = memory, .n_bytes = n * (int64_t)sizeof *sum};
    if (!(*out = ARENA_NEW(x->m->arena, struct tensor)))
        return diag_out_of_memory(x->d);
    return st ? st : tensor_convert(&whole, w->elem, x->m->arena, x->d, *out);
}

static bool is_real(const struct tensor *t) {
    return t->elem == ELEM_F32 || t->elem == ELEM_F16 || t->elem == ELEM_BF16 ||
           t->elem == ELEM_F64;
}

// Whether the matrices belong to the weight; *rank: what they have in common.
static bool fits(const struct tensor *w, const struct tensor *l, const struct tensor *r,
                 int64_t *rank) {
    int64_t n_left, n_right, n, want;
    if (!is_real(w) || !is_real(l) || !is_real(r) || w->rank < 2 || l->rank < 2 || r->rank < 2 ||
        !tensor_elements(l, &n_left) || !tensor_elements(r, &n_right) || !tensor_elements(w, &n))
        return false;
    *rank = l->dims[1];
    if (l->dims[0] != w->dims[0] || r->dims[0] != *rank || *rank < 1 || w->dims[0] < 1)
        return false;
    return checked_mul(w->dims[0], *rank, &want) && n_left == want &&
           checked_mul(n / w->dims[0], *rank, &want) && n_right == want;
}

static status merge_one(struct merge *x, const struct tensor *left, int64_t *n_merged) {
    size_t n = strlen(left->name) - strlen(left_kind);
    char *name = str_format(x->a, "%.*s", (int)n - 1, left->name + strlen(left_kind));
    char *other = name ? str_format(x->a, "lora.right(%s)", name) : NULL;
    if (!other)
        return diag_out_of_memory(x->d);
    const struct tensor *right = tensors_find(x->state, other), *w;
    value_id v = state_find(x->m->graph, name);
    int64_t rank;
    if (!right)
        return misfit(x, left->name, "the state has no lora.right of this name");
    if (!v.i || !(w = state_constant(x->m->graph, v)))
        return misfit(x, name,
                      "the state has an adapter for this weight, which the model does not have");
    if (!fits(w, left, right, &rank))
        return misfit(x, name, "the shapes of the adapter in the state do not fit this weight");
    struct tensor *merged = NULL;
    status st = add_product(x, w, left, right, rank, &merged);
    ++*n_merged;
    return st ? st : state_put(x->m, v, merged, x->d);
}

static status read_scale(struct merge *x) {
    const struct tensor *t = tensors_find(x->state, scale_name);
    double *value;
    int64_t n;
    x->scale = 1;
    if (!t)
        return ST_OK;
    if (!tensor_elements(t, &n) || n != 1)
        return misfit(x, scale_name, "is not one number");
    status st = tensor_reals(t, x->a, x->d, &value);
    x->scale = st ? 0 : value[0];
    return st;
}

status merge_adapters(struct model *m, const struct tensors *state, struct diags *d,
                      int64_t *n_merged) {
    struct arena scratch = arena_make(m->arena->mem);
    struct merge x = {.m = m, .state = state, .a = &scratch, .d = d};
    status st = read_scale(&x);
    for (size_t i = 0; i < state->list.n && !st; i++) {
        const char *name = state->list.at[i]->name;
        if (strncmp(name, left_kind, strlen(left_kind)) == 0 && str_ends_with(name, ")"))
            st = merge_one(&x, state->list.at[i], n_merged);
        arena_free(&scratch);
    }
    arena_free(&scratch);
    return st;
}
