// Tensors: TensorProto -> struct tensor. The elements stay in the file; what is checked is that
// there are as many bytes as dimensions and element type ask for, in the field that is meant for
// that type.
#include <string.h>

#include "frontend/onnx/onnx_reading.h"
#include "ir/base/checked.h"
#include "ir/base/limits.h"

static const struct {
    uint32_t field;
    enum payload payload;
    const char *name;
} homes[] = {{9, PAYLOAD_RAW, "raw_data"},         {4, PAYLOAD_FLOATS, "float_data"},
             {5, PAYLOAD_INT32S, "int32_data"},    {7, PAYLOAD_INT64S, "int64_data"},
             {10, PAYLOAD_DOUBLES, "double_data"}, {11, PAYLOAD_UINT64S, "uint64_data"}};

// The typed field that ONNX assigns to an element type.
static enum payload typed_home(enum elem e) {
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

static const char *home_name(enum payload p) {
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++)
        if (homes[i].payload == p)
            return homes[i].name;
    return "string_data";
}

// Elements written one by one instead of packed are legal, though nobody writes them: they reach us
// as arrays, and are packed here.
static void take_arrays(struct reading *r, const struct reading_path *where,
                        const Onnx__TensorProto *p, struct tensor *t) {
    size_t n_varints = p->n_int32_data + p->n_int64_data + p->n_uint64_data;
    int n_kinds = (p->n_float_data > 0) + (p->n_double_data > 0) + (p->n_int32_data > 0) +
                  (p->n_int64_data > 0) + (p->n_uint64_data > 0);
    if (n_kinds == 0)
        return;
    if (n_kinds > 1 || t->payload != PAYLOAD_NONE) {
        reading_wrong(r, DIAG_MALFORMED, where, "the tensor has its elements in two places");
        return;
    }
    size_t most = p->n_float_data * 4 + p->n_double_data * 8 + n_varints * 10;
    uint8_t *to = reading_room(r, arena_alloc(r->a, most));
    struct source *memory = NULL;
    if (!to)
        return;
    size_t n = p->n_float_data * 4 + p->n_double_data * 8;
    if (n)
        memcpy(to, p->n_float_data ? (const void *)p->float_data : p->double_data, n);
    for (size_t i = 0; i < p->n_int32_data; i++)
        n += wire_put_varint(to + n, (uint64_t)(int64_t)p->int32_data[i]);
    for (size_t i = 0; i < p->n_int64_data; i++)
        n += wire_put_varint(to + n, (uint64_t)p->int64_data[i]);
    for (size_t i = 0; i < p->n_uint64_data; i++)
        n += wire_put_varint(to + n, p->uint64_data[i]);
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

static void take_strings(struct reading *r, const struct reading_path *where,
                         const Onnx__TensorProto *p, struct tensor *t) {
    if (p->n_string_data == 0)
        return;
    if (t->payload != PAYLOAD_NONE) {
        reading_wrong(r, DIAG_MALFORMED, where, "the tensor has its elements in two places");
        return;
    }
    struct bytes *strings = reading_room(r, ARENA_ARRAY(r->a, struct bytes, p->n_string_data));
    if (!strings)
        return;
    for (size_t i = 0; i < p->n_string_data; i++)
        strings[i] = reading_bytes(r, p->string_data[i].data, p->string_data[i].len);
    t->payload = PAYLOAD_STRINGS;
    t->strings = strings;
    t->n_strings = p->n_string_data;
}

static void take_span(struct reading *r, const struct reading_path *where,
                      const Onnx__TensorProto *p, struct tensor *t) {
    if (!p->has_raw_data)
        return;
    int64_t i = wire_reference(r->scan, p->raw_data.data, p->raw_data.len);
    if (i < 0) {
        reading_wrong(r, DIAG_INTERNAL, where, "a payload was lost");
        return;
    }
    const struct wire_lift *l = &r->scan->payloads.at[i];
    for (size_t h = 0; h < sizeof homes / sizeof *homes; h++)
        if (homes[h].field == l->field)
            t->payload = homes[h].payload;
    t->data = (struct span){.source = r->source, .offset = l->offset, .n_bytes = l->n_bytes};
}

static void take_external(struct reading *r, const struct reading_path *where, struct tensor *t) {
    // An empty raw_data beside the reference is what some writers leave behind.
    if (t->payload != PAYLOAD_NONE && t->data.n_bytes > 0)
        reading_wrong(r, DIAG_MALFORMED, where,
                      "the tensor has its elements both here and in another file");
    t->payload = PAYLOAD_EXTERNAL;
    t->data = (struct span){0};
    struct arena scratch = arena_make(r->a->mem);
    status st = external_find(&r->external, r->d, reading_loc(r, where, &scratch), t);
    if (st && !r->st)
        r->st = st;
    arena_free(&scratch);
}

// Are there as many bytes as it takes?
static void check_size(struct reading *r, const struct reading_path *where,
                       const struct tensor *t) {
    int64_t n, bytes, least, most;
    if (!tensor_elements(t, &n) || (elem_bits(t->elem) && !tensor_bytes(t, &bytes))) {
        reading_wrong(r, DIAG_BAD_DIM, where, "the size in bytes does not fit into 63 bits");
        return;
    }
    if (t->payload == PAYLOAD_NONE || t->payload == PAYLOAD_EXTERNAL || t->has_segment)
        return;
    if (t->payload != typed_home(t->elem) &&
        !(t->payload == PAYLOAD_RAW && t->elem != ELEM_STRING)) {
        reading_wrong(r, DIAG_MALFORMED, where, "elements of type %s are in %s", elem_text(t->elem),
                      home_name(t->payload));
        return;
    }
    int64_t have = t->payload == PAYLOAD_STRINGS ? (int64_t)t->n_strings : t->data.n_bytes;
    if (t->payload == PAYLOAD_STRINGS) {
        least = most = n;
    } else if (t->payload == PAYLOAD_RAW || t->payload == PAYLOAD_FLOATS ||
               t->payload == PAYLOAD_DOUBLES) {
        least = most = bytes;
    } else {
        // Varints of 1 to 10 bytes; elements narrower than a byte share one.
        least = elem_bits(t->elem) < 8 ? bytes : n;
        if (!checked_mul(least, 10, &most))
            most = INT64_MAX;
    }
    if (have < least || have > most)
        reading_wrong(r, DIAG_MALFORMED, where,
                      "%s has %lld %s where the dimensions ask for %lld%s", home_name(t->payload),
                      (long long)have, t->payload == PAYLOAD_STRINGS ? "strings" : "bytes",
                      (long long)least, least == most ? "" : " or more");
}

static const int64_t *read_dims(struct reading *r, const struct reading_path *where,
                                const int64_t *dims, size_t n, int32_t *rank) {
    *rank = 0;
    if (n > LIMIT_RANK) {
        reading_wrong(r, DIAG_BAD_DIM, where, "%zu dimensions; mfc goes up to %d", n, LIMIT_RANK);
        return NULL;
    }
    int64_t *copy = reading_room(r, ARENA_ARRAY(r->a, int64_t, n));
    if (!copy)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (dims[i] < 0)
            reading_wrong(r, DIAG_BAD_DIM, where, "dimension %zu is %lld", i, (long long)dims[i]);
        copy[i] = dims[i] < 0 ? 0 : dims[i];
    }
    *rank = (int32_t)n;
    return copy;
}

struct tensor *reading_tensor(struct reading *r, const struct reading_path *where,
                              const Onnx__TensorProto *p) {
    struct tensor *t = reading_room(r, ARENA_NEW(r->a, struct tensor));
    if (!t)
        return NULL;
    t->name = reading_name(r, p->name);
    t->doc = reading_name(r, p->doc_string);
    t->elem = (enum elem)p->data_type;
    t->dims = read_dims(r, where, p->dims, p->n_dims, &t->rank);
    t->metadata = reading_pairs(r, p->metadata_props, p->n_metadata_props);
    t->external = reading_pairs(r, p->external_data, p->n_external_data);
    t->extra = reading_extra(r, &p->base);
    if (p->segment) {
        t->has_segment = true;
        t->segment_begin = p->segment->begin;
        t->segment_end = p->segment->end;
        t->segment_extra = reading_extra(r, &p->segment->base);
    }
    if (!elem_text(t->elem)) {
        reading_wrong(r, t->elem ? DIAG_UNSUPPORTED : DIAG_MALFORMED, where,
                      "element type %d is not known to this version of mfc", p->data_type);
        t->elem = ELEM_NONE;
        return t;
    }
    take_span(r, where, p, t);
    take_arrays(r, where, p, t);
    take_strings(r, where, p, t);
    if (p->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
        take_external(r, where, t);
    check_size(r, where, t);
    return t;
}

struct sparse *reading_sparse(struct reading *r, const struct reading_path *where,
                              const Onnx__SparseTensorProto *p) {
    struct sparse *s = reading_room(r, ARENA_NEW(r->a, struct sparse));
    if (!s)
        return NULL;
    if (!p->values || !p->indices) {
        reading_wrong(r, DIAG_MALFORMED, where, "a sparse tensor needs values and indices");
        return NULL;
    }
    s->values = reading_tensor(r, where, p->values);
    s->indices = reading_tensor(r, where, p->indices);
    s->dims = read_dims(r, where, p->dims, p->n_dims, &s->rank);
    s->extra = reading_extra(r, &p->base);
    return s;
}
