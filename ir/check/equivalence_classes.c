// Value numbering of a graph: see equivalence.h. One pass in topological order. The key of a node
// consists of operator, attributes and operand classes; a table of keys (hash-consing) yields the
// classes of its outputs. A subgraph is an expression over the values that it captures and its
// inputs, which are identified by nesting level and position. A function of the model is an
// expression over its inputs; its name is not part of the key.
//
// The key of a random node includes the name of its first output, which is unique in its graph, so
// that it equals only itself (equivalence_random.c). With an explicit seed it is deterministic.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/limits.h"
#include "ir/check/equivalence_parts.h"

void equiv_key(struct numbering *s, char kind) {
    s->key.n = 0;
    str_add_char(&s->key, kind);
}

void equiv_put_bytes(struct numbering *s, const void *at, size_t n) {
    str_add_n(&s->key, &n, sizeof n);
    if (n)
        str_add_n(&s->key, at, n);
}

void equiv_put(struct numbering *s, int64_t x) {
    equiv_put_bytes(s, &x, sizeof x);
}

// NULL and "" are different.
static void put_text(struct numbering *s, const char *text) {
    equiv_put(s, text != NULL);
    equiv_put_bytes(s, text, text ? strlen(text) : 0);
}

struct equiv_class *equiv_at(struct numbering *s, uint32_t class) {
    assert(class < s->classes.n);
    return &s->classes.at[class];
}

bool equiv_is_known(const struct numbering *s) {
    int64_t class;
    return map_get(&s->by_key, s->key.at, s->key.n, &class);
}

uint32_t equiv_intern(struct numbering *s, bool *is_new) {
    int64_t class;
    *is_new = false;
    if (s->key.failed && !s->failed)
        s->failed = diag_out_of_memory(s->d);
    if (s->failed)
        return 0;
    if (!map_get(&s->by_key, s->key.at, s->key.n, &class)) {
        void *key = arena_copy(s->a, s->key.at, s->key.n);
        class = (int64_t)s->classes.n;
        *is_new = true;
        if (!key || !VEC_PUSH(s->a, &s->classes, (struct equiv_class){0}) ||
            !map_put(&s->by_key, key, s->key.n, class)) {
            s->failed = diag_out_of_memory(s->d);
            *is_new = false;
            return 0;
        }
    }
    s->classes.at[class].in_step |= s->is_step;
    return (uint32_t) class;
}

// The class of a graph as a function of its inputs and captured values.
static uint32_t body_class(struct numbering *s, const struct graph *g, const uint32_t *outer) {
    if (s->level == LIMIT_WIRE_DEPTH)
        s->failed = diag_error(s->d, DIAG_LIMIT, loc_path(s->m->path, g->name),
                               "graphs are nested deeper than %d", LIMIT_WIRE_DEPTH);
    if (s->failed)
        return 0;
    s->level++;
    const uint32_t *class = equiv_graph(s, g, outer);
    s->level--;
    if (!class)
        return 0;
    bool is_new;
    equiv_key(s, 'G');
    equiv_put(s, (int64_t)g->inputs.n);
    for (size_t i = 0; i < g->outputs.n; i++)
        equiv_put(s, class[g->outputs.at[i].i]);
    return equiv_intern(s, &is_new);
}

// The classes of the graphs and tensors among a node's attributes, in the order of the attributes.
// They are computed before the key is started: there is only one key buffer.
struct parts {
    VEC(uint32_t) class;
    size_t next; // the next one to put into the key
};

static void add_part(struct numbering *s, struct parts *p, uint32_t class) {
    if (!VEC_PUSH(s->a, &p->class, class))
        s->failed = diag_out_of_memory(s->d);
}

static void attr_parts(struct numbering *s, const struct attr *a, const uint32_t *outer,
                       const char *name, struct parts *p) {
    if (a->ref)
        return;
    size_t n =
        a->kind == ATTR_TENSORS || a->kind == ATTR_GRAPHS || a->kind == ATTR_SPARSES ? a->n : 1;
    for (size_t i = 0; i < n && !s->failed; i++)
        switch (a->kind) {
        case ATTR_TENSOR:
        case ATTR_TENSORS:
            add_part(s, p, equiv_constant(s, a->kind == ATTR_TENSOR ? a->t : a->tensors[i], name));
            break;
        case ATTR_SPARSE:
        case ATTR_SPARSES:
            add_part(s, p,
                     equiv_sparse(s, a->kind == ATTR_SPARSE ? a->sparse : a->sparses[i], name));
            break;
        case ATTR_GRAPH:
        case ATTR_GRAPHS:
            add_part(s, p, body_class(s, a->kind == ATTR_GRAPH ? a->g : a->graphs[i], outer));
            break;
        default:
            break;
        }
}

static void put_type(struct numbering *s, const struct type *t) {
    equiv_put(s, t != NULL);
    for (; t; t = t->child) {
        equiv_put(s, t->kind);
        equiv_put(s, t->elem);
        equiv_put(s, t->has_shape ? t->rank : -1);
        for (int32_t i = 0; i < t->rank; i++) {
            equiv_put(s, t->dims[i].size);
            put_text(s, t->dims[i].symbol);
        }
        put_text(s, t->opaque_domain);
        put_text(s, t->opaque_name);
        equiv_put(s, t->child != NULL);
    }
}

static void put_attr(struct numbering *s, const struct attr *a, struct parts *p) {
    put_text(s, a->name);
    equiv_put(s, a->kind);
    put_text(s, a->ref);
    equiv_put_bytes(s, a->extra.at, a->extra.n);
    if (a->ref)
        return;
    bool is_list = attr_is_list(a->kind);
    size_t n = is_list ? a->n : 1;
    equiv_put(s, (int64_t)n);
    for (size_t i = 0; i < n; i++)
        switch (a->kind) {
        case ATTR_FLOAT:
        case ATTR_FLOATS: // bitwise
            equiv_put_bytes(s, is_list ? &a->floats[i] : &a->f, sizeof a->f);
            break;
        case ATTR_INT:
        case ATTR_INTS:
            equiv_put(s, is_list ? a->ints[i] : a->i);
            break;
        case ATTR_STRING:
        case ATTR_STRINGS: {
            struct bytes b = is_list ? a->strings[i] : a->s;
            equiv_put_bytes(s, b.at, b.n);
            break;
        }
        case ATTR_TYPE:
        case ATTR_TYPES:
            put_type(s, is_list ? a->types[i] : a->type);
            break;
        default:
            if (a->kind != ATTR_NONE && p->next < p->class.n)
                equiv_put(s, p->class.at[p->next++]);
        }
}

static int by_name(const void *a, const void *b) {
    return strcmp((*(const struct attr *const *)a)->name, (*(const struct attr *const *)b)->name);
}

// The attributes sorted by name; NULL: out of memory.
static const struct attr **sorted_attrs(struct numbering *s, const struct attr *attrs, size_t n) {
    const struct attr **list = ARENA_ARRAY(s->a, const struct attr *, n);
    for (size_t i = 0; list && i < n; i++)
        list[i] = &attrs[i];
    if (list)
        qsort(list, n, sizeof *list, by_name);
    else
        s->failed = diag_out_of_memory(s->d);
    return list;
}

#define FUNCTION_OPEN UINT32_MAX // its class is being computed: a call here is recursive

static uint32_t function_class(struct numbering *s, const struct function *f, size_t at) {
    if (s->functions[at] == FUNCTION_OPEN)
        s->failed = diag_error(s->d, DIAG_MALFORMED, loc_path(s->m->path, f->name),
                               "the function calls itself");
    if (s->failed || s->functions[at])
        return s->functions[at];
    s->functions[at] = FUNCTION_OPEN;
    uint32_t level = s->level;
    s->level = 0; // independent of the call site
    uint32_t body = body_class(s, f->body, NULL);
    s->level = level;
    struct parts parts = {0};
    const struct attr **defaults = sorted_attrs(s, f->defaults, f->n_defaults);
    for (size_t i = 0; !s->failed && i < f->n_defaults; i++)
        attr_parts(s, defaults[i], NULL, f->name, &parts);
    equiv_key(s, 'F');
    equiv_put(s, body);
    equiv_put(s, (int64_t)f->n_attrs);
    for (size_t i = 0; i < f->n_attrs; i++)
        put_text(s, f->attrs[i]);
    equiv_put(s, (int64_t)f->n_opsets);
    for (size_t i = 0; i < f->n_opsets; i++) {
        put_text(s, f->opsets[i].domain);
        equiv_put(s, f->opsets[i].version);
    }
    for (size_t i = 0; !s->failed && i < f->n_defaults; i++)
        put_attr(s, defaults[i], &parts);
    bool is_new;
    return s->functions[at] = equiv_intern(s, &is_new);
}

void equiv_put_node(struct numbering *s, const struct graph *g, node_id id, const uint32_t *in,
                    uint32_t n_in, const uint32_t *classes) {
    const struct node *n = graph_node(g, id);
    const char *first_out = "";
    for (uint32_t k = n->n_out; k-- > 0;)
        if (n->out[k].i)
            first_out = graph_value(g, n->out[k])->name;
    struct parts parts = {0};
    const struct attr **attrs = sorted_attrs(s, n->attrs, n->n_attrs);
    for (uint32_t k = 0; !s->failed && k < n->n_attrs; k++)
        attr_parts(s, attrs[k], classes, first_out, &parts);
    size_t at;
    const struct function *f = equiv_function(s->m, n, &at);
    uint32_t function = f ? function_class(s, f, at) : 0;
    equiv_key(s, 'N');
    put_text(s, f ? "" : n->type);
    put_text(s, f || n->op != OP_UNKNOWN ? "" : n->domain);
    put_text(s, f || !n->overload ? "" : n->overload);
    equiv_put(s, function);
    put_text(s, equivalence_is_random(g, id) ? first_out : NULL);
    // The number of outputs has a meaning for variadic operators such as Split, and before opset 14
    // for BatchNormalization (training mode).
    bool counts =
        n->op == OP_UNKNOWN || op_info(n->op)->max_out == OP_MANY || model_opset(s->m, "") < 14;
    equiv_put(s, counts ? n->n_out : 0);
    equiv_put_bytes(s, n->extra.at, n->extra.n);
    equiv_put(s, n_in);
    for (uint32_t k = 0; k < n_in; k++)
        equiv_put(s, in[k]);
    equiv_put(s, n->n_attrs);
    for (uint32_t k = 0; !s->failed && k < n->n_attrs; k++)
        put_attr(s, attrs[k], &parts);
}

// The class of output k of the node whose key is in s->key; leaves that key unchanged.
static uint32_t output_class(struct numbering *s, const struct graph *g, node_id id, uint32_t k,
                             const uint32_t *in, uint32_t n_in) {
    const struct node *n = graph_node(g, id);
    size_t n_key = s->key.n;
    bool is_new;
    equiv_put(s, k);
    uint32_t class = equiv_intern(s, &is_new);
    if (is_new) {
        struct equiv_class *c = equiv_at(s, class);
        c->g = g;
        c->node = id;
        c->name = graph_value(g, n->out[k])->name;
        c->in = in;
        c->n_in = n_in;
    }
    struct equiv_class *c = class ? equiv_at(s, class) : NULL;
    if (c && !c->type && s->is_step && s->level == 0)
        c->type = graph_value(g, n->out[k])->type;
    if (c && !c->type && k == 0) {
        const struct type *derived = equiv_derive(s, n, in, n_in);
        equiv_at(s, class)->type = derived;
    }
    s->key.n = n_key;
    return class;
}

// What parts in the plan may be of. A Slice is a piece of its operand, too.
static void add_whole(struct numbering *s, const struct graph *g, node_id id, const uint32_t *in,
                      uint32_t n_in, const uint32_t *class) {
    const struct node *n = graph_node(g, id);
    struct equiv_part p;
    equiv_add_whole(s, g, id, in, n_in, class);
    if (n->op == OP_Slice && equiv_slice_range(s, in, n_in, &p))
        equiv_at(s, class[n->out[0].i])->part = p;
}

// Whether the first result of the node whose key is in s->key has a class.
static bool knows_output(struct numbering *s) {
    size_t n_key = s->key.n;
    equiv_put(s, 0);
    bool known = equiv_is_known(s);
    s->key.n = n_key;
    return known;
}

static void number_node(struct numbering *s, const struct graph *g, node_id id, uint32_t *class) {
    const struct node *n = graph_node(g, id);
    uint32_t n_in = n->n_in, *in = ARENA_ARRAY(s->a, uint32_t, n->n_in), simple = 0;
    if (!in) {
        s->failed = diag_out_of_memory(s->d);
        return;
    }
    while (n_in > 0 && !n->in[n_in - 1].i)
        n_in--;
    for (uint32_t k = 0; k < n_in; k++)
        in[k] = n->in[k].i ? class[n->in[k].i] : 0;
    n_in = equiv_operands(s, n, in, n_in);
    size_t at;
    bool makes = n->n_out > 0 && n->out[0].i;
    bool is_plain = n->op != OP_UNKNOWN && !equiv_function(s->m, n, &at);
    if (is_plain && n->op == OP_Constant && n->n_attrs == 1 && n->attrs[0].kind == ATTR_TENSOR &&
        !n->attrs[0].ref && makes)
        simple = equiv_constant(s, n->attrs[0].t, graph_value(g, n->out[0])->name);
    else if (is_plain && makes)
        simple = equiv_simplify(s, n, in, n_in);
    if (simple) {
        class[n->out[0].i] = simple;
        return;
    }
    equiv_put_node(s, g, id, in, n_in, class);
    if (!s->is_step && s->level == 0 && makes && !knows_output(s)) {
        if (equiv_parts(s, g, id, in, n_in, class) || s->failed)
            return;
        equiv_put_node(s, g, id, in, n_in, class);
    }
    for (uint32_t k = 0; k < n->n_out && !s->failed; k++) {
        if (!n->out[k].i)
            continue;
        uint32_t c = output_class(s, g, id, k, in, n_in);
        class[n->out[k].i] = c;
    }
    for (uint32_t k = 0; k < n->n_out && !s->failed; k++) {
        uint32_t c = n->out[k].i ? class[n->out[k].i] : 0;
        uint32_t empty = c && equiv_at(s, c)->type ? equiv_empty(s, equiv_at(s, c)->type) : 0;
        if (empty)
            class[n->out[k].i] = empty;
    }
    if (s->is_step && s->level == 0 && makes && !s->failed)
        add_whole(s, g, id, in, n_in, class);
}

// The class of a value that no node computes: captured, input, or initializer.
static uint32_t source_class(struct numbering *s, const struct graph *g, uint32_t v,
                             const uint32_t *outer) {
    const struct value *x = &g->values.at[v];
    bool is_new;
    if (x->outer.i)
        return outer ? outer[x->outer.i] : 0;
    if (x->is_input && s->level == 0) {
        equiv_key(s, 'I');
        put_text(s, x->name);
        uint32_t class = equiv_intern(s, &is_new);
        if (is_new && s->is_step)
            equiv_at(s, class)->type = x->type;
        if (is_new)
            equiv_at(s, class)->name = x->name;
        return class;
    }
    if (x->is_input) {
        size_t at = 0;
        while (at < g->inputs.n && g->inputs.at[at].i != v)
            at++;
        equiv_key(s, 'P');
        equiv_put(s, s->level);
        equiv_put(s, (int64_t)at);
        uint32_t class = equiv_intern(s, &is_new);
        if (is_new)
            equiv_at(s, class)->name = x->name;
        return class;
    }
    if (x->init)
        return equiv_constant(s, x->init, x->name);
    return x->sparse_init ? equiv_sparse(s, x->sparse_init, x->name) : 0;
}

// A value is equal up to the order of a sum if its node completes one, or reads such a value.
static void note_order(struct numbering *s, const struct graph *g, node_id id) {
    const struct node *n = graph_node(g, id);
    bool any = s->completes;
    for (uint32_t k = 0; k < n->n_in; k++)
        any |= n->in[k].i && s->reordered[n->in[k].i];
    for (uint32_t k = 0; k < n->n_out; k++)
        if (n->out[k].i)
            s->reordered[n->out[k].i] = any;
}

uint32_t *equiv_graph(struct numbering *s, const struct graph *g, const uint32_t *outer) {
    uint32_t *class = ARENA_ARRAY(s->a, uint32_t, g->values.n);
    if (!class)
        s->failed = diag_out_of_memory(s->d);
    for (uint32_t v = 1; v < g->values.n && !s->failed; v++)
        class[v] = source_class(s, g, v, outer);
    for (size_t i = 0; i < g->order.n && !s->failed; i++) {
        s->completes = false;
        number_node(s, g, g->order.at[i], class);
        if (!s->is_step && s->level == 0 && s->reordered)
            note_order(s, g, g->order.at[i]);
    }
    return s->failed ? NULL : class;
}
