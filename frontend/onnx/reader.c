// State and helpers of the ONNX reader: see reader.h.
#include "frontend/onnx/reader.h"

#include <string.h>

#include "ir/base/limits.h"

static void add_path(struct str *out, const struct reader_path *p) {
    // The wire guard's limit on nesting bounds the recursion.
    if (p->in) {
        add_path(out, p->in);
        str_add_char(out, '/');
    }
    const char *name = p->name ? p->name : "";
    if (!p->what)
        str_add(out, *name ? name : p->in ? "subgraph" : "graph");
    else if (p->type)
        str_addf(out, "%s %zu (%s%s%s)", p->what, p->index, p->type, *name ? " " : "", name);
    else
        str_addf(out, "%s \"%s\"", p->what, name);
}

struct loc reader_loc(const struct reader *r, const struct reader_path *where, struct arena *a) {
    if (!where)
        return loc_file(r->source->path);
    struct str path = str_make(a);
    add_path(&path, where);
    return loc_path(r->source->path, str_text(&path));
}

void reader_error(struct reader *r, enum diag_code code, const struct reader_path *where,
                  const char *format, ...) {
    if (r->d->list.n >= LIMIT_DIAGS) { // only counted: no text is needed
        diag_error(r->d, code, loc_none(), "%s", "");
        return;
    }
    struct arena scratch = arena_make(r->a->mem);
    va_list args;
    va_start(args, format);
    status st = diag_errorv(r->d, code, reader_loc(r, where, &scratch), format, args);
    va_end(args);
    if (!r->st)
        r->st = st;
    arena_free(&scratch);
}

void reader_out_of_memory(struct reader *r) {
    if (r->st != ST_LIMIT)
        r->st = diag_out_of_memory(r->d);
}

void *reader_require(struct reader *r, void *block) {
    if (!block)
        reader_out_of_memory(r);
    return block;
}

const char *reader_name(struct reader *r, const char *text) {
    return text ? reader_require(r, (void *)pool_intern(r->m->pool, text)) : NULL;
}

struct bytes reader_bytes(struct reader *r, const void *at, size_t n) {
    return (struct bytes){.at = reader_require(r, arena_copy(r->a, at, n)), .n = n};
}

struct pairs reader_pairs(struct reader *r, Onnx__StringStringEntryProto *const *at, size_t n) {
    struct pairs out = {0};
    if (n == 0 || !(out.at = reader_require(r, ARENA_ARRAY(r->a, struct pair, n))))
        return out;
    for (out.n = 0; out.n < n; out.n++) {
        const Onnx__StringStringEntryProto *p = at[out.n];
        out.at[out.n] = (struct pair){.key = reader_name(r, p->key),
                                      .value = reader_name(r, p->value),
                                      .extra = reader_extra(r, &p->base)};
    }
    return out;
}

struct bytes reader_extra(struct reader *r, const ProtobufCMessage *m) {
    struct bytes out = {0};
    if (m->n_unknown_fields == 0)
        return out;
    size_t max_bytes = 0;
    for (unsigned i = 0; i < m->n_unknown_fields; i++)
        max_bytes += 5 + m->unknown_fields[i].len;
    uint8_t *to = reader_require(r, arena_alloc(r->a, max_bytes));
    if (!to)
        return out;
    out.at = to;
    for (unsigned i = 0; i < m->n_unknown_fields; i++) {
        // protobuf-c keeps the bytes behind the tag, including a length.
        const ProtobufCMessageUnknownField *f = &m->unknown_fields[i];
        out.n += varint_put(to + out.n, (uint64_t)f->tag << 3 | (unsigned)f->wire_type);
        memcpy(to + out.n, f->data, f->len);
        out.n += f->len;
    }
    return out;
}

struct bytes reader_packed(struct reader *r, const ProtobufCMessage *const *at, size_t n,
                           uint32_t field) {
    struct bytes out = {0};
    size_t max_bytes = 0;
    for (size_t i = 0; i < n; i++)
        max_bytes += protobuf_c_message_get_packed_size(at[i]) + (field ? 5 + 10 : 0);
    uint8_t *to = max_bytes ? reader_require(r, arena_alloc(r->a, max_bytes)) : NULL;
    if (!to)
        return out;
    out.at = to;
    for (size_t i = 0; i < n; i++) {
        if (field) {
            out.n += varint_put(to + out.n, (uint64_t)field << 3 | 2);
            out.n += varint_put(to + out.n, protobuf_c_message_get_packed_size(at[i]));
        }
        out.n += protobuf_c_message_pack(at[i], to + out.n);
    }
    return out;
}
