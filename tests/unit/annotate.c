// backend: ONNX's multi-device annotations of a placed plan, field by field.
#include "tests/unit/unit.h"

#include <string.h>

#include "backend/annotate.h"
#include "ir/text/text.h"
#include "third_party/onnx/onnx.pb-c.h"

// There and back again: rounds 0, 1 and 2. The model has a configuration named "mfc" already.
static const char plan[] = "mfc 1\n"
                           "opset 17\n"
                           "configuration x\"0a036d6663\"\n"
                           "device \"left\"\n"
                           "device \"right\"\n"
                           "graph \"g\" {\n"
                           "  input %x : f32[4]\n"
                           "  %a = Exp(%x) : f32[4] @left devices=x\"52050a036d6663\"\n"
                           "  %b = Identity(%a) : f32[4] @right\n"
                           "  %c = Add(%b, %x) : f32[4] @right\n"
                           "  %d = Identity(%c) : f32[4] @left\n"
                           "  %e = Mul(%d, %a) : f32[4] @left\n"
                           "  output %e\n"
                           "}\n";

struct want {
    int32_t stage;
    const char *tensor[3];
    int64_t device[3];
};

// In the order of the nodes.
static const struct want wants[] = {{0, {"x", "a"}, {0, 0}},
                                    {1, {"a", "b"}, {0, 1}},
                                    {1, {"b", "x", "c"}, {1, 1, 1}},
                                    {2, {"c", "d"}, {1, 0}},
                                    {2, {"d", "a", "e"}, {0, 0, 0}}};

static void check_node(const struct node *n, const struct want *w, size_t n_before) {
    Onnx__NodeProto *p = onnx__node_proto__unpack(NULL, n->devices.n, n->devices.at);
    assert_non_null(p);
    assert_int_equal(p->n_device_configurations, n_before + 1);
    const Onnx__NodeDeviceConfigurationProto *c = p->device_configurations[n_before];
    assert_string_equal(c->configuration_id, "mfc2");
    assert_true(c->has_pipeline_stage);
    assert_int_equal(c->pipeline_stage, w->stage);
    assert_int_equal(c->n_sharding_spec, w->tensor[2] ? 3 : 2);
    for (size_t k = 0; k < c->n_sharding_spec; k++) {
        assert_string_equal(c->sharding_spec[k]->tensor_name, w->tensor[k]);
        assert_int_equal(c->sharding_spec[k]->n_device, 1);
        assert_int_equal(c->sharding_spec[k]->device[0], w->device[k]);
        assert_int_equal(c->sharding_spec[k]->n_sharded_dim, 0);
    }
    onnx__node_proto__free_unpacked(p, NULL);
}

static void every_field(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct pool pool = pool_make(&s.arena);
    struct model *m;
    assert_int_equal(parse_text((struct model_text){plan, strlen(plan), "test.mfc"}, &s.arena,
                                &pool, &s.diags, &m),
                     ST_OK);
    assert_int_equal(annotate_devices(m, &s.diags), ST_OK);
    assert_int_equal(m->configurations.n, 2); // the first is not ours to touch
    struct bytes b = m->configurations.at[1];
    Onnx__DeviceConfigurationProto *c = onnx__device_configuration_proto__unpack(NULL, b.n, b.at);
    assert_non_null(c);
    assert_string_equal(c->name, "mfc2");
    assert_int_equal(c->num_devices, 2);
    assert_int_equal(c->n_device, 2);
    assert_string_equal(c->device[0], "left");
    assert_string_equal(c->device[1], "right");
    onnx__device_configuration_proto__free_unpacked(c, NULL);
    assert_int_equal(m->graph->order.n, sizeof wants / sizeof *wants);
    for (size_t i = 0; i < m->graph->order.n; i++)
        check_node(graph_node(m->graph, m->graph->order.at[i]), &wants[i], i == 0);
    scene_close(&s);
}

static void not_everywhere_placed(void **state) {
    (void)state;
    static const char half[] = "mfc 1\nopset 17\ngraph \"g\" {\n  input %x : f32[4]\n"
                               "  %a = Exp(%x) : f32[4]\n  output %a\n}\n";
    struct scene s;
    scene_open(&s);
    struct pool pool = pool_make(&s.arena);
    struct model *m;
    assert_int_equal(parse_text((struct model_text){half, strlen(half), "test.mfc"}, &s.arena,
                                &pool, &s.diags, &m),
                     ST_OK);
    assert_int_not_equal(annotate_devices(m, &s.diags), ST_OK);
    assert_int_equal(s.diags.n_errors, 1);
    scene_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_field),
                                       cmocka_unit_test(not_everywhere_placed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
