// What the parts of the ONNX reader share: see onnx_reading.h.
#include "frontend/onnx/onnx_reading.h"

#include <string.h>

#include "ir/base/limits.h"

static void add_place(struct str *out, const struct reading_path *p) {
    // The chain goes from the inside out; its length is bounded by the guard's limit on nesting.
    if (p->in) {
        add_place(out, p->in);
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

struct loc reading_loc(const struct reading *r, const struct reading_path *where, struct arena *a) {
    if (!where)
        return loc_file(r->source->path);
    struct str path = str_make(a);
    add_place(&path, where);
    return loc_path(r->source->path, str_text(&path));
}

void reading_wrong(struct reading *r, enum diag_code code, const struct reading_path *where,
                   const char *format, ...) {
    if (r->d->list.n >= LIMIT_DIAGS) { // it is only counted: do not put it into words
        diag_error(r->d, code, loc_none(), "%s", "");
        return;
    }
    struct arena scratch = arena_make(r->a->mem);
    struct str text = str_make(&scratch);
    va_list args;
    va_start(args, format);
    str_addv(&text, format, args);
    va_end(args);
    status st = diag_error(r->d, code, reading_loc(r, where, &scratch), "%s", str_text(&text));
    if (!r->st)
        r->st = st;
    arena_free(&scratch);
}

void *reading_room(struct reading *r, void *block) {
    if (!block && r->st != ST_LIMIT)
        r->st = diag_out_of_memory(r->d);
    return block;
}

const char *reading_name(struct reading *r, const char *text) {
    return text ? reading_room(r, (void *)pool_intern(r->m->pool, text)) : NULL;
}

struct bytes reading_bytes(struct reading *r, const void *at, size_t n) {
    return (struct bytes){.at = reading_room(r, arena_copy(r->a, at, n)), .n = n};
}

struct pairs reading_pairs(struct reading *r, Onnx__StringStringEntryProto *const *at, size_t n) {
    struct pairs out = {0};
    if (n == 0 || !(out.at = reading_room(r, ARENA_ARRAY(r->a, struct pair, n))))
        return out;
    for (out.n = 0; out.n < n; out.n++) {
        const Onnx__StringStringEntryProto *p = at[out.n];
        out.at[out.n] = (struct pair){.key = reading_name(r, p->key),
                                      .value = reading_name(r, p->value),
                                      .extra = reading_extra(r, &p->base)};
    }
    return out;
}

struct bytes reading_extra(struct reading *r, const ProtobufCMessage *m) {
    struct bytes out = {0};
    if (m->n_unknown_fields == 0)
        return out;
    size_t most = 0;
    for (unsigned i = 0; i < m->n_unknown_fields; i++)
        most += 5 + m->unknown_fields[i].len;
    uint8_t *to = reading_room(r, arena_alloc(r->a, most));
    if (!to)
        return out;
    out.at = to;
    for (unsigned i = 0; i < m->n_unknown_fields; i++) {
        // protobuf-c keeps what follows the tag, a length included.
        const ProtobufCMessageUnknownField *f = &m->unknown_fields[i];
        out.n += wire_put_varint(to + out.n, (uint64_t)f->tag << 3 | (unsigned)f->wire_type);
        memcpy(to + out.n, f->data, f->len);
        out.n += f->len;
    }
    return out;
}

struct bytes reading_packed(struct reading *r, const ProtobufCMessage *const *at, size_t n,
                            uint32_t field) {
    struct bytes out = {0};
    size_t most = 0;
    for (size_t i = 0; i < n; i++)
        most += protobuf_c_message_get_packed_size(at[i]) + (field ? 5 + 10 : 0);
    uint8_t *to = most ? reading_room(r, arena_alloc(r->a, most)) : NULL;
    if (!to)
        return out;
    out.at = to;
    for (size_t i = 0; i < n; i++) {
        if (field) {
            out.n += wire_put_varint(to + out.n, (uint64_t)field << 3 | 2);
            out.n += wire_put_varint(to + out.n, protobuf_c_message_get_packed_size(at[i]));
        }
        out.n += protobuf_c_message_pack(at[i], to + out.n);
    }
    return out;
}
