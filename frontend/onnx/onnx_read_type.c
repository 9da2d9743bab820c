// Types: TypeProto to struct type.
#include <limits.h>

#include "frontend/onnx/reader.h"
#include "ir/base/limits.h"

static enum elem read_elem(struct reader *r, const struct reader_path *where, int32_t e) {
    if (e == 0 || elem_text((enum elem)e))
        return (enum elem)e;
    reader_error(r, DIAG_UNSUPPORTED, where, "mfc does not support element type %d", e);
    return ELEM_NONE;
}

static struct dim read_dim(struct reader *r, const struct reader_path *where, size_t axis,
                           const Onnx__TensorShapeProto__Dimension *p) {
    struct dim d = {.size = DIM_UNKNOWN, .denotation = reader_name(r, p->denotation)};
    if (p->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE) {
        d.size = p->dim_value;
        r->n_negative += d.size == -1; // how some exporters write an unknown dimension
        if (d.size < -1) {
            reader_error(r, DIAG_BAD_DIM, where, "dimension %zu is %lld, which is negative", axis,
                         (long long)d.size);
        }
        d.size = d.size < 0 ? DIM_UNKNOWN : d.size;
    } else if (p->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
               *p->dim_param) {
        d.symbol = reader_name(r, p->dim_param);
    }
    return d;
}

static void read_shape(struct reader *r, const struct reader_path *where,
                       const Onnx__TensorShapeProto *p, struct type *t) {
    if (!p)
        return;
    if (p->n_dim > LIMIT_RANK) {
        reader_error(r, DIAG_BAD_DIM, where, "%zu dimensions; mfc supports at most %d", p->n_dim,
                     LIMIT_RANK);
        return;
    }
    struct dim *dims = reader_require(r, ARENA_ARRAY(r->a, struct dim, p->n_dim));
    if (!dims)
        return;
    size_t n_extended = 0;
    for (size_t i = 0; i < p->n_dim; i++) {
        dims[i] = read_dim(r, where, i, p->dim[i]);
        n_extended += p->dim[i]->base.n_unknown_fields > 0;
    }
    struct bytes *extras =
        n_extended ? reader_require(r, ARENA_ARRAY(r->a, struct bytes, p->n_dim)) : NULL;
    for (size_t i = 0; extras && i < p->n_dim; i++)
        extras[i] = reader_extra(r, &p->dim[i]->base);
    t->dim_extras = extras;
    t->shape_extra = reader_extra(r, &p->base);
    t->has_shape = true;
    t->rank = (int32_t)p->n_dim;
    t->dims = dims;
    int64_t n;
    if (type_is_static(t) && elem_bits(t->elem) && !type_bytes(t, &n))
        reader_error(r, DIAG_BAD_DIM, where, "the size in bytes does not fit into 63 bits");
}

const struct type *reader_type(struct reader *r, const struct reader_path *where,
                               const Onnx__TypeProto *p) {
    struct type *t = p ? reader_require(r, ARENA_NEW(r->a, struct type)) : NULL;
    if (!t)
        return NULL;
    t->denotation = reader_name(r, p->denotation);
    t->extra = reader_extra(r, &p->base);
    const ProtobufCMessage *inner = NULL;
    switch (p->value_case) {
    case ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE:
        t->kind = TYPE_TENSOR;
        t->elem = read_elem(r, where, p->tensor_type->elem_type);
        read_shape(r, where, p->tensor_type->shape, t);
        inner = &p->tensor_type->base;
        break;
    case ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE:
        t->kind = TYPE_SPARSE;
        t->elem = read_elem(r, where, p->sparse_tensor_type->elem_type);
        read_shape(r, where, p->sparse_tensor_type->shape, t);
        inner = &p->sparse_tensor_type->base;
        break;
    case ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE:
        t->kind = TYPE_SEQUENCE;
        t->child = reader_type(r, where, p->sequence_type->elem_type);
        inner = &p->sequence_type->base;
        break;
    case ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE:
        t->kind = TYPE_OPTIONAL;
        t->child = reader_type(r, where, p->optional_type->elem_type);
        inner = &p->optional_type->base;
        break;
    case ONNX__TYPE_PROTO__VALUE_MAP_TYPE:
        t->kind = TYPE_MAP;
        t->elem = read_elem(r, where, p->map_type->key_type);
        t->child = reader_type(r, where, p->map_type->value_type);
        inner = &p->map_type->base;
        break;
    case ONNX__TYPE_PROTO__VALUE_OPAQUE_TYPE:
        t->kind = TYPE_OPAQUE;
        t->opaque_domain = reader_name(r, p->opaque_type->domain);
        t->opaque_name = reader_name(r, p->opaque_type->name);
        inner = &p->opaque_type->base;
        break;
    default: // a kind that this version of the format lacks
        break;
    }
    if (inner)
        t->inner_extra = reader_extra(r, inner);
    return t;
}
