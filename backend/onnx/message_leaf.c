// The ONNX messages below a node: types, tensors, string pairs. See message.h.
#include "backend/onnx/message.h"

#include <stdio.h>
#include <string.h>

void message_needs(struct message *m, enum ir_version v) {
    if (m->min_ir_version < (int64_t)v)
        m->min_ir_version = v;
}

static void elem_needs(struct message *m, enum elem e) {
    switch (e) {
    case ELEM_BF16:
        message_needs(m, IR_LOOSE_INITS);
        break;
    case ELEM_F8E4M3FN:
    case ELEM_F8E4M3FNUZ:
    case ELEM_F8E5M2:
    case ELEM_F8E5M2FNUZ:
        message_needs(m, IR_DEFAULTS);
        break;
    case ELEM_U4:
    case ELEM_I4:
        message_needs(m, IR_METADATA);
        break;
    case ELEM_F4E2M1:
        message_needs(m, IR_DEVICES);
        break;
    case ELEM_F8E8M0:
        message_needs(m, IR_F8E8M0);
        break;
    case ELEM_U2:
    case ELEM_I2:
        message_needs(m, IR_2BIT);
        break;
    default:
        break;
    }
}

static void pair(struct message *m, uint32_t field, struct pair p) {
    size_t at = emit_begin(&m->e, field);
    emit_text(&m->e, 1, p.key);
    emit_text(&m->e, 2, p.value);
    emit_fields(&m->e, p.extra);
    emit_end(&m->e, at);
}

void message_pairs(struct message *m, uint32_t field, struct pairs p) {
    for (size_t i = 0; i < p.n; i++)
        pair(m, field, p.at[i]);
}

void message_metadata(struct message *m, uint32_t field, struct pairs p) {
    if (p.n)
        message_needs(m, IR_METADATA);
    message_pairs(m, field, p);
}

static void shape(struct message *m, const struct type *t) {
    size_t at = emit_begin(&m->e, 2);
    for (int32_t i = 0; i < t->rank; i++) {
        size_t dim = emit_begin(&m->e, 1);
        if (t->dims[i].size >= 0)
            emit_int(&m->e, 1, t->dims[i].size);
        else
            emit_text(&m->e, 2, t->dims[i].symbol);
        emit_text(&m->e, 3, t->dims[i].denotation);
        if (t->dim_extras)
            emit_fields(&m->e, t->dim_extras[i]);
        emit_end(&m->e, dim);
    }
    emit_fields(&m->e, t->shape_extra);
    emit_end(&m->e, at);
}

// TypeProto.Tensor and .SparseTensor have the same fields, .Sequence and .Optional too.
static void type_content(struct message *m, const struct type *t) {
    elem_needs(m, t->elem);
    switch (t->kind) {
    case TYPE_NONE:
        break;
    case TYPE_TENSOR:
    case TYPE_SPARSE:
        if (t->elem)
            emit_int(&m->e, 1, t->elem);
        if (t->has_shape)
            shape(m, t);
        break;
    case TYPE_SEQUENCE:
    case TYPE_OPTIONAL:
        message_type(m, 1, t->child);
        break;
    case TYPE_MAP:
        if (t->elem)
            emit_int(&m->e, 1, t->elem);
        message_type(m, 2, t->child);
        break;
    case TYPE_OPAQUE:
        emit_text(&m->e, 1, t->opaque_domain);
        emit_text(&m->e, 2, t->opaque_name);
        break;
    }
}

void message_type(struct message *m, uint32_t field, const struct type *t) {
    static const uint8_t field_of[] = {[TYPE_TENSOR] = 1, [TYPE_SEQUENCE] = 4, [TYPE_MAP] = 5,
                                       [TYPE_OPAQUE] = 7, [TYPE_SPARSE] = 8,   [TYPE_OPTIONAL] = 9};
    enum { DENOTATION = 6 };
    if (!t)
        return;
    if (t->kind == TYPE_SPARSE || t->kind == TYPE_OPTIONAL)
        message_needs(m, IR_FUNCTIONS);
    size_t at = emit_begin(&m->e, field);
    uint32_t kind = field_of[t->kind];
    if (kind > DENOTATION)
        emit_text(&m->e, DENOTATION, t->denotation);
    if (kind) {
        size_t content = emit_begin(&m->e, kind);
        type_content(m, t);
        emit_fields(&m->e, t->inner_extra);
        emit_end(&m->e, content);
    }
    if (kind < DENOTATION)
        emit_text(&m->e, DENOTATION, t->denotation);
    emit_fields(&m->e, t->extra);
    emit_end(&m->e, at);
}

// Elements inside the model: a packed list in its field, strings one by one.
static void payload(struct message *m, const struct tensor *t, enum payload which, uint32_t field) {
    if (t->payload != which)
        return;
    if (which == PAYLOAD_STRINGS)
        for (size_t i = 0; i < t->n_strings; i++)
            emit_bytes(&m->e, field, t->strings[i]);
    else if (which == PAYLOAD_RAW || t->data.n_bytes > 0) // an empty list is an absent one
        emit_span(&m->e, field, t->data);
}

static void pair_number(struct message *m, uint32_t field, const char *key, int64_t x) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)x);
    pair(m, field, (struct pair){.key = key, .value = text});
}

// A moved tensor gets a new location, offset and length. One that was external before keeps its
// other pairs, such as a checksum.
static void external(struct message *m, const struct tensor *t, const struct payload_target *p) {
    enum { EXTERNAL_DATA = 13, DATA_LOCATION = 14, EXTERNAL = 1 };
    if (p && p->moved) {
        pair(m, EXTERNAL_DATA, (struct pair){.key = "location", .value = p->location});
        pair_number(m, EXTERNAL_DATA, "offset", p->offset);
        pair_number(m, EXTERNAL_DATA, "length", p->n_bytes);
    } else {
        for (size_t i = 0; i < t->external.n; i++) {
            struct pair q = t->external.at[i];
            if (p && q.key && strcmp(q.key, "location") == 0)
                q.value = p->location;
            pair(m, EXTERNAL_DATA, q);
        }
    }
    emit_int(&m->e, DATA_LOCATION, EXTERNAL);
}

static const struct payload_target *target_of(const struct message *m, const struct tensor *t) {
    int64_t i;
    return map_get_int(&m->target_of, (int64_t)(intptr_t)t, &i) ? &m->targets[i] : NULL;
}

static void collect(struct message *m, const struct tensor *t, bool is_init) {
    if (m->collect && !m->e.failed &&
        !VEC_PUSH(m->e.arena, &m->tensors, ((struct tensor_use){.tensor = t, .is_init = is_init})))
        m->e.failed = diag_out_of_memory(m->e.d);
}

void message_tensor(struct message *m, uint32_t field, const struct tensor *t, const char *name,
                    bool is_init) {
    struct emit *e = &m->e;
    const struct payload_target *p = target_of(m, t);
    bool inside = t->payload != PAYLOAD_EXTERNAL && !(p && p->moved);
    collect(m, t, is_init);
    elem_needs(m, t->elem);
    size_t at = emit_begin(e, field);
    for (int32_t i = 0; i < t->rank; i++)
        emit_int(e, 1, t->dims[i]);
    if (t->elem)
        emit_int(e, 2, t->elem);
    if (t->has_segment) {
        size_t segment = emit_begin(e, 3);
        emit_int(e, 1, t->segment_begin);
        emit_int(e, 2, t->segment_end);
        emit_fields(e, t->segment_extra);
        emit_end(e, segment);
    }
    if (inside) {
        payload(m, t, PAYLOAD_FLOATS, 4);
        payload(m, t, PAYLOAD_INT32S, 5);
        payload(m, t, PAYLOAD_STRINGS, 6);
        payload(m, t, PAYLOAD_INT64S, 7);
    }
    emit_text(e, 8, name ? name : t->name);
    if (inside) {
        payload(m, t, PAYLOAD_RAW, 9);
        payload(m, t, PAYLOAD_DOUBLES, 10);
        payload(m, t, PAYLOAD_UINT64S, 11);
    }
    emit_text(e, 12, t->doc);
    if (!inside)
        external(m, t, p);
    message_metadata(m, 16, t->metadata);
    emit_fields(e, t->extra);
    emit_end(e, at);
}

// A sparse tensor has the name of its values.
void message_sparse(struct message *m, uint32_t field, const struct sparse *s, const char *name,
                    bool is_init) {
    message_needs(m, IR_SPARSE);
    size_t at = emit_begin(&m->e, field);
    if (s->values)
        message_tensor(m, 1, s->values, name, is_init);
    if (s->indices)
        message_tensor(m, 2, s->indices, NULL, is_init);
    for (int32_t i = 0; i < s->rank; i++)
        emit_int(&m->e, 3, s->dims[i]);
    emit_fields(&m->e, s->extra);
    emit_end(&m->e, at);
}
