// Field tables of the wire guard: see wire_kinds.h.
#include "frontend/onnx/wire_kinds.h"

#include <assert.h>

#include "third_party/onnx/onnx.pb-c.h"

enum { MAX_KINDS = 64 }; // the format has about thirty messages

static const struct {
    const ProtobufCMessageDescriptor *message;
    uint32_t field;
    enum wire_action action;
} lifted[] = {
    {&onnx__tensor_proto__descriptor, 4, WIRE_PAYLOAD},  // float_data
    {&onnx__tensor_proto__descriptor, 5, WIRE_PAYLOAD},  // int32_data
    {&onnx__tensor_proto__descriptor, 7, WIRE_PAYLOAD},  // int64_data
    {&onnx__tensor_proto__descriptor, 9, WIRE_PAYLOAD},  // raw_data
    {&onnx__tensor_proto__descriptor, 10, WIRE_PAYLOAD}, // double_data
    {&onnx__tensor_proto__descriptor, 11, WIRE_PAYLOAD}, // uint64_data
    {&onnx__model_proto__descriptor, 20, WIRE_TRAINING}, // training_info
};

static struct wire_rule rule_of(const ProtobufCFieldDescriptor *f) {
    struct wire_rule r = {.name = f->name,
                          .action = WIRE_SCALAR,
                          .wire = WIRE_VARINT,
                          .item = 8,
                          .repeated = f->label == PROTOBUF_C_LABEL_REPEATED};
    switch (f->type) {
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        r.wire = WIRE_FIXED64;
        break;
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
        r.wire = WIRE_FIXED32;
        r.item = 4;
        break;
    case PROTOBUF_C_TYPE_STRING:
        r.wire = WIRE_DELIMITED;
        r.action = WIRE_STRING;
        break;
    case PROTOBUF_C_TYPE_BYTES:
        r.wire = WIRE_DELIMITED;
        r.action = WIRE_BYTES;
        r.item = sizeof(ProtobufCBinaryData);
        break;
    case PROTOBUF_C_TYPE_MESSAGE:
        r.wire = WIRE_DELIMITED;
        r.action = WIRE_MESSAGE;
        break;
    default: // the varint types
        break;
    }
    return r;
}

const struct wire_kind *wire_kinds(const ProtobufCMessageDescriptor *top, struct arena *a) {
    struct wire_kind *kinds = ARENA_ARRAY(a, struct wire_kind, MAX_KINDS);
    if (!kinds)
        return NULL;
    size_t n = 0;
    kinds[n++].message = top;
    for (size_t k = 0; k < n; k++) {
        const ProtobufCMessageDescriptor *m = kinds[k].message;
        for (unsigned i = 0; i < m->n_fields; i++) {
            const ProtobufCFieldDescriptor *f = &m->fields[i];
            assert(f->id < WIRE_RULES);
            struct wire_rule *r = &kinds[k].rules[f->id];
            *r = rule_of(f);
            for (size_t l = 0; l < sizeof lifted / sizeof *lifted; l++)
                if (lifted[l].message == m && lifted[l].field == f->id)
                    r->action = (uint8_t)lifted[l].action;
            if (f->type != PROTOBUF_C_TYPE_MESSAGE)
                continue;
            size_t c = 0;
            while (c < n && kinds[c].message != f->descriptor)
                c++;
            if (c == n) {
                assert(n < MAX_KINDS);
                kinds[n++].message = f->descriptor;
            }
            r->child = &kinds[c];
        }
    }
    return kinds;
}
