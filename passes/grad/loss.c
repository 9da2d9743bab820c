// The pass `loss`: attaches a loss to the model and makes it the first output. Which loss is meant
// is decided in loss_choice.c; a plan records it, so that it can be checked.
#include <stdlib.h>
#include <string.h>

#include "ir/keys.h"
#include "passes/grad/loss.h"
#include "passes/shape/shape.h"

static const struct option_spec options[] = {
    {"Loss and training", 0, OPTION_GROUP, NULL, NULL, 0, 0, NULL},
    {"loss", 0, OPTION_TEXT, "KIND", "auto", 0, 0,
     "what to differentiate: auto, cross-entropy, ctc, bce-logits, mse, l1, huber, cosine, sum, "
     "output:NAME or vjp"},
    {"loss-input", 0, OPTION_TEXT, "NAME", NULL, 0, 0,
     "the value that the loss is computed of (default: decided from the outputs)"},
    {"class-axis", 0, OPTION_INT, "N", NULL, -64, 63,
     "the axis of the classes, or of the vectors of cosine (default: decided from the graph)"},
    {"time-axis", 0, OPTION_INT, "N", NULL, -64, 63, "the axis of the time steps of ctc"},
    {"blank", 0, OPTION_INT, "N", "0", 0, INT32_MAX, "the class of ctc that stands for no label"},
    {"label-length", 0, OPTION_INT, "N", "0", 0, 65536,
     "the number of labels of a sample of ctc, with padding; 0: half of the time steps"},
    {"label-type", 0, OPTION_CHOICE, "int64|int32", "int64", 0, 0, "element type of class labels"},
    {0}};

// A loss of one element in some other shape becomes rank 0.
static value_id as_scalar(struct loss *l, value_id v) {
    if (!v.i || !graph_value(l->g, v)->type || graph_value(l->g, v)->type->rank == 0)
        return v;
    return BUILD(&l->b, "Reshape", v, build_ints(&l->b, NULL, 0));
}

// One line that says what was decided, and how to decide otherwise.
static void report(struct loss *l, const struct loss_choice *k, const char *described) {
    const char *name = graph_value(l->g, k->named)->name;
    pass_progress(l->c, "loss: %s", described);
    const char *file = l->g->model->path;
    const char *ways = k->class_axis == NO_AXIS ? "--loss or --loss-input"
                                                : "--loss, --loss-input or --class-axis";
    if (k->why)
        diag_note(l->c->diags, DIAG_LOSS, loc_file(file),
                  "loss: %s, because %s %s%s%s; change it with %s", described, name, k->why,
                  k->others ? "; outputs that are not used: " : "", k->others ? k->others : "",
                  ways);
    else if (!value_same(k->of, k->named))
        diag_note(l->c->diags, DIAG_LOSS, loc_file(file), "loss: %s, the logits of %s", described,
                  name);
}

static status attach(struct loss *l, value_id *loss) {
    struct loss_choice k;
    struct model *m = l->g->model;
    status st = loss_choose(l->g, l->c, &k);
    if (st)
        return st;
    const char *described = loss_describe(l->g, &k, m->arena);
    if (!described || !pairs_set(&m->metadata, m->arena, KEY_LOSS, described))
        return diag_out_of_memory(l->c->diags);
    report(l, &k, described);
    *loss = as_scalar(l, loss_build(l, &k));
    return l->b.failed;
}

// The loss comes first, as the pass grad expects; it is named "loss" if that name is free.
static status make_first(struct graph *g, value_id loss, struct diags *d) {
    if (!graph_value(g, loss)->is_output && !graph_find(g, "loss").i &&
        !graph_rename(g, loss, "loss"))
        return diag_out_of_memory(d);
    if (!graph_add_output(g, loss))
        return diag_out_of_memory(d);
    memmove(g->outputs.at + 1, g->outputs.at, (g->outputs.n - 1) * sizeof *g->outputs.at);
    g->outputs.at[0] = loss;
    size_t n = 1;
    for (size_t i = 1; i < g->outputs.n; i++)
        if (!value_same(g->outputs.at[i], loss))
            g->outputs.at[n++] = g->outputs.at[i];
    g->outputs.n = n;
    return ST_OK;
}

static status run(struct model *m, struct pass_context *c) {
    struct loss l = {.g = m->graph, .b = builder_make(m->graph, c->diags), .c = c};
    l.b.infer = shape_infer;
    l.b.scope = "loss";
    value_id loss = VALUE_NONE;
    status st = shape_demand(m, c);
    if (!st)
        st = attach(&l, &loss);
    return st ? st : make_first(m->graph, loss, c->diags);
}

const struct pass pass_loss = {
    .name = "loss",
    .summary = "attach the loss and make it the first output",
    .needs = FACT_TOPO | FACT_SHAPES,
    .gives = FACT_LOSS,
    .breaks = FACT_COSTS,
    .options = options,
    .run = run,
};
