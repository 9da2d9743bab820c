// Constant tensors: see tensor.h. Reading decodes every ONNX encoding; new tensors are RAW.
#include "ir/tensor.h"

#include <math.h>
#include <string.h>

#include "ir/base/checked.h"
#include "ir/base/limits.h"
#include "ir/half.h"

enum { CONVERT_ELEMENTS = 1024 }; // read at once by tensor_convert

bool tensor_elements(const struct tensor *t, int64_t *n) {
    *n = 1;
    bool empty = false, fits = true;
    for (int32_t i = 0; i < t->rank; i++) {
        empty |= t->dims[i] == 0;
        fits = fits && checked_mul(*n, t->dims[i], n);
    }
    if (empty)
        *n = 0;
    return empty || fits;
}

bool tensor_bytes(const struct tensor *t, int64_t *n_bytes) {
    int64_t n, bits;
    if (!tensor_elements(t, &n) || elem_bits(t->elem) == 0 ||
        !checked_mul(n, elem_bits(t->elem), &bits))
        return false;
    *n_bytes = bits / 8 + (bits % 8 != 0);
    return true;
}

const struct type *tensor_type(struct arena *a, const struct tensor *t) {
    return type_static(a, t->elem, t->dims, t->rank);
}

static status wrong(const struct tensor *t, struct diags *d, const char *what) {
    struct loc where =
        t->data.source ? loc_offset(t->data.source->path, t->data.offset) : loc_none();
    return diag_error(d, DIAG_MALFORMED, where, "tensor \"%s\": %s", t->name ? t->name : "", what);
}

// One RAW element as an integer x and a real y. Types narrower than a byte are packed, first
// element in the low bits.
static void raw_element(enum elem e, const uint8_t *raw, int64_t i, int64_t *x, double *y) {
    int bits = elem_bits(e);
    uint64_t u = 0;
    if (bits < 8)
        u = (uint64_t)(raw[i * bits / 8] >> (i * bits % 8)) & ((1u << bits) - 1);
    else
        memcpy(&u, raw + i * bits / 8, (size_t)bits / 8);
    float f;
    bool is_signed = e == ELEM_I8 || e == ELEM_I16 || e == ELEM_I32 || e == ELEM_I64 ||
                     e == ELEM_I4 || e == ELEM_I2;
    if (is_signed && bits < 64)
        u = (uint64_t)((int64_t)(u << (64 - bits)) >> (64 - bits));
    *x = (int64_t)u;
    *y = e == ELEM_U64 ? (double)u : (double)*x;
    if (e == ELEM_F32) {
        uint32_t low = (uint32_t)u;
        memcpy(&f, &low, sizeof f);
        *y = (double)f;
    } else if (e == ELEM_F64) {
        memcpy(y, &u, sizeof *y);
    } else if (e == ELEM_F16) {
        *y = half_to_double((uint16_t)u);
    } else if (e == ELEM_BF16) {
        *y = bfloat_to_double((uint16_t)u);
    }
}

static bool next_varint(const uint8_t **at, const uint8_t *end, uint64_t *x) {
    *x = 0;
    for (int shift = 0; shift < 64 && *at < end; shift += 7) {
        uint8_t byte = *(*at)++;
        *x |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

// Converts a packed typed field to RAW.
static bool typed_to_raw(const struct tensor *t, const uint8_t *packed, int64_t n_bytes, int64_t n,
                         uint8_t *raw) {
    int bits = elem_bits(t->elem);
    if (t->payload == PAYLOAD_FLOATS || t->payload == PAYLOAD_DOUBLES) {
        if (n_bytes != n * (bits / 8))
            return false;
        if (n)
            memcpy(raw, packed, (size_t)n_bytes);
        return true;
    }
    const uint8_t *at = packed, *end = packed + n_bytes;
    // Types narrower than a byte are packed in int32_data as in RAW, one byte per varint.
    int64_t n_words = bits < 8 ? (n * bits + 7) / 8 : n;
    size_t width = bits < 8 ? 1 : (size_t)bits / 8;
    for (int64_t i = 0; i < n_words; i++) {
        uint64_t x;
        if (!next_varint(&at, end, &x))
            return false;
        memcpy(raw + (size_t)i * width, &x, width);
    }
    return at == end;
}

// Whether the stored bytes are those of RAW.
static bool is_plain(const struct tensor *t) {
    bool typed = (t->payload == PAYLOAD_FLOATS && t->elem == ELEM_F32) ||
                 (t->payload == PAYLOAD_DOUBLES && t->elem == ELEM_F64);
    return typed || t->payload == PAYLOAD_RAW || t->payload == PAYLOAD_EXTERNAL;
}

// Reads all elements into memory, as RAW.
static status decode(const struct tensor *t, int64_t n, int64_t n_bytes, struct arena *a,
                     struct diags *d, uint8_t **raw) {
    uint8_t *stored = arena_alloc(a, (size_t)t->data.n_bytes);
    if (!stored)
        return diag_out_of_memory(d);
    status st = span_read(t->data, d, stored);
    if (st)
        return st;
    if (is_plain(t)) {
        *raw = stored;
        return t->data.n_bytes == n_bytes
                   ? ST_OK
                   : wrong(t, d, "it does not have as many bytes as its dimensions say");
    }
    if (!(*raw = arena_alloc(a, (size_t)n_bytes)))
        return diag_out_of_memory(d);
    if (n > 0 && !typed_to_raw(t, stored, t->data.n_bytes, n, *raw))
        return wrong(t, d, "it does not have as many elements as its dimensions say");
    return ST_OK;
}

static status check_elements(const struct tensor *t, struct diags *d, int64_t *n,
                             int64_t *n_bytes) {
    if (!tensor_bytes(t, n_bytes) || !tensor_elements(t, n))
        return wrong(t, d, "its elements cannot be read as numbers");
    if (*n > 0 && !t->data.source)
        return wrong(t, d, "its bytes are not there");
    return ST_OK;
}

status tensor_raw(const struct tensor *t, struct arena *a, struct diags *d, uint8_t **raw,
                  int64_t *n) {
    int64_t n_bytes;
    status st = check_elements(t, d, n, &n_bytes);
    if (st)
        return st;
    if (t->data.n_bytes / 16 > *n)
        return wrong(t, d, "it has more bytes than its dimensions say");
    return decode(t, *n, n_bytes, a, d, raw);
}

double tensor_raw_real(enum elem e, const uint8_t *raw, int64_t i) {
    int64_t unused;
    double y;
    raw_element(e, raw, i, &unused, &y);
    return y;
}

// For numbers that mfc computes with: not more than it would fold.
static status small_raw(const struct tensor *t, struct arena *a, struct diags *d, uint8_t **raw,
                        int64_t *n) {
    if (tensor_elements(t, n) && *n > LIMIT_FOLD_ELEMENTS)
        return diag_error(d, DIAG_LIMIT, loc_none(),
                          "tensor \"%s\" has %lld elements; only up to %d are read",
                          t->name ? t->name : "", (long long)*n, LIMIT_FOLD_ELEMENTS);
    return tensor_raw(t, a, d, raw, n);
}

status tensor_as_raw(const struct tensor *t, struct arena *a, struct diags *d, struct tensor *out) {
    int64_t n, n_bytes;
    uint8_t *raw;
    struct source *memory;
    *out = *t;
    status st = check_elements(t, d, &n, &n_bytes);
    if (st)
        return st;
    out->payload = PAYLOAD_RAW;
    out->external = (struct pairs){0};
    if (is_plain(t))
        return t->data.n_bytes == n_bytes
                   ? ST_OK
                   : wrong(t, d, "it does not have as many bytes as its dimensions say");
    st = decode(t, n, n_bytes, a, d, &raw);
    if (!st)
        st = source_memory(a, d, raw, n_bytes, &memory);
    if (!st)
        out->data = (struct span){.source = memory, .n_bytes = n_bytes};
    return st;
}

status tensor_ints(const struct tensor *t, struct arena *a, struct diags *d, int64_t **out) {
    uint8_t *raw;
    int64_t n;
    if (!tensor_has_ints(t))
        return wrong(t, d, "integers are needed here");
    status st = small_raw(t, a, d, &raw, &n);
    if (st)
        return st;
    if (!(*out = ARENA_ARRAY(a, int64_t, n)))
        return diag_out_of_memory(d);
    double unused;
    for (int64_t i = 0; i < n; i++)
        raw_element(t->elem, raw, i, &(*out)[i], &unused);
    return ST_OK;
}

status tensor_reals(const struct tensor *t, struct arena *a, struct diags *d, double **out) {
    uint8_t *raw;
    int64_t n;
    bool known =
        t->elem == ELEM_F16 || t->elem == ELEM_BF16 || t->elem == ELEM_F32 || t->elem == ELEM_F64;
    if (!known && !elem_is_int(t->elem) && t->elem != ELEM_BOOL)
        return wrong(t, d, "numbers are needed here");
    status st = small_raw(t, a, d, &raw, &n);
    if (st)
        return st;
    if (!(*out = ARENA_ARRAY(a, double, n)))
        return diag_out_of_memory(d);
    int64_t unused;
    for (int64_t i = 0; i < n; i++)
        raw_element(t->elem, raw, i, &unused, &(*out)[i]);
    return ST_OK;
}

// A new RAW tensor of zeros in memory.
static struct tensor *tensor_blank(struct arena *a, enum elem e, const int64_t *dims, int32_t rank,
                                   uint8_t **raw, int64_t *n) {
    struct tensor *t = ARENA_NEW(a, struct tensor);
    struct source *s = ARENA_NEW(a, struct source);
    int64_t *copy = arena_copy(a, dims, (size_t)rank * sizeof *dims), n_bytes;
    if (!t || !s || !copy)
        return NULL;
    *t = (struct tensor){.elem = e, .rank = rank, .dims = copy, .payload = PAYLOAD_RAW};
    if (elem_bits(e) < 8 || !tensor_bytes(t, &n_bytes) || !tensor_elements(t, n) ||
        !(*raw = arena_alloc(a, (size_t)n_bytes)))
        return NULL;
    *s = (struct source){.path = "<memory>", .fd = -1, .memory = *raw, .n_bytes = n_bytes};
    t->data = (struct span){s, 0, n_bytes};
    return t;
}

struct tensor *tensor_floats(struct arena *a, const int64_t *dims, int32_t rank, float **at) {
    uint8_t *raw;
    int64_t n;
    struct tensor *t = tensor_blank(a, ELEM_F32, dims, rank, &raw, &n);
    *at = t ? (float *)(void *)raw : NULL; // arena blocks are aligned for any type
    return t;
}

static void put_real(enum elem e, uint8_t *raw, int64_t i, double x) {
    float f = (float)x;
    uint16_t h = e == ELEM_BF16 ? bfloat_from_double(x) : half_from_double(x);
    if (e == ELEM_F32)
        memcpy(raw + i * 4, &f, 4);
    else if (e == ELEM_F64)
        memcpy(raw + i * 8, &x, 8);
    else
        memcpy(raw + i * 2, &h, 2);
}

struct tensor *tensor_from_ints(struct arena *a, enum elem e, const int64_t *values,
                                const int64_t *dims, int32_t rank) {
    uint8_t *raw;
    int64_t n;
    struct tensor *t = tensor_blank(a, e, dims, rank, &raw, &n);
    size_t width = (size_t)elem_bits(e) / 8;
    for (int64_t i = 0; t && i < n; i++)
        if (elem_is_float(e))
            put_real(e, raw, i, (double)values[i]);
        else
            memcpy(raw + (size_t)i * width, &values[i], width);
    return t;
}

struct tensor *tensor_from_reals(struct arena *a, enum elem e, const double *values,
                                 const int64_t *dims, int32_t rank) {
    uint8_t *raw;
    int64_t n;
    struct tensor *t = tensor_blank(a, e, dims, rank, &raw, &n);
    size_t width = (size_t)elem_bits(e) / 8;
    for (int64_t i = 0; t && i < n; i++) {
        int64_t whole = (int64_t)values[i];
        if (elem_is_float(e))
            put_real(e, raw, i, values[i]);
        else
            memcpy(raw + (size_t)i * width, &whole, width);
    }
    return t;
}

status tensor_convert(const struct tensor *t, enum elem to, struct arena *a, struct diags *d,
                      struct tensor *out) {
    uint8_t block[CONVERT_ELEMENTS * sizeof(double)], *raw;
    int64_t n, n_bytes, width = elem_bits(t->elem) / 8;
    struct tensor from;
    struct source *memory;
    status st = tensor_as_raw(t, a, d, &from);
    if (st)
        return st;
    *out = from;
    out->elem = to;
    if (!tensor_elements(t, &n) || !tensor_bytes(out, &n_bytes) ||
        !(raw = arena_alloc(a, (size_t)n_bytes)))
        return diag_out_of_memory(d);
    for (int64_t i = 0; i < n && !st; i += CONVERT_ELEMENTS) {
        int64_t part = n - i < CONVERT_ELEMENTS ? n - i : CONVERT_ELEMENTS, unused;
        double x;
        st = span_read((struct span){from.data.source, from.data.offset + i * width, part * width},
                       d, block);
        for (int64_t k = 0; k < part && !st; k++) {
            raw_element(t->elem, block, k, &unused, &x);
            put_real(to, raw, i + k, x);
        }
    }
    if (!st)
        st = source_memory(a, d, raw, n_bytes, &memory);
    if (!st)
        out->data = (struct span){.source = memory, .n_bytes = n_bytes};
    return st;
}
