// Loops of known length: a Loop or Scan is replaced by a copy of its body for each iteration.
// Stages: the constants of the body move to the graph around it, so that all iterations share one
// parameter; then each iteration is copied, with its number and its slices as constants and
// operands, and its shape arithmetic is run; the condition that it computes decides whether there
// is a next one. Results of the iterations are concatenated at the end. Loops inside of the body
// are unrolled by the next walk. When a condition depends on data, the copies are taken out again,
// and the node stays.
#include "ir/base/limits.h"
#include "ir/build.h"
#include "passes/fold/fold.h"
#include "passes/param/param_values.h"
#include "passes/shape/shape.h"

struct loop {
    struct fold *f;
    struct node n; // a copy: the array of nodes grows
    struct graph *body;
    struct builder b;
    const char *name;
    value_id *now;              // per value of the body: its value in this iteration
    uint32_t n_states, n_scans; // values that iterations hand on; results that are collected
    value_id *states;
    value_id **scans; // per collected result: one value per iteration
    int64_t count;    // iterations so far
};

// Constants that become nodes of this graph need types for what follows.
static status share_constants(struct loop *l) {
    struct fold *f = l->f;
    size_t n_nodes = f->g->nodes.n, n_lifted = 0;
    status st = splice_lift_constants(l->body, f->c->arena, f->c->diags, &n_lifted);
    for (size_t i = n_nodes; i < f->g->nodes.n && !st; i++)
        st = shape_infer(f->g, (node_id){(uint32_t)i}, f->c->diags);
    f->again |= n_lifted > 0;
    return st;
}

// ---- Iterations ----

enum { MAX_ITERATIONS = 10000, MAX_NODES = 200000 };

// The body is asked whether to go on; *known = false: data decide.
static void read_condition(const struct fold *f, value_id v, bool *known, bool *go_on) {
    struct node n = {.in = &v, .n_in = 1};
    struct shape s = {.g = f->g, .n = &n, .a = f->c->arena, .d = f->c->diags};
    int64_t *x, count;
    *known = shape_numbers(&s, 0, &x, &count) && count == 1;
    *go_on = *known && x[0];
}

// A copy of the body whose inputs are bound. Its results are in l->now.
static status copy_body(struct loop *l) {
    struct graph *g = l->f->g;
    struct diags *d = l->f->c->diags;
    struct splice s = {.to = g,
                       .from = l->body,
                       .scope = str_format(l->f->c->arena, "%s/%lld", l->name, (long long)l->count),
                       .now = l->now};
    status st = s.scope ? splice_values(&s, d) : diag_out_of_memory(d);
    for (size_t i = 0; i < l->body->order.n && !st; i++) {
        node_id copy;
        st = splice_node(&s, l->body->order.at[i], d, &copy);
        if (!st && !VEC_PUSH(g->model->arena, &g->order, copy))
            st = diag_out_of_memory(d);
        st = st ? st : shape_infer(g, copy, d);
    }
    l->f->n_unrolled += (int64_t)l->body->order.n;
    l->count++;
    return st;
}

static void clear_iteration(struct loop *l) {
    for (size_t v = 0; v < l->body->values.n; v++)
        l->now[v] = VALUE_NONE;
}

static value_id result(const struct loop *l, size_t k) {
    return l->now[l->body->outputs.at[k].i];
}

// Hands on the states and keeps the collected results; `first`: the output of the body that is the
// first state.
static status end_iteration(struct loop *l, size_t first) {
    for (uint32_t k = 0; k < l->n_states; k++)
        l->states[k] = result(l, first + k);
    for (uint32_t k = 0; k < l->n_scans; k++)
        l->scans[k][l->count - 1] = result(l, first + l->n_states + k);
    return ST_OK;
}

// The axis on which results are collected, and whether the last one comes first.
static int64_t option(const struct loop *l, const char *name, size_t k) {
    const struct attr *a = node_attr(&l->n, name);
    return a && a->kind == ATTR_INTS && k < a->n ? a->ints[k] : 0;
}

// No iteration: a tensor without elements, in the declared shape.
static value_id empty_scan(struct loop *l, uint32_t k, size_t first) {
    const struct type *t = graph_value(l->body, l->body->outputs.at[first + l->n_states + k])->type;
    int64_t dims[LIMIT_RANK] = {0};
    if (!t || !type_is_static(t) || t->rank + 1 >= LIMIT_RANK)
        return VALUE_NONE;
    for (int32_t i = 0; i < t->rank; i++)
        dims[i + 1] = t->dims[i].size;
    struct arena *a = l->f->m->arena;
    return build_tensor(&l->b, elem_is_float(t->elem)
                                   ? tensor_from_reals(a, t->elem, NULL, dims, t->rank + 1)
                                   : tensor_from_ints(a, t->elem, NULL, dims, t->rank + 1));
}

// All iterations of one collected result, along the axis.
static value_id collect(struct loop *l, uint32_t k) {
    struct builder *b = &l->b;
    int64_t axis = option(l, "scan_output_axes", k);
    bool reversed = option(l, "scan_output_directions", k) == 1;
    value_id *parts = ARENA_ARRAY(l->f->c->arena, value_id, l->count);
    if (!parts) {
        b->failed = diag_out_of_memory(l->f->c->diags);
        return VALUE_NONE;
    }
    for (int64_t t = 0; t < l->count; t++)
        parts[reversed ? l->count - 1 - t : t] =
            BUILD(b, "Unsqueeze", l->scans[k][t], build_ints(b, &axis, 1));
    struct values all = {parts, (uint32_t)l->count};
    return l->count == 1 ? parts[0] : build_op(b, "Concat", all, ATTRS(attr_int("axis", axis)));
}

static status replace(struct loop *l, node_id id, size_t first) {
    struct fold *f = l->f;
    graph_remove_node(f->g, id);
    status st = ST_OK;
    for (uint32_t k = 0; k < l->n_states && k < l->n.n_out && !st; k++)
        st = fold_set_output(f, &l->n, k, l->states[k]);
    for (uint32_t k = 0; k < l->n_scans && l->n_states + k < l->n.n_out && !st; k++) {
        uint32_t out = l->n_states + k;
        if (!l->n.out[out].i)
            continue;
        value_id all = l->count ? collect(l, k) : empty_scan(l, k, first);
        st = l->b.failed ? l->b.failed : fold_set_output(f, &l->n, out, all);
    }
    f->n_folded++;
    f->again = true;
    return st;
}

// Takes the copies out again. Constants stay; they are dead.
static void take_out(struct loop *l, size_t first_node) {
    struct graph *g = l->f->g;
    for (size_t i = first_node; i < g->nodes.n; i++)
        if (!g->nodes.at[i].removed && g->nodes.at[i].op != OP_Constant)
            graph_remove_node(g, (node_id){(uint32_t)i});
    graph_sweep(g);
}

static status warn_limit(struct loop *l, node_id id) {
    struct fold *f = l->f;
    const char *path = node_path(f->g, id, f->c->arena);
    for (size_t i = 0; i < f->c->diags->list.n; i++)
        if (f->c->diags->list.at[i].where.path && path &&
            str_match(path, f->c->diags->list.at[i].where.path))
            return ST_OK; // by an earlier walk
    diag_warning(
        f->c->diags, DIAG_LIMIT, loc_path(f->m->path, path),
        "is not unrolled: it would become more than %d iterations or %d nodes; bind smaller "
        "dimensions",
        MAX_ITERATIONS, MAX_NODES);
    return ST_OK;
}

static bool is_too_long(const struct loop *l, int64_t more) {
    return l->count + more > MAX_ITERATIONS ||
           more > (MAX_NODES - l->f->n_unrolled) / ((int64_t)l->body->order.n + 1);
}

// An initial state of zeros is where the recurrence starts, and no parameter
// (passes/param/param_roles.h).
static void start_states(struct loop *l, uint32_t first) {
    for (uint32_t k = 0; k < l->n_states; k++) {
        l->states[k] = l->n.in[first + k];
        struct value *v = graph_value(l->f->g, l->states[k]);
        if (v->init && elem_is_float(v->init->elem) &&
            param_values_of(v->init, l->f->c->arena) == PARAM_VALUES_ZERO)
            v->is_constant = true;
    }
}

static bool make_lists(struct loop *l, size_t max_count) {
    struct arena *a = l->f->c->arena;
    l->now = ARENA_ARRAY(a, value_id, l->body->values.n);
    l->states = ARENA_ARRAY(a, value_id, l->n_states + 1);
    l->scans = ARENA_ARRAY(a, value_id *, l->n_scans + 1);
    bool ok = l->now && l->states && l->scans;
    for (uint32_t k = 0; k < l->n_scans && ok; k++)
        ok = (l->scans[k] = ARENA_ARRAY(a, value_id, max_count)) != NULL;
    return ok;
}

// ---- Loop ----

static status run_loop(struct loop *l, node_id id, int64_t max_count, bool *done) {
    struct fold *f = l->f;
    const struct graph *body = l->body;
    size_t first_node = f->g->nodes.n;
    bool known = true, go_on = true;
    status st = ST_OK;
    start_states(l, 2);
    while (known && go_on && l->count < max_count && !st) {
        if (is_too_long(l, 1)) {
            take_out(l, first_node);
            return warn_limit(l, id);
        }
        clear_iteration(l);
        int64_t t = l->count, yes = 1;
        struct arena *a = f->m->arena;
        const value_id *in = body->inputs.at;
        l->now[in[0].i] = build_tensor(&l->b, tensor_from_ints(a, ELEM_I64, &t, NULL, 0));
        l->now[in[1].i] = build_tensor(&l->b, tensor_from_ints(a, ELEM_BOOL, &yes, NULL, 0));
        for (uint32_t k = 0; k < l->n_states; k++)
            l->now[in[2 + k].i] = l->states[k];
        st = l->b.failed ? l->b.failed : copy_body(l);
        st = st ? st : end_iteration(l, 1);
        if (!st && l->count < max_count)
            read_condition(f, result(l, 0), &known, &go_on);
    }
    if (st)
        return st;
    *done = known;
    if (!known)
        take_out(l, first_node);
    return known ? replace(l, id, 1) : ST_OK;
}

static status fold_plain_loop(struct loop *l, node_id id, bool *done) {
    struct fold *f = l->f;
    const struct node *n = &l->n;
    const struct graph *body = l->body;
    bool has_count = n->in[0].i != 0, known = true, go_on = true;
    int64_t max_count = INT64_MAX, n_count = 1, *x;
    struct shape s = {.g = f->g, .n = n, .a = f->c->arena, .d = f->c->diags};
    l->n_states = n->n_in - 2;
    if (body->inputs.n != n->n_in || body->outputs.n < 1 + l->n_states)
        return ST_OK; // malformed; the runtime says so
    l->n_scans = (uint32_t)body->outputs.n - 1 - l->n_states;
    if (n->in[1].i)
        read_condition(f, n->in[1], &known, &go_on);
    if (has_count && (!shape_numbers(&s, 0, &x, &n_count) || n_count != 1))
        return ST_OK;
    max_count = has_count ? x[0] : max_count;
    if (!known)
        return ST_OK;
    if (!go_on || max_count < 0)
        max_count = 0;
    status st = share_constants(l);
    if (st)
        return st;
    if (!make_lists(l, MAX_ITERATIONS))
        return diag_out_of_memory(f->c->diags);
    return run_loop(l, id, max_count, done);
}

// ---- Scan ----

// One value for each step of a sequence, in the order in which they are read.
static value_id *slice_sequence(struct loop *l, size_t k, int64_t length) {
    struct builder *b = &l->b;
    value_id x = l->n.in[l->n_states + k];
    value_id *parts = ARENA_ARRAY(l->f->c->arena, value_id, length),
             *steps = ARENA_ARRAY(l->f->c->arena, value_id, length);
    int64_t *ones = ARENA_ARRAY(l->f->c->arena, int64_t, length);
    int64_t axis = option(l, "scan_input_axes", k);
    if (!parts || !steps || !ones) {
        b->failed = diag_out_of_memory(l->f->c->diags);
        return NULL;
    }
    for (int64_t t = 0; t < length; t++)
        ones[t] = 1;
    parts[0] = x;
    if (length > 1)
        build_outputs(b, "Split", VALUES(x, build_ints(b, ones, length)),
                      ATTRS(attr_int("axis", axis)), parts, (uint32_t)length);
    bool reversed = option(l, "scan_input_directions", k) == 1;
    for (int64_t t = 0; t < length; t++)
        steps[t] =
            BUILD(b, "Squeeze", parts[reversed ? length - 1 - t : t], build_ints(b, &axis, 1));
    return steps;
}

static status run_scan(struct loop *l, size_t n_sequences, int64_t length) {
    struct fold *f = l->f;
    value_id **steps = ARENA_ARRAY(f->c->arena, value_id *, n_sequences);
    status st = steps ? ST_OK : diag_out_of_memory(f->c->diags);
    for (size_t k = 0; k < n_sequences && !st; k++) {
        steps[k] = slice_sequence(l, k, length);
        st = l->b.failed;
    }
    start_states(l, 0);
    for (int64_t t = 0; t < length && !st; t++) {
        clear_iteration(l);
        for (uint32_t k = 0; k < l->n_states; k++)
            l->now[l->body->inputs.at[k].i] = l->states[k];
        for (size_t k = 0; k < n_sequences; k++)
            l->now[l->body->inputs.at[l->n_states + k].i] = steps[k][t];
        st = copy_body(l);
        st = st ? st : end_iteration(l, 0);
    }
    return st;
}

static status fold_scan(struct loop *l, node_id id, bool *done) {
    struct fold *f = l->f;
    const struct node *n = &l->n;
    int64_t n_sequences = node_int(n, "num_scan_inputs", 0);
    if (n_sequences < 1 || n_sequences > n->n_in || l->body->inputs.n != n->n_in)
        return ST_OK;
    l->n_states = n->n_in - (uint32_t)n_sequences;
    const struct type *t = graph_value(f->g, n->in[l->n_states])->type;
    int64_t axis = option(l, "scan_input_axes", 0);
    if (l->body->outputs.n < l->n_states || !t || !t->has_shape || axis < -t->rank ||
        axis >= t->rank || !dim_known(t->dims[axis < 0 ? axis + t->rank : axis]))
        return ST_OK;
    l->n_scans = (uint32_t)l->body->outputs.n - l->n_states;
    int64_t length = t->dims[axis < 0 ? axis + t->rank : axis].size;
    if (is_too_long(l, length))
        return warn_limit(l, id);
    status st = length ? share_constants(l) : ST_OK;
    if (st || !length)
        return st;
    if (!make_lists(l, (size_t)length))
        return diag_out_of_memory(f->c->diags);
    st = run_scan(l, (size_t)n_sequences, length);
    *done = true;
    return st ? st : replace(l, id, 0);
}

status fold_loop(struct fold *f, node_id id, bool *done) {
    struct loop l = {.f = f, .n = *graph_node(f->g, id), .name = node_called(f->g, id)};
    const struct attr *a = node_attr(&l.n, "body");
    if ((l.n.op != OP_Loop && l.n.op != OP_Scan) || !a || a->kind != ATTR_GRAPH)
        return ST_OK;
    l.body = a->g;
    l.b = fold_builder(f, l.name);
    return l.n.op == OP_Loop ? fold_plain_loop(&l, id, done) : fold_scan(&l, id, done);
}
