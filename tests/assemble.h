// Putting protobuf messages together by hand, field by field: what tests use to make models, good
// and bad. Running out of memory ends the test.
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct msg {
    uint8_t *at;
    size_t n, cap;
};

static inline void msg_raw(struct msg *m, const void *bytes, size_t n) {
    if (m->cap - m->n < n) {
        m->cap = (m->n + n) * 2;
        if (!(m->at = realloc(m->at, m->cap)))
            abort();
    }
    if (n)
        memcpy(m->at + m->n, bytes, n);
    m->n += n;
}

static inline void msg_varint(struct msg *m, uint64_t x) {
    for (; x >= 0x80; x >>= 7)
        msg_raw(m, &(uint8_t){(uint8_t)(x | 0x80)}, 1);
    msg_raw(m, &(uint8_t){(uint8_t)x}, 1);
}

static inline void msg_tag(struct msg *m, uint32_t field, unsigned wire) {
    msg_varint(m, (uint64_t)field << 3 | wire);
}

static inline void msg_int(struct msg *m, uint32_t field, int64_t x) {
    msg_tag(m, field, 0);
    msg_varint(m, (uint64_t)x);
}

static inline void msg_bytes(struct msg *m, uint32_t field, const void *bytes, size_t n) {
    msg_tag(m, field, 2);
    msg_varint(m, n);
    msg_raw(m, bytes, n);
}

static inline void msg_text(struct msg *m, uint32_t field, const char *text) {
    msg_bytes(m, field, text, strlen(text));
}

static inline void msg_free(struct msg *m) {
    free(m->at);
    *m = (struct msg){0};
}

// The inner message is used up.
static inline void msg_put(struct msg *m, uint32_t field, struct msg inner) {
    msg_bytes(m, field, inner.at, inner.n);
    msg_free(&inner);
}

// Fields of the format that tests name often.
enum {
    MODEL_IR = 1,
    MODEL_GRAPH = 7,
    MODEL_OPSET = 8,
    MODEL_TRAINING = 20,
    MODEL_FUNCTION = 25,
    GRAPH_NODE = 1,
    GRAPH_NAME = 2,
    GRAPH_INIT = 5,
    GRAPH_INPUT = 11,
    GRAPH_OUTPUT = 12,
    GRAPH_INFO = 13,
    NODE_INPUT = 1,
    NODE_OUTPUT = 2,
    NODE_NAME = 3,
    NODE_TYPE = 4,
    NODE_ATTR = 5,
    NODE_DOMAIN = 7,
    TENSOR_DIMS = 1,
    TENSOR_TYPE = 2,
    TENSOR_NAME = 8,
    TENSOR_RAW = 9,
    TENSOR_EXTERNAL = 13,
    TENSOR_LOCATION = 14,
};

static inline struct msg msg_pair(const char *key, const char *value) {
    struct msg m = {0};
    msg_text(&m, 1, key);
    msg_text(&m, 2, value);
    return m;
}

// A ValueInfoProto of a tensor of floats; a negative rank leaves the shape out.
static inline struct msg msg_value(const char *name, int rank, const int64_t *dims) {
    struct msg info = {0}, type = {0}, tensor = {0}, shape = {0};
    for (int i = 0; i < rank; i++) {
        struct msg dim = {0};
        msg_int(&dim, 1, dims[i]);
        msg_put(&shape, 1, dim);
    }
    msg_int(&tensor, 1, 1);
    if (rank >= 0)
        msg_put(&tensor, 2, shape);
    msg_put(&type, 1, tensor);
    msg_text(&info, 1, name);
    msg_put(&info, 2, type);
    return info;
}

// A node with up to two inputs (NULL: none) and one output.
static inline struct msg msg_node(const char *op, const char *a, const char *b, const char *out) {
    struct msg m = {0};
    if (a)
        msg_text(&m, NODE_INPUT, a);
    if (b)
        msg_text(&m, NODE_INPUT, b);
    msg_text(&m, NODE_OUTPUT, out);
    msg_text(&m, NODE_TYPE, op);
    return m;
}

// Floats 0, 1, 2, ... in raw_data.
static inline struct msg msg_floats(const char *name, int64_t n) {
    struct msg m = {0}, raw = {0};
    msg_int(&m, TENSOR_DIMS, n);
    msg_int(&m, TENSOR_TYPE, 1);
    msg_text(&m, TENSOR_NAME, name);
    for (int64_t i = 0; i < n; i++)
        msg_raw(&raw, &(float){(float)i}, sizeof(float));
    msg_put(&m, TENSOR_RAW, raw);
    return m;
}

static inline struct msg msg_opset(const char *domain, int64_t version) {
    struct msg m = {0};
    msg_text(&m, 1, domain);
    msg_int(&m, 2, version);
    return m;
}

static inline struct msg msg_model(struct msg graph) {
    struct msg m = {0};
    msg_int(&m, MODEL_IR, 8);
    msg_put(&m, MODEL_GRAPH, graph);
    msg_put(&m, MODEL_OPSET, msg_opset("", 17));
    return m;
}
