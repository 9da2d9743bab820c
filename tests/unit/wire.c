// The wire guard: what it lets through, what it refuses and where, and that the slim copy says the
// same as the file.
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/onnx/wire.h"
#include "ir/base/limits.h"
#include "ir/base/rng.h"
#include "tests/sample.h"
#include "third_party/onnx/onnx.pb-c.h"

static const ProtobufCMessageDescriptor *const model = &onnx__model_proto__descriptor;

static status scan(struct scene *s, struct msg m, struct wire_scan *out) {
    struct source source = {.path = "<memory>", .fd = -1, .memory = m.at, .n_bytes = (int64_t)m.n};
    return wire_scan(&source, model, &s->arena, &s->diags, out);
}

// The scan fails, at that byte, and the message has these words in it. The message is used up.
static void refused(struct msg m, int64_t at, const char *words) {
    struct scene s;
    struct wire_scan w;
    scene_open(&s);
    status st = scan(&s, m, &w);
    assert_true(st == ST_MALFORMED || st == ST_LIMIT);
    assert_int_equal(s.diags.list.n, 1);
    const struct diag *d = &s.diags.list.at[0];
    if (!strstr(d->text, words))
        fail_msg("\"%s\" does not say \"%s\"", d->text, words);
    assert_int_equal(d->where.offset, at);
    scene_close(&s);
    msg_free(&m);
}

static struct msg text(const char *bytes, size_t n) {
    struct msg m = {0};
    msg_raw(&m, bytes, n);
    return m;
}
#define BYTES(literal) text(literal, sizeof literal - 1)

static void test_refusals(void **state) {
    (void)state;
    refused(BYTES("\x00\x01"), 0, "field number 0");
    refused(BYTES("\x08\x08\x3f"), 2, "wire type 7 instead of 2");
    refused(BYTES("\x08\x08\xa3\x06"), 2, "wire type 3 does not exist"); // a group
    refused(BYTES("\x08\x08\xa6\x06"), 2, "wire type 6");
    refused(BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 1, "more than 10 bytes");
    refused(BYTES("\x08\x80"), 1, "in the middle of a number");
    refused(BYTES("\x80\x80\x80\x80\x80\x01"), 0, "more than 5 bytes");
    refused(BYTES("\xf8\xff\xff\xff\x7f\x01"), 0, "does not exist"); // field number beyond 2^29
    refused(BYTES("\x08\x08\x3a\x05\x12"), 3, "graph has 5 bytes");
    refused(BYTES("\x08\x08\x3a\x03\x12\x05g"), 5, "name has 5 bytes");
    refused(BYTES("\x08\x08\x12\x02\xc3\x28"), 4, "not UTF-8");
    refused(BYTES("\x08\x08\x12\x02x\0"), 5, "zero byte");
    refused(BYTES("\x08\x08\x3a\x00\x3a\x00"), 4, "graph occurs twice");
    refused(BYTES("\x08\x08\xa5\x06\x01\x02\x03"), 4,
            "in the middle of a number"); // unknown fixed32
    refused(BYTES("\x3a\x07\x2a\x05\x22\x03"
                  "abc"),
            6, "not a multiple of 4"); // float_data
    refused(BYTES("\x3a\x08\x2a\x06\x4a\x00\x2a\x02\x01\x01"), 6, "in two fields");
    refused(BYTES("\x3a\x05\x2a\x03\x0a\x01\x80"), 6, "in the middle of a number"); // packed dims
}

static void test_messages_say_where(void **state) {
    (void)state;
    struct msg m = {0}, g = {0}, n = {0}, a = {0};
    msg_text(&a, 1, "\xff");
    msg_put(&n, NODE_ATTR, a);
    msg_put(&g, GRAPH_NODE, n);
    msg_put(&m, MODEL_GRAPH, g);
    refused(m, 8, "(in ModelProto.graph.node.attribute)");
}

static void test_guesses(void **state) {
    (void)state;
    refused(BYTES("PK\3\4\24\0\0\0\10\0"), 0, "zip archive");
    refused(BYTES("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), 0, "PNG image");
    refused(BYTES("\x7f"
                  "ELF\2\1\1"),
            0, "an executable program");
    refused(BYTES("hello, world! this is no model"), 0, "seems to be text");
    struct source empty = {.fd = -1, .memory = (const uint8_t *)"", .n_bytes = 0};
    assert_string_equal(wire_guess(&empty), "empty");
    struct source start = {.fd = -1, .memory = (const uint8_t *)"\x08\x08\x12", .n_bytes = 3};
    assert_null(wire_guess(&start));
}

static struct msg nested(size_t n_levels) {
    // Written from the inside: each level is an attribute with a graph with a node. Lengths go in
    // front, so the bytes are put together backwards.
    size_t cap = n_levels * 12 + 16, at = cap;
    uint8_t *bytes = malloc(cap);
    assert_non_null(bytes);
    static const uint32_t fields[] = {6, 1, 5}; // g, node, attribute
    for (size_t level = 0; level < n_levels; level++) {
        struct msg head = {0};
        msg_tag(&head, level + 1 == n_levels ? MODEL_GRAPH : fields[(n_levels - 1 - level) % 3], 2);
        msg_varint(&head, cap - at);
        at -= head.n;
        memcpy(bytes + at, head.at, head.n);
        msg_free(&head);
    }
    struct msg m = {0};
    msg_int(&m, MODEL_IR, 8);
    msg_raw(&m, bytes + at, cap - at);
    free(bytes);
    return m;
}

static void test_depth(void **state) {
    (void)state;
    struct scene s;
    struct wire_scan w;
    scene_open(&s);
    struct msg fits = nested(LIMIT_WIRE_DEPTH - 1);
    assert_int_equal(scan(&s, fits, &w), ST_OK);
    msg_free(&fits);
    scene_close(&s);
    struct msg deep = nested(LIMIT_WIRE_DEPTH);
    refused(deep, (int64_t)deep.n - 2, "nested more than 64 deep");
    struct msg bomb = nested(1000000);
    scene_open(&s);
    assert_int_equal(scan(&s, bomb, &w), ST_MALFORMED);
    assert_true(s.mem.peak_bytes < 1 << 20);
    msg_free(&bomb);
    scene_close(&s);
}

static void test_size_bomb(void **state) {
    (void)state;
    // Two bytes each become an empty initializer of hundreds; four, one with a payload.
    for (size_t size = 2; size <= 4; size += 2) {
        struct msg g = {0}, m = {0};
        for (int i = 0; i < 1000000; i++)
            msg_raw(&g, size == 2 ? "\x2a\x00" : "\x2a\x02\x4a\x00", size);
        msg_int(&m, MODEL_IR, 8);
        msg_put(&m, MODEL_GRAPH, g);
        struct scene s;
        struct wire_scan w;
        scene_open(&s);
        assert_int_equal(scan(&s, m, &w), ST_LIMIT);
        assert_true(s.mem.peak_bytes < 64 << 20);
        scene_close(&s);
        msg_free(&m);
    }
}

static void *count_alloc(void *data, size_t n) {
    *(size_t *)data += (n + 15) / 16 * 16;
    return malloc(n ? n : 1);
}

static void count_free(void *data, void *block) {
    (void)data;
    free(block);
}

// The prediction is at least what protobuf-c then asks for.
static void test_footprint(void **state) {
    (void)state;
    struct msg samples[] = {sample_small(), sample_nested(), sample_everything()};
    for (size_t i = 0; i < 3; i++) {
        struct scene s;
        struct wire_scan w;
        uint8_t *slim;
        scene_open(&s);
        assert_int_equal(scan(&s, samples[i], &w), ST_OK);
        struct source source = {
            .fd = -1, .memory = samples[i].at, .n_bytes = (int64_t)samples[i].n};
        assert_int_equal(wire_slim(&source, &w, &s.arena, &s.diags, &slim), ST_OK);
        size_t asked = 0;
        ProtobufCAllocator counting = {count_alloc, count_free, &asked};
        ProtobufCMessage *m =
            protobuf_c_message_unpack(model, &counting, (size_t)w.slim_bytes, slim);
        assert_non_null(m);
        assert_true((size_t)w.footprint_bytes + sizeof(Onnx__ModelProto) >= asked);
        protobuf_c_message_free_unpacked(m, &counting);
        scene_close(&s);
        msg_free(&samples[i]);
    }
}

// Replaces the references in the slim message by the payloads themselves: that is the original
// again.
static void restore(Onnx__TensorProto *t, const struct wire_scan *w, const uint8_t *file,
                    size_t *n_seen) {
    if (!t->has_raw_data)
        return;
    int64_t i = wire_reference(w, t->raw_data.data, t->raw_data.len);
    assert_true(i >= 0);
    const struct wire_lift *l = &w->payloads.at[i];
    assert_int_equal(l->field, TENSOR_RAW);
    free(t->raw_data.data);
    t->raw_data.data = malloc((size_t)l->n_bytes + 1);
    t->raw_data.len = (size_t)l->n_bytes;
    memcpy(t->raw_data.data, file + l->offset, t->raw_data.len);
    ++*n_seen;
}

// Graphs with payloads of sizes around the points at which lengths take another byte.
static void test_slim_copy(void **state) {
    (void)state;
    for (uint64_t round = 0; round < 200; round++) {
        struct rng rng = rng_make(7, round);
        struct msg g = {0};
        for (int i = 0; i < 6; i++) {
            static const int64_t sizes[] = {0, 1, 2, 29, 30, 31, 32, 4000, 5000, 300000};
            struct msg t = msg_floats("w", sizes[rng_below(&rng, 10)]);
            if (rng_below(&rng, 2)) {
                struct msg n = msg_node("Constant", NULL, NULL, "c"), a = sample_attr("value", 4);
                msg_put(&a, 5, t);
                msg_put(&n, NODE_ATTR, a);
                msg_put(&g, GRAPH_NODE, n);
            } else {
                msg_put(&g, GRAPH_INIT, t);
            }
        }
        struct msg m = msg_model(g);
        struct scene s;
        struct wire_scan w;
        uint8_t *slim;
        scene_open(&s);
        char path[] = "/tmp/mfc-wire-XXXXXX"; // a real file, so that the window moves
        int fd = mkstemp(path);
        unlink(path);
        assert_int_equal(write(fd, m.at, m.n), m.n);
        struct source source = {.path = path, .fd = fd, .n_bytes = (int64_t)m.n};
        assert_int_equal(wire_scan(&source, model, &s.arena, &s.diags, &w), ST_OK);
        assert_int_equal(w.payloads.n, 6);
        assert_true(w.slim_bytes < 600);
        assert_int_equal(wire_slim(&source, &w, &s.arena, &s.diags, &slim), ST_OK);
        Onnx__ModelProto *p = onnx__model_proto__unpack(NULL, (size_t)w.slim_bytes, slim);
        assert_non_null(p);
        size_t n_seen = 0;
        for (size_t i = 0; i < p->graph->n_initializer; i++)
            restore(p->graph->initializer[i], &w, m.at, &n_seen);
        for (size_t i = 0; i < p->graph->n_node; i++)
            restore(p->graph->node[i]->attribute[0]->t, &w, m.at, &n_seen);
        assert_int_equal(n_seen, 6);
        Onnx__ModelProto *whole = onnx__model_proto__unpack(NULL, m.n, m.at);
        size_t n = onnx__model_proto__get_packed_size(whole);
        assert_int_equal(onnx__model_proto__get_packed_size(p), n);
        uint8_t *a = malloc(n), *b = malloc(n);
        onnx__model_proto__pack(p, a);
        onnx__model_proto__pack(whole, b);
        assert_memory_equal(a, b, n);
        free(a);
        free(b);
        onnx__model_proto__free_unpacked(p, NULL);
        onnx__model_proto__free_unpacked(whole, NULL);
        close(fd);
        scene_close(&s);
        msg_free(&m);
    }
}

// Whatever the guard lets through, protobuf-c unpacks.
static void test_agrees_with_protobuf_c(void **state) {
    (void)state;
    struct msg samples[] = {sample_small(), sample_nested(), sample_everything()};
    size_t n_through = 0;
    for (uint64_t round = 0; round < 20000; round++) {
        struct rng rng = rng_make(11, round);
        struct msg m = text((char *)samples[round % 3].at, samples[round % 3].n);
        for (uint64_t k = 1 + rng_below(&rng, 3); k > 0; k--)
            m.at[rng_below(&rng, m.n)] = (uint8_t)rng_below(&rng, 256);
        struct scene s;
        struct wire_scan w;
        uint8_t *slim;
        scene_open(&s);
        struct source source = {.path = "", .fd = -1, .memory = m.at, .n_bytes = (int64_t)m.n};
        if (!wire_scan(&source, model, &s.arena, &s.diags, &w)) {
            assert_int_equal(wire_slim(&source, &w, &s.arena, &s.diags, &slim), ST_OK);
            Onnx__ModelProto *p = onnx__model_proto__unpack(NULL, (size_t)w.slim_bytes, slim);
            assert_non_null(p);
            onnx__model_proto__free_unpacked(p, NULL);
            n_through++;
        }
        scene_close(&s);
        msg_free(&m);
    }
    assert_true(n_through > 1000);
    for (size_t i = 0; i < 3; i++)
        msg_free(&samples[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),  cmocka_unit_test(test_messages_say_where),
        cmocka_unit_test(test_guesses),   cmocka_unit_test(test_depth),
        cmocka_unit_test(test_size_bomb), cmocka_unit_test(test_footprint),
        cmocka_unit_test(test_slim_copy), cmocka_unit_test(test_agrees_with_protobuf_c),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
