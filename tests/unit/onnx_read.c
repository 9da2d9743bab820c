// The ONNX reader: what it makes of good models, what it says of bad ones, and that it survives
// models cut off anywhere and memory that runs out anywhere.
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/onnx/onnx_read.h"
#include "tests/sample.h"

struct reader {
    struct scene scene;
    struct pool pool;
    struct msg msg;
    struct model *m;
    status st;
};

static void read_it(struct reader *r, struct msg msg) {
    r->msg = msg;
    scene_open(&r->scene);
    r->pool = pool_make(&r->scene.arena);
    struct source *s;
    r->st = source_memory(&r->scene.arena, &r->scene.diags, msg.at, (int64_t)msg.n, &s);
    if (!r->st)
        r->st = onnx_read(s, &r->scene.arena, &r->pool, &r->scene.diags, &r->m);
}

static void done(struct reader *r) {
    if (!r->st)
        model_close(r->m);
    scene_close(&r->scene);
    msg_free(&r->msg);
}

static void test_small(void **state) {
    (void)state;
    struct reader r;
    read_it(&r, sample_small());
    assert_int_equal(r.st, ST_OK);
    assert_int_equal(r.m->ir_version, 8);
    assert_int_equal(model_opset(r.m, ""), 17);
    const struct graph *g = r.m->graph;
    assert_string_equal(g->name, "small");
    assert_int_equal(g->order.n, 2);
    const struct value *w = graph_value(g, graph_find(g, "w"));
    assert_int_equal(w->init->payload, PAYLOAD_RAW);
    assert_int_equal(w->init->data.n_bytes, 64);
    float x[16];
    assert_int_equal(span_read(w->init->data, &r.scene.diags, x), ST_OK);
    assert_true(x[15] == 15);
    int64_t n_bytes;
    assert_true(type_bytes(graph_value(g, graph_find(g, "x"))->type, &n_bytes));
    assert_int_equal(n_bytes, 64);
    assert_int_equal(graph_node(g, g->order.at[1])->op, OP_Relu);
    done(&r);
}

static void test_nested(void **state) {
    (void)state;
    struct reader r;
    read_it(&r, sample_nested());
    assert_int_equal(r.st, ST_OK);
    const struct graph *g = r.m->graph;
    // The If comes second in the file, and first in the order.
    const struct node *n = graph_node(g, g->order.at[0]);
    assert_string_equal(n->type, "If");
    const struct graph *branch = node_attr(n, "then_branch")->g;
    assert_ptr_equal(branch->outer, g);
    value_id x = graph_find(branch, "x");
    assert_int_equal(graph_value(branch, x)->outer.i, graph_find(g, "x").i);
    assert_int_equal(r.m->functions.n, 1);
    assert_string_equal(r.m->functions.at[0].domain, "test");
    assert_int_equal(r.m->functions.at[0].body->inputs.n, 1);
    assert_true(graph_value(g, graph_find(g, "z"))->has_info);
    done(&r);
}

static const struct tensor *init(const struct reader *r, const char *name) {
    value_id v = graph_find(r->m->graph, name);
    assert_true(v.i != 0);
    return graph_value(r->m->graph, v)->init;
}

static void test_everything(void **state) {
    (void)state;
    struct reader r;
    read_it(&r, sample_everything());
    assert_int_equal(r.st, ST_OK);
    struct model *m = r.m;
    const struct graph *g = m->graph;
    const struct node *n = graph_node(g, g->order.at[0]);
    assert_int_equal(n->n_attrs, 14);
    for (uint32_t k = 0; k < 14; k++)
        assert_int_equal(n->attrs[k].kind, k + 1);
    assert_true(n->attrs[0].f == 1.0F);
    assert_int_equal(n->attrs[1].i, -7);
    assert_int_equal(n->attrs[2].s.n, 4);
    assert_int_equal(n->attrs[6].n, 2);
    assert_int_equal(n->attrs[6].ints[1], 6);
    assert_int_equal(n->attrs[7].strings[1].n, 0);
    assert_int_equal(n->attrs[10].sparse->dims[0], 9);
    assert_int_equal(n->attrs[12].type->kind, TYPE_OPTIONAL);
    assert_string_equal(n->attrs[12].type->denotation, "MAYBE");
    const struct type *inner = n->attrs[12].type->child->child->child;
    assert_string_equal(inner->dims[0].symbol, "N");
    assert_string_equal(inner->dims[0].denotation, "DATA_BATCH");
    assert_int_equal(inner->dims[1].size, DIM_UNKNOWN);
    assert_int_equal(n->n_in, 2);
    assert_int_equal(n->in[1].i, 0);
    assert_string_equal(n->overload, "overload");
    assert_string_equal(n->metadata.at[0].value, "v");
    assert_int_equal(n->devices.at[0], 10 << 3 | 2);
    assert_int_equal(n->devices.at[1], n->devices.n - 2);
    assert_int_equal(n->extra.n, 3 + strlen("from the future"));
    assert_memory_equal(n->extra.at + 3, "from the future", 15);
    assert_int_equal(init(&r, "f")->payload, PAYLOAD_FLOATS);
    assert_int_equal(init(&r, "h")->payload, PAYLOAD_INT32S);
    assert_int_equal(init(&r, "d")->payload, PAYLOAD_DOUBLES);
    assert_int_equal(init(&r, "u")->payload, PAYLOAD_UINT64S);
    assert_int_equal(init(&r, "q")->data.n_bytes, 3);
    int64_t *ints;
    assert_int_equal(tensor_ints(init(&r, "i"), &r.scene.arena, &r.scene.diags, &ints), ST_OK);
    assert_int_equal(ints[0], -100);
    assert_int_equal(ints[2], 100);
    assert_int_equal(init(&r, "s")->n_strings, 2);
    assert_memory_equal(init(&r, "s")->strings[1].at, "\xff\0", 2);
    assert_int_equal(init(&r, "o")->payload, PAYLOAD_EXTERNAL);
    assert_null(init(&r, "o")->data.source);
    assert_string_equal(init(&r, "o")->external.at[0].value, "weights/o.bin");
    assert_int_equal(g->sparse_inits.n, 1);
    assert_int_equal(g->quantization.n, 1);
    assert_int_equal(g->metadata.n, 1);
    assert_int_equal(m->configurations.n, 1);
    assert_int_equal(m->extra.n, 3);
    assert_int_equal(m->training.n, 1);
    // The span of the training info is the message itself: its first field is `algorithm`.
    uint8_t *training = malloc((size_t)m->training.at[0].n_bytes);
    assert_int_equal(span_read(m->training.at[0], &r.scene.diags, training), ST_OK);
    assert_int_equal(training[0], 2 << 3 | 2);
    assert_int_equal(training[1], m->training.at[0].n_bytes - 2);
    free(training);
    assert_int_equal(r.scene.diags.n_errors, 0);
    assert_int_equal(r.scene.diags.list.n, 1); // the absent file
    assert_int_equal(r.scene.diags.list.at[0].code, DIAG_EXTERNAL_ABSENT);
    done(&r);
}

// A graph y = Relu(x) whose parts can be left out and added to.
static struct msg plain_graph(struct msg input, struct msg node, struct msg output) {
    struct msg g = {0};
    msg_put(&g, GRAPH_INPUT, input);
    msg_put(&g, GRAPH_NODE, node);
    msg_put(&g, GRAPH_OUTPUT, output);
    return g;
}

static struct msg good_graph(void) {
    return plain_graph(msg_value("x", -1, NULL), msg_node("Relu", "x", NULL, "y"),
                       msg_value("y", -1, NULL));
}

// Elements one by one instead of packed.
static void test_unpacked_elements(void **state) {
    (void)state;
    struct msg g = good_graph(), t = {0}, u = {0};
    msg_int(&t, TENSOR_DIMS, 3);
    msg_int(&t, TENSOR_TYPE, 7);
    msg_text(&t, TENSOR_NAME, "t");
    msg_int(&t, 7, -5);
    msg_int(&t, 7, 1000000);
    msg_int(&t, 7, 0);
    msg_put(&g, GRAPH_INIT, t);
    msg_int(&u, TENSOR_DIMS, 1);
    msg_int(&u, TENSOR_TYPE, 1);
    msg_text(&u, TENSOR_NAME, "u");
    msg_tag(&u, 4, 5);
    msg_raw(&u, &(float){0.5F}, 4);
    msg_put(&g, GRAPH_INIT, u);
    struct reader r;
    read_it(&r, msg_model(g));
    assert_int_equal(r.st, ST_OK);
    int64_t *ints;
    double *reals;
    assert_int_equal(tensor_ints(init(&r, "t"), &r.scene.arena, &r.scene.diags, &ints), ST_OK);
    assert_int_equal(ints[0], -5);
    assert_int_equal(ints[1], 1000000);
    assert_int_equal(tensor_reals(init(&r, "u"), &r.scene.arena, &r.scene.diags, &reals), ST_OK);
    assert_true(reals[0] == 0.5);
    done(&r);
}

// The model is refused with that code; the first message has these words, its path those.
static void refused(struct msg model, enum diag_code code, size_t n_errors, const char *words,
                    const char *path) {
    struct reader r;
    read_it(&r, model);
    assert_int_equal(r.st, diag_status(code));
    assert_int_equal(r.scene.diags.n_errors, n_errors);
    const struct diag *d = &r.scene.diags.list.at[0];
    assert_int_equal(d->code, code);
    if (!strstr(d->text, words) || (path && (!d->where.path || strcmp(d->where.path, path) != 0)))
        fail_msg("%s: \"%s\" instead of %s: \"%s\"", d->where.path, d->text, path, words);
    done(&r);
}

static void test_names(void **state) {
    (void)state;
    struct msg g = good_graph();
    msg_put(&g, GRAPH_INPUT, msg_value("x", -1, NULL));
    refused(msg_model(g), DIAG_DUPLICATE_NAME, 1, "\"x\" is already defined", "graph/input \"x\"");
    g = good_graph();
    msg_put(&g, GRAPH_NODE, msg_node("Neg", "x", NULL, "y"));
    refused(msg_model(g), DIAG_DUPLICATE_NAME, 1, "\"y\" is already defined",
            "graph/node 1 (Neg y)");
    g = good_graph();
    msg_put(&g, GRAPH_INIT, msg_floats("w", 1));
    msg_put(&g, GRAPH_INIT, msg_floats("w", 1));
    refused(msg_model(g), DIAG_DUPLICATE_NAME, 1, "\"w\" is already defined",
            "graph/initializer \"w\"");
    g = good_graph();
    msg_put(&g, GRAPH_INIT, msg_floats("y", 1));
    refused(msg_model(g), DIAG_DUPLICATE_NAME, 1, "\"y\" is already defined",
            "graph/node 0 (Relu y)");
    g = good_graph();
    msg_put(&g, GRAPH_INFO, msg_value("v", -1, NULL));
    msg_put(&g, GRAPH_INFO, msg_value("v", -1, NULL));
    refused(msg_model(g), DIAG_DUPLICATE_NAME, 1, "declared twice", NULL);
    // All dangling names are told at once.
    g = good_graph();
    msg_put(&g, GRAPH_NODE, msg_node("Add", "x", "lost", "p"));
    msg_put(&g, GRAPH_NODE, msg_node("Add", "gone", "x", "q"));
    msg_put(&g, GRAPH_OUTPUT, msg_value("nowhere", -1, NULL));
    refused(msg_model(g), DIAG_DANGLING_NAME, 3, "reads \"lost\"", "graph/node 1 (Add p)");
    // A declaration alone does not make a value.
    g = good_graph();
    msg_put(&g, GRAPH_NODE, msg_node("Add", "x", "lost", "p"));
    msg_put(&g, GRAPH_INFO, msg_value("lost", -1, NULL));
    refused(msg_model(g), DIAG_DANGLING_NAME, 1, "reads \"lost\"", NULL);
    g = good_graph();
    msg_put(&g, GRAPH_INIT, msg_floats("", 1));
    refused(msg_model(g), DIAG_MALFORMED, 1, "no name", NULL);
}

static void test_cycles(void **state) {
    (void)state;
    struct msg g = good_graph();
    msg_put(&g, GRAPH_NODE, msg_node("Add", "x", "self", "self"));
    refused(msg_model(g), DIAG_MALFORMED, 1, "node 1 (Add self) needs itself", NULL);
    g = good_graph();
    msg_put(&g, GRAPH_NODE, msg_node("Add", "x", "b", "a"));
    msg_put(&g, GRAPH_NODE, msg_node("Neg", "a", NULL, "b"));
    refused(msg_model(g), DIAG_MALFORMED, 1, "cycle", NULL);
}

static struct msg tensor_graph(int64_t dim, int elem, uint32_t field, size_t n_bytes) {
    struct msg g = good_graph(), t = {0};
    msg_int(&t, TENSOR_DIMS, dim);
    msg_int(&t, TENSOR_DIMS, 2);
    msg_int(&t, TENSOR_TYPE, elem);
    msg_text(&t, TENSOR_NAME, "w");
    msg_put(&t, field, sample_zeros(n_bytes));
    msg_put(&g, GRAPH_INIT, t);
    return msg_model(g);
}

static void test_tensors(void **state) {
    (void)state;
    const char *path = "graph/initializer \"w\"";
    refused(tensor_graph(-1, 1, TENSOR_RAW, 0), DIAG_BAD_DIM, 1, "dimension 0 is -1", path);
    refused(tensor_graph(INT64_MAX, 1, TENSOR_RAW, 8), DIAG_BAD_DIM, 1, "does not fit", path);
    refused(tensor_graph(INT64_MAX / 2, 1, TENSOR_RAW, 8), DIAG_BAD_DIM, 1, "does not fit", path);
    refused(tensor_graph(3, 1, TENSOR_RAW, 20), DIAG_MALFORMED, 1,
            "20 bytes, but the dimensions require 24", path);
    refused(tensor_graph(3, 7, 7, 5), DIAG_MALFORMED, 1,
            "5 bytes, but the dimensions require 6 or more", path);
    refused(tensor_graph(1, 1, 7, 2), DIAG_MALFORMED, 1, "type f32 do not belong in int64_data",
            path);
    refused(tensor_graph(1, 8, TENSOR_RAW, 2), DIAG_MALFORMED, 1,
            "type string do not belong in raw_data", path);
    refused(tensor_graph(1, 99, TENSOR_RAW, 2), DIAG_UNSUPPORTED, 1, "element type 99", path);
    refused(tensor_graph(1, 0, TENSOR_RAW, 2), DIAG_MALFORMED, 1, "element type 0", path);
    struct msg g = good_graph(), t = {0};
    for (int i = 0; i < 65; i++)
        msg_int(&t, TENSOR_DIMS, 1);
    msg_int(&t, TENSOR_TYPE, 1);
    msg_text(&t, TENSOR_NAME, "w");
    msg_put(&g, GRAPH_INIT, t);
    refused(msg_model(g), DIAG_BAD_DIM, 1, "65 dimensions", path);
    int64_t negative[] = {4, -3}, huge[] = {1LL << 32, 1LL << 31};
    refused(msg_model(plain_graph(msg_value("x", 2, negative), msg_node("Relu", "x", NULL, "y"),
                                  msg_value("y", -1, NULL))),
            DIAG_BAD_DIM, 1, "dimension 1 is -3", "graph/input \"x\"");
    refused(msg_model(plain_graph(msg_value("x", 2, huge), msg_node("Relu", "x", NULL, "y"),
                                  msg_value("y", -1, NULL))),
            DIAG_BAD_DIM, 1, "does not fit", "graph/input \"x\"");
}

static struct msg attr_graph(struct msg attr) {
    struct msg node = msg_node("Relu", "x", NULL, "y");
    msg_put(&node, NODE_ATTR, attr);
    return msg_model(plain_graph(msg_value("x", -1, NULL), node, msg_value("y", -1, NULL)));
}

static void test_attributes(void **state) {
    (void)state;
    const char *path = "graph/node 0 (Relu y)/attribute \"k\"";
    refused(attr_graph(sample_attr("k", 15)), DIAG_UNSUPPORTED, 1, "attribute type 15", path);
    refused(attr_graph(sample_attr("k", 0)), DIAG_MALFORMED, 1, "neither type nor value", path);
    refused(attr_graph(sample_attr("k", 4)), DIAG_MALFORMED, 1, "no value", path);
    refused(attr_graph(sample_attr("k", 5)), DIAG_MALFORMED, 1, "no value", path);
    refused(attr_graph(sample_attr("", 2)), DIAG_MALFORMED, 1, "no name", NULL);
    struct msg two = sample_attr("k", 2);
    msg_int(&two, 3, 1);
    msg_text(&two, 4, "x");
    refused(attr_graph(two), DIAG_MALFORMED, 1, "several types", path);
    // In a subgraph, the path leads through it.
    struct msg sub = sample_attr("k", 5), g = {0};
    msg_text(&g, GRAPH_NAME, "body");
    msg_put(&g, GRAPH_NODE, msg_node("Neg", "lost", NULL, "z"));
    msg_put(&sub, 6, g);
    refused(attr_graph(sub), DIAG_DANGLING_NAME, 1, "reads \"lost\"",
            "graph/node 0 (Relu y)/attribute \"k\"/body/node 0 (Neg z)");
    // Older files leave the type out.
    struct msg old = {0};
    msg_text(&old, 1, "k");
    msg_int(&old, 3, 42);
    struct reader r;
    read_it(&r, attr_graph(old));
    assert_int_equal(r.st, ST_OK);
    assert_int_equal(node_int(graph_node(r.m->graph, r.m->graph->order.at[0]), "k", 0), 42);
    done(&r);
}

static void test_parts(void **state) {
    (void)state;
    struct msg m = {0};
    refused(m, DIAG_NOT_ONNX, 1, "empty", NULL);
    msg_int(&m, MODEL_IR, 8);
    refused(m, DIAG_NOT_ONNX, 1, "no graph", NULL);
    m = (struct msg){0};
    msg_put(&m, MODEL_GRAPH, good_graph());
    refused(m, DIAG_NOT_ONNX, 1, "no IR version", NULL);
    m = (struct msg){0};
    msg_int(&m, MODEL_IR, 8);
    msg_put(&m, MODEL_GRAPH, good_graph());
    refused(m, DIAG_NOT_ONNX, 1, "which version", NULL);
    m = (struct msg){0};
    msg_raw(&m, "hihihi", 6); // protobuf all right: field 13 is 105, three times
    refused(m, DIAG_NOT_ONNX, 1, "seems to be text", NULL);
    struct msg old = {0};
    msg_int(&old, MODEL_IR, 3);
    msg_put(&old, MODEL_GRAPH, good_graph());
    msg_put(&old, MODEL_OPSET, msg_opset("", 6));
    struct reader r;
    read_it(&r, old);
    assert_int_equal(r.st, ST_OK);
    assert_int_equal(r.scene.diags.list.at[0].code, DIAG_OLD_OPSET);
    done(&r);
}

// Cut off after any byte: refused as malformed, or, where a whole field ends there, read.
static void test_truncation(void **state) {
    (void)state;
    struct msg samples[] = {sample_small(), sample_nested(), sample_everything()};
    for (size_t i = 0; i < 3; i++) {
        size_t n_read = 0;
        for (size_t n = 0; n < samples[i].n; n++) {
            struct msg cut = {0};
            msg_raw(&cut, samples[i].at, n);
            struct reader r;
            read_it(&r, cut);
            assert_true(r.st == ST_MALFORMED || r.st == ST_OK);
            assert_true(r.st == ST_OK || r.scene.diags.n_errors > 0);
            n_read += r.st == ST_OK;
            done(&r);
        }
        assert_true(n_read < 10);
        msg_free(&samples[i]);
    }
}

// The k-th allocation fails, for every k: no crash, no leak, and the status says what happened.
static void test_memory_runs_out(void **state) {
    (void)state;
    struct msg samples[] = {sample_small(), sample_nested(), sample_everything()};
    for (size_t i = 0; i < 3; i++) {
        status st = ST_LIMIT;
        for (int64_t k = 0; st == ST_LIMIT; k++) {
            struct scene s;
            scene_open(&s);
            struct pool pool = pool_make(&s.arena);
            struct source *source;
            struct model *m;
            atomic_store(&s.mem.fail_after, k);
            st = source_memory(&s.arena, &s.diags, samples[i].at, (int64_t)samples[i].n, &source);
            if (!st)
                st = onnx_read(source, &s.arena, &pool, &s.diags, &m);
            if (!st)
                model_close(m);
            if (st != ST_OK && st != ST_LIMIT)
                fail_msg("status %d at allocation %lld: %s", (int)st, (long long)k,
                         s.diags.list.n ? s.diags.list.at[0].text : "");
            assert_true(k > 0 || st == ST_LIMIT);
            scene_close(&s);
        }
        msg_free(&samples[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),           cmocka_unit_test(test_nested),
        cmocka_unit_test(test_everything),      cmocka_unit_test(test_unpacked_elements),
        cmocka_unit_test(test_names),           cmocka_unit_test(test_cycles),
        cmocka_unit_test(test_tensors),         cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_parts),           cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
