// Parser of tensors, the inverse of print_tensor.c. Numbers are encoded to the bytes of the
// payload, in memory. A span refers to a file beneath the folder of the text, which is opened once
// per model; a range outside the file is an error.
#include <string.h>

#include "ir/text/parse.h"
#include "ir/text/payload.h"

static bool in_memory(struct parser *p, const void *bytes, size_t n, struct span *out) {
    struct source *s;
    status st = source_memory(p->m->arena, p->d, bytes, (int64_t)n, &s);
    if (st)
        return parse_stop(p, st);
    *out = (struct span){s, 0, (int64_t)n};
    return true;
}

// A missing file becomes a source without bytes, which keeps the reference.
static bool open_source(struct parser *p, const struct token *at, const char *path,
                        struct source **out) {
    struct arena *a = p->m->arena;
    struct reference r = {
        .folder = p->folder, .location = path, .where = loc_line(p->path, at->line, at->col)};
    status st = source_open_beneath(a, p->d, &r, out);
    if (st)
        return parse_stop(p, st);
    if (!*out) {
        diag_warning(p->d, DIAG_IO, r.where,
                     "there is no file \"%s\" in the folder of the text; the weights in it are "
                     "missing",
                     path);
        const char *beside = file_join(a, p->folder, path);
        if (!beside || !(*out = ARENA_NEW(a, struct source)))
            return parse_out_of_memory(p);
        **out = (struct source){.path = beside, .fd = -1};
    }
    if (!VEC_PUSH(a, &p->m->sources, *out)) {
        source_close(*out);
        return parse_out_of_memory(p);
    }
    return map_put_text(&p->sources, path, (int64_t)p->m->sources.n - 1) || parse_out_of_memory(p);
}

static bool parse_reference(struct parser *p, struct span *out) {
    struct token at = p->t;
    const char *path;
    int64_t known;
    struct source *s;
    parse_advance(p);
    if (!parse_want(p, '(') || !parse_name(p, &path) || !parse_want(p, ',') ||
        !parse_int(p, &out->offset) || !parse_want(p, ',') || !parse_int(p, &out->n_bytes) ||
        !parse_want(p, ')'))
        return false;
    if (!*path || path[0] == '<')
        return parse_fail(p, &at, "\"%s\" is not the name of a file", path);
    if (map_get_text(&p->sources, path, &known))
        s = p->m->sources.at[known];
    else if (!open_source(p, &at, path, &s))
        return false;
    bool absent = s->fd < 0;
    if (out->offset < 0 || out->n_bytes < 0 ||
        (!absent && (out->offset > s->n_bytes || out->n_bytes > s->n_bytes - out->offset)))
        return parse_fail(p, &at, "the span exceeds the file \"%s\" of %lld bytes", path,
                          (long long)s->n_bytes);
    out->source = s;
    return true;
}

bool parse_span(struct parser *p, struct span *out) {
    struct bytes b;
    if (parse_at_word(p, "span"))
        return parse_reference(p, out);
    if (p->t.kind != LEX_HEX)
        return parse_expected(p, "bytes, x\"…\" or span(…),");
    return parse_hex(p, &b) && in_memory(p, b.at, b.n, out);
}

// One float of the given format, including nan(0x…).
static bool parse_real(struct parser *p, enum number k, uint64_t *bits) {
    struct token at = p->t;
    if (at.kind != LEX_WORD || !number_parse(at.at, at.n, k, bits))
        return parse_expected(p, "a number");
    parse_advance(p);
    if (!parse_same(at, "nan") || !parse_take(p, '('))
        return true;
    struct token exact = p->t;
    if (exact.kind != LEX_WORD || !number_parse_unsigned(exact.at, exact.n, bits) ||
        (number_bytes(k) < 8 && *bits >> (8 * number_bytes(k))))
        return parse_expected(p, "the bits of a number");
    parse_advance(p);
    return parse_want(p, ')');
}

bool parse_float(struct parser *p, float *out) {
    uint64_t bits;
    if (!parse_real(p, NUMBER_F32, &bits))
        return false;
    uint32_t low = (uint32_t)bits;
    memcpy(out, &low, sizeof low);
    return true;
}

static void add_varint(struct str *to, uint64_t x) {
    for (; x > 127; x >>= 7)
        str_add_char(to, (char)(unsigned char)(x | 128));
    str_add_char(to, (char)(unsigned char)x);
}

static bool parse_signed(struct parser *p, size_t size, uint64_t *u) {
    struct token at = p->t;
    int64_t x;
    if (at.kind != LEX_WORD || !number_parse_int(at.at, at.n, &x))
        return parse_expected(p, "a whole number");
    int64_t max = size == 8 ? INT64_MAX : ((int64_t)1 << (8 * size - 1)) - 1;
    if (x > max || x < -max - 1)
        return parse_fail(p, &at, "the number is out of the range of its type");
    parse_advance(p);
    *u = (uint64_t)x;
    return true;
}

static bool parse_unsigned(struct parser *p, size_t size, uint64_t *u) {
    struct token at = p->t;
    if (at.kind != LEX_WORD || !number_parse_unsigned(at.at, at.n, u))
        return parse_expected(p, "a whole number that is not negative");
    if (size < 8 && *u >> (8 * size))
        return parse_fail(p, &at, "the number is out of the range of its type");
    parse_advance(p);
    return true;
}

static bool parse_number(struct parser *p, struct str *to, enum form form, size_t size,
                         enum number k) {
    uint64_t u = 0;
    bool ok = form == FORM_FLOAT                           ? parse_real(p, k, &u)
              : form == FORM_SIGNED || form == FORM_VARINT ? parse_signed(p, size, &u)
                                                           : parse_unsigned(p, size, &u);
    if (ok && (form == FORM_VARINT || form == FORM_UVARINT))
        add_varint(to, u);
    else if (ok)
        str_add_n(to, &u, size);
    return ok;
}

static bool parse_numbers(struct parser *p, struct tensor *t) {
    enum number k = NUMBER_F32;
    enum form form = payload_form(t->payload, t->elem, &k);
    if (form == FORM_HEX)
        return parse_fail(p, &p->t, "elements of this type are written as bytes, x\"…\"");
    bool varints = form == FORM_VARINT || form == FORM_UVARINT;
    size_t size = varints              ? 8
                  : form == FORM_FLOAT ? (size_t)number_bytes(k)
                                       : (size_t)elem_bits(t->elem) / 8;
    struct str bytes = str_make(p->m->arena);
    if (!parse_want(p, '{'))
        return false;
    for (bool more = !parse_at(p, '}'); more; more = parse_take(p, ','))
        if (!parse_number(p, &bytes, form, size, k))
            return false;
    if (bytes.failed)
        return parse_out_of_memory(p);
    return parse_want(p, '}') && in_memory(p, str_text(&bytes), bytes.n, &t->data);
}

static bool parse_strings(struct parser *p, struct tensor *t) {
    VEC(struct bytes) list = {0};
    if (!parse_want(p, '{'))
        return false;
    for (bool more = !parse_at(p, '}'); more; more = parse_take(p, ',')) {
        if (p->t.kind != LEX_STRING)
            return parse_expected(p, "a string");
        struct bytes one = {(const uint8_t *)arena_copy(p->m->arena, p->t.at, p->t.n), p->t.n};
        if (!one.at || !VEC_PUSH(p->m->arena, &list, one))
            return parse_out_of_memory(p);
        parse_advance(p);
    }
    t->strings = list.at;
    t->n_strings = list.n;
    return parse_want(p, '}');
}

static enum payload payload_word(struct token t) {
    static const struct {
        const char *word;
        enum payload payload;
    } words[] = {{"floats", PAYLOAD_FLOATS},    {"int32s", PAYLOAD_INT32S},
                 {"int64s", PAYLOAD_INT64S},    {"doubles", PAYLOAD_DOUBLES},
                 {"uint64s", PAYLOAD_UINT64S},  {"strings", PAYLOAD_STRINGS},
                 {"external", PAYLOAD_EXTERNAL}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (parse_same(t, words[i].word))
            return words[i].payload;
    return PAYLOAD_NONE;
}

// t->elem must be set. Leaves PAYLOAD_NONE when the lookahead starts no payload.
bool parse_payload(struct parser *p, struct tensor *t) {
    t->payload = payload_word(p->t);
    if (t->payload)
        parse_advance(p);
    if (t->payload == PAYLOAD_STRINGS)
        return parse_strings(p, t);
    bool bytes = p->t.kind == LEX_HEX || parse_at_word(p, "span");
    if (t->payload == PAYLOAD_EXTERNAL) {
        if (!parse_pairs(p, &t->external))
            return false;
        bytes = p->t.kind == LEX_HEX || parse_at_word(p, "span");
        if (bytes && !parse_span(p, &t->data))
            return false;
        // An external tensor whose file is missing has no source.
        if (t->data.source && t->data.source->fd < 0 && !t->data.source->memory &&
            t->data.source->path[0] != '<')
            t->data = (struct span){0};
        return true;
    }
    if (!t->payload && (bytes || parse_at(p, '{')))
        t->payload = PAYLOAD_RAW;
    if (!t->payload)
        return true;
    return bytes ? parse_span(p, &t->data) : parse_numbers(p, t);
}

static bool parse_segment(struct parser *p, struct tensor *t) {
    t->has_segment = true;
    return parse_want(p, '[') && parse_int(p, &t->segment_begin) && parse_want(p, ',') &&
           parse_int(p, &t->segment_end) && parse_want(p, ']') &&
           (!parse_take_word(p, "with") || parse_hex(p, &t->segment_extra));
}

static bool parse_fact(struct parser *p, struct tensor *t) {
    struct token key = p->t;
    parse_advance(p);
    if (!parse_want(p, '='))
        return false;
    if (parse_same(key, "name"))
        return parse_name(p, &t->name);
    if (parse_same(key, "doc"))
        return parse_quoted(p, &t->doc);
    if (parse_same(key, "segment"))
        return parse_segment(p, t);
    if (parse_same(key, "metadata"))
        return parse_pairs(p, &t->metadata);
    if (parse_same(key, "extra"))
        return parse_hex(p, &t->extra);
    return parse_fail(p, &key, "a tensor has name, doc, segment, metadata and extra");
}

bool parse_tensor_facts(struct parser *p, struct tensor *t) {
    if (p->t.first || !parse_take(p, '('))
        return true;
    for (bool more = true; more; more = parse_take(p, ','))
        if (!parse_fact(p, t))
            return false;
    return parse_want(p, ')');
}

bool parse_tensor(struct parser *p, struct tensor **out) {
    *out = NULL;
    if (parse_take_word(p, "_"))
        return true;
    struct tensor *t = ARENA_NEW(p->m->arena, struct tensor);
    if (!t)
        return parse_out_of_memory(p);
    *out = t;
    return parse_elem(p, &t->elem) && parse_dims(p, &t->dims, &t->rank) && parse_payload(p, t) &&
           parse_tensor_facts(p, t);
}

bool parse_sparse(struct parser *p, struct sparse **out) {
    struct sparse *s = *out = ARENA_NEW(p->m->arena, struct sparse);
    if (!s)
        return parse_out_of_memory(p);
    if (!parse_take_word(p, "sparse"))
        return parse_expected(p, "sparse[…]");
    if (!parse_dims(p, &s->dims, &s->rank) || !parse_want(p, '(') || !parse_tensor(p, &s->values) ||
        !parse_want(p, ',') || !parse_tensor(p, &s->indices) || !parse_want(p, ')'))
        return false;
    if (p->t.first || !parse_take(p, '('))
        return true;
    if (!parse_take_word(p, "extra"))
        return parse_expected(p, "extra=x\"…\"");
    return parse_want(p, '=') && parse_hex(p, &s->extra) && parse_want(p, ')');
}
