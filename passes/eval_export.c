// The pass `eval_export`: says what an export for inference has lost for training, and how to
// export instead. It changes nothing. Three signs, each of PyTorch's exporter: weights named
// "onnx::Conv_N" are products of a convolution and the BatchNormalization that followed it;
// Identity of an initializer stands for a parameter whose elements were equal to those of another,
// so that the two are trained as one; and BatchNormalization in inference mode, without any Dropout
// in training mode, is a model exported as it predicts.
#include <string.h>

#include "passes/pass.h"

struct lost {
    int64_t n_folded, n_shared, n_fixed;
    const char *folded, *shared, *fixed; // the first of each
    bool has_dropout;
};

static void count(int64_t *n, const char **first, const char *name) {
    if (!(*n)++)
        *first = name;
}

static void look_at(const struct graph *g, node_id id, struct lost *l) {
    const struct node *n = graph_node(g, id);
    const struct value *weight = n->n_in > 1 ? graph_value(g, n->in[1]) : NULL;
    if (n->op == OP_Conv && weight && weight->init && str_match("onnx::Conv_*", weight->name))
        count(&l->n_folded, &l->folded, weight->name);
    if (n->op == OP_Identity && n->n_in == 1 && graph_value(g, n->in[0])->init)
        count(&l->n_shared, &l->shared, graph_value(g, n->out[0])->name);
    if (n->op == OP_BatchNormalization && !node_int(n, "training_mode", 0) && n->n_out < 2)
        count(&l->n_fixed, &l->fixed, node_called(g, id));
    l->has_dropout |= n->op == OP_Dropout;
}

static void add(struct str *out, int64_t n, const char *what, const char *first) {
    if (n)
        str_addf(out, "%s%lld %s (%s%s)", out->n ? "; " : "", (long long)n, what, first,
                 n > 1 ? ", …" : "");
}

static status run(struct model *m, struct pass_context *c) {
    struct lost l = {0};
    struct str text = str_make(c->arena);
    const struct graph *g = m->graph;
    for (size_t i = 0; i < g->order.n; i++)
        look_at(g, g->order.at[i], &l);
    add(&text, l.n_folded, "convolutions with a folded BatchNormalization", l.folded);
    add(&text, l.n_shared, "parameters that share the numbers of another, trained as one",
        l.shared);
    add(&text, l.n_fixed, "BatchNormalizations with fixed statistics", l.fixed);
    if (!text.n)
        return ST_OK;
    diag_note(c->diags, DIAG_EVAL_EXPORT, loc_file(m->path),
              "exported for inference: %s%s. To train what the framework has, export with "
              "training=torch.onnx.TrainingMode.TRAINING and do_constant_folding=False",
              str_text(&text), l.has_dropout ? "" : "; Dropout, if there was any, is gone");
    return text.failed ? diag_out_of_memory(c->diags) : ST_OK;
}

const struct pass pass_eval_export = {
    .name = "eval_export",
    .summary = "say what an export for inference has lost for training",
    .needs = FACT_TOPO,
    .run = run,
};
