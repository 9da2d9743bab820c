// The pass `lora`: puts an adapter beside every weight that --lora selects. A weight is taken as a
// matrix W of its first dimension by all others; its change is left · right, with the initializers
// lora.left(W) and lora.right(W). Instead of that product, the result is computed from the data, at
// the cost of the rank:
//
//     MatMul(x, W), Gemm      y + MatMul(MatMul(x, left), right); W transposed: both transposed
//     Conv(x, W)              y + Conv(Conv(x, right), left), the second of 1 x 1
//     Gather(W, i)            y + MatMul(Gather(left, i), right)
//
// One of the two starts with zeros, so that the first step is that of the base model; the other one
// as PyTorch initializes a linear layer, or an embedding. The node's result keeps its name.
#include "passes/adapt/lora.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/limits.h"
#include "ir/build.h"
#include "passes/param/start_values.h"
#include "passes/shape/shape.h"

#define MAX_RANK 65536

static const struct option_spec options[] = {
    {"Loss and training", 0, OPTION_GROUP, NULL, NULL, 0, 0, NULL},
    {"lora", 0, OPTION_TEXT, "RANK[:PATTERN]", NULL, 0, 0,
     "train low-rank adapters instead of the weights of MatMul, Gemm, Conv and Gather whose names "
     "match (default: all)"},
    {"lora-alpha", 0, OPTION_REAL, "X", NULL, 0, 0, "scale what adapters add by X / RANK (by 1)"},
    {"lora-init", 0, OPTION_CHOICE, "pytorch|gaussian", "pytorch", 0, 0,
     "start adapters as PyTorch starts a linear layer or an embedding, or with normal numbers of "
     "standard deviation 1 / RANK; in either case one of the two matrices starts with zeros"},
    {"lora-dropout", 0, OPTION_REAL, "P", NULL, 0, 0,
     "let each element that an adapter reads drop out with probability P"},
    {0}};

struct lora {
    struct graph *g;
    struct builder b;
    struct pass_context *c;
    int64_t rank;
    const char *pattern;
    value_id scale; // VALUE_NONE: 1
    bool *done;     // per value: its adapter exists
    int64_t n_adapters;
};

static status out_of_memory(struct lora *l) {
    return l->b.failed = diag_out_of_memory(l->c->diags);
}

static const struct type *type_of(const struct lora *l, value_id v) {
    return graph_value(l->g, v)->type;
}

// The operand of a node that can have an adapter; -1: the node has none.
static int weight_slot(const struct node *n) {
    switch (n->op) {
    case OP_MatMul:
        return 1;
    case OP_Gemm:
        return node_int(n, "transA", 0) == 0 && node_real(n, "alpha", 1) == 1 ? 1 : -1;
    case OP_Conv:
        return node_int(n, "group", 1) == 1 ? 1 : -1;
    case OP_Gather:
        return node_int(n, "axis", 0) == 0 ? 0 : -1;
    default:
        return -1;
    }
}

// The weight of a node, behind the Transpose that exporters of linear layers put there.
// `is_transposed`: the outputs are its first dimension.
struct weight {
    value_id v;
    bool is_transposed;
};

static struct weight find_weight(const struct lora *l, const struct node *n) {
    int slot = weight_slot(n);
    struct weight w = {VALUE_NONE,
                       n->op == OP_Conv || (n->op == OP_Gemm && node_int(n, "transB", 0))};
    if (slot < 0 || (uint32_t)slot >= n->n_in)
        return w;
    w.v = n->in[slot];
    const struct value *x = graph_value(l->g, w.v);
    const struct node *def = x->def.i ? graph_node(l->g, x->def) : NULL;
    if (n->op == OP_MatMul && def && def->op == OP_Transpose && x->type && x->type->rank == 2) {
        const struct attr *perm = node_attr(def, "perm");
        w.is_transposed = !perm || (perm->kind == ATTR_INTS && perm->n == 2 && perm->ints[0] == 1);
        w.v = w.is_transposed ? def->in[0] : w.v;
    }
    return w;
}

static bool is_adaptable(const struct lora *l, const struct node *n, struct weight *out) {
    *out = find_weight(l, n);
    const struct value *w = graph_value(l->g, out->v);
    const struct type *t = out->v.i ? w->type : NULL;
    bool is_matrix = t && (n->op == OP_Conv ? t->rank > 2 : t->rank == 2);
    return is_matrix && w->init && elem_is_float(t->elem) && !w->is_constant &&
           str_match(l->pattern, w->name);
}

// ---- The two matrices ----

static value_id add_matrix(struct lora *l, const char *kind, const struct value *w,
                           const struct type *t, struct start_values how) {
    struct arena *a = l->g->model->arena;
    const char *name = str_format(a, "lora.%s(%s)", kind, w->name);
    struct tensor *init = name && t ? start_tensor(a, t, how, name) : NULL;
    value_id v = init ? graph_add_value(l->g, name, t) : VALUE_NONE;
    if (!v.i || !graph_add_init(l->g, v, init))
        out_of_memory(l);
    return v;
}

// What the matrix starts with that the other one's zeros are multiplied by.
static struct start_values first_values(const struct lora *l, const struct node *n,
                                        int64_t n_inputs) {
    if (strcmp(options_text(l->c->options, "lora-init"), "gaussian") == 0)
        return (struct start_values){START_NORMAL, 1 / (double)l->rank};
    return n->op == OP_Gather ? (struct start_values){START_NORMAL, 1} : start_linear(n_inputs);
}

// left: [first dimension, rank], for Conv with two more dimensions of 1; right: the rank by the
// others.
static void add_matrices(struct lora *l, const struct node *n, struct weight w, value_id *left,
                         value_id *right) {
    struct value x = *graph_value(l->g, w.v); // values move when some are added
    struct dim dims[LIMIT_RANK], rank = {.size = l->rank};
    int64_t all, n_inputs = x.type->dims[0].size;
    if (w.is_transposed && type_elements(x.type, &all))
        n_inputs = n_inputs ? all / n_inputs : 1;
    struct start_values first = first_values(l, n, n_inputs), zeros = {START_ZEROS, 0};
    bool random_left = !w.is_transposed && n->op != OP_Gather;
    struct arena *a = l->g->model->arena;
    for (int32_t i = 0; i < x.type->rank; i++)
        dims[i] = (struct dim){.size = 1};
    dims[0] = x.type->dims[0];
    dims[1] = rank;
    const struct type *t = type_tensor(a, x.type->elem, dims, x.type->rank);
    *left = add_matrix(l, "left", &x, t, random_left ? first : zeros);
    memcpy(dims, x.type->dims, (size_t)x.type->rank * sizeof *dims);
    dims[0] = rank;
    t = type_tensor(a, x.type->elem, dims, x.type->rank);
    *right = add_matrix(l, "right", &x, t, random_left ? zeros : first);
    l->n_adapters++;
}

// A weight that several nodes read has one adapter.
static void find_matrices(struct lora *l, const struct node *n, struct weight w, value_id *left,
                          value_id *right) {
    const char *name = graph_value(l->g, w.v)->name;
    const char *names[] = {str_format(l->c->arena, "lora.left(%s)", name),
                           str_format(l->c->arena, "lora.right(%s)", name)};
    if (!l->done[w.v.i]) {
        l->done[w.v.i] = true;
        add_matrices(l, n, w, left, right);
    } else if (names[0] && names[1]) {
        *left = graph_find(l->g, names[0]);
        *right = graph_find(l->g, names[1]);
    } else {
        out_of_memory(l);
    }
}

// ---- The nodes ----

static value_id scaled(struct lora *l, value_id v) {
    return l->scale.i ? BUILD(&l->b, "Mul", v, l->scale) : v;
}

static value_id change_of_conv(struct lora *l, const struct node *n, value_id x, value_id left,
                               value_id right) {
    struct attr at[8];
    uint32_t n_at = 0;
    for (uint32_t i = 0; i < n->n_attrs && n_at < 8; i++)
        at[n_at++] = n->attrs[i];
    value_id inner = build_op(&l->b, "Conv", VALUES(x, right), (struct attrs){at, n_at});
    return BUILD(&l->b, "Conv", scaled(l, inner), left);
}

static value_id turned(struct lora *l, value_id v) {
    int64_t perm[] = {1, 0};
    return build_op(&l->b, "Transpose", VALUES(v), ATTRS(attr_ints("perm", perm, 2)));
}

// The data that the adapter reads. Indices of an embedding do not drop out.
static value_id read_data(struct lora *l, const struct node *n) {
    if (!options_given(l->c->options, "lora-dropout") || n->op == OP_Gather)
        return n->in[0];
    value_id ratio = build_scalar(&l->b, ELEM_F32, options_real(l->c->options, "lora-dropout"));
    value_id on = build_scalar(&l->b, ELEM_BOOL, 1);
    return BUILD(&l->b, "Dropout", n->in[0], ratio, on);
}

static value_id change_of(struct lora *l, const struct node *n, struct weight w, value_id left,
                          value_id right) {
    value_id x = read_data(l, n);
    struct attr transposed = attr_int("transB", 1);
    switch (n->op) {
    case OP_Conv:
        return change_of_conv(l, n, x, left, right);
    case OP_Gather:
        x = BUILD(&l->b, "Gather", left, n->in[1]);
        return BUILD(&l->b, "MatMul", scaled(l, x), right);
    case OP_Gemm:
        if (!w.is_transposed)
            break;
        x = build_op(&l->b, "Gemm", VALUES(x, right), ATTRS(transposed));
        return build_op(&l->b, "Gemm", VALUES(scaled(l, x), left), ATTRS(transposed));
    default:
        if (!w.is_transposed)
            break;
        x = BUILD(&l->b, "MatMul", x, turned(l, right));
        return BUILD(&l->b, "MatMul", scaled(l, x), turned(l, left));
    }
    return BUILD(&l->b, "MatMul", scaled(l, BUILD(&l->b, "MatMul", x, left)), right);
}

// The node's result is computed under another name; the sum takes its place.
static void adapt(struct lora *l, node_id id, struct weight w) {
    struct node n = *graph_node(l->g, id); // nodes move when some are added
    value_id y = n.out[0];
    value_id left = VALUE_NONE, right = VALUE_NONE;
    l->b.scope = str_format(l->g->model->arena, "lora/%s", graph_value(l->g, w.v)->name);
    find_matrices(l, &n, w, &left, &right);
    if (l->b.failed)
        return;
    value_id change = change_of(l, &n, w, left, right);
    const char *name = graph_fresh_name(l->g, "base");
    value_id base = name && !l->b.failed ? graph_add_value(l->g, name, type_of(l, y)) : VALUE_NONE;
    if (!base.i) {
        out_of_memory(l);
        return;
    }
    graph_node(l->g, id)->out[0] = base;
    graph_value(l->g, base)->def = id;
    graph_value(l->g, y)->def = NODE_NONE;
    if (!graph_add_node(l->g, "", "Add", VALUES(base, change), VALUES(y)).i)
        out_of_memory(l);
}

// ---- The pass ----

static bool is_matrix_name(const char *name) {
    return strncmp(name, "lora.left(", 10) == 0 || strncmp(name, "lora.right(", 11) == 0;
}

static status read_options(struct lora *l) {
    const char *text = options_text(l->c->options, "lora");
    char *end;
    l->rank = strtoll(text, &end, 10);
    l->pattern = *end == ':' ? end + 1 : "*";
    if (end == text || (*end && *end != ':') || l->rank < 1 || l->rank > MAX_RANK || !*l->pattern)
        return diag_error(l->c->diags, DIAG_USAGE, loc_none(),
                          "--lora %s: must be RANK or RANK:PATTERN, such as 8 or 8:*attention*",
                          text);
    double p = options_given(l->c->options, "lora-dropout")
                   ? options_real(l->c->options, "lora-dropout")
                   : 0;
    return p >= 0 && p < 1 ? ST_OK
                           : diag_error(l->c->diags, DIAG_USAGE, loc_none(),
                                        "--lora-dropout must be at least 0 and less than 1");
}

// Options that do nothing without --lora.
static status refuse_alone(struct pass_context *c) {
    static const char *const names[] = {"lora-alpha", "lora-init", "lora-dropout"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (options_given(c->options, names[i]))
            return diag_error(c->diags, DIAG_USAGE, loc_none(), "--%s needs --lora", names[i]);
    return ST_OK;
}

// A setting that is part of the state, for an export to know it.
static void add_scale(struct lora *l, enum elem e) {
    if (!options_given(l->c->options, "lora-alpha") || l->scale.i)
        return;
    double x = options_real(l->c->options, "lora-alpha") / (double)l->rank;
    struct tensor *init = tensor_from_reals(l->g->model->arena, e, &x, NULL, 0);
    const struct type *t = type_tensor(l->g->model->arena, e, NULL, 0);
    l->scale = init && t ? graph_add_value(l->g, "lora.scale", t) : VALUE_NONE;
    if (!l->scale.i || !graph_add_init(l->g, l->scale, init) || !graph_add_input(l->g, l->scale)) {
        out_of_memory(l);
        return;
    }
    graph_value(l->g, l->scale)->is_constant = true;
}

static status run(struct model *m, struct pass_context *c) {
    struct graph *g = m->graph;
    struct lora l = {.g = g, .b = builder_make(g, c->diags), .c = c};
    size_t n_nodes = g->order.n;
    if (!options_given(c->options, "lora"))
        return refuse_alone(c);
    l.b.infer = shape_infer;
    status st = read_options(&l);
    if (st)
        return st;
    if (!(l.done = ARENA_ARRAY(c->arena, bool, g->values.n)))
        return diag_out_of_memory(c->diags);
    for (size_t i = 0; i < n_nodes && !l.b.failed; i++) {
        node_id id = g->order.at[i];
        const struct node *n = graph_node(g, id);
        struct weight w;
        if (!is_adaptable(&l, n, &w))
            continue;
        add_scale(&l, type_of(&l, w.v)->elem);
        adapt(&l, id, w);
    }
    if (l.b.failed)
        return l.b.failed;
    if (!l.n_adapters)
        return diag_error(c->diags, DIAG_USAGE, loc_none(),
                          "--lora %s: no MatMul, Gemm, Conv or Gather has a weight of such a name",
                          options_text(c->options, "lora"));
    pass_progress(c, "lora: %lld adapters of rank %lld", (long long)l.n_adapters,
                  (long long)l.rank);
    return graph_sort(g, c->diags);
}

void lora_restrict(const struct graph *g, const struct options *o, bool *trained) {
    if (!options_given(o, "lora"))
        return;
    for (size_t i = 0; i < g->inits.n; i++) {
        const struct value *x = graph_value(g, g->inits.at[i]);
        trained[g->inits.at[i].i] &= options_given(o, "train");
        trained[g->inits.at[i].i] |= is_matrix_name(x->name);
    }
}

const struct pass pass_lora = {
    .name = "lora",
    .summary = "put low-rank adapters beside weights",
    .needs = FACT_TOPO | FACT_SHAPES,
    .breaks = FACT_COSTS,
    .options = options,
    .run = run,
};
