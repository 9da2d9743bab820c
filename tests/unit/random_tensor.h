// What random models are made of: texts, bytes, types and tensors. See random_graph.h.
#pragma once

#include <string.h>

#include "ir/base/rng.h"
#include "ir/graph.h"

struct random_graph {
    struct rng rng;
    struct arena *a;
    struct model *m;
    int depth;
};

static inline uint64_t random_below(struct random_graph *r, uint64_t n) {
    return rng_below(&r->rng, n);
}

static inline bool random_one_in(struct random_graph *r, uint64_t n) {
    return random_below(r, n) == 0;
}

static inline const char *random_text(struct random_graph *r) {
    static const char *const texts[] = {"x",
                                        "conv1",
                                        "/layer1/Conv_output:0",
                                        "aten::add",
                                        "odd name",
                                        "_",
                                        "",
                                        ":",
                                        "a:",
                                        "quote\"back\\slash",
                                        "line\nbreak\ttab\r",
                                        "\xc3\xbc\xe2\x82\xac",
                                        "bad\xff\xfeutf8",
                                        "12",
                                        "-3",
                                        "1e5",
                                        "graph",
                                        "% #{}()[]<>=,@$?*",
                                        "as",
                                        "span",
                                        "nan",
                                        "\x01\x7f"};
    const char *t = texts[random_below(r, sizeof texts / sizeof *texts)];
    return pool_intern(r->m->pool, t);
}

static inline const char *random_maybe_text(struct random_graph *r, uint64_t one_in) {
    return random_one_in(r, one_in) ? random_text(r) : NULL;
}

static inline struct bytes random_bytes(struct random_graph *r, size_t most) {
    size_t n = random_below(r, most + 1);
    uint8_t *at = arena_alloc(r->a, n);
    for (size_t i = 0; i < n; i++)
        at[i] = (uint8_t)rng_next(&r->rng);
    return (struct bytes){at, n};
}

static inline struct bytes random_extra(struct random_graph *r) {
    return random_one_in(r, 12) ? random_bytes(r, 9) : (struct bytes){0};
}

static inline struct pairs random_pairs(struct random_graph *r, uint64_t one_in) {
    struct pairs p = {0};
    if (!random_one_in(r, one_in))
        return p;
    p.n = 1 + random_below(r, 3);
    p.at = ARENA_ARRAY(r->a, struct pair, p.n);
    for (size_t i = 0; i < p.n; i++)
        p.at[i] = (struct pair){.key = random_maybe_text(r, 1),
                                .value = random_one_in(r, 9) ? NULL : random_text(r),
                                .extra = random_extra(r)};
    return p;
}

static inline struct span random_span(struct random_graph *r, struct bytes b) {
    struct source *s = ARENA_NEW(r->a, struct source);
    *s = (struct source){.path = "<memory>", .fd = -1, .memory = b.at, .n_bytes = (int64_t)b.n};
    return (struct span){s, 0, (int64_t)b.n};
}

static inline enum elem random_elem(struct random_graph *r) {
    return (enum elem)random_below(r, ELEM_LIMIT_ + 2); // also none, and some that do not exist
}

static inline const struct type *random_type(struct random_graph *r) {
    struct type *t = ARENA_NEW(r->a, struct type);
    t->kind = random_one_in(r, 6) ? (enum type_kind)random_below(r, TYPE_OPAQUE + 1) : TYPE_TENSOR;
    if (t->kind == TYPE_TENSOR || t->kind == TYPE_SPARSE || t->kind == TYPE_MAP)
        t->elem = random_elem(r);
    if ((t->kind == TYPE_TENSOR || t->kind == TYPE_SPARSE) && !random_one_in(r, 8)) {
        t->has_shape = true;
        t->rank = (int32_t)random_below(r, 5);
        struct dim *dims = ARENA_ARRAY(r->a, struct dim, t->rank);
        for (int32_t i = 0; i < t->rank; i++) {
            dims[i].size = (int64_t)random_below(r, 1000) - 1;
            if (random_one_in(r, 3)) {
                dims[i].size = DIM_UNKNOWN;
                dims[i].symbol = random_one_in(r, 4) ? NULL : random_text(r);
            }
            dims[i].denotation = random_maybe_text(r, 20);
        }
        t->dims = dims;
        t->shape_extra = random_extra(r);
        struct bytes *extras =
            random_one_in(r, 12) ? ARENA_ARRAY(r->a, struct bytes, t->rank) : NULL;
        for (int32_t i = 0; extras && i < t->rank; i++)
            extras[i] = random_extra(r);
        t->dim_extras = extras;
    }
    if ((t->kind == TYPE_SEQUENCE || t->kind == TYPE_OPTIONAL || t->kind == TYPE_MAP) &&
        !random_one_in(r, 5))
        t->child = random_type(r);
    if (t->kind == TYPE_OPAQUE) {
        t->opaque_domain = random_maybe_text(r, 2);
        t->opaque_name = random_maybe_text(r, 2);
    }
    t->denotation = random_maybe_text(r, 20);
    t->extra = random_extra(r);
    if (t->kind != TYPE_NONE)
        t->inner_extra = random_extra(r);
    return t;
}

static inline const struct type *random_maybe_type(struct random_graph *r) {
    return random_one_in(r, 3) ? NULL : random_type(r);
}

static inline const int64_t *random_dims(struct random_graph *r, int32_t *rank) {
    *rank = (int32_t)random_below(r, 4);
    int64_t *dims = ARENA_ARRAY(r->a, int64_t, *rank);
    for (int32_t i = 0; i < *rank; i++)
        dims[i] = (int64_t)random_below(r, 5);
    return dims;
}

// Varints as protobuf packs them, now and then one that is too long.
static inline struct bytes random_varints(struct random_graph *r) {
    uint8_t *at = arena_alloc(r->a, 64);
    size_t n = 0;
    for (uint64_t k = random_below(r, 6); k > 0; k--) {
        uint64_t x = rng_next(&r->rng) >> random_below(r, 64);
        if (random_one_in(r, 3))
            x = -x;
        for (; x > 127; x >>= 7)
            at[n++] = (uint8_t)(x | 128);
        at[n++] = (uint8_t)x;
    }
    if (n && random_one_in(r, 10)) {
        at[n - 1] |= 128;
        at[n++] = 0;
    }
    return (struct bytes){at, n};
}

static inline void random_payload(struct random_graph *r, struct tensor *t) {
    t->payload = (enum payload)random_below(r, PAYLOAD_EXTERNAL + 1);
    if (t->payload == PAYLOAD_STRINGS) {
        t->n_strings = random_below(r, 4);
        struct bytes *list = ARENA_ARRAY(r->a, struct bytes, t->n_strings);
        for (size_t i = 0; i < t->n_strings; i++)
            list[i] = random_bytes(r, 8);
        t->strings = list;
        return;
    }
    bool varints = t->payload == PAYLOAD_INT32S || t->payload == PAYLOAD_INT64S ||
                   t->payload == PAYLOAD_UINT64S;
    struct bytes b = varints ? random_varints(r) : random_bytes(r, random_one_in(r, 40) ? 600 : 40);
    if (!varints && !random_one_in(r, 8))
        b.n &= ~(size_t)15; // whole elements
    if (t->payload == PAYLOAD_EXTERNAL) {
        t->external = random_pairs(r, 1);
        if (random_one_in(r, 2))
            return;
    }
    if (t->payload != PAYLOAD_NONE)
        t->data = random_span(r, b);
}

static inline struct tensor *random_tensor(struct random_graph *r, const char *name) {
    struct tensor *t = ARENA_NEW(r->a, struct tensor);
    t->name = name ? name : random_maybe_text(r, 3);
    t->doc = random_maybe_text(r, 12);
    t->elem = random_elem(r);
    t->dims = random_dims(r, &t->rank);
    random_payload(r, t);
    if (random_one_in(r, 20)) {
        t->has_segment = true;
        t->segment_begin = (int64_t)random_below(r, 100);
        t->segment_end = (int64_t)rng_next(&r->rng);
        t->segment_extra = random_extra(r);
    }
    t->metadata = random_pairs(r, 15);
    t->extra = random_extra(r);
    return t;
}

static inline struct sparse *random_sparse(struct random_graph *r, const char *name) {
    struct sparse *s = ARENA_NEW(r->a, struct sparse);
    s->values = random_tensor(r, name);
    s->indices = random_one_in(r, 6) ? NULL : random_tensor(r, NULL);
    s->dims = random_dims(r, &s->rank);
    s->extra = random_extra(r);
    return s;
}
