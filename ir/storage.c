// Storages of values: see storage.h. Assigns storages to inputs and initializers first, then node
// by node in execution order, so that the source of a view has its storage before the view.
#include "ir/storage.h"

#include <assert.h>

#include "ir/base/checked.h"

#define MAX_NAMED 5

struct making {
    const struct graph *g;
    struct storage *s;
    struct arena *arena;
    struct diags *diags;
    size_t n_unsized; // values of unknown size
};

// The size of a value. An unknown size is reported, and 0.
static int64_t size_of(struct making *k, const struct value *v) {
    int64_t n_bytes;
    if (v->init ? tensor_bytes(v->init, &n_bytes) : type_bytes(v->type, &n_bytes))
        return n_bytes;
    if (k->n_unsized++ < MAX_NAMED) {
        struct str text = str_make(k->arena);
        if (v->type)
            type_print(&text, v->type);
        bool is_tensor = !v->type || v->type->kind == TYPE_TENSOR;
        diag_error(k->diags, is_tensor ? DIAG_UNBOUND : DIAG_UNSUPPORTED,
                   loc_file(k->g->model->path), "value %s has no known size (%s)%s", v->name,
                   v->type ? str_text(&text) : "its type is unknown",
                   is_tensor ? "; bind open dimensions with --dim, --batch or --shape"
                             : ": only tensors can be planned");
    }
    return 0;
}

static bool new_storage(struct making *k, value_id v, bool is_persistent) {
    struct storage *s = k->s;
    const struct value *at = graph_value(k->g, v);
    uint32_t i = s->n++;
    s->of[v.i] = i;
    s->first[i] = v;
    s->bytes[i] = size_of(k, at);
    s->is_persistent[i] = is_persistent;
    s->is_output[i] = at->is_output;
    return !is_persistent || checked_add(s->persistent_bytes, s->bytes[i], &s->persistent_bytes);
}

bool storage_is_unwritten(const struct graph *g, const struct node *n) {
    const struct type *a =
        n->op == OP_MatMulInteger && n->in[0].i ? graph_value(g, n->in[0])->type : NULL;
    return a && type_is_static(a) && a->rank == 2 && a->dims[1].size == 0;
}

// Whether a view is on another device than its source: a copy with its own storage.
static bool is_sent(const struct graph *g, const struct node *n) {
    node_id def = graph_value(g, n->in[0])->def;
    return def.i && graph_node(g, def)->device != n->device;
}

static bool node_storages(struct making *k, const struct node *n) {
    bool is_view = op_info(n->op)->flags & OPF_VIEW && n->n_in && n->in[0].i && !is_sent(k->g, n);
    bool ok = true;
    for (uint32_t o = 0; o < n->n_out && ok; o++) {
        if (!n->out[o].i)
            continue;
        bool shares =
            is_view && o == 0 && !graph_value(k->g, n->out[0])->is_output && k->s->of[n->in[0].i];
        if (shares)
            k->s->of[n->out[0].i] = k->s->of[n->in[0].i];
        else
            ok = new_storage(k, n->out[o], n->op == OP_Constant);
        if (ok && !shares && storage_is_unwritten(k->g, n))
            k->s->bytes[k->s->of[n->out[o].i]] = 0;
    }
    return ok;
}

status storage_of(const struct graph *g, struct arena *a, struct diags *d, struct storage *out) {
    assert(g && a && d && out);
    size_t n = g->values.n;
    *out = (struct storage){.n = 1,
                            .of = ARENA_ARRAY(a, uint32_t, n),
                            .bytes = ARENA_ARRAY(a, int64_t, n),
                            .is_persistent = ARENA_ARRAY(a, bool, n),
                            .is_output = ARENA_ARRAY(a, bool, n),
                            .first = ARENA_ARRAY(a, value_id, n)};
    if (!out->of || !out->bytes || !out->is_persistent || !out->is_output || !out->first)
        return diag_out_of_memory(d);
    struct making k = {.g = g, .s = out, .arena = a, .diags = d};
    bool ok = true;
    for (uint32_t v = 1; v < n && ok; v++) {
        const struct value *at = &g->values.at[v];
        if (at->is_input || at->init || at->sparse_init)
            ok = new_storage(&k, (value_id){v}, true);
    }
    for (size_t i = 0; i < g->order.n && ok; i++)
        ok = node_storages(&k, graph_node(g, g->order.at[i]));
    if (!ok)
        return diag_error(d, DIAG_LIMIT, loc_file(g->model->path),
                          "the sizes of inputs and constants together exceed 2^63 bytes");
    if (k.n_unsized > MAX_NAMED)
        diag_error(d, DIAG_UNBOUND, loc_file(g->model->path), "and %zu more values without a size",
                   k.n_unsized - MAX_NAMED);
    return k.n_unsized ? d->worst : ST_OK;
}

bool storage_is_view(const struct storage *s, const struct node *n) {
    return n->n_in && n->n_out == 1 && n->in[0].i && n->out[0].i && s->of[n->out[0].i] &&
           s->of[n->out[0].i] == s->of[n->in[0].i];
}

bool storage_is_executed(const struct storage *s, const struct node *n) {
    return n->op != OP_Constant && !storage_is_view(s, n);
}
