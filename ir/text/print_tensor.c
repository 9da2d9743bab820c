// Printer of tensors and their payloads. A payload prints as numbers if they reproduce its bytes
// exactly, else as hexadecimal bytes. A large payload in a file prints as a reference to the file.
#include "ir/text/number.h"
#include "ir/text/payload.h"
#include "ir/text/print.h"

#include <string.h>

// A source with a name in angle brackets is not a file: its bytes must be in the text.
static bool is_file(const struct source *s) {
    return s && s->path[0] != '<';
}

static bool is_absent(const struct source *s) {
    return is_file(s) && s->fd < 0 && !s->memory;
}

static bool is_inline(struct span s) {
    return !is_file(s.source) || (s.n_bytes <= PRINT_INLINE_BYTES && !is_absent(s.source));
}

// A text refers to files beneath its own folder only. Another file gets the name that a copy of it
// beside the text would have.
static void print_reference(struct printer *p, struct span s) {
    const char *location;
    if (!file_beneath(&p->scratch, p->folder, s.source->path, &location)) {
        p->st = diag_out_of_memory(p->d);
        return;
    }
    if (!location && p->n_outside++ == 0)
        p->outside = s.source->path;
    str_add(p->out, "span(");
    print_quoted(p->out, location ? location : file_name(s.source->path));
    str_addf(p->out, ", %lld, %lld)", (long long)s.offset, (long long)s.n_bytes);
}

// NULL: the bytes cannot be read, and p->st is set.
static uint8_t *read_span(struct printer *p, struct span s) {
    size_t n = s.source ? (size_t)s.n_bytes : 0;
    uint8_t *bytes = arena_alloc(&p->scratch, n);
    if (!bytes) {
        p->st = diag_out_of_memory(p->d);
        return NULL;
    }
    status st = n ? span_read(s, p->d, bytes) : ST_OK;
    if (st)
        p->st = st;
    return st ? NULL : bytes;
}

void print_span(struct printer *p, struct span s) {
    if (!is_inline(s)) {
        print_reference(p, s);
        return;
    }
    uint8_t *bytes = read_span(p, s);
    if (bytes)
        print_hex(p->out, bytes, s.source ? (size_t)s.n_bytes : 0);
}

// Decodes one varint of minimal length; returns its length, 0: there is none.
static size_t read_varint(const uint8_t *at, size_t n, uint64_t *x) {
    *x = 0;
    for (size_t i = 0; i < n && i < 10; i++) {
        *x |= (uint64_t)(at[i] & 127) << (7 * i);
        if (at[i] < 128)
            return (i && !at[i]) || (i == 9 && at[i] > 1) ? 0 : i + 1;
    }
    return 0;
}

static bool are_varints(const uint8_t *at, size_t n) {
    uint64_t x;
    for (size_t i = 0, len; i < n; i += len)
        if (!(len = read_varint(at + i, n - i, &x)))
            return false;
    return true;
}

static void print_varints(struct str *out, const uint8_t *at, size_t n, bool is_signed) {
    uint64_t x;
    for (size_t i = 0; i < n;) {
        const char *separator = i ? "," : "";
        i += read_varint(at + i, n - i, &x);
        if (is_signed)
            str_addf(out, "%s%lld", separator, (long long)(int64_t)x);
        else
            str_addf(out, "%s%llu", separator, (unsigned long long)x);
    }
}

static void print_fixed(struct str *out, const uint8_t *at, size_t n, size_t size, enum form form,
                        enum number k) {
    for (size_t i = 0; i < n; i += size) {
        uint64_t u = 0;
        memcpy(&u, at + i, size);
        if (i)
            str_add_char(out, ',');
        if (form == FORM_FLOAT)
            number_print(out, k, u);
        else if (form == FORM_SIGNED)
            str_addf(out, "%lld", (long long)((int64_t)(u << (64 - 8 * size)) >> (64 - 8 * size)));
        else
            str_addf(out, "%llu", (unsigned long long)u);
    }
}

static void print_numbers(struct printer *p, const struct tensor *t, const char *gap) {
    enum number k = NUMBER_F32;
    enum form form = payload_form(t->payload, t->elem, &k);
    uint8_t *bytes = read_span(p, t->data);
    size_t n = t->data.source ? (size_t)t->data.n_bytes : 0;
    if (!bytes)
        return;
    bool varints = form == FORM_VARINT || form == FORM_UVARINT;
    size_t size = form == FORM_FLOAT ? (size_t)number_bytes(k) : (size_t)elem_bits(t->elem) / 8;
    if (form == FORM_HEX || (varints ? !are_varints(bytes, n) : n % size != 0)) {
        str_add(p->out, gap);
        print_hex(p->out, bytes, n);
        return;
    }
    str_add_char(p->out, '{');
    if (varints)
        print_varints(p->out, bytes, n, form == FORM_VARINT);
    else
        print_fixed(p->out, bytes, n, size, form, k);
    str_add_char(p->out, '}');
}

static void print_strings(struct str *out, const struct tensor *t) {
    str_add(out, "strings{");
    for (size_t i = 0; i < t->n_strings; i++) {
        str_add(out, i ? "," : "");
        str_add_quoted(out, (const char *)t->strings[i].at, t->strings[i].n);
    }
    str_add_char(out, '}');
}

void print_payload(struct printer *p, const struct tensor *t) {
    static const char *const words[] = {
        [PAYLOAD_FLOATS] = "floats",   [PAYLOAD_INT32S] = "int32s",   [PAYLOAD_INT64S] = "int64s",
        [PAYLOAD_DOUBLES] = "doubles", [PAYLOAD_UINT64S] = "uint64s", [PAYLOAD_RAW] = ""};
    if (t->payload == PAYLOAD_NONE)
        return;
    if (t->payload == PAYLOAD_STRINGS) {
        print_strings(p->out, t);
        return;
    }
    if (t->payload == PAYLOAD_EXTERNAL) {
        str_add(p->out, "external");
        print_pairs(p->out, &t->external);
        if (t->data.source) {
            str_add_char(p->out, ' ');
            if (is_file(t->data.source)) // external data stay in their file, whatever their size
                print_reference(p, t->data);
            else
                print_span(p, t->data);
        }
        return;
    }
    const char *gap = *words[t->payload] ? " " : ""; // separates the keyword from another word
    str_add(p->out, words[t->payload]);
    if (is_inline(t->data)) {
        print_numbers(p, t, gap);
        return;
    }
    str_add(p->out, gap);
    print_reference(p, t->data);
}

static void open_fact(struct str *out, bool *any) {
    str_add(out, *any ? ", " : " (");
    *any = true;
}

void print_tensor_facts(struct printer *p, const struct tensor *t, const char *default_name) {
    struct str *out = p->out;
    bool any = false;
    if (t->name && (!default_name || strcmp(t->name, default_name) != 0)) {
        open_fact(out, &any);
        str_add(out, "name=");
        print_word(out, t->name);
    }
    if (t->doc) {
        open_fact(out, &any);
        str_add(out, "doc=");
        print_quoted(out, t->doc);
    }
    if (t->has_segment) {
        open_fact(out, &any);
        str_addf(out, "segment=[%lld,%lld]", (long long)t->segment_begin,
                 (long long)t->segment_end);
        if (t->segment_extra.n) {
            str_add(out, " with ");
            print_hex(out, t->segment_extra.at, t->segment_extra.n);
        }
    }
    if (t->metadata.n) {
        open_fact(out, &any);
        str_add(out, "metadata=");
        print_pairs(out, &t->metadata);
    }
    if (t->extra.n) {
        open_fact(out, &any);
        str_add(out, "extra=");
        print_hex(out, t->extra.at, t->extra.n);
    }
    if (any)
        str_add_char(out, ')');
}

void print_tensor(struct printer *p, const struct tensor *t) {
    if (!t) {
        str_add_char(p->out, '_');
        return;
    }
    print_elem(p->out, t->elem);
    print_dims(p->out, t->dims, t->rank);
    if (t->payload != PAYLOAD_NONE)
        str_add_char(p->out, ' ');
    print_payload(p, t);
    print_tensor_facts(p, t, NULL);
}

void print_sparse(struct printer *p, const struct sparse *s) {
    str_add(p->out, "sparse");
    print_dims(p->out, s->dims, s->rank);
    str_add(p->out, " (");
    print_tensor(p, s->values);
    str_add(p->out, ", ");
    print_tensor(p, s->indices);
    str_add_char(p->out, ')');
    if (s->extra.n) {
        str_add(p->out, " (extra=");
        print_hex(p->out, s->extra.at, s->extra.n);
        str_add_char(p->out, ')');
    }
}
