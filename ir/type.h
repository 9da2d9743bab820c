// Types of values: element types; dimensions that are numbers, symbols or unknown; the nested kinds
// of ONNX. Types are immutable and shared by pointer.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/mem.h"
#include "ir/base/str.h"

enum elem {
    ELEM_NONE = 0,
#define ELEM(name, onnx, text, bits, class) ELEM_##name = (onnx),
#include "ir/elem.def"
#undef ELEM
    ELEM_LIMIT_
};

const char *elem_text(enum elem e); // "f32"; NULL: not an element type
bool elem_parse(const char *text, enum elem *e);
int elem_bits(enum elem e); // 0: no fixed size
bool elem_is_float(enum elem e);
bool elem_is_int(enum elem e); // signed or unsigned, not bool

// Uninterpreted bytes, passed through from input to output.
struct bytes {
    const uint8_t *at;
    size_t n;
};

struct pair {
    const char *key, *value;
    struct bytes extra; // unknown fields, in wire format
};

struct pairs {
    struct pair *at;
    size_t n;
};

const char *pairs_get(const struct pairs *p, const char *key); // NULL: none
// Adds or replaces a pair in a new list in `a`; the old list, which a copy of the model may share,
// stays the same. The texts are not copied and must live as long as `a`. False: out of memory.
bool pairs_set(struct pairs *p, struct arena *a, const char *key, const char *value);

// A dimension: a number, a symbol (equal symbols are equal numbers), or unknown.
#define DIM_UNKNOWN (-1)

struct dim {
    int64_t size;           // >= 0, or DIM_UNKNOWN
    const char *symbol;     // interned; only if the size is unknown
    const char *denotation; // of ONNX, passed through; usually NULL
};

enum type_kind {
    TYPE_NONE,
    TYPE_TENSOR,
    TYPE_SPARSE,
    TYPE_SEQUENCE,
    TYPE_OPTIONAL,
    TYPE_MAP,
    TYPE_OPAQUE
};

struct type {
    enum type_kind kind;
    enum elem elem; // of a tensor or sparse tensor; of the key of a map
    bool has_shape; // tensor, sparse tensor: known rank
    int32_t rank;
    const struct dim *dims;
    const struct type *child; // of a sequence, optional or map value; NULL: unknown
    const char *opaque_domain, *opaque_name;
    const char *denotation;
    // Unknown fields, in wire format: of the type, of the message of its kind, of the shape, and of
    // each dimension (or NULL).
    struct bytes extra, inner_extra, shape_extra;
    const struct bytes *dim_extras;
};

const struct type *type_tensor(struct arena *a, enum elem e, const struct dim *dims, int32_t rank);
const struct type *type_static(struct arena *a, enum elem e, const int64_t *dims, int32_t rank);
const struct type *type_unranked(struct arena *a, enum elem e);

// Equality without denotations; NULL equals only NULL.
bool type_equal(const struct type *a, const struct type *b);
bool type_is_static(const struct type *t); // a tensor with only known dimensions

// Elements and bytes of a static tensor type. False: not static, or the product overflows.
bool type_elements(const struct type *t, int64_t *n);
bool type_bytes(const struct type *t, int64_t *n_bytes);

// f32[8,784], i64[N,?], f32[] (rank 0), f32[*] (rank unknown), seq(f32[*]), opt(…), map(i64,
// f32[*]), sparse f32[3,3]
void type_print(struct str *out, const struct type *t);
