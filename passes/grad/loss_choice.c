// Which loss is meant: see loss.h. Stages: the candidates, which are the float outputs that are not
// on the way to another one; for each, the first rule that fits (loss_rules.c); one
// candidate that is clear is chosen, anything else is refused with all choices. Options override
// each decision: --loss the kind, --loss-input the value, --class-axis and --time-axis the axes.
#include <string.h>

#include "ir/base/limits.h"
#include "passes/control_hint.h"
#include "passes/grad/grad.h"
#include "passes/grad/loss.h"
#include "passes/shape/shape.h"

static const char *const kind_names[] = {
    [LOSS_AUTO] = "auto",     [LOSS_BCE] = "bce-logits",
    [LOSS_COSINE] = "cosine", [LOSS_CROSS_ENTROPY] = "cross-entropy",
    [LOSS_CTC] = "ctc",       [LOSS_HUBER] = "huber",
    [LOSS_L1] = "l1",         [LOSS_MSE] = "mse",
    [LOSS_OUTPUT] = "output", [LOSS_SUM] = "sum",
    [LOSS_VJP] = "vjp"};

const char *loss_kind_name(enum loss_kind k) {
    return kind_names[k];
}

struct chooser {
    struct graph *g;
    struct pass_context *c;
    struct arena *arena;
    value_id *candidates;
    size_t n;
};

static const struct type *type_of(const struct chooser *x, value_id v) {
    return graph_value(x->g, v)->type;
}

static bool types_equal(const struct type *a, const struct type *b) {
    bool same = a->kind == TYPE_TENSOR && a->elem == b->elem && a->rank == b->rank;
    for (int32_t i = 0; same && i < a->rank; i++)
        same = a->dims[i].size == b->dims[i].size;
    return same;
}

// The same type, or one that has grown along one axis: the cache of a decoder.
static bool continues(const struct type *before, const struct type *t) {
    int n_grown = 0;
    bool same = before->kind == TYPE_TENSOR && before->elem == t->elem && before->rank == t->rank;
    for (int32_t i = 0; same && i < t->rank; i++) {
        bool grown = t->rank >= 3 && t->dims[i].size > before->dims[i].size;
        n_grown += grown;
        same = grown || before->dims[i].size == t->dims[i].size;
    }
    return same && n_grown <= 1;
}

static const char *name_of(const struct chooser *x, value_id v) {
    return graph_value(x->g, v)->name;
}

static bool is_float(const struct chooser *x, value_id v) {
    const struct type *t = type_of(x, v);
    return t && t->kind == TYPE_TENSOR && elem_is_float(t->elem);
}

static const char *type_text(const struct chooser *x, value_id v) {
    struct str s = str_make(x->arena);
    if (type_of(x, v))
        type_print(&s, type_of(x, v));
    return str_text(&s);
}

// ---- Candidates ----

// Marks the values that a float output is computed from.
static void mark_upstream(struct chooser *x, bool *inner) {
    const struct graph *g = x->g;
    for (size_t i = g->order.n; i-- > 0;) {
        const struct node *n = graph_node(g, g->order.at[i]);
        bool any = false;
        for (uint32_t k = 0; k < n->n_out; k++)
            any |= n->out[k].i && (inner[n->out[k].i] || (graph_value(g, n->out[k])->is_output &&
                                                          is_float(x, n->out[k])));
        for (uint32_t k = 0; k < n->n_in && any; k++)
            inner[n->in[k].i] = true;
    }
}

// Running statistics of BatchNormalization in training mode.
static bool is_statistic(const struct graph *g, value_id v) {
    const struct value *x = graph_value(g, v);
    return graph_node(g, x->def)->op == OP_BatchNormalization && x->def_slot > 0;
}

// The type of another input than the first: the new state of a recurrent network, or the cache of a
// decoder, which exporters of transformers name present.0.key, … also where the model takes none.
static bool is_state(const struct chooser *x, value_id v) {
    bool is_first = true;
    if (strncmp(name_of(x, v), "present", 7) == 0)
        return true;
    for (size_t i = 0; i < x->g->inputs.n; i++) {
        const struct value *in = graph_value(x->g, x->g->inputs.at[i]);
        if (in->init)
            continue;
        if (!is_first && in->type && continues(in->type, type_of(x, v)))
            return true;
        is_first = false;
    }
    return false;
}

static void drop_states(struct chooser *x) {
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++)
        n += !is_state(x, x->candidates[i]);
    if (n == 0)
        return;
    n = 0;
    for (size_t i = 0; i < x->n; i++)
        if (!is_state(x, x->candidates[i]))
            x->candidates[n++] = x->candidates[i];
    x->n = n;
}

static status find_candidates(struct chooser *x) {
    const struct graph *g = x->g;
    bool *inner = ARENA_ARRAY(x->arena, bool, g->values.n);
    x->candidates = ARENA_ARRAY(x->arena, value_id, g->outputs.n);
    if (!inner || !x->candidates)
        return diag_out_of_memory(x->c->diags);
    mark_upstream(x, inner);
    for (size_t i = 0; i < g->outputs.n; i++) {
        value_id v = g->outputs.at[i];
        if (is_float(x, v) && !inner[v.i] && graph_value(g, v)->def.i && !is_statistic(g, v))
            x->candidates[x->n++] = v;
    }
    drop_states(x);
    for (size_t i = 0; i < g->outputs.n && !x->n; i++) // an output that is an input
        if (is_float(x, g->outputs.at[i]))
            x->candidates[x->n++] = g->outputs.at[i];
    return ST_OK;
}

// What to do about control flow that ends the model.
static const char *way_out(const struct chooser *x, const struct loss_candidate *k) {
    node_id def = graph_value(x->g, k->value)->def;
    const char *hint = def.i ? control_hint(x->g, def, x->arena) : NULL;
    if (hint)
        return str_format(x->arena, "%s decides it", hint);
    const char *values = loss_proposals(x->g, x->arena);
    return str_format(x->arena, "%s trains up to a value before it",
                      values ? values : "--output NAME");
}

static const char *reason(const struct chooser *x, const struct loss_candidate *k,
                          const struct loss_rule *r) {
    const char *what = strcmp(k->tail.op, "If") == 0     ? "which branch runs"
                       : strcmp(k->tail.op, "Loop") == 0 ? "how often it repeats"
                                                         : NULL;
    if (!what)
        return str_format(x->arena, "%s %s", r->why, k->tail.op);
    return str_format(x->arena, "%s %s (data decides %s; %s)", r->why, k->tail.op, what,
                      way_out(x, k));
}

// ---- Axes ----

// The first dimension of the first input with one; 0: unknown.
static int64_t batch_of(const struct chooser *x) {
    for (size_t i = 0; i < x->g->inputs.n; i++) {
        const struct value *v = graph_value(x->g, x->g->inputs.at[i]);
        if (!v->init && v->type && v->type->kind == TYPE_TENSOR && v->type->rank > 0)
            return v->type->dims[0].size;
    }
    return 0;
}

static status read_axis(const struct chooser *x, const char *option, int32_t rank, int32_t *axis) {
    int64_t k = options_int(x->c->options, option);
    if (!options_given(x->c->options, option))
        return ST_OK;
    if (k < -rank || k >= rank)
        return diag_error(x->c->diags, DIAG_USAGE, loc_none(),
                          "--%s %lld: the value has %d dimensions", option, (long long)k, rank);
    *axis = (int32_t)(k < 0 ? k + rank : k);
    return ST_OK;
}

// Time and batch are the two dimensions beside the classes. The batch is the one of the inputs.
static status settle_ctc(const struct chooser *x, struct loss_choice *k) {
    const struct type *t = type_of(x, k->of);
    int64_t batch = batch_of(x);
    int32_t other[2], n = 0, time = NO_AXIS;
    if (t->rank != 3)
        return diag_error(x->c->diags, DIAG_LOSS, loc_path(x->g->model->path, name_of(x, k->named)),
                          "--loss ctc needs scores [T,N,C] or [N,T,C]; this is %s: choose another "
                          "value by --loss-input or another --loss",
                          type_text(x, k->of));
    for (int32_t i = 0; i < 3; i++)
        if (i != k->class_axis)
            other[n++] = i;
    int64_t a = t->dims[other[0]].size, b = t->dims[other[1]].size;
    time = a == batch && b != batch ? other[1] : b == batch && a != batch ? other[0] : NO_AXIS;
    status st = read_axis(x, "time-axis", t->rank, &time);
    if (st)
        return st;
    if (time == NO_AXIS || time == k->class_axis)
        return diag_error(
            x->c->diags, DIAG_LOSS, loc_path(x->g->model->path, name_of(x, k->named)),
            "which axis of %s is the time cannot be told from the batch of the inputs; give it "
            "with --time-axis %d or --time-axis %d",
            type_text(x, k->of), other[0], other[1]);
    k->time_axis = time;
    k->batch_axis = time == other[0] ? other[1] : other[0];
    return ST_OK;
}

static bool has_classes(enum loss_kind k) {
    return k == LOSS_CROSS_ENTROPY || k == LOSS_CTC || k == LOSS_COSINE;
}

// Which value the loss is computed of, and its class axis.
static status settle(const struct chooser *x, const struct loss_candidate *k,
                     struct loss_choice *out) {
    bool on_logits = (out->kind == LOSS_BCE && k->tail.end == LOSS_END_SIGMOID) ||
                     ((out->kind == LOSS_CROSS_ENTROPY || out->kind == LOSS_CTC) &&
                      k->tail.end == LOSS_END_SOFTMAX);
    out->named = k->value;
    out->of = on_logits ? k->tail.logits : k->value;
    out->class_axis = out->time_axis = out->batch_axis = NO_AXIS;
    if (!has_classes(out->kind))
        return ST_OK;
    const struct type *t = type_of(x, out->of);
    int32_t otherwise = out->kind == LOSS_CROSS_ENTROPY && t->rank > 1 ? 1 : t->rank - 1;
    out->class_axis = k->tail.class_axis != NO_AXIS ? k->tail.class_axis : otherwise;
    status st = read_axis(x, "class-axis", t->rank, &out->class_axis);
    if (st)
        return st;
    if (t->rank < (out->kind == LOSS_COSINE ? 1 : 2))
        return diag_error(x->c->diags, DIAG_LOSS, loc_path(x->g->model->path, name_of(x, k->value)),
                          "--loss %s needs scores [N,C] or [N,C,d…], and this is %s; choose "
                          "another --loss",
                          kind_names[out->kind], type_text(x, out->of));
    if (out->kind != LOSS_COSINE && t->dims[out->class_axis].size == 1)
        return diag_error(x->c->diags, DIAG_LOSS, loc_path(x->g->model->path, name_of(x, k->value)),
                          "--loss %s over one class (axis %d of %s) is always 0; choose --loss "
                          "bce-logits or mse, or another --class-axis",
                          kind_names[out->kind], out->class_axis, type_text(x, out->of));
    return out->kind == LOSS_CTC ? settle_ctc(x, out) : ST_OK;
}

// ---- Options ----

static status find_input(const struct chooser *x, value_id *v) {
    const char *name = options_text(x->c->options, "loss-input");
    *v = name ? graph_find(x->g, name) : VALUE_NONE;
    if (!name)
        return ST_OK;
    if (!v->i)
        return diag_error(x->c->diags, DIAG_USAGE, loc_none(),
                          "--loss-input %s: the model has no such value", name);
    if (!is_float(x, *v))
        return diag_error(x->c->diags, DIAG_USAGE, loc_none(),
                          "--loss-input %s: a loss needs floats, and this is %s", name,
                          type_text(x, *v));
    return ST_OK;
}

static struct loss_choice of_model(value_id v) {
    return (struct loss_choice){.kind = LOSS_OUTPUT, .named = v, .of = v, .class_axis = NO_AXIS};
}

static status find_output(const struct chooser *x, const char *how, struct loss_choice *out) {
    value_id v = graph_find(x->g, how + strlen("output:"));
    int64_t n;
    if (!v.i || !graph_value(x->g, v)->is_output)
        return diag_error(x->c->diags, DIAG_USAGE, loc_none(),
                          "--loss %s: the model has no such output", how);
    if (!is_float(x, v) || !type_elements(type_of(x, v), &n) || n != 1)
        return diag_error(x->c->diags, DIAG_LOSS, loc_file(x->g->model->path),
                          "--loss %s: a loss must be a float with one element", how);
    *out = of_model(v);
    return ST_OK;
}

static bool find_kind(const char *how, enum loss_kind *kind) {
    for (size_t i = 0; i < sizeof kind_names / sizeof *kind_names; i++) {
        *kind = (enum loss_kind)i;
        if (i != LOSS_OUTPUT && strcmp(kind_names[i], how) == 0)
            return true;
    }
    return false;
}

// ---- Decision ----

static value_id first_float(const struct chooser *x) {
    size_t i = 0;
    while (!is_float(x, x->g->outputs.at[i])) // there are candidates
        i++;
    return x->g->outputs.at[i];
}

static bool is_like(const struct loss_candidate *a, const struct loss_candidate *b) {
    return types_equal(a->type, b->type) && loss_rule_of(a) == loss_rule_of(b);
}

static status refuse_unclear(const struct chooser *x) {
    struct str list = str_make(x->arena);
    for (size_t i = 0; i < x->n; i++) {
        struct loss_candidate k = loss_candidate_of(x->g, x->candidates[i], x->arena);
        const struct loss_rule *r = loss_rule_of(&k);
        str_addf(&list, "%s%s %s %s%s%s", i ? "; " : "", name_of(x, k.value), type_text(x, k.value),
                 reason(x, &k, r), r->kind ? ": " : "", r->kind ? kind_names[r->kind] : "");
    }
    return diag_error(x->c->diags, DIAG_LOSS, loc_file(x->g->model->path),
                      "which loss is meant is not clear: %s. Choose with %s--loss "
                      "cross-entropy|ctc|bce-logits|mse|l1|huber|cosine, or leave the loss to your "
                      "own code with --loss vjp",
                      str_text(&list), x->n > 1 ? "--loss-input NAME and " : "");
}

static const char *other_names(const struct chooser *x, size_t chosen) {
    struct str list = str_make(x->arena);
    for (size_t i = 0; i < x->n; i++)
        if (i != chosen)
            str_addf(&list, "%s%s", list.n ? ", " : "", name_of(x, x->candidates[i]));
    return list.n ? str_text(&list) : NULL;
}

// A loss of the model; else the only candidate, or the first of several of one kind (auxiliary
// classifiers, deep supervision).
static status choose_auto(struct chooser *x, struct loss_choice *out) {
    struct loss_candidate first = loss_candidate_of(x->g, x->candidates[0], x->arena);
    size_t chosen = 0;
    bool alike = true;
    for (size_t i = x->n; i-- > 0;) {
        struct loss_candidate k = loss_candidate_of(x->g, x->candidates[i], x->arena);
        alike &= is_like(&first, &k);
        if (loss_is_own(&k)) {
            *out = of_model(k.value);
            out->why = reason(x, &k, loss_rule_of(&k));
        }
    }
    if (out->kind == LOSS_OUTPUT)
        return ST_OK;
    out->kind = loss_rule_of(&first)->kind;
    if (!alike || out->kind == LOSS_AUTO)
        return refuse_unclear(x);
    out->why = reason(x, &first, loss_rule_of(&first));
    out->others = other_names(x, chosen);
    return settle(x, &first, out);
}

static status refuse_outputs(const struct chooser *x) {
    const char *proposals = loss_proposals(x->g, x->arena);
    return diag_error(x->c->diags, DIAG_LOSS, loc_file(x->g->model->path),
                      "the model has no float output to compute a loss from%s%s",
                      proposals ? "; train up to a value inside the model: " : "",
                      proposals ? proposals : "");
}

status loss_choose(struct graph *g, struct pass_context *c, struct loss_choice *out) {
    struct chooser x = {.g = g, .c = c, .arena = c->arena};
    const char *how = options_text(c->options, "loss");
    *out = (struct loss_choice){.class_axis = NO_AXIS};
    if (strncmp(how, "output:", 7) == 0)
        return find_output(&x, how, out);
    enum loss_kind kind;
    if (!find_kind(how, &kind))
        return diag_error(
            c->diags, DIAG_USAGE, loc_none(),
            "--loss %s: must be auto, cross-entropy, ctc, bce-logits, mse, l1, huber, "
            "cosine, sum, output:NAME or vjp",
            how);
    value_id given;
    status st = find_input(&x, &given);
    if (!st)
        st = find_candidates(&x);
    if (st)
        return st;
    if (given.i) {
        x.candidates[0] = given;
        x.n = 1;
    }
    if (!x.n)
        return refuse_outputs(&x);
    if (kind == LOSS_AUTO)
        return choose_auto(&x, out);
    out->kind = kind;
    struct loss_candidate k = loss_candidate_of(g, given.i ? given : first_float(&x), x.arena);
    return settle(&x, &k, out);
}

const char *loss_describe(const struct graph *g, const struct loss_choice *k, struct arena *a) {
    struct str s = str_make(a);
    if (k->kind == LOSS_VJP)
        return "vjp of the float outputs";
    str_addf(&s, "%s%s%s", kind_names[k->kind], k->kind == LOSS_OUTPUT ? " " : " of ",
             graph_value(g, k->of)->name);
    if (k->class_axis != NO_AXIS && has_classes(k->kind))
        str_addf(&s, ", classes on axis %d", k->class_axis);
    if (k->kind == LOSS_CTC)
        str_addf(&s, ", time on axis %d", k->time_axis);
    return str_text(&s);
}
