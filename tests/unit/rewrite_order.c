// Random graphs in random topological orders: after the pass rewrite, ONNX Runtime runs all nodes
// that touch something big in exactly the given order, nothing big is computed once where the plan
// computes it twice, and every output is the same expression as before.
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "ir/base/rng.h"
#include "ir/build.h"
#include "ir/check/equivalence.h"
#include "ir/copy.h"
#include "ir/runtime/ort_order.h"
#include "passes/pass.h"

enum { BIG = 1000 }; // elements; small ones have one

struct made {
    struct scene *s;
    struct graph *g;
    struct rng r;
    value_id big[64], small[64];
    size_t n_big, n_small;
    int64_t elements[256]; // by value
};

static value_id new_value(struct made *m, int64_t n) {
    char name[16];
    snprintf(name, sizeof name, "v%zu", m->g->values.n);
    value_id v = graph_add_value(m->g, name, type_static(m->g->model->arena, ELEM_F32, &n, 1));
    assert_true(v.i && v.i < 256);
    m->elements[v.i] = n;
    if (n >= BIG)
        m->big[m->n_big++] = v;
    else
        m->small[m->n_small++] = v;
    return v;
}

static value_id any_big(struct made *m) {
    return m->big[rng_below(&m->r, m->n_big)];
}

static value_id any_small(struct made *m) {
    return m->n_small ? m->small[rng_below(&m->r, m->n_small)] : any_big(m);
}

static void add_node(struct made *m) {
    value_id x = any_big(m), y = any_big(m), out;
    int64_t n = m->elements[x.i];
    node_id id;
    switch (rng_below(&m->r, 6)) {
    case 0:
        out = new_value(m, n);
        id = graph_add_node(m->g, "", rng_below(&m->r, 2) ? "Neg" : "Exp", (struct values){&x, 1},
                            (struct values){&out, 1});
        break;
    case 1: // of unlike lengths, but also of equal ones
        out = new_value(m, n + m->elements[y.i]);
        id = graph_add_node(m->g, "", "Concat", (struct values){(value_id[]){x, y}, 2},
                            (struct values){&out, 1});
        assert_true(graph_set_attr(m->g, id, attr_int("axis", 0)));
        break;
    case 2: // small from big
        out = new_value(m, 1);
        id =
            graph_add_node(m->g, "", "ReduceSum", (struct values){&x, 1}, (struct values){&out, 1});
        break;
    case 3: // small from small
        y = any_small(m);
        out = new_value(m, m->elements[y.i]);
        id = graph_add_node(m->g, "", "Abs", (struct values){&y, 1}, (struct values){&out, 1});
        break;
    case 4: // big from both
        y = any_small(m);
        n = m->elements[y.i] == 1 ? n : m->elements[y.i];
        out = new_value(m, n);
        x = m->elements[y.i] == 1 ? x : y;
        id = graph_add_node(m->g, "", "Mul", (struct values){(value_id[]){x, y}, 2},
                            (struct values){&out, 1});
        break;
    default: // a view
        out = new_value(m, n);
        id = graph_add_node(m->g, "", "Identity", (struct values){&x, 1}, (struct values){&out, 1});
        break;
    }
    assert_true(id.i);
}

// Computes a node again; the readers behind it read the new result.
static void repeat(struct made *m, node_id id) {
    struct node old = *graph_node(m->g, id);
    value_id from = old.out[0], out = new_value(m, m->elements[from.i]);
    node_id copy = graph_add_node(m->g, "", old.type, (struct values){old.in, old.n_in},
                                  (struct values){&out, 1});
    struct node *n = graph_node(m->g, copy);
    n->attrs = old.attrs;
    n->n_attrs = old.n_attrs;
    n->again = id;
    size_t half = m->g->order.n / 2;
    m->g->order.n--;
    for (size_t i = half; i < m->g->order.n; i++) {
        struct node *reader = graph_node(m->g, m->g->order.at[i]);
        for (uint32_t k = 0; k < reader->n_in; k++)
            if (value_same(reader->in[k], from))
                reader->in[k] = out;
    }
    memmove(&m->g->order.at[half + 1], &m->g->order.at[half],
            (m->g->order.n - half) * sizeof *m->g->order.at);
    m->g->order.at[half] = copy;
    m->g->order.n++;
}

// Any topological order: always one of the nodes that are ready.
static void shuffle(struct made *m) {
    struct graph *g = m->g;
    bool is_done[256] = {false};
    size_t n = g->order.n;
    for (size_t at = 0; at < n; at++) {
        size_t ready[256], n_ready = 0;
        for (size_t i = at; i < n; i++) {
            const struct node *x = graph_node(g, g->order.at[i]);
            bool is_ready = true;
            for (uint32_t k = 0; k < x->n_in; k++)
                is_ready &= !graph_value(g, x->in[k])->def.i || is_done[x->in[k].i];
            if (is_ready)
                ready[n_ready++] = i;
        }
        assert_true(n_ready > 0);
        size_t pick = ready[rng_below(&m->r, n_ready)];
        node_id id = g->order.at[pick];
        memmove(&g->order.at[at + 1], &g->order.at[at], (pick - at) * sizeof id);
        g->order.at[at] = id;
        is_done[graph_node(g, id)->out[0].i] = true;
    }
}

static struct model *make(struct scene *s, struct pool *names, uint64_t seed) {
    struct made m = {.s = s, .r = rng_make(seed, 7)};
    struct model *model = model_new(&s->arena, names);
    m.g = model->graph;
    model->ir_version = 8;
    assert_true(VEC_PUSH(&s->arena, &model->opsets, (struct opset){.domain = "", .version = 17}));
    value_id x = new_value(&m, BIG);
    assert_true(graph_add_input(m.g, x));
    size_t n = 3 + rng_below(&m.r, 25);
    for (size_t i = 0; i < n; i++)
        add_node(&m);
    for (size_t i = rng_below(&m.r, 4); i-- > 0;) {
        node_id id = m.g->order.at[rng_below(&m.r, m.g->order.n / 2 + 1)];
        if (!graph_node(m.g, id)->again.i)
            repeat(&m, id);
    }
    struct uses uses;
    assert_true(graph_uses(m.g, &s->arena, &uses));
    for (uint32_t v = 2; v < m.g->values.n; v++)
        if (uses.start[v + 1] == uses.start[v])
            assert_true(graph_add_output(m.g, (value_id){v}));
    shuffle(&m);
    model->facts = FACT_TOPO | FACT_SHAPES;
    return model;
}

static bool is_view(const struct graph *g, const struct node *n) {
    return op_info(n->op)->flags & OPF_VIEW && !graph_value(g, n->out[0])->is_output;
}

// Inputs are held in any case, and their views with them.
static bool is_held_anyway(const struct graph *g, value_id v) {
    node_id def = graph_value(g, v)->def;
    while (def.i && is_view(g, graph_node(g, def))) {
        v = graph_node(g, def)->in[0];
        def = graph_value(g, v)->def;
    }
    return !def.i;
}

static bool touches_big(const struct graph *g, const struct node *n) {
    int64_t size;
    if (is_view(g, n))
        return false;
    for (uint32_t k = 0; k < n->n_in + n->n_out; k++) {
        value_id v = k < n->n_in ? n->in[k] : n->out[k - n->n_in];
        if (!is_held_anyway(g, v) && type_bytes(graph_value(g, v)->type, &size) && size >= BIG)
            return true;
    }
    return false;
}

// With an allocation that fails after so many others; -1: none does.
static status rewrite_failing(struct scene *s, struct model *m, const char *shapes, int64_t after) {
    struct options o = options_make(&s->arena);
    struct pass_context c = {.arena = &s->arena, .diags = &s->diags, .options = &o};
    struct pass_pipeline p;
    assert_int_equal(pass_add_options(&o, &s->diags), ST_OK);
    assert_int_equal(options_set(&o, &s->diags, "runtime-shapes", shapes), ST_OK);
    assert_int_equal(pass_pipeline_parse(&s->arena, &s->diags, "rewrite", &p), ST_OK);
    s->mem.fail_after = after;
    status st = pass_pipeline_run(&p, m, &c, NULL);
    s->mem.fail_after = -1;
    return st;
}

static void rewrite(struct scene *s, struct model *m, const char *shapes) {
    status st = rewrite_failing(s, m, shapes, -1);
    for (size_t i = 0; st && i < s->diags.list.n; i++)
        print_message("%s\n", s->diags.list.at[i].text);
    assert_int_equal(st, ST_OK);
}

// Of the nodes that were there before, those that touch something big, in the order of ORT.
static void expect_kept_order(struct scene *s, const struct graph *g, const struct graph *was) {
    struct ort_order o;
    assert_int_equal(ort_order(g, &s->arena, &s->diags, &o), ST_OK);
    size_t at = 0;
    for (size_t i = 0; i < was->order.n; i++) {
        if (!touches_big(was, graph_node(was, was->order.at[i])))
            continue;
        while (at < o.n &&
               (o.at[at].i >= was->nodes.n || !touches_big(was, graph_node(was, o.at[at]))))
            at++;
        assert_true(at < o.n);
        assert_int_equal(o.at[at++].i, was->order.at[i].i);
    }
}

// No two nodes that compute something big have the same operator, attributes and operands: ONNX
// Runtime would merge them.
static void expect_no_duplicates(const struct graph *g, const struct graph *was) {
    for (uint32_t i = 1; i < was->nodes.n; i++)
        for (uint32_t k = i + 1; k < was->nodes.n; k++) {
            const struct node *x = graph_node(g, (node_id){i}), *y = graph_node(g, (node_id){k});
            if (x->op == y->op && x->n_in == y->n_in && touches_big(was, &was->nodes.at[i]) &&
                touches_big(was, &was->nodes.at[k]))
                assert_true(memcmp(x->in, y->in, x->n_in * sizeof *x->in) != 0);
        }
}

static void any_order_is_kept(const char *shapes) {
    int64_t n_changed = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct scene s;
        scene_open(&s);
        struct pool names = pool_make(&s.arena);
        struct model *m = make(&s, &names, seed), *was = model_copy(m, &s.arena);
        struct ort_order natural;
        assert_int_equal(ort_order(m->graph, &s.arena, &s.diags, &natural), ST_OK);
        for (size_t i = 0; i < natural.n; i++)
            n_changed += natural.at[i].i != m->graph->order.at[i].i;
        rewrite(&s, m, shapes);
        expect_kept_order(&s, m->graph, was->graph);
        expect_no_duplicates(m->graph, was->graph);
        status st = equivalence_check(was, m, &s.diags);
        if (st)
            print_message("seed %d: %s\n", (int)seed, s.diags.list.at[0].text);
        assert_int_equal(st, ST_OK);
        scene_close(&s);
    }
    assert_true(n_changed > 10000); // without control nodes most orders would not hold
}

static void with_hidden_shapes(void **state) {
    (void)state;
    any_order_is_kept("hidden");
}

static void with_known_shapes(void **state) {
    (void)state;
    any_order_is_kept("known");
}

static void without_memory_it_says_so(void **state) {
    (void)state;
    status st = ST_LIMIT;
    for (int64_t k = 0; st; k++) {
        struct scene s;
        scene_open(&s);
        struct pool names = pool_make(&s.arena);
        struct model *m = make(&s, &names, 3);
        st = rewrite_failing(&s, m, "hidden", k);
        assert_true(st == ST_OK || st == ST_LIMIT);
        scene_close(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_hidden_shapes),
        cmocka_unit_test(with_known_shapes),
        cmocka_unit_test(without_memory_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
