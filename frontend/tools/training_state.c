// The state of a training step: see training_state.h.
#include "frontend/tools/training_state.h"

#include <stdlib.h>
#include <string.h>

#include "frontend/load.h"
#include "ir/keys.h"
#include "ir/state/safetensors.h"

value_id state_find(const struct graph *g, const char *name) {
    value_id v = graph_find(g, name);
    const struct value *x = graph_value(g, v);
    if (!v.i || x->init || x->is_input)
        return v;
    enum op op = x->def.i ? graph_node(g, x->def)->op : OP_UNKNOWN;
    return op == OP_Constant || op == OP_ConstantOfShape ? v : VALUE_NONE;
}

const struct tensor *state_constant(const struct graph *g, value_id v) {
    const struct value *x = graph_value(g, v);
    if (!v.i || x->init || !x->def.i)
        return v.i ? x->init : NULL;
    const struct node *n = graph_node(g, x->def);
    const struct attr *at = n->op == OP_Constant ? node_attr(n, "value") : NULL;
    return at && at->kind == ATTR_TENSOR ? at->t : NULL;
}

static void keep_facts(struct tensor *t, const struct tensor *old) {
    t->name = old->name;
    t->doc = old->doc;
    t->metadata = old->metadata;
}

status state_put(struct model *m, value_id v, struct tensor *t, struct diags *d) {
    struct graph *g = m->graph;
    struct value *old = graph_value(g, v);
    const struct node *def = old->def.i ? graph_node(g, old->def) : NULL;
    const char *value = pool_intern(m->pool, "value");
    if (!value || !(t->name = pool_intern(m->pool, t->name)))
        return diag_out_of_memory(d);
    if (old->init) {
        keep_facts(t, old->init);
        old->init = t;
        return ST_OK;
    }
    if (def && def->op == OP_Constant && state_constant(g, v)) {
        keep_facts(t, state_constant(g, v));
        struct attr a = {.name = value, .kind = ATTR_TENSOR, .n = 1, .t = t};
        return graph_set_attr(g, old->def, a) ? ST_OK : diag_out_of_memory(d);
    }
    if (def) {
        graph_remove_node(g, old->def);
        graph_sweep(g);
    }
    if (old->is_input && m->ir_version >= 4)
        graph_remove_input(g, v); // it has a value now: a constant, as from IR version 4 on
    return graph_add_init(g, v, t) ? ST_OK : diag_out_of_memory(d);
}

// ---- The starting state ----

// How an input starts, by a line "HOW NAME" of the metadata: a number, or "copy" for KIND(NAME)
// that starts as a copy of NAME. NULL: the metadata do not say.
static const char *find_start(const struct model *m, const char *name) {
    const char *line = pairs_get(&m->metadata, KEY_STATE);
    for (size_t n; line && *line; line += n + (line[n] != 0)) {
        n = strcspn(line, "\n");
        size_t n_value = strcspn(line, " \n") + 1;
        if (n_value < n && n - n_value == strlen(name) &&
            strncmp(line + n_value, name, n - n_value) == 0)
            return line;
    }
    return NULL;
}

// A tensor whose elements are all one number.
static struct tensor *filled(struct arena *a, enum elem e, const int64_t *dims, int32_t rank,
                             double x) {
    struct tensor shape = {.elem = e, .dims = dims, .rank = rank};
    int64_t n;
    double *all = tensor_elements(&shape, &n) ? ARENA_ARRAY(a, double, n) : NULL;
    for (int64_t i = 0; all && i < n; i++)
        all[i] = x;
    return all ? tensor_from_reals(a, e, all, dims, rank) : NULL;
}

static struct tensor *of_type(struct arena *a, const struct type *t, double x) {
    int64_t *dims = ARENA_ARRAY(a, int64_t, t->rank);
    struct tensor *zeros = ARENA_NEW(a, struct tensor);
    if (!dims || !zeros)
        return NULL;
    for (int32_t i = 0; i < t->rank; i++)
        dims[i] = t->dims[i].size;
    *zeros = (struct tensor){.elem = t->elem, .dims = dims, .rank = t->rank};
    return x == 0 ? zeros : filled(a, t->elem, dims, t->rank, x);
}

// The value that a step or the model has for the input; NULL: none has.
static const struct tensor *known_value(const struct state_sources *from, const char *name) {
    const struct tensor *t = NULL;
    for (int i = 0; i < 2 && !t && from->step[i]; i++)
        t = graph_value(from->step[i]->graph, graph_find(from->step[i]->graph, name))->init;
    return t || !from->model
               ? t
               : state_constant(from->model->graph, state_find(from->model->graph, name));
}

static status no_value(const struct state_sources *from, const char *name, struct diags *d) {
    return diag_error(d, DIAG_STATE, loc_path(from->step[0]->path, name),
                      from->model
                          ? "the model has no value for this input of the step; is the step made "
                            "from it?"
                          : "the step holds no value for this input; give the model that it was "
                            "made from, too: mfc state PLAN MODEL -o FILE");
}

// The input NAME of an output next(NAME) or grad(NAME); VALUE_NONE: it is another output.
static value_id input_of(const struct graph *g, value_id out, const char *kind,
                         struct arena *scratch) {
    const char *text = graph_value(g, out)->name;
    size_t n = strlen(text), n_kind = strlen(kind);
    if (n < n_kind + 2 || strncmp(text, kind, n_kind) != 0 || text[n - 1] != ')')
        return VALUE_NONE;
    char *name = arena_copy(scratch, text + n_kind, n - n_kind);
    if (!name)
        return VALUE_NONE;
    name[n - n_kind - 1] = 0;
    value_id v = graph_find(g, name);
    return v.i && graph_value(g, v)->is_input ? v : VALUE_NONE;
}

struct starting {
    const struct state_sources *from;
    struct diags *d;
    struct tensors *out;
};

// A copy with the element type of the input: the master copy of a parameter of 16 bits.
static status start_copy(struct starting *s, const struct value *x, struct tensor **out) {
    struct arena *a = s->out->arena;
    const char *inner = strchr(x->name, '(');
    char *name = inner ? arena_copy(a, inner + 1, strlen(inner)) : NULL;
    *out = ARENA_NEW(a, struct tensor);
    if (!name || !*out)
        return diag_out_of_memory(s->d);
    name[strlen(name) - 1] = 0;
    const struct tensor *known = known_value(s->from, name);
    return known ? tensor_convert(known, x->type->elem, a, s->d, *out)
                 : no_value(s->from, name, s->d);
}

static status start_value(struct starting *s, const struct model *step, value_id v,
                          struct tensor **t) {
    const struct value *x = graph_value(step->graph, v);
    const char *start = find_start(step, x->name);
    const struct tensor *known = known_value(s->from, x->name);
    if (start && strncmp(start, "copy ", 5) == 0)
        return start_copy(s, x, t);
    if (!known && !start)
        return no_value(s->from, x->name, s->d);
    *t = known ? arena_copy(s->out->arena, known, sizeof *known)
               : of_type(s->out->arena, x->type, strtod(start, NULL));
    return *t ? ST_OK : diag_out_of_memory(s->d);
}

static status add_start(struct starting *s, const struct model *step, value_id v) {
    const char *name = graph_value(step->graph, v)->name;
    struct tensor *t = NULL;
    if (tensors_find(s->out, name))
        return ST_OK;
    status st = start_value(s, step, v, &t);
    if (st)
        return st;
    t->name = name;
    t->doc = NULL;
    return tensors_add(s->out, t) ? ST_OK : diag_out_of_memory(s->d);
}

// Parameters, with a value of their own or with a gradient (which data may have, too), and what is
// fed back.
static status add_step(struct starting *s, const struct model *step) {
    const struct graph *g = step->graph;
    struct arena scratch = arena_make(s->out->arena->mem);
    status st = ST_OK;
    for (size_t i = 0; i < g->inputs.n; i++) {
        status one =
            graph_value(g, g->inputs.at[i])->init ? add_start(s, step, g->inputs.at[i]) : ST_OK;
        st = st ? st : one;
    }
    for (size_t i = 0; i < g->outputs.n; i++) {
        value_id v = input_of(g, g->outputs.at[i], "next(", &scratch);
        status one = v.i ? add_start(s, step, v) : ST_OK;
        v = input_of(g, g->outputs.at[i], "grad(", &scratch);
        if (!one && v.i && known_value(s->from, graph_value(g, v)->name))
            one = add_start(s, step, v);
        st = st ? st : one;
    }
    arena_free(&scratch);
    return st;
}

status state_start(const struct state_sources *from, struct arena *a, struct diags *d,
                   struct tensors *out) {
    struct starting s = {from, d, out};
    status st = ST_OK;
    *out = tensors_make(a);
    for (int i = 0; i < 2 && from->step[i]; i++) {
        status one = add_step(&s, from->step[i]);
        st = st ? st : one;
    }
    return st;
}

status state_require(const struct tensors *start, const struct model *step, struct diags *d) {
    return start->list.n ? ST_OK
                         : diag_error(d, DIAG_STATE, loc_file(step->path),
                                      "has no state: it is not a training step of mfc");
}

// ---- Files ----

static status write_model(const struct tensors *t, const struct model *like, const char *path,
                          struct outputs *together, struct diags *d) {
    struct model *w = model_new(like->arena, like->pool);
    if (!w || !VEC_PUSH(like->arena, &w->opsets,
                        (struct opset){.domain = "", .version = model_opset(like, "")}))
        return diag_out_of_memory(d);
    w->ir_version = like->ir_version;
    w->producer = "mfc";
    w->path = like->path;
    w->graph->name = "weights";
    for (size_t i = 0; i < t->list.n; i++) {
        struct tensor *x = t->list.at[i];
        const struct type *type = tensor_type(like->arena, x);
        struct tensor *full =
            x->payload == PAYLOAD_NONE ? filled(like->arena, x->elem, x->dims, x->rank, 0) : x;
        value_id v = type ? graph_add_value(w->graph, x->name, type) : VALUE_NONE;
        if (!v.i || !full || !graph_add_init(w->graph, v, full) || !graph_add_output(w->graph, v))
            return diag_out_of_memory(d);
    }
    return load_save(w, path, "onnx", together, d);
}

status state_write(const struct tensors *t, const struct model *like, const char *path,
                   struct outputs *together, struct diags *d) {
    return str_ends_with(path, ".onnx") ? write_model(t, like, path, together, d)
                                        : safetensors_write(t, path, together, d);
}

// The constants of a model: its initializers, and those that Constant nodes hold.
static status read_model(struct state_file *f, struct arena *a, struct diags *d) {
    const struct graph *g = f->model->graph;
    f->tensors = tensors_make(a);
    for (size_t i = 1; i < g->values.n; i++) {
        const struct tensor *t = state_constant(g, (value_id){(uint32_t)i});
        struct tensor *copy = t ? arena_copy(a, t, sizeof *t) : NULL;
        if (!t)
            continue;
        if (!copy)
            return diag_out_of_memory(d);
        copy->name = g->values.at[i].name;
        if (!tensors_add(&f->tensors, copy))
            return diag_out_of_memory(d);
    }
    return ST_OK;
}

status state_read(const char *path, struct arena *a, struct pool *names, struct diags *d,
                  struct state_file *out) {
    *out = (struct state_file){0};
    status st = source_open(a, d, path, &out->source);
    if (!st && (safetensors_is(out->source, a->mem) || str_ends_with(path, ".safetensors")))
        return safetensors_read(out->source, a, d, &out->tensors);
    source_close(out->source);
    out->source = NULL;
    if (!st)
        st = load_model(a, names, d, path, &out->model);
    if (st)
        out->model = NULL; // the reader has closed it
    return st ? st : read_model(out, a, d);
}

void state_close(struct state_file *f) {
    source_close(f->source);
    model_close(f->model);
    *f = (struct state_file){0};
}
