// Layout: which results may be written in place, which colours nodes get, who has to wait, and a
// check that finds every byte that is written too early.
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "ir/base/rng.h"
#include "ir/text/text.h"
#include "passes/layout/layout.h"

static struct model *parse(struct scene *s, struct pool *names, const char *body) {
    struct model *m = NULL;
    char *text = str_format(&s->arena, "mfc 1\nopset 17\ngraph \"g\" {\n%s}\n", body);
    assert_int_equal(parse_text((struct model_text){text, strlen(text), "text"}, &s->arena, names,
                                &s->diags, &m),
                     ST_OK);
    assert_int_equal(graph_sort(m->graph, &s->diags), ST_OK);
    assert_int_equal(model_verify(m, &s->diags), ST_OK);
    return m;
}

static struct layout lay_out(struct scene *s, const struct graph *g, int32_t n_streams) {
    struct layout l;
    struct layout_options o = {
        .in_place = true, .shares = true, .n_streams = n_streams, .alignment = 4};
    assert_int_equal(layout_of(g, &o, &s->arena, &s->diags, NULL, &l), ST_OK);
    return l;
}

static uint32_t buffer(const struct graph *g, const struct layout *l, const char *name) {
    return l->of[graph_find(g, name).i];
}

// %y is written over %a, or it is not.
static void expect_in_place(const char *body, bool in_place) {
    struct scene s;
    scene_open(&s);
    struct pool names = pool_make(&s.arena);
    struct model *m = parse(&s, &names, body);
    struct layout l = lay_out(&s, m->graph, 1);
    assert_int_equal(buffer(m->graph, &l, "y") == buffer(m->graph, &l, "a"), in_place);
    model_close(m);
    scene_close(&s);
}

#define HEAD                                                                                       \
    "  input %x : f32[8]\n  input %b : f32[1]\n  input %i : i64[8]\n"                              \
    "  %a = MatMul(%x, %x) : f32[8]\n"
#define TAIL "  %z = MatMul(%y, %y) : f32[8]\n  output %z\n"

static void in_place_rule(void **state) {
    (void)state;
    expect_in_place(HEAD "  %y = Exp(%a) : f32[8]\n" TAIL, true);
    expect_in_place(HEAD "  %y = Mul(%a, %a) : f32[8]\n" TAIL, true);
    expect_in_place(HEAD "  %y = Sub(%x, %a) : f32[8]\n" TAIL, true);
    // Through a view that only this node reads.
    expect_in_place(HEAD "  const %s : i64[1] = {8}\n  %v = Reshape(%a, %s) : f32[8]\n"
                         "  %y = Exp(%v) : f32[8]\n" TAIL,
                    true);
    // Somebody else reads it, before or after.
    expect_in_place(HEAD "  %y = Exp(%a) : f32[8]\n  %w = Neg(%a) : f32[8]\n"
                         "  %z = Add(%y, %w) : f32[8]\n  output %z\n",
                    false);
    expect_in_place(HEAD "  %w = MatMul(%a, %a) : f32[8]\n  %y = Exp(%a) : f32[8]\n"
                         "  %z = MatMul(%y, %w) : f32[8]\n  output %z\n",
                    false);
    // It is an output, or the node is not elementwise, or the result is of another size.
    expect_in_place(HEAD "  %y = Exp(%a) : f32[8]\n  output %a\n" TAIL, false);
    expect_in_place(HEAD "  %y = MatMul(%a, %x) : f32[8]\n" TAIL, false);
    expect_in_place(HEAD "  %y = Cast(%a, to=11) : f64[8]\n" TAIL, false);
    expect_in_place(HEAD "  %y = Add(%a, %b) : f32[1]\n" TAIL, false);
    // ScatterElements writes over its first operand only, and not when it reads it elsewhere too.
    expect_in_place(HEAD "  %y = ScatterElements(%a, %i, %x) : f32[8]\n" TAIL, true);
    expect_in_place(HEAD "  %y = ScatterElements(%x, %i, %a) : f32[8]\n" TAIL, false);
    expect_in_place(HEAD "  %y = ScatterElements(%a, %i, %a) : f32[8]\n" TAIL, false);
    // What a branch captures is read by the node that has it.
    expect_in_place("  input %c : bool[]\n" HEAD "  %y = Exp(%a) : f32[8]\n"
                    "  %w = If(%c, then_branch=graph \"t\" {\n    output %a\n  }) : f32[8]\n"
                    "  %z = MatMul(%y, %w) : f32[8]\n  output %z\n",
                    false);
}

// The lecture's picture: a long path, then the next longest, and what is left.
static void colours(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct pool names = pool_make(&s.arena);
    struct model *m = parse(&s, &names,
                            "  input %x : f32[8]\n  %a = Exp(%x) : f32[8]\n"
                            "  %b = Exp(%a) : f32[8]\n  %c = Exp(%b) : f32[8]\n"
                            "  %d = Neg(%a) : f32[8]\n  %e = Neg(%d) : f32[8]\n"
                            "  %f = Abs(%a) : f32[8]\n  %y = Sum(%c, %e, %f) : f32[8]\n"
                            "  output %y\n");
    const struct {
        int32_t n_streams;
        const char *colour; // of a, b, c, d, e, f, y
    } cases[] = {{1, "0000000"}, {2, "0001110"}, {3, "0001120"}, {9, "0001120"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t *stream = ARENA_ARRAY(&s.arena, uint32_t, m->graph->nodes.n);
        assert_int_equal(layout_colour(m->graph, cases[i].n_streams, &s.arena, &s.diags, stream),
                         ST_OK);
        for (size_t k = 0; k < 7; k++) {
            const char name[2] = {"abcdefy"[k], 0};
            node_id def = graph_value(m->graph, graph_find(m->graph, name))->def;
            assert_int_equal(stream[def.i], cases[i].colour[k] - '0');
        }
    }
    // A node that takes long makes its path the longest.
    graph_node(m->graph, graph_value(m->graph, graph_find(m->graph, "f"))->def)->cost = 100;
    uint32_t *stream = ARENA_ARRAY(&s.arena, uint32_t, m->graph->nodes.n);
    assert_int_equal(layout_colour(m->graph, 2, &s.arena, &s.diags, stream), ST_OK);
    assert_int_equal(stream[graph_value(m->graph, graph_find(m->graph, "f"))->def.i], 0);
    assert_int_equal(stream[graph_value(m->graph, graph_find(m->graph, "c"))->def.i], 1);
    model_close(m);
    scene_close(&s);
}

// Two paths do not share memory; one of them reads what the other writes over, and is waited for.
static void streams_apart(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct pool names = pool_make(&s.arena);
    struct model *m = parse(&s, &names,
                            "  input %x : f32[8]\n  %a = MatMul(%x, %x) : f32[8]\n"
                            "  %d = MatMul(%a, %x) : f32[8]\n"
                            "  %b = MatMul(%a, %x) : f32[8] cost=9\n"
                            "  %c = MatMul(%b, %x) : f32[8] cost=9\n"
                            "  %e = MatMul(%d, %x) : f32[8]\n  %y = MatMul(%c, %e) : f32[8]\n"
                            "  output %y\n");
    struct layout one = lay_out(&s, m->graph, 1), two = lay_out(&s, m->graph, 2);
    assert_true(two.arena_bytes > one.arena_bytes);
    assert_int_equal(one.waits.n, 0);
    for (size_t i = 1; i < two.buffers.n; i++)
        for (size_t k = 1; k < i; k++) {
            const struct layout_buffer *p = &two.buffers.at[i], *q = &two.buffers.at[k];
            if (p->stream != q->stream)
                assert_true(p->offset >= q->offset + q->bytes || q->offset >= p->offset + p->bytes);
        }
    // c takes the place of a, which d on the other stream reads.
    assert_int_equal(two.buffers.at[buffer(m->graph, &two, "c")].offset,
                     two.buffers.at[buffer(m->graph, &two, "a")].offset);
    assert_int_equal(two.waits.n, 1);
    assert_int_equal(two.waits.at[0].before.i,
                     graph_value(m->graph, graph_find(m->graph, "d"))->def.i);
    assert_int_equal(two.waits.at[0].after.i,
                     graph_value(m->graph, graph_find(m->graph, "c"))->def.i);
    // Without the wait the check refuses it.
    int64_t *offset = ARENA_ARRAY(&s.arena, int64_t, m->graph->values.n);
    for (size_t v = 0; v < m->graph->values.n; v++)
        offset[v] = two.of[v] ? two.buffers.at[two.of[v]].offset : -1;
    struct layout_claim claim = {.offset = offset,
                                 .arena_bytes = two.arena_bytes,
                                 .alignment = 4,
                                 .stream = two.stream,
                                 .n_streams = 2,
                                 .waits = two.waits.at,
                                 .n_waits = 1};
    assert_int_equal(layout_check(m->graph, &claim, &s.diags), ST_OK);
    claim.n_waits = 0;
    assert_int_equal(layout_check(m->graph, &claim, &s.diags), ST_VERIFY);
    assert_non_null(strstr(s.diags.list.at[0].text, "on another stream, may still need"));
    model_close(m);
    scene_close(&s);
}

// A random graph of nodes that cannot work in place, so that live ranges alone decide.
static struct model *random_chain(struct scene *s, struct pool *names, struct rng *r) {
    struct str body = str_make(&s->arena);
    str_add(&body, "  input %x : f32[4]\n");
    uint64_t n = 3 + rng_below(r, 10);
    for (uint64_t i = 0; i < n; i++) {
        char from[2][8] = {"x", "x"};
        for (int k = 0; k < 2; k++)
            if (i > 0 && rng_below(r, 5))
                snprintf(from[k], sizeof from[k], "v%d",
                         (int)(i - 1 - rng_below(r, i < 4 ? i : 4)));
        str_addf(&body, "  %%v%d = MatMul(%%%s, %%%s) : f32[%d]\n", (int)i, from[0], from[1],
                 (int)(1 + rng_below(r, 6)));
    }
    str_addf(&body, "  output %%v%d\n", (int)n - 1);
    if (n > 4)
        str_addf(&body, "  output %%v%d\n", (int)n - 3);
    return parse(s, names, str_text(&body));
}

// By pairs: two values whose lives meet must not overlap.
static bool is_right(const struct graph *g, const int64_t *offset, const int64_t *from,
                     const int64_t *to, const int64_t *bytes) {
    for (size_t v = 1; v < g->values.n; v++)
        for (size_t w = 1; w < v; w++)
            if (g->values.at[v].def.i && g->values.at[w].def.i && from[v] <= to[w] &&
                from[w] <= to[v] && offset[v] < offset[w] + bytes[w] &&
                offset[w] < offset[v] + bytes[v])
                return false;
    return true;
}

static void moved_addresses(void **state) {
    (void)state;
    int n_right = 0, n_wrong = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct scene s;
        scene_open(&s);
        struct pool names = pool_make(&s.arena);
        struct rng r = rng_make(seed, 0);
        struct model *m = random_chain(&s, &names, &r);
        const struct graph *g = m->graph;
        struct layout l = lay_out(&s, g, 1);
        size_t n = g->values.n;
        int64_t *offset = ARENA_ARRAY(&s.arena, int64_t, n),
                *from = ARENA_ARRAY(&s.arena, int64_t, n), *to = ARENA_ARRAY(&s.arena, int64_t, n),
                *bytes = ARENA_ARRAY(&s.arena, int64_t, n);
        for (size_t i = 0; i < g->order.n; i++) {
            const struct node *node = graph_node(g, g->order.at[i]);
            for (uint32_t k = 0; k < node->n_in; k++)
                to[node->in[k].i] = (int64_t)i;
            from[node->out[0].i] = to[node->out[0].i] = (int64_t)i;
            assert_true(type_bytes(graph_value(g, node->out[0])->type, &bytes[node->out[0].i]));
        }
        for (size_t i = 0; i < g->outputs.n; i++)
            to[g->outputs.at[i].i] = (int64_t)g->order.n;
        for (size_t v = 0; v < n; v++)
            offset[v] = l.of[v] ? l.buffers.at[l.of[v]].offset : -1;
        assert_true(is_right(g, offset, from, to, bytes));
        struct layout_claim claim = {
            .offset = offset, .arena_bytes = l.arena_bytes + 64, .alignment = 4};
        for (int k = 0; k < 20; k++) {
            size_t v = 1 + rng_below(&r, n - 1);
            if (offset[v] < 0)
                continue;
            int64_t was = offset[v];
            offset[v] = 4 * (int64_t)rng_below(&r, (uint64_t)(l.arena_bytes / 4 + 1));
            bool right = is_right(g, offset, from, to, bytes);
            n_right += right;
            n_wrong += !right;
            assert_int_equal(layout_check(g, &claim, &s.diags), right ? ST_OK : ST_VERIFY);
            offset[v] = was;
        }
        model_close(m);
        scene_close(&s);
    }
    assert_true(n_right > 200 && n_wrong > 200);
}

static void out_of_the_arena(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct pool names = pool_make(&s.arena);
    struct model *m =
        parse(&s, &names, "  input %x : f32[8]\n  %y = Exp(%x) : f32[8]\n  output %y\n");
    int64_t offset[3] = {-1, -1, 0};
    struct layout_claim claim = {.offset = offset, .arena_bytes = 32, .alignment = 8};
    assert_int_equal(layout_check(m->graph, &claim, &s.diags), ST_OK);
    for (int k = 0; k < 4; k++) { // too far, not aligned, beyond all numbers, none at all
        static const int64_t bad[] = {8, 4, INT64_MAX - 7, -1};
        offset[2] = bad[k];
        assert_int_equal(layout_check(m->graph, &claim, &s.diags), ST_VERIFY);
    }
    model_close(m);
    scene_close(&s);
}

// A failing allocation at any moment is a status, not a crash.
static void out_of_memory(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct pool names = pool_make(&s.arena);
    struct rng r = rng_make(7, 0);
    struct model *m = random_chain(&s, &names, &r);
    struct layout_options o = {.in_place = true, .shares = true, .n_streams = 2, .alignment = 4};
    status st = ST_LIMIT;
    int64_t k = 0;
    for (; k < 5000 && st != ST_OK; k++) {
        struct layout l;
        struct arena own = arena_make(&s.mem);
        s.mem.fail_after = k;
        st = layout_of(m->graph, &o, &own, &s.diags, NULL, &l);
        s.mem.fail_after = -1;
        arena_free(&own);
        assert_true(st == ST_OK || st == ST_LIMIT);
    }
    assert_int_equal(st, ST_OK);
    assert_true(k > 20);
    model_close(m);
    scene_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_place_rule),    cmocka_unit_test(colours),
        cmocka_unit_test(streams_apart),    cmocka_unit_test(moved_addresses),
        cmocka_unit_test(out_of_the_arena), cmocka_unit_test(out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
