// Random steps, plans made of them (recomputed nodes, control dependencies in both forms), and
// thousands of changes to these plans. ir/check/equivalence.h must accept every plan, and of the
// changed ones only those whose outputs the free interpreter (free_model.h) gives as before.
#include "tests/unit/unit.h"

#include "ir/build.h"
#include "ir/check/equivalence.h"
#include "ir/copy.h"
#include "tests/unit/free_model.h"

#define STEPS   300
#define MUTANTS 50 // of each plan

struct play {
    struct arena *a;
    struct diags *d;
    struct rng rng;
    struct model *step, *plan;
};

static uint64_t below(struct play *p, uint64_t n) {
    return rng_below(&p->rng, n);
}

static value_id add(struct graph *g, const char *type, const value_id *in, uint32_t n_in,
                    uint32_t n_out, node_id *id) {
    value_id out[2];
    const struct type *t = graph_value(g, in[0])->type;
    for (uint32_t k = 0; k < n_out; k++)
        out[k] = graph_add_value(g, graph_fresh_name(g, "v"), t);
    *id = graph_add_node(g, "", type, (struct values){in, n_in}, (struct values){out, n_out});
    return out[0];
}

static struct attr random_attr(struct play *p, const char *name) {
    return attr_float(name, (double)below(p, 3));
}

static void make_step(struct play *p, struct pool *names) {
    static const struct {
        const char *type;
        uint32_t n_in, n_out;
        const char *attr;
    } ops[] = {{"Sub", 2, 1, NULL},       {"Pow", 2, 1, NULL},
               {"Exp", 1, 1, NULL},       {"LeakyRelu", 1, 1, "alpha"},
               {"Where", 3, 1, NULL},     {"MaxPool", 1, 2, NULL},
               {"Neg", 1, 1, NULL},       {"RandomUniformLike", 1, 1, NULL},
               {"TopK", 2, 2, "largest"}, {"RandomNormalLike", 1, 1, "seed"}};
    p->step = model_new(p->a, names);
    struct graph *g = p->step->graph;
    assert_true(VEC_PUSH(p->a, &p->step->opsets, (struct opset){.domain = "", .version = 17}));
    const struct type *t = type_static(p->a, ELEM_I64, (int64_t[]){2, 3}, 2);
    for (int i = 0; i < 3; i++)
        graph_add_input(g, graph_add_value(g, graph_fresh_name(g, "x"), t));
    for (uint64_t k = 4 + below(p, 12); k > 0; k--) {
        size_t o = below(p, sizeof ops / sizeof *ops);
        value_id in[3];
        node_id id;
        for (uint32_t i = 0; i < ops[o].n_in; i++)
            in[i].i = (uint32_t)(1 + below(p, g->values.n - 1));
        add(g, ops[o].type, in, ops[o].n_in, ops[o].n_out, &id);
        if (ops[o].attr)
            graph_set_attr(g, id, random_attr(p, ops[o].attr));
    }
    struct uses uses; // dead values become outputs, so that every node counts
    assert_true(graph_uses(g, p->a, &uses));
    for (uint32_t v = 1; v < g->values.n; v++)
        if (g->values.at[v].def.i && uses.start[v] == uses.start[v + 1])
            graph_add_output(g, (value_id){v});
}

static node_id any_node(struct play *p) {
    const struct graph *g = p->plan->graph;
    return g->order.at[below(p, g->order.n)];
}

// Computes a node again, and gives some of its readers the copy.
static void repeat_node(struct play *p) {
    struct graph *g = p->plan->graph;
    node_id of = any_node(p), id;
    if (equivalence_is_random(g, of))
        return;
    struct node *n = graph_node(g, of);
    value_id first = add(g, n->type, n->in, n->n_in, n->n_out, &id);
    n = graph_node(g, of);
    for (uint32_t k = 0; k < n->n_attrs; k++)
        graph_set_attr(g, id, n->attrs[k]);
    graph_node(g, id)->again = of;
    for (uint32_t k = 0; k < n->n_out; k++) {
        value_id copy = {first.i + k};
        graph_value(g, copy)->type = graph_value(g, n->out[k])->type;
        for (size_t i = 0; i < g->order.n; i++) {
            struct node *reader = graph_node(g, g->order.at[i]);
            for (uint32_t j = 0; j < reader->n_in; j++)
                if (value_same(reader->in[j], n->out[k]) && below(p, 2))
                    reader->in[j] = copy;
        }
    }
    assert_int_equal(graph_sort(g, p->d), ST_OK);
}

// Makes one operand of a node an alias that waits for another value of the plan.
static void anchor_operand(struct play *p) {
    struct graph *g = p->plan->graph;
    node_id reader = any_node(p), waits = any_node(p), unused;
    uint32_t k = (uint32_t)below(p, graph_node(g, reader)->n_in);
    value_id t = graph_node(g, reader)->in[k], d = graph_node(g, waits)->out[0], token, alias;
    size_t at_reader = 0, at_waits = 0;
    for (size_t i = 0; i < g->order.n; i++) {
        at_reader = g->order.at[i].i == reader.i ? i : at_reader;
        at_waits = g->order.at[i].i == waits.i ? i : at_waits;
    }
    const struct type *type = graph_value(g, t)->type;
    if (at_waits >= at_reader || !type || type->rank != 2 || !graph_value(g, d)->type)
        return;
    uint32_t n_before = (uint32_t)g->values.n;
    struct builder b = builder_make(g, p->d);
    if (below(p, 2)) {
        value_id flat =
            add(g, "Reshape", (value_id[]){d, build_ints(&b, (int64_t[]){-1}, 1)}, 2, 1, &unused);
        value_id zero = build_ints(&b, (int64_t[]){0}, 1);
        token = add(g, "Slice", (value_id[]){flat, zero, zero}, 3, 1, &unused);
        value_id shape = build_ints(&b, (int64_t[]){2, 3}, 2);
        value_id cast = add(g, "Cast", &token, 1, 1, &unused);
        graph_set_attr(g, unused, attr_int("to", ELEM_I64));
        value_id joined = add(g, "Concat", (value_id[]){shape, cast}, 2, 1, &unused);
        graph_set_attr(g, unused, attr_int("axis", 0));
        alias = add(g, "Reshape", (value_id[]){t, joined}, 2, 1, &unused);
        graph_set_attr(g, unused, attr_int("allowzero", 1));
    } else {
        value_id no =
            build_tensor(&b, tensor_from_ints(p->a, ELEM_BOOL, (int64_t[]){0}, (int64_t[]){1}, 1));
        token = add(g, "Compress", (value_id[]){d, no}, 2, 1, &unused);
        alias = add(g, "Unsqueeze", (value_id[]){t, token}, 2, 1, &unused);
    }
    assert_int_equal(b.failed, ST_OK);
    // What the control nodes make is nothing to wait for, and nothing to anchor.
    for (uint32_t v = n_before; v < g->values.n; v++)
        if (graph_value(g, (value_id){v})->def.i)
            graph_value(g, (value_id){v})->type = NULL;
    graph_value(g, alias)->type = type;
    graph_node(g, reader)->in[k] = alias;
    assert_int_equal(graph_sort(g, p->d), ST_OK);
}

static void change_constant(struct play *p, struct graph *g) {
    if (!g->inits.n)
        return;
    struct value *v = graph_value(g, g->inits.at[below(p, g->inits.n)]);
    int64_t *x, n;
    assert_int_equal(tensor_ints(v->init, p->a, p->d, &x), ST_OK);
    assert_true(tensor_elements(v->init, &n));
    if (n > 0)
        x[below(p, (uint64_t)n)] = v->init->elem == ELEM_BOOL ? 1 : (int64_t)below(p, 5) - 1;
    v->init = tensor_from_ints(p->a, v->init->elem, x, v->init->dims, v->init->rank);
}

static void change_attr(struct play *p, struct graph *g, node_id id) {
    struct node *n = graph_node(g, id);
    if (!n->n_attrs)
        return;
    struct attr *a = &n->attrs[below(p, n->n_attrs)];
    if (below(p, 4) == 0)
        n->n_attrs--; // the last one goes
    else if (a->kind == ATTR_FLOAT)
        a->f = (float)below(p, 4);
    else
        a->i = (int64_t)below(p, 9);
}

static void swap_outputs(struct graph *g, struct node *n) {
    if (n->n_out < 2)
        return;
    value_id first = n->out[0];
    n->out[0] = n->out[1];
    n->out[1] = first;
    graph_value(g, n->out[0])->def_slot = 0;
    graph_value(g, n->out[1])->def_slot = 1;
}

// One change, which may turn out to be none. False: it is not a graph any more.
static bool mutate(struct play *p, struct model *m) {
    struct graph *g = m->graph;
    node_id id = g->order.at[below(p, g->order.n)];
    struct node *n = graph_node(g, id);
    uint32_t k = (uint32_t)below(p, n->n_in);
    struct arena scratch = arena_make(p->a->mem);
    struct diags cycles = diags_make(&scratch);
    switch (below(p, 7)) {
    case 0: { // two operands
        uint32_t j = (uint32_t)below(p, n->n_in);
        value_id v = n->in[k];
        n->in[k] = n->in[j];
        n->in[j] = v;
        break;
    }
    case 1:
    case 2: // another operand
        n->in[k].i = (uint32_t)(1 + below(p, g->values.n - 1));
        break;
    case 3:
        change_attr(p, g, id);
        break;
    case 4:
        change_constant(p, g);
        break;
    case 5:
        swap_outputs(g, n);
        break;
    default: { // another operator
        const char *other = graph_node(g, g->order.at[below(p, g->order.n)])->type;
        n->type = other;
        n->op = op_find("", other);
    }
    }
    bool ok = graph_sort(g, &cycles) == ST_OK && model_verify(m, &cycles) == ST_OK;
    arena_free(&scratch);
    return ok;
}

static bool gives_the_same(struct play *p, const struct model *other) {
    const struct graph *a = p->step->graph, *b = other->graph;
    bool same = true;
    struct arena scratch = arena_make(p->a->mem);
    struct free_tensor *x = ARENA_ARRAY(&scratch, struct free_tensor, a->values.n);
    struct free_tensor *y = ARENA_ARRAY(&scratch, struct free_tensor, b->values.n);
    free_run(a, 1, x, &scratch, p->d);
    free_run(b, 1, y, &scratch, p->d);
    for (size_t i = 0; i < a->outputs.n; i++) {
        const struct free_tensor *s = &x[a->outputs.at[i].i], *t = &y[b->outputs.at[i].i];
        assert_true(s->ok);
        same = same && t->ok && free_hash_tensor(0, s) == free_hash_tensor(0, t);
    }
    arena_free(&scratch);
    return same;
}

// A copy that lies about what it repeats is refused for that; here only outputs are asked for.
static void forget_copies(struct graph *g) {
    for (size_t i = 0; i < g->order.n; i++)
        graph_node(g, g->order.at[i])->again = NODE_NONE;
}

struct tally {
    int n_plans, n_mutants, n_equal, n_refused_equal;
};

static void play(uint64_t seed, struct tally *tally) {
    struct scene s;
    scene_open(&s);
    struct pool names = pool_make(&s.arena);
    struct play p = {.a = &s.arena, .d = &s.diags, .rng = rng_make(seed, 1)};
    make_step(&p, &names);
    p.plan = model_copy(p.step, &s.arena);
    for (uint64_t k = below(&p, 12); k > 0; k--)
        if (below(&p, 2))
            repeat_node(&p);
        else
            anchor_operand(&p);
    assert_int_equal(model_verify(p.plan, p.d), ST_OK);
    assert_true(gives_the_same(&p, p.plan)); // the judge is right about what is right by making
    status whole = equivalence_check(p.step, p.plan, p.d);
    if (whole)
        print_message("seed %d: %s\n", (int)seed, p.d->list.at[0].text);
    assert_int_equal(whole, ST_OK);
    tally->n_plans++;
    for (int k = 0; k < MUTANTS; k++) {
        struct arena own = arena_make(&s.mem);
        struct diags said = diags_make(&own);
        struct model *m = model_copy(p.plan, &own);
        forget_copies(m->graph);
        bool is_graph = mutate(&p, m);
        status st = is_graph ? equivalence_check(p.step, m, &said) : ST_OK;
        assert_true(st == ST_OK || (st == ST_VERIFY && said.n_errors > 0));
        if (is_graph) {
            bool equal = gives_the_same(&p, m);
            if (st == ST_OK && !equal)
                fail_msg("seed %d, mutant %d: accepted, but its outputs differ", (int)seed, k);
            tally->n_mutants++;
            tally->n_equal += equal;
            tally->n_refused_equal += equal && st != ST_OK;
        }
        arena_free(&own);
    }
    scene_close(&s);
}

static void mutants(void **state) {
    (void)state;
    struct tally t = {0};
    for (uint64_t seed = 1; seed <= STEPS; seed++)
        play(seed, &t);
    print_message("%d plans accepted; %d mutants, of which %d compute the same; refused all the "
                  "same: %d\n",
                  t.n_plans, t.n_mutants, t.n_equal, t.n_refused_equal);
    // Equal by a law that is not among the rules, such as Neg of an empty tensor being one: few.
    assert_true(t.n_mutants > STEPS * MUTANTS / 2);
    assert_true(t.n_equal > t.n_mutants / 20 && t.n_equal < t.n_mutants);
    assert_true(t.n_refused_equal * 100 <= t.n_mutants);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(mutants)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
