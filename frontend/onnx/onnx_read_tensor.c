// Tensors: TensorProto to struct tensor. The elements stay in the file. Checked: the elements are
// in the field that ONNX assigns to their type, and their number of bytes agrees with dimensions
// and type.
#include <string.h>

#include "frontend/onnx/reader.h"
#include "ir/base/checked.h"
#include "ir/base/limits.h"

static const struct {
    uint32_t field;
    enum payload payload;
    const char *name;
} data_fields[] = {{9, PAYLOAD_RAW, "raw_data"},         {4, PAYLOAD_FLOATS, "float_data"},
                   {5, PAYLOAD_INT32S, "int32_data"},    {7, PAYLOAD_INT64S, "int64_data"},
                   {10, PAYLOAD_DOUBLES, "double_data"}, {11, PAYLOAD_UINT64S, "uint64_data"}};

// The typed field that ONNX assigns to an element type.
static enum payload typed_field(enum elem e) {
    switch (e) {
    case ELEM_F32:
    case ELEM_C64:
        return PAYLOAD_FLOATS;
    case ELEM_F64:
    case ELEM_C128:
        return PAYLOAD_DOUBLES;
    case ELEM_I64:
        return PAYLOAD_INT64S;
    case ELEM_U32:
    case ELEM_U64:
        return PAYLOAD_UINT64S;
    case ELEM_STRING:
        return PAYLOAD_STRINGS;
    default:
        return PAYLOAD_INT32S;
    }
}

static const char *field_name(enum payload p) {
    for (size_t i = 0; i < sizeof data_fields / sizeof *data_fields; i++)
        if (data_fields[i].payload == p)
            return data_fields[i].name;
    return "string_data";
}

// Unpacked repeated fields are legal, though rare. protobuf-c unpacks them into arrays; they are
// packed again here.
static void read_arrays(struct reader *r, const struct reader_path *where,
                        const Onnx__TensorProto *p, struct tensor *t) {
    size_t n_varints = p->n_int32_data + p->n_int64_data + p->n_uint64_data;
    int n_kinds = (p->n_float_data > 0) + (p->n_double_data > 0) + (p->n_int32_data > 0) +
                  (p->n_int64_data > 0) + (p->n_uint64_data > 0);
    if (n_kinds == 0)
        return;
    if (n_kinds > 1 || t->payload != PAYLOAD_NONE) {
        reader_error(r, DIAG_MALFORMED, where, "the tensor has elements in two fields");
        return;
    }
    size_t max_bytes = p->n_float_data * 4 + p->n_double_data * 8 + n_varints * 10;
    uint8_t *to = reader_require(r, arena_alloc(r->a, max_bytes));
    struct source *memory = NULL;
    if (!to)
        return;
    size_t n = p->n_float_data * 4 + p->n_double_data * 8;
    if (n)
        memcpy(to, p->n_float_data ? (const void *)p->float_data : p->double_data, n);
    for (size_t i = 0; i < p->n_int32_data; i++)
        n += varint_put(to + n, (uint64_t)(int64_t)p->int32_data[i]);
    for (size_t i = 0; i < p->n_int64_data; i++)
        n += varint_put(to + n, (uint64_t)p->int64_data[i]);
    for (size_t i = 0; i < p->n_uint64_data; i++)
        n += varint_put(to + n, p->uint64_data[i]);
    status st = source_memory(r->a, r->d, to, (int64_t)n, &memory);
    if (st) {
        r->st = st;
        return;
    }
    t->payload = p->n_float_data    ? PAYLOAD_FLOATS
                 : p->n_double_data ? PAYLOAD_DOUBLES
                 : p->n_int32_data  ? PAYLOAD_INT32S
                 : p->n_int64_data  ? PAYLOAD_INT64S
                                    : PAYLOAD_UINT64S;
    t->data = (struct span){.source = memory, .n_bytes = (int64_t)n};
}

static void read_strings(struct reader *r, const struct reader_path *where,
                         const Onnx__TensorProto *p, struct tensor *t) {
    if (p->n_string_data == 0)
        return;
    if (t->payload != PAYLOAD_NONE) {
        reader_error(r, DIAG_MALFORMED, where, "the tensor has elements in two fields");
        return;
    }
    struct bytes *strings = reader_require(r, ARENA_ARRAY(r->a, struct bytes, p->n_string_data));
    if (!strings)
        return;
    for (size_t i = 0; i < p->n_string_data; i++)
        strings[i] = reader_bytes(r, p->string_data[i].data, p->string_data[i].len);
    t->payload = PAYLOAD_STRINGS;
    t->strings = strings;
    t->n_strings = p->n_string_data;
}

static void read_span(struct reader *r, const struct reader_path *where, const Onnx__TensorProto *p,
                      struct tensor *t) {
    if (!p->has_raw_data)
        return;
    int64_t i = wire_reference(r->scan, p->raw_data.data, p->raw_data.len);
    if (i < 0) {
        reader_error(r, DIAG_INTERNAL, where,
                     "the slim copy refers to no payload; please report this");
        return;
    }
    const struct wire_lift *l = &r->scan->payloads.at[i];
    for (size_t f = 0; f < sizeof data_fields / sizeof *data_fields; f++)
        if (data_fields[f].field == l->field)
            t->payload = data_fields[f].payload;
    t->data = (struct span){.source = r->source, .offset = l->offset, .n_bytes = l->n_bytes};
}

static void read_external(struct reader *r, const struct reader_path *where, struct tensor *t) {
    // Some writers leave an empty raw_data beside the reference.
    if (t->payload != PAYLOAD_NONE && t->data.n_bytes > 0)
        reader_error(r, DIAG_MALFORMED, where,
                     "the tensor has elements both in the model and in an external file");
    t->payload = PAYLOAD_EXTERNAL;
    t->data = (struct span){0};
    struct arena scratch = arena_make(r->a->mem);
    status st = external_find(&r->external, r->d, reader_loc(r, where, &scratch), t);
    if (st && !r->st)
        r->st = st;
    arena_free(&scratch);
}

// The number of bytes agrees with dimensions and element type.
static void check_size(struct reader *r, const struct reader_path *where, const struct tensor *t) {
    int64_t n, bytes, min_size, max_size;
    if (!tensor_elements(t, &n) || (elem_bits(t->elem) && !tensor_bytes(t, &bytes))) {
        reader_error(r, DIAG_BAD_DIM, where, "the size in bytes does not fit into 63 bits");
        return;
    }
    if (t->payload == PAYLOAD_NONE || t->payload == PAYLOAD_EXTERNAL || t->has_segment)
        return;
    if (t->payload != typed_field(t->elem) &&
        !(t->payload == PAYLOAD_RAW && t->elem != ELEM_STRING)) {
        reader_error(r, DIAG_MALFORMED, where, "elements of type %s do not belong in %s",
                     elem_text(t->elem), field_name(t->payload));
        return;
    }
    int64_t have = t->payload == PAYLOAD_STRINGS ? (int64_t)t->n_strings : t->data.n_bytes;
    if (t->payload == PAYLOAD_STRINGS) {
        min_size = max_size = n;
    } else if (t->payload == PAYLOAD_RAW || t->payload == PAYLOAD_FLOATS ||
               t->payload == PAYLOAD_DOUBLES) {
        min_size = max_size = bytes;
    } else {
        // Varints take 1 to 10 bytes; elements narrower than a byte share one.
        min_size = elem_bits(t->elem) < 8 ? bytes : n;
        if (!checked_mul(min_size, 10, &max_size))
            max_size = INT64_MAX;
    }
    if (have < min_size || have > max_size)
        reader_error(r, DIAG_MALFORMED, where, "%s has %lld %s, but the dimensions require %lld%s",
                     field_name(t->payload), (long long)have,
                     t->payload == PAYLOAD_STRINGS ? "strings" : "bytes", (long long)min_size,
                     min_size == max_size ? "" : " or more");
}

static const int64_t *read_dims(struct reader *r, const struct reader_path *where,
                                const int64_t *dims, size_t n, int32_t *rank) {
    *rank = 0;
    if (n > LIMIT_RANK) {
        reader_error(r, DIAG_BAD_DIM, where, "%zu dimensions; mfc supports at most %d", n,
                     LIMIT_RANK);
        return NULL;
    }
    int64_t *copy = reader_require(r, ARENA_ARRAY(r->a, int64_t, n));
    if (!copy)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (dims[i] < 0)
            reader_error(r, DIAG_BAD_DIM, where, "dimension %zu is %lld, which is negative", i,
                         (long long)dims[i]);
        copy[i] = dims[i] < 0 ? 0 : dims[i];
    }
    *rank = (int32_t)n;
    return copy;
}

struct tensor *reader_tensor(struct reader *r, const struct reader_path *where,
                             const Onnx__TensorProto *p) {
    struct tensor *t = reader_require(r, ARENA_NEW(r->a, struct tensor));
    if (!t)
        return NULL;
    t->name = reader_name(r, p->name);
    t->doc = reader_name(r, p->doc_string);
    t->elem = (enum elem)p->data_type;
    t->dims = read_dims(r, where, p->dims, p->n_dims, &t->rank);
    t->metadata = reader_pairs(r, p->metadata_props, p->n_metadata_props);
    t->external = reader_pairs(r, p->external_data, p->n_external_data);
    t->extra = reader_extra(r, &p->base);
    if (p->segment) {
        t->has_segment = true;
        t->segment_begin = p->segment->begin;
        t->segment_end = p->segment->end;
        t->segment_extra = reader_extra(r, &p->segment->base);
    }
    if (!elem_text(t->elem)) {
        reader_error(r, t->elem ? DIAG_UNSUPPORTED : DIAG_MALFORMED, where,
                     "mfc does not support element type %d", p->data_type);
        t->elem = ELEM_NONE;
        return t;
    }
    read_span(r, where, p, t);
    read_arrays(r, where, p, t);
    read_strings(r, where, p, t);
    if (p->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
        read_external(r, where, t);
    check_size(r, where, t);
    return t;
}

struct sparse *reader_sparse(struct reader *r, const struct reader_path *where,
                             const Onnx__SparseTensorProto *p) {
    struct sparse *s = reader_require(r, ARENA_NEW(r->a, struct sparse));
    if (!s)
        return NULL;
    if (!p->values || !p->indices) {
        reader_error(r, DIAG_MALFORMED, where, "a sparse tensor needs values and indices");
        return NULL;
    }
    s->values = reader_tensor(r, where, p->values);
    s->indices = reader_tensor(r, where, p->indices);
    s->dims = read_dims(r, where, p->dims, p->n_dims, &s->rank);
    s->extra = reader_extra(r, &p->base);
    return s;
}
