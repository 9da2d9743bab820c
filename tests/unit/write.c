// The ONNX writer, on models built in memory and decoded by protobuf-c: every kind of message, the
// version it needs, and running out of memory.
#include "tests/unit/write.h"

static struct bytes bytes_of(const char *text) {
    return (struct bytes){(const uint8_t *)text, strlen(text)};
}

// An unknown field 100 of three bytes, in wire format.
static struct bytes extra(void) {
    return bytes_of("\xa2\x06\x03new");
}

static struct pairs one_pair(void) {
    static struct pair p[] = {{.key = "key", .value = "value"}};
    return (struct pairs){p, 1};
}

// y = Op(x, , w) with every kind of attribute.
static void build_everything(struct here *h) {
    struct arena *a = &h->scene.arena;
    struct graph *g = h->m->graph;
    static const struct dim dims[] = {
        {2, NULL, NULL}, {DIM_UNKNOWN, "N", NULL}, {DIM_UNKNOWN, NULL, "DATA"}};
    const struct type *tensor = type_tensor(a, ELEM_F32, dims, 3);
    struct type *t = arena_copy(a, tensor, sizeof *t);
    t->denotation = "IMAGE";
    t->extra = extra();
    struct type *seq = ARENA_NEW(a, struct type), *map = ARENA_NEW(a, struct type),
                *opt = ARENA_NEW(a, struct type), *opaque = ARENA_NEW(a, struct type),
                *sparse_type = ARENA_NEW(a, struct type);
    *seq = (struct type){.kind = TYPE_SEQUENCE, .child = t};
    *map = (struct type){.kind = TYPE_MAP, .elem = ELEM_I64, .child = seq};
    *opt = (struct type){.kind = TYPE_OPTIONAL, .child = map, .denotation = "MAYBE"};
    *opaque = (struct type){.kind = TYPE_OPAQUE, .opaque_domain = "d", .opaque_name = "n"};
    *sparse_type = (struct type){.kind = TYPE_SPARSE, .elem = ELEM_F64};
    value_id x = graph_add_value(g, "x", t), y = graph_add_value(g, "y", opt),
             z = graph_add_value(g, "z", NULL);
    struct tensor *w = floats(h, 3);
    *graph_value(g, x) = (struct value){.name = "x",
                                        .type = t,
                                        .is_input = true,
                                        .doc = "in",
                                        .metadata = one_pair(),
                                        .extra = extra()};
    w->doc = "weights";
    w->metadata = one_pair();
    w->extra = extra();
    w->has_segment = true;
    w->segment_end = 3;
    value_id wv = add_init(g, "w", w);
    value_id in[] = {x, VALUE_NONE, wv}, out[] = {y, VALUE_NONE, z};
    node_id n =
        graph_add_node(g, "my.domain", "Op", (struct values){in, 3}, (struct values){out, 3});
    struct node *node = graph_node(g, n);
    node->name = "";
    node->doc = "node";
    node->overload = "o";
    node->metadata = one_pair();
    node->devices = bytes_of("\x52\x03\x0a\x01"
                             "c"); // field 10, configuration_id "c"
    node->extra = extra();

    struct graph *sub = graph_new(h->m, g);
    sub->name = "sub";
    value_id inner_in[] = {graph_resolve(sub, "x")}, inner = graph_add_value(sub, "i", NULL);
    graph_add_node(sub, "", "Neg", (struct values){inner_in, 1}, (struct values){&inner, 1});
    graph_add_output(sub, inner);
    struct sparse *sp = ARENA_NEW(a, struct sparse);
    static const int64_t five = 5;
    *sp = (struct sparse){.values = floats(h, 2), .rank = 1, .dims = &five, .extra = extra()};
    sp->indices = tensor_from_ints(a, ELEM_I64, (int64_t[]){1, 3}, (int64_t[]){2}, 1);
    struct tensor *strings = ARENA_NEW(a, struct tensor);
    struct bytes words[] = {bytes_of("one"), bytes_of("")};
    *strings = (struct tensor){.elem = ELEM_STRING,
                               .rank = 1,
                               .dims = (int64_t[]){2},
                               .payload = PAYLOAD_STRINGS,
                               .strings = arena_copy(a, words, sizeof words),
                               .n_strings = 2};
    strings->dims = arena_copy(a, strings->dims, sizeof(int64_t));
    struct tensor **tensors = arena_copy(a, (struct tensor *[]){strings, w}, 2 * sizeof w);
    struct graph **graphs = arena_copy(a, &sub, sizeof sub);
    struct sparse **sparses = arena_copy(a, &sp, sizeof sp);
    const struct type **types =
        arena_copy(a, (const struct type *[]){opaque, sparse_type}, 2 * sizeof t);
    const struct attr attrs[] = {
        {.name = "float", .kind = ATTR_FLOAT, .n = 1, .f = -0.5f, .doc = "attr", .extra = extra()},
        {.name = "int", .kind = ATTR_INT, .n = 1, .i = -7},
        {.name = "string", .kind = ATTR_STRING, .n = 1, .s = bytes_of("\xff")},
        {.name = "tensor", .kind = ATTR_TENSOR, .n = 1, .t = strings},
        {.name = "graph", .kind = ATTR_GRAPH, .n = 1, .g = sub},
        {.name = "floats",
         .kind = ATTR_FLOATS,
         .n = 2,
         .floats = arena_copy(a, (float[]){1, 2}, 8)},
        {.name = "ints",
         .kind = ATTR_INTS,
         .n = 2,
         .ints = arena_copy(a, (int64_t[]){300, -1}, 16)},
        {.name = "strings",
         .kind = ATTR_STRINGS,
         .n = 2,
         .strings = arena_copy(a, words, sizeof words)},
        {.name = "tensors", .kind = ATTR_TENSORS, .n = 2, .tensors = tensors},
        {.name = "graphs", .kind = ATTR_GRAPHS, .n = 1, .graphs = graphs},
        {.name = "sparse", .kind = ATTR_SPARSE, .n = 1, .sparse = sp},
        {.name = "sparses", .kind = ATTR_SPARSES, .n = 1, .sparses = sparses},
        {.name = "type", .kind = ATTR_TYPE, .n = 1, .type = opt},
        {.name = "types", .kind = ATTR_TYPES, .n = 2, .types = types},
        {.name = "ref", .kind = ATTR_INT, .ref = "outer"},
    };
    for (size_t i = 0; i < sizeof attrs / sizeof *attrs; i++)
        assert_true(graph_set_attr(g, n, attrs[i]));
    VEC_PUSH(a, &g->inputs, x);
    graph_add_output(g, y);
    VEC_PUSH(a, &g->infos, z);
    VEC_PUSH(a, &g->quantization, bytes_of("\x0a\x01x"));
    value_id s = graph_add_value(g, "s", NULL);
    graph_value(g, s)->sparse_init = sp;
    VEC_PUSH(a, &g->sparse_inits, s);
    g->doc = "graph";
    g->metadata = one_pair();
    g->extra = extra();

    struct graph *body = graph_new(h->m, NULL);
    value_id p = graph_add_value(body, "p", tensor), q = graph_add_value(body, "q", NULL);
    graph_add_input(body, p);
    graph_add_output(body, q);
    graph_add_node(body, "", "Abs", (struct values){&p, 1}, (struct values){&q, 1});
    VEC_PUSH(a, &body->infos, p);
    const char **names = arena_copy(a, (const char *[]){"alpha"}, sizeof *names);
    struct opset *opsets = ARENA_NEW(a, struct opset);
    *opsets = (struct opset){.domain = "", .version = 17, .extra = extra()};
    VEC_PUSH(a, &h->m->functions,
             ((struct function){.name = "F",
                                .domain = "my.domain",
                                .overload = "o",
                                .doc = "function",
                                .attrs = names,
                                .n_attrs = 1,
                                .defaults = arena_copy(a, &attrs[1], sizeof *attrs),
                                .n_defaults = 1,
                                .opsets = opsets,
                                .n_opsets = 1,
                                .body = body,
                                .metadata = one_pair(),
                                .extra = extra()}));
    VEC_PUSH(a, &h->m->opsets, *opsets);
    VEC_PUSH(a, &h->m->configurations,
             bytes_of("\x0a\x01"
                      "c"));
    struct source *training;
    assert_int_equal(source_memory(a, &h->scene.diags, "\x1a\x00", 2, &training), ST_OK);
    VEC_PUSH(a, &h->m->training, ((struct span){training, 0, 2}));
    h->m->producer = "test";
    h->m->producer_version = "1";
    h->m->domain = "org";
    h->m->version = 4;
    h->m->doc = "model";
    h->m->metadata = one_pair();
    h->m->extra = extra();
}

static void everything_is_canonical(void **state) {
    struct here *h = *state;
    build_everything(h);
    assert_int_equal(write_to(h, "m.onnx", 0), ST_OK);
    Onnx__ModelProto *p = decode("m.onnx");
    assert_int_equal(p->ir_version, 11); // raised by the device configurations
    assert_string_equal(p->producer_name, "test");
    assert_int_equal(p->model_version, 4);
    assert_int_equal(p->base.n_unknown_fields, 1);
    assert_int_equal(p->n_training_info, 1);
    assert_int_equal(p->n_configuration, 1);
    const Onnx__NodeProto *n = p->graph->node[0];
    assert_int_equal(p->graph->n_node, 1);
    assert_int_equal(n->n_input, 3);
    assert_string_equal(n->input[1], "");
    assert_string_equal(n->input[2], "w");
    assert_string_equal(n->output[2], "z");
    assert_string_equal(n->name, "");
    assert_int_equal(n->n_device_configurations, 1);
    assert_int_equal(n->n_attribute, 15);
    assert_true(n->attribute[0]->f == -0.5f);
    assert_int_equal(n->attribute[1]->i, -7);
    assert_string_equal(n->attribute[4]->g->node[0]->input[0], "x");
    assert_int_equal(n->attribute[6]->ints[1], -1);
    assert_int_equal(n->attribute[8]->tensors[0]->n_string_data, 2);
    assert_int_equal(n->attribute[11]->sparse_tensors[0]->dims[0], 5);
    assert_string_equal(n->attribute[13]->type_protos[0]->opaque_type->name, "n");
    assert_string_equal(n->attribute[14]->ref_attr_name, "outer");
    assert_int_equal(n->attribute[14]->has_i, 0);
    const Onnx__TensorProto *w = p->graph->initializer[0];
    assert_string_equal(w->name, "w");
    assert_int_equal(w->raw_data.len, 12);
    assert_int_equal(w->segment->end, 3);
    assert_string_equal(p->graph->sparse_initializer[0]->values->name, "s");
    const Onnx__ValueInfoProto *x = p->graph->input[0];
    assert_int_equal(x->type->tensor_type->shape->n_dim, 3);
    assert_string_equal(x->type->tensor_type->shape->dim[1]->dim_param, "N");
    assert_string_equal(x->type->tensor_type->shape->dim[2]->denotation, "DATA");
    assert_int_equal(p->graph->n_value_info, 1);
    assert_string_equal(p->functions[0]->input[0], "p");
    assert_string_equal(p->functions[0]->attribute_proto[0]->name, "int");
    assert_int_equal(p->functions[0]->n_value_info, 1);
    drop(p);
}

static void bytes_do_not_change(void **state) {
    struct here *h = *state;
    build_everything(h);
    size_t n, k;
    assert_int_equal(write_to(h, "a.onnx", 0), ST_OK);
    assert_int_equal(write_to(h, "b.onnx", 0), ST_OK);
    uint8_t *a = slurp("a.onnx", &n), *b = slurp("b.onnx", &k);
    assert_int_equal(n, k);
    assert_memory_equal(a, b, n);
    free(a);
    free(b);
}

static int64_t version_written(struct here *h) {
    assert_int_equal(write_to(h, "m.onnx", 0), ST_OK);
    Onnx__ModelProto *p = decode("m.onnx");
    int64_t v = p->ir_version;
    drop(p);
    return v;
}

static void version_is_raised_only_for_a_reason(void **state) {
    struct here *h = *state;
    struct graph *g = h->m->graph;
    assert_int_equal(version_written(h), 3);
    value_id w = add_init(g, "w", floats(h, 1));
    assert_int_equal(version_written(h), 4); // an initializer that is no input
    graph_add_input(g, w);
    assert_int_equal(version_written(h), 3);
    VEC_PUSH(&h->scene.arena, &g->quantization, bytes_of(""));
    assert_int_equal(version_written(h), 5);
    static const enum elem elems[] = {ELEM_F16,    ELEM_BF16,   ELEM_F8E5M2, ELEM_I4,
                                      ELEM_F4E2M1, ELEM_F8E8M0, ELEM_U2};
    static const int versions[] = {5, 5, 9, 10, 11, 12, 13};
    for (int i = 0; i < 7; i++) {
        graph_value(g, w)->type = type_unranked(&h->scene.arena, elems[i]);
        assert_int_equal(version_written(h), versions[i]);
    }
    graph_value(g, w)->type = NULL;
    graph_value(g, w)->metadata = one_pair();
    assert_int_equal(version_written(h), 10);
    h->m->ir_version = 14; // a later one is kept
    assert_int_equal(version_written(h), 14);
}

static void out_of_memory_is_a_status(void **state) {
    struct here *h = *state;
    build_everything(h);
    add_init(h->m->graph, "large", floats(h, 4000));
    struct tensor *t = external(h, 100, true); // named from the folder above its own
    add_init(h->m->graph, "away", t);
    size_t n;
    for (int k = 0;; k++) {
        atomic_store(&h->scene.mem.fail_after, k);
        struct diags silent = {.arena = &(struct arena){.mem = &(struct mem){.limit_bytes = 0}}};
        struct onnx_write_options o = {.limit_bytes = 4000};
        status st = onnx_write(h->m, "m.onnx", &o, &silent);
        atomic_store(&h->scene.mem.fail_after, -1);
        if (!st) {
            assert_true(k > 3);
            assert_int_equal(n_entries(".", NULL), 3);
            break;
        }
        assert_int_equal(st, ST_LIMIT);
        assert_int_equal(n_entries(".", NULL), 1); // the folder of the weights
    }
    free(slurp("m.onnx", &n));
    source_close((struct source *)t->data.source);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(everything_is_canonical),
        TEST(bytes_do_not_change),
        TEST(version_is_raised_only_for_a_reason),
        TEST(out_of_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
