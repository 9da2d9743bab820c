// Sample models for tests that break them: between them they use every message of the format.
#pragma once

#include "tests/assemble.h"

// w = 16 floats; y = Relu(x + w)
static inline struct msg sample_small(void) {
    struct msg g = {0};
    int64_t dims[] = {16};
    msg_put(&g, GRAPH_NODE, msg_node("Add", "x", "w", "s"));
    msg_put(&g, GRAPH_NODE, msg_node("Relu", "s", NULL, "y"));
    msg_text(&g, GRAPH_NAME, "small");
    msg_put(&g, GRAPH_INIT, msg_floats("w", 16));
    msg_put(&g, GRAPH_INPUT, msg_value("x", 1, dims));
    msg_put(&g, GRAPH_OUTPUT, msg_value("y", 1, dims));
    return msg_model(g);
}

static inline struct msg sample_attr(const char *name, int type) {
    struct msg a = {0};
    msg_text(&a, 1, name);
    msg_int(&a, 20, type);
    return a;
}

// A branch that reads x of the graph around it.
static inline struct msg sample_branch(const char *name, const char *op) {
    struct msg g = {0};
    struct msg node = msg_node(op, "x", NULL, name);
    msg_text(&node, NODE_NAME, "inner");
    msg_put(&g, GRAPH_NODE, node);
    msg_text(&g, GRAPH_NAME, name);
    msg_put(&g, GRAPH_OUTPUT, msg_value(name, -1, NULL));
    return g;
}

// If with two branches, a function that is called, nodes out of order, types in value_info.
static inline struct msg sample_nested(void) {
    struct msg g = {0}, f = {0}, m;
    int64_t dims[] = {2, 3};
    struct msg call = msg_node("Twice", "z", NULL, "y");
    msg_text(&call, NODE_DOMAIN, "test");
    msg_put(&g, GRAPH_NODE, call);
    struct msg branches = msg_node("If", "c", NULL, "z");
    struct msg then_attr = sample_attr("then_branch", 5), else_attr = sample_attr("else_branch", 5);
    msg_put(&then_attr, 6, sample_branch("t", "Relu"));
    msg_put(&else_attr, 6, sample_branch("e", "Neg"));
    msg_put(&branches, NODE_ATTR, then_attr);
    msg_put(&branches, NODE_ATTR, else_attr);
    msg_put(&g, GRAPH_NODE, branches);
    msg_text(&g, GRAPH_NAME, "nested");
    msg_put(&g, GRAPH_INPUT, msg_value("x", 2, dims));
    msg_put(&g, GRAPH_INPUT, msg_value("c", 0, NULL));
    msg_put(&g, GRAPH_OUTPUT, msg_value("y", 2, dims));
    msg_put(&g, GRAPH_INFO, msg_value("z", 2, dims));
    m = msg_model(g);
    msg_text(&f, 1, "Twice");
    msg_text(&f, 4, "a");
    msg_text(&f, 5, "b");
    msg_put(&f, 7, msg_node("Add", "a", "a", "b"));
    msg_put(&f, 9, msg_opset("", 17));
    msg_text(&f, 10, "test");
    msg_put(&m, MODEL_FUNCTION, f);
    msg_put(&m, MODEL_OPSET, msg_opset("test", 1));
    return m;
}

// A tensor whose elements are in the typed list `field`; `data` is the packed content.
static inline struct msg sample_typed(const char *name, int elem, int64_t n, uint32_t field,
                                      struct msg data) {
    struct msg t = {0};
    msg_int(&t, TENSOR_DIMS, n);
    msg_int(&t, TENSOR_TYPE, elem);
    msg_put(&t, field, data);
    msg_text(&t, TENSOR_NAME, name);
    return t;
}

static inline struct msg sample_varints(int64_t n) {
    struct msg m = {0};
    for (int64_t i = 0; i < n; i++)
        msg_varint(&m, (uint64_t)(i * i * 50 - 100));
    return m;
}

static inline struct msg sample_zeros(size_t n) {
    struct msg m = {0};
    for (size_t i = 0; i < n; i++)
        msg_raw(&m, "", 1);
    return m;
}

static inline struct msg sample_sparse(const char *name) {
    struct msg s = {0};
    msg_put(&s, 1, msg_floats(name, 2));
    msg_put(&s, 2, sample_typed("", 7, 2, 7, sample_varints(2)));
    msg_int(&s, 3, 9);
    return s;
}

// TypeProto: optional(sequence(map(i64, f32[N, ?])))
static inline struct msg sample_type(void) {
    struct msg n = {0}, unknown = {0}, shape = {0}, tensor = {0}, t = {0};
    msg_text(&n, 2, "N");
    msg_text(&n, 3, "DATA_BATCH");
    msg_put(&shape, 1, n);
    msg_put(&shape, 1, unknown);
    msg_int(&tensor, 1, 1);
    msg_put(&tensor, 2, shape);
    msg_put(&t, 1, tensor);
    struct msg map = {0}, map_type = {0}, seq = {0}, seq_type = {0}, opt = {0}, type = {0};
    msg_int(&map, 1, 7);
    msg_put(&map, 2, t);
    msg_put(&map_type, 5, map);
    msg_put(&seq, 1, map_type);
    msg_put(&seq_type, 4, seq);
    msg_put(&opt, 1, seq_type);
    msg_put(&type, 9, opt);
    msg_text(&type, 6, "MAYBE");
    return type;
}

// One attribute of each kind.
static inline void sample_put_attrs(struct msg *node) {
    struct msg a[14];
    for (int k = 0; k < 14; k++)
        a[k] = sample_attr((char[]){'a', (char)('a' + k), 0}, k + 1);
    float one = 1, two = 2;
    msg_tag(&a[0], 2, 5);
    msg_raw(&a[0], &one, 4);
    msg_int(&a[1], 3, -7);
    msg_text(&a[2], 4, "text");
    msg_put(&a[3], 5, msg_floats("t", 3));
    msg_put(&a[4], 6, sample_branch("g", "Abs"));
    msg_tag(&a[5], 7, 5);
    msg_raw(&a[5], &two, 4);
    msg_int(&a[6], 8, 5);
    msg_int(&a[6], 8, 6);
    msg_text(&a[7], 9, "s");
    msg_text(&a[7], 9, "");
    msg_put(&a[8], 10, msg_floats("", 1));
    msg_put(&a[9], 11, sample_branch("h", "Exp"));
    msg_put(&a[10], 22, sample_sparse(""));
    msg_put(&a[11], 23, sample_sparse(""));
    msg_put(&a[12], 14, sample_type());
    msg_put(&a[13], 15, sample_type());
    for (int k = 0; k < 14; k++)
        msg_put(node, NODE_ATTR, a[k]);
}

// Everything else: typed tensors, strings, sparse and external ones, annotations, device
// configurations, training info, metadata, and fields from the future.
static inline struct msg sample_everything(void) {
    struct msg g = {0}, node = msg_node("Odd", "x", "", "y"), strings = {0}, info = {0};
    sample_put_attrs(&node);
    msg_text(&node, 6, "doc");
    msg_text(&node, NODE_DOMAIN, "test");
    msg_text(&node, 8, "overload");
    msg_put(&node, 9, msg_pair("k", "v"));
    struct msg config = {0}, spec = {0}, sharded = {0}, simple = {0}, group = {0};
    msg_int(&simple, 1, 4);
    msg_int(&simple, 3, 2);
    msg_put(&sharded, 2, simple);
    msg_int(&group, 1, -1);
    msg_int(&group, 2, 0);
    msg_text(&spec, 1, "x");
    msg_int(&spec, 2, -1);
    msg_put(&spec, 3, group);
    msg_put(&spec, 4, sharded);
    msg_text(&config, 1, "two");
    msg_put(&config, 2, spec);
    msg_int(&config, 3, 1);
    msg_put(&node, 10, config);
    msg_text(&node, 1000, "from the future");
    msg_put(&g, GRAPH_NODE, node);
    msg_put(&g, GRAPH_INIT, sample_typed("f", 1, 3, 4, sample_zeros(12)));
    msg_put(&g, GRAPH_INIT, sample_typed("h", 10, 3, 5, sample_varints(3)));
    msg_put(&g, GRAPH_INIT, sample_typed("i", 7, 3, 7, sample_varints(3)));
    msg_put(&g, GRAPH_INIT, sample_typed("d", 11, 2, 10, sample_zeros(16)));
    msg_put(&g, GRAPH_INIT, sample_typed("u", 12, 2, 11, sample_varints(2)));
    msg_put(&g, GRAPH_INIT, sample_typed("q", 22, 5, 9, sample_zeros(3)));
    msg_int(&strings, TENSOR_DIMS, 2);
    msg_int(&strings, TENSOR_TYPE, 8);
    msg_text(&strings, 6, "one");
    msg_bytes(&strings, 6, "\xff\0", 2);
    msg_text(&strings, TENSOR_NAME, "s");
    msg_put(&strings, 16, msg_pair("k", "v"));
    msg_put(&g, GRAPH_INIT, strings);
    struct msg outside = {0};
    msg_int(&outside, TENSOR_DIMS, 2);
    msg_int(&outside, TENSOR_TYPE, 1);
    msg_text(&outside, TENSOR_NAME, "o");
    msg_put(&outside, TENSOR_EXTERNAL, msg_pair("location", "weights/o.bin"));
    msg_put(&outside, TENSOR_EXTERNAL, msg_pair("offset", "64"));
    msg_put(&outside, TENSOR_EXTERNAL, msg_pair("length", "8"));
    msg_int(&outside, TENSOR_LOCATION, 1);
    msg_put(&g, GRAPH_INIT, outside);
    msg_put(&g, 15, sample_sparse("p"));
    msg_put(&g, GRAPH_INPUT, msg_value("x", -1, NULL));
    msg_text(&info, 1, "y");
    msg_put(&info, 2, sample_type());
    msg_put(&g, GRAPH_OUTPUT, info);
    struct msg annotation = {0};
    msg_text(&annotation, 1, "x");
    msg_put(&annotation, 2, msg_pair("SCALE_TENSOR", "f"));
    msg_put(&g, 14, annotation);
    msg_put(&g, 16, msg_pair("k", "v"));
    struct msg m = msg_model(g), training = {0}, devices = {0};
    msg_put(&m, MODEL_OPSET, msg_opset("test", 1));
    msg_put(&m, 14, msg_pair("k", "v"));
    msg_put(&training, 2, sample_branch("step", "Identity"));
    msg_put(&m, MODEL_TRAINING, training);
    msg_text(&devices, 1, "two");
    msg_int(&devices, 2, 2);
    msg_text(&devices, 3, "CPU:0");
    msg_put(&m, 26, devices);
    msg_int(&m, 99, 5);
    return m;
}
