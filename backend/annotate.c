// ONNX multi-device annotations: see annotate.h. The graph holds them as bytes, so each message is
// built with protobuf-c and packed at once.
#include "backend/annotate.h"

#include <string.h>

#include "backend/parts.h"
#include "third_party/onnx/onnx.pb-c.h"

struct annotating {
    struct model *m;
    struct arena *scratch; // of one node
    const char *name;      // of the configuration
    int64_t *device_of;    // per value: the device that computes it, from 0; -1: none
};

static bool is_taken(const struct model *m, const char *name) {
    bool taken = false;
    for (size_t i = 0; i < m->configurations.n && !taken; i++) {
        struct bytes b = m->configurations.at[i];
        Onnx__DeviceConfigurationProto *c =
            onnx__device_configuration_proto__unpack(NULL, b.n, b.at);
        taken = c && c->name && strcmp(c->name, name) == 0;
        if (c)
            onnx__device_configuration_proto__free_unpacked(c, NULL);
    }
    return taken;
}

// The first of "mfc", "mfc2", "mfc3", … that is not taken.
static const char *free_name(const struct model *m) {
    struct str name = str_make(m->arena);
    str_add(&name, "mfc");
    for (int k = 2; !name.failed && is_taken(m, str_text(&name)); k++) {
        name = str_make(m->arena);
        str_addf(&name, "mfc%d", k);
    }
    return name.failed ? NULL : str_text(&name);
}

static bool add_configuration(struct annotating *x) {
    struct model *m = x->m;
    Onnx__DeviceConfigurationProto c = ONNX__DEVICE_CONFIGURATION_PROTO__INIT;
    c.name = (char *)x->name;
    c.has_num_devices = 1;
    c.num_devices = (int32_t)m->device_names.n;
    c.n_device = m->device_names.n;
    c.device = (char **)m->device_names.at;
    struct bytes b = {.n = onnx__device_configuration_proto__get_packed_size(&c)};
    uint8_t *to = arena_alloc(m->arena, b.n);
    if (!to)
        return false;
    onnx__device_configuration_proto__pack(&c, to);
    b.at = to;
    return VEC_PUSH(m->arena, &m->configurations, b);
}

// An operand on one device, unsharded.
static Onnx__ShardingSpecProto *spec_of(struct annotating *x, value_id v, int64_t device) {
    Onnx__ShardingSpecProto *s = ARENA_NEW(x->scratch, Onnx__ShardingSpecProto);
    int64_t *on = ARENA_NEW(x->scratch, int64_t);
    if (!s || !on)
        return NULL;
    onnx__sharding_spec_proto__init(s);
    *on = device;
    s->tensor_name = (char *)graph_value(x->m->graph, v)->name;
    s->n_device = 1;
    s->device = on;
    return s;
}

// The input of a transfer (an Identity) is on the sending device; all other operands are on the
// node's own.
static bool add_specs(struct annotating *x, const struct node *n,
                      Onnx__NodeDeviceConfigurationProto *c) {
    int64_t here = (int64_t)n->device - 1;
    c->sharding_spec = ARENA_ARRAY(x->scratch, Onnx__ShardingSpecProto *, n->n_in + n->n_out);
    bool ok = c->sharding_spec != NULL;
    for (uint32_t k = 0; ok && k < n->n_in + n->n_out; k++) {
        value_id v = k < n->n_in ? n->in[k] : n->out[k - n->n_in];
        int64_t device = k < n->n_in && x->device_of[v.i] >= 0 ? x->device_of[v.i] : here;
        if (v.i)
            ok = (c->sharding_spec[c->n_sharding_spec++] = spec_of(x, v, device)) != NULL;
    }
    return ok;
}

static bool annotate_node(struct annotating *x, struct node *n, uint32_t round) {
    Onnx__NodeDeviceConfigurationProto c = ONNX__NODE_DEVICE_CONFIGURATION_PROTO__INIT;
    Onnx__NodeDeviceConfigurationProto *list = &c;
    Onnx__NodeProto holder = ONNX__NODE_PROTO__INIT; // packs to one field with its tag
    c.configuration_id = (char *)x->name;
    c.has_pipeline_stage = 1;
    c.pipeline_stage = (int32_t)round;
    holder.n_device_configurations = 1;
    holder.device_configurations = &list;
    if (!add_specs(x, n, &c))
        return false;
    size_t n_own = onnx__node_proto__get_packed_size(&holder);
    uint8_t *to = arena_alloc(x->m->arena, n->devices.n + n_own);
    if (!to)
        return false;
    if (n->devices.n > 0)
        memcpy(to, n->devices.at, n->devices.n);
    onnx__node_proto__pack(&holder, to + n->devices.n);
    n->devices = (struct bytes){.at = to, .n = n->devices.n + n_own};
    return true;
}

static bool annotate(struct annotating *x, const struct parts *parts, struct arena *a) {
    struct graph *g = x->m->graph;
    x->device_of = ARENA_ARRAY(a, int64_t, g->values.n);
    if (!x->device_of || !x->name || !add_configuration(x))
        return false;
    for (size_t i = 0; i < g->values.n; i++)
        x->device_of[i] = parts->of[i] ? (int64_t)parts->at[parts->of[i] - 1].device - 1 : -1;
    bool ok = true;
    for (size_t i = 0; i < parts->n; i++)
        for (size_t k = 0; ok && k < parts->at[i].nodes.n; k++) {
            struct arena scratch = arena_make(a->mem);
            x->scratch = &scratch;
            ok = annotate_node(x, graph_node(g, parts->at[i].nodes.at[k]), parts->at[i].round);
            arena_free(&scratch);
        }
    return ok;
}

status annotate_devices(struct model *m, struct diags *d) {
    struct arena a = arena_make(m->arena->mem);
    struct annotating x = {.m = m, .name = free_name(m)};
    struct parts parts;
    status st = parts_of(m->graph, &a, d, &parts);
    if (!st && !annotate(&x, &parts, &a))
        st = diag_out_of_memory(d);
    arena_free(&a);
    return st;
}
