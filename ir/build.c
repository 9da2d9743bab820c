// Builder of nodes and constants: see build.h.
#include "ir/build.h"

#include <assert.h>
#include <string.h>

struct attr attr_int(const char *name, int64_t x) {
    return (struct attr){.name = name, .kind = ATTR_INT, .n = 1, .i = x};
}

struct attr attr_float(const char *name, double x) {
    return (struct attr){.name = name, .kind = ATTR_FLOAT, .n = 1, .f = (float)x};
}

struct attr attr_text(const char *name, const char *x) {
    return (struct attr){
        .name = name, .kind = ATTR_STRING, .n = 1, .s = {(const uint8_t *)x, strlen(x)}};
}

struct attr attr_ints(const char *name, const int64_t *x, size_t n) {
    return (struct attr){.name = name, .kind = ATTR_INTS, .n = n, .ints = (int64_t *)x};
}

struct builder builder_make(struct graph *g, struct diags *d) {
    assert(g && d);
    return (struct builder){.g = g, .d = d, .constants = map_make(g->model->arena)};
}

static void out_of_memory(struct builder *b) {
    if (!b->failed)
        b->failed = diag_out_of_memory(b->d);
}

static value_id fresh_value(struct builder *b, const char *stem) {
    assert(b->scope || !b->numbers);
    struct arena *a = b->g->model->arena;
    const char *like = b->numbers ? str_format(a, "%s/%u", b->scope, ++b->n_named)
                       : b->scope ? str_format(a, "%s/%s", b->scope, stem)
                                  : stem;
    const char *name = like ? graph_fresh_name(b->g, like) : NULL;
    value_id v = name ? graph_add_value(b->g, name, NULL) : VALUE_NONE;
    if (!v.i)
        out_of_memory(b);
    return v;
}

// Copies the payload of an attribute, which is usually on the caller's stack.
static bool own_attr(struct arena *a, struct attr *at) {
    if (at->kind == ATTR_INTS)
        return (at->ints = arena_copy(a, at->ints, at->n * sizeof *at->ints)) != NULL;
    if (at->kind == ATTR_STRING)
        return (at->s.at = arena_copy(a, at->s.at, at->s.n)) != NULL;
    return true;
}

void build_outputs(struct builder *b, const char *type, struct values in, struct attrs at,
                   value_id *out, uint32_t n_out) {
    assert(type && n_out > 0);
    for (uint32_t k = 0; k < n_out; k++)
        out[k] = b->failed ? VALUE_NONE : fresh_value(b, type);
    if (b->failed)
        return;
    node_id id = graph_add_node(b->g, "", type, in, (struct values){out, n_out});
    if (!id.i) {
        out_of_memory(b);
        return;
    }
    graph_node(b->g, id)->name = graph_value(b->g, out[0])->name; // unique in the graph
    for (uint32_t k = 0; k < at.n; k++) {
        struct attr copy = at.at[k];
        if (!own_attr(b->g->model->arena, &copy) || !graph_set_attr(b->g, id, copy))
            out_of_memory(b);
    }
    if (!b->failed && b->infer)
        b->failed = b->infer(b->g, id, b->d);
}

value_id build_op(struct builder *b, const char *type, struct values in, struct attrs at) {
    value_id out = VALUE_NONE;
    build_outputs(b, type, in, at, &out, 1);
    return b->failed ? VALUE_NONE : out;
}

// Type and bytes of a constant, as a key of builder.constants.
static bool constant_key(struct builder *b, const struct tensor *t, struct str *key) {
    *key = str_make(b->g->model->arena);
    str_addf(key, "%d:", (int)t->elem);
    for (int32_t i = 0; i < t->rank; i++)
        str_addf(key, "%lld,", (long long)t->dims[i]);
    str_add_char(key, ':');
    str_add_n(key, t->data.source->memory, (size_t)t->data.n_bytes);
    return !key->failed;
}

value_id build_tensor(struct builder *b, struct tensor *t) {
    struct str key;
    int64_t known;
    if (!b->failed && (!t || !constant_key(b, t, &key)))
        out_of_memory(b);
    if (b->failed)
        return VALUE_NONE;
    if (map_get(&b->constants, key.at, key.n, &known))
        return (value_id){(uint32_t)known};
    value_id v = fresh_value(b, "const");
    const struct type *type = tensor_type(b->g->model->arena, t);
    if (!v.i || !type || !graph_add_init(b->g, v, t) ||
        !map_put(&b->constants, key.at, key.n, v.i)) {
        out_of_memory(b);
        return VALUE_NONE;
    }
    graph_value(b->g, v)->type = type;
    graph_value(b->g, v)->is_constant = true;
    t->name = graph_value(b->g, v)->name;
    return v;
}

value_id build_ints(struct builder *b, const int64_t *x, int64_t n) {
    return build_tensor(b, tensor_from_ints(b->g->model->arena, ELEM_I64, x, &n, 1));
}

value_id build_scalar(struct builder *b, enum elem e, double x) {
    return build_tensor(b, tensor_from_reals(b->g->model->arena, e, &x, NULL, 0));
}
