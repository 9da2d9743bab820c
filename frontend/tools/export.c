// Export: see export.h. Stages: find for each tensor of the state the constant of the model that it
// replaces; refuse the state if one has no place; replace them; switch training mode off.
#include "frontend/tools/export.h"

#include <string.h>

#include "frontend/tools/merge_adapters.h"
#include "ir/keys.h"
#include "ir/splice.h"

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

// State of the optimizer: KIND(NAME), where NAME is a parameter, or KIND(NAME) in its turn.
static bool is_optimizer_state(struct exporter *x, const char *name) {
    while (!is_own_name(name)) {
        const char *open = strchr(name, '(');
        size_t n = open ? strlen(open) : 0;
        if (n < 3 || open[n - 1] != ')')
            return false;
        char *inner = arena_copy(x->c->arena, open + 1, n - 1);
        if (!inner)
            return false;
        inner[n - 2] = 0;
        if (state_find(x->g, inner).i)
            return true;
        name = inner;
    }
    return true;
}

static status misfit(struct exporter *x, const struct tensor *t, const struct type *want) {
    struct str have = str_make(x->c->arena), wanted = str_make(x->c->arena);
    const struct type *type = tensor_type(x->c->arena, t);
    if (!type)
        return diag_out_of_memory(x->c->diags);
    type_print(&have, type);
    type_print(&wanted, want);
    return diag_error(x->c->diags, DIAG_STATE, loc_path(x->m->path, t->name),
                      "is %s in the model, but %s in the state%s", str_text(&wanted),
                      str_text(&have),
                      options_given(x->c->options, "head")
                          ? ""
                          : "; a step made with --head is exported with the same --head");
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

// The type that the model gives the value.
static const struct type *type_of(struct exporter *x, value_id v) {
    const struct value *old = graph_value(x->g, v);
    const struct tensor *t = state_constant(x->g, v);
    return t ? tensor_type(x->c->arena, t) : old->type;
}

static status keep(struct exporter *x, struct tensor *t) {
    return tensors_add(&x->facts->trained, t) ? ST_OK : diag_out_of_memory(x->c->diags);
}

// Parameters inside of branches and loops, which a training step has in its own graph.
static status lift_all(struct exporter *x) {
    struct graph *sub;
    size_t n = x->g->order.n, n_lifted = 0;
    status st = ST_OK;
    for (size_t i = 0; i < n && !st; i++)
        for (size_t k = 0; !st && (sub = node_subgraph(graph_node(x->g, x->g->order.at[i]), k));
             k++)
            st = splice_lift_constants(sub, x->c->arena, x->c->diags, &n_lifted);
    return st || !n_lifted ? st : graph_sort(x->g, x->c->diags);
}

static status replace(struct exporter *x, struct tensor *t) {
    value_id v = state_find(x->g, t->name);
    if (!v.i && !adapter_is_part(t->name)) {
        status st = lift_all(x);
        if (st)
            return st;
        v = state_find(x->g, t->name);
    }
    struct tensor *fitted = NULL;
    if (!v.i && adapter_is_part(t->name))
        return keep(x, t); // merged at the end
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
        st = state_put(x->m, v, fitted, x->c->diags);
    x->facts->n_replaced += !st;
    return st ? st : keep(x, t);
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
    *out = (struct exported){.trained = tensors_make(c->arena)};
    if (pairs_get(&m->metadata, KEY_OPTIONS))
        return diag_error(c->diags, DIAG_USAGE, loc_file(m->path),
                          "this is a training step of mfc; give the model that it was made from");
    status head = pass_run(&pass_head, m, c); // with the option of the step
    if (head)
        return head;
    for (size_t i = 0; i < state->list.n; i++) {
        status one = replace(&x, state->list.at[i]);
        st = st ? st : one;
    }
    if (x.n_unknown > SHOWN_UNKNOWN)
        diag_error(c->diags, DIAG_STATE, loc_file(m->path),
                   "%lld more tensors of the state are not in the model; is it the model that the "
                   "step was made from?",
                   (long long)(x.n_unknown - SHOWN_UNKNOWN));
    if (!st)
        st = merge_adapters(m, state, c->diags, &out->n_merged);
    if (!st && !out->n_replaced && !out->n_merged)
        st = diag_error(c->diags, DIAG_STATE, loc_file(m->path),
                        "the state has none of the model's parameters");
    out->n_untouched = count_untouched(&x, state);
    if (!st)
        st = pass_run(&pass_inference, m, c);
    return st ? st : model_verify(m, c->diags);
}
