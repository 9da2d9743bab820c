// Export: see export.h. Stages: find for each tensor of the state the constant of the model that it
// replaces; refuse the state if one has no place; replace them; switch training mode off.
#include "frontend/tools/export.h"

#include <string.h>

#include "ir/keys.h"

#define SHOWN_UNKNOWN 3

struct exporter {
    struct model *m;
    struct graph *g;
    struct pass_context *c;
    struct exported *facts;
    int64_t n_unknown; // tensors of the state that have no place in the model
};

// Names of a training step's own state that stands for no value of the model.
static bool is_own_name(const char *name) {
    static const char *const names[] = {"step", "loss_scale", "good_steps"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

// State of the optimizer: KIND(NAME), where NAME is a parameter.
static bool is_optimizer_state(struct exporter *x, const char *name) {
    const char *open = strchr(name, '(');
    size_t n = open ? strlen(open) : 0;
    if (n < 3 || open[n - 1] != ')')
        return is_own_name(name);
    char *inner = arena_copy(x->c->arena, open + 1, n - 1);
    if (!inner)
        return false;
    inner[n - 2] = 0;
    return state_find(x->g, inner).i != 0;
}

static status misfit(struct exporter *x, const struct tensor *t, const struct type *want) {
    struct str have = str_make(x->c->arena), wanted = str_make(x->c->arena);
    const struct type *type = tensor_type(x->c->arena, t);
    if (!type)
        return diag_out_of_memory(x->c->diags);
    type_print(&have, type);
    type_print(&wanted, want);
    return diag_error(x->c->diags, DIAG_STATE, loc_path(x->m->path, t->name),
                      "is %s in the model, but %s in the state", str_text(&wanted),
                      str_text(&have));
}

// A parameter of 16 bits of which the state has a copy of 32.
static status narrow(struct exporter *x, const struct tensor *t, enum elem to,
                     struct tensor **out) {
    if (!(*out = ARENA_NEW(x->m->arena, struct tensor)))
        return diag_out_of_memory(x->c->diags);
    x->facts->n_changed++;
    return tensor_convert(t, to, x->m->arena, x->c->diags, *out);
}

// The tensor in the type of the model.
static status fit(struct exporter *x, const struct tensor *t, const struct type *want,
                  struct tensor **out) {
    bool same = !want || (want->kind == TYPE_TENSOR && (!want->has_shape || want->rank == t->rank));
    for (int32_t i = 0; same && want && want->has_shape && i < t->rank; i++)
        same = want->dims[i].size < 0 || want->dims[i].size == t->dims[i];
    if (!same)
        return misfit(x, t, want);
    if (want && want->elem != t->elem) {
        bool is_short = want->elem == ELEM_F16 || want->elem == ELEM_BF16;
        return t->elem == ELEM_F32 && is_short ? narrow(x, t, want->elem, out) : misfit(x, t, want);
    }
    *out = arena_copy(x->m->arena, t, sizeof *t);
    return *out ? ST_OK : diag_out_of_memory(x->c->diags);
}

static const struct tensor *constant_of(const struct graph *g, node_id def) {
    const struct attr *value = node_attr(graph_node(g, def), "value");
    return value && value->kind == ATTR_TENSOR ? value->t : NULL;
}

// The type that the model gives the value.
static const struct type *type_of(struct exporter *x, value_id v) {
    const struct value *old = graph_value(x->g, v);
    const struct tensor *t = old->init;
    if (!t && old->def.i && graph_node(x->g, old->def)->op == OP_Constant)
        t = constant_of(x->g, old->def);
    return t ? tensor_type(x->c->arena, t) : old->type;
}

// An input that has a value now is a constant, as initializers are from IR version 4 on.
static void drop_input(struct graph *g, value_id v) {
    size_t n = 0;
    for (size_t i = 0; i < g->inputs.n; i++)
        if (!value_same(g->inputs.at[i], v))
            g->inputs.at[n++] = g->inputs.at[i];
    g->inputs.n = n;
    graph_value(g, v)->is_input = false;
}

static void keep_facts(struct tensor *t, const struct tensor *old) {
    t->name = old->name;
    t->doc = old->doc;
    t->metadata = old->metadata;
}

static status put(struct exporter *x, value_id v, struct tensor *t) {
    struct graph *g = x->g;
    struct value *old = graph_value(g, v);
    const struct node *def = old->def.i ? graph_node(g, old->def) : NULL;
    const char *value = pool_intern(x->m->pool, "value");
    if (!value || !(t->name = pool_intern(x->m->pool, t->name)))
        return diag_out_of_memory(x->c->diags);
    if (old->init) {
        keep_facts(t, old->init);
        old->init = t;
        return ST_OK;
    }
    if (def && def->op == OP_Constant && constant_of(g, old->def)) {
        keep_facts(t, constant_of(g, old->def));
        struct attr a = {.name = value, .kind = ATTR_TENSOR, .n = 1, .t = t};
        return graph_set_attr(g, old->def, a) ? ST_OK : diag_out_of_memory(x->c->diags);
    }
    if (def) {
        graph_remove_node(g, old->def);
        graph_sweep(g);
    }
    if (old->is_input && x->m->ir_version >= 4)
        drop_input(g, v);
    return graph_add_init(g, v, t) ? ST_OK : diag_out_of_memory(x->c->diags);
}

static status replace(struct exporter *x, const struct tensor *t) {
    value_id v = state_find(x->g, t->name);
    struct tensor *fitted = NULL;
    if (!v.i && is_optimizer_state(x, t->name)) {
        x->facts->n_left++;
        return ST_OK;
    }
    if (!v.i)
        return x->n_unknown++ >= SHOWN_UNKNOWN
                   ? diag_status(DIAG_STATE)
                   : diag_error(x->c->diags, DIAG_STATE, loc_path(x->m->path, t->name),
                                "the model has no parameter of this name, but the state has");
    status st = fit(x, t, type_of(x, v), &fitted);
    if (!st)
        st = put(x, v, fitted);
    x->facts->n_replaced += !st;
    return st;
}

static int64_t count_untouched(const struct exporter *x, const struct tensors *state) {
    int64_t n = 0;
    for (size_t i = 0; i < x->g->inits.n; i++) {
        const struct value *v = graph_value(x->g, x->g->inits.at[i]);
        n += v->init && elem_is_float(v->init->elem) && !tensors_find(state, v->name);
    }
    return n;
}

status export_model(struct model *m, const struct tensors *state, struct pass_context *c,
                    struct exported *out) {
    struct exporter x = {.m = m, .g = m->graph, .c = c, .facts = out};
    status st = ST_OK;
    *out = (struct exported){0};
    if (pairs_get(&m->metadata, KEY_OPTIONS))
        return diag_error(c->diags, DIAG_USAGE, loc_file(m->path),
                          "this is a training step of mfc; give the model that it was made from");
    for (size_t i = 0; i < state->list.n; i++) {
        status one = replace(&x, state->list.at[i]);
        st = st ? st : one;
    }
    if (x.n_unknown > SHOWN_UNKNOWN)
        diag_error(c->diags, DIAG_STATE, loc_file(m->path),
                   "%lld more tensors of the state are not in the model; is it the model that the "
                   "step was made from?",
                   (long long)(x.n_unknown - SHOWN_UNKNOWN));
    if (!st && !out->n_replaced)
        st = diag_error(c->diags, DIAG_STATE, loc_file(m->path),
                        "the state has none of the model's parameters");
    out->n_untouched = count_untouched(&x, state);
    if (!st)
        st = pass_run(&pass_inference, m, c);
    return st ? st : model_verify(m, c->diags);
}
