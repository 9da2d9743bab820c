// The guard's scan: see wire.h. One loop over the fields, with the enclosing messages on an
// explicit stack. What a field may be is told by tables made from protobuf-c's descriptors
// (wire_kinds.h); payloads and fields that nobody knows are skipped without being read.
//
// Lengths in the slim copy: where a payload is cut out, every message around it becomes shorter and
// needs a new length in front, whose own size may change too. An edit for that length is put into
// the list when the first cut inside the message is found (the enclosing messages first, so that
// the list stays in file order), and is filled in when the message ends.
#include "frontend/onnx/wire.h"

#include <string.h>

#include "frontend/onnx/file_window.h"
#include "frontend/onnx/wire_kinds.h"
#include "ir/base/limits.h"

enum {
    TAG_BYTES = 5,
    LENGTH_BYTES = 5, // protobuf-c takes no longer ones; 32 GiB
    VARINT_BYTES = 10,
    LOOK_AHEAD = 32, // no tag with its length or number is longer
    REFERENCE_BYTES = 4,
};

struct frame {
    const struct wire_kind *kind;
    const char *field;             // its name in the enclosing message
    int64_t length_at, begin, end; // where its length is, and its content
    int64_t shrink;                // bytes by which the content gets shorter in the slim copy
    size_t edit;                   // of its length, counted from 1; 0: none so far
    uint32_t seen;                 // fields that may be there once, by number
    uint32_t n_fields;
    bool lifted; // inside something that stays in the file as a whole
};

struct scan {
    struct file_window w;
    struct arena *a;
    struct diags *d;
    struct wire_scan *out;
    int64_t pos;
    size_t depth;
    int64_t n_lifted_bytes; // that stay in the file
    int64_t allowed_bytes;  // of the footprint, when it was last looked at; it only grows
    size_t n_edited;        // so many of the outermost frames have an edit
    struct frame stack[LIMIT_WIRE_DEPTH];
};

// "byte 17: … (in graph.node.attribute)", or that the file is something else altogether.
__attribute__((format(printf, 3, 4))) static status wrong(struct scan *s, int64_t at,
                                                          const char *format, ...) {
    const char *guess = wire_guess(s->w.source);
    if (guess)
        return diag_error(s->d, DIAG_NOT_ONNX, loc_offset(s->w.source->path, 0),
                          "not an ONNX model: the file seems to be %s", guess);
    struct arena scratch = arena_make(s->a->mem);
    struct str text = str_make(&scratch);
    va_list args;
    va_start(args, format);
    str_addv(&text, format, args);
    va_end(args);
    str_addf(&text, " (in %s", s->stack[0].kind->message->short_name);
    for (size_t i = 1; i < s->depth; i++)
        str_addf(&text, ".%s", s->stack[i].field);
    status st = diag_error(s->d, DIAG_WIRE, loc_offset(s->w.source->path, at),
                           "%s); the file is damaged or cut off", str_text(&text));
    arena_free(&scratch);
    return st;
}

// A varint of at most max_bytes at the present position. The window shows enough of it.
static inline status varint(struct scan *s, int max_bytes, uint64_t *out) {
    int64_t end = s->stack[s->depth - 1].end;
    int64_t left = (end < s->w.end ? end : s->w.end) - s->pos;
    const uint8_t *p = file_window_at(&s->w, s->pos);
    if (left > 0 && *p < 0x80) {
        s->pos++;
        *out = *p;
        return ST_OK;
    }
    uint64_t x = 0;
    for (int i = 0; i < max_bytes && i < left; i++) {
        x |= (uint64_t)(p[i] & 0x7f) << (7 * i);
        if (p[i] < 0x80) {
            s->pos += i + 1;
            *out = x;
            return ST_OK;
        }
    }
    if (left >= max_bytes)
        return wrong(s, s->pos, "a number of more than %d bytes", max_bytes);
    return wrong(s, s->pos, "the message ends at byte %lld, in the middle of a number",
                 (long long)end);
}

// Memory that an arena gives for n bytes.
static inline int64_t block_bytes(int64_t n) {
    return (n + 15) / 16 * 16;
}

// Counts memory that unpacking will take; what is lifted out is not unpacked.
static inline void charge(struct scan *s, int64_t n_bytes) {
    if (!s->stack[s->depth - 1].lifted)
        s->out->footprint_bytes += n_bytes;
}

// Text and packed lists are looked at piece by piece: calls `look` until all n_bytes are seen. It
// returns how many of the bytes it is done with: all, or fewer if it wants to see the rest together
// with what follows.
static status pieces(struct scan *s, int64_t n_bytes, const struct wire_rule *r,
                     status (*look)(struct scan *, const struct wire_rule *, const uint8_t *,
                                    int64_t n, bool last, int64_t *done)) {
    int64_t end = s->pos + n_bytes;
    while (s->pos < end) {
        int64_t need = end - s->pos < WINDOW_LEAST ? end - s->pos : WINDOW_LEAST;
        status st = file_window_move(&s->w, s->pos, need);
        if (st)
            return st;
        int64_t n = s->w.end < end ? s->w.end - s->pos : end - s->pos;
        int64_t done = 0;
        if ((st = look(s, r, file_window_at(&s->w, s->pos), n, s->pos + n == end, &done)))
            return st;
        s->pos += done;
    }
    return ST_OK;
}

static status look_at_text(struct scan *s, const struct wire_rule *r, const uint8_t *p, int64_t n,
                           bool last, int64_t *done) {
    *done = (int64_t)str_utf8_error((const char *)p, (size_t)n);
    if (*done == n || (!last && *done > n - 4)) // a letter of up to four bytes may go over the edge
        return ST_OK;
    return wrong(s, s->pos + *done, p[*done] ? "%s is not UTF-8" : "%s contains a zero byte",
                 r->name);
}

static status look_at_varints(struct scan *s, const struct wire_rule *r, const uint8_t *p,
                              int64_t n, bool last, int64_t *done) {
    int64_t n_items = 0, first = 0; // of the number at hand
    for (int64_t i = 0; i < n; i++)
        if (p[i] < 0x80) {
            n_items++;
            first = i + 1;
        } else if (i - first + 1 >= VARINT_BYTES) {
            return wrong(s, s->pos + first, "a number of more than %d bytes in %s", VARINT_BYTES,
                         r->name);
        }
    if (last && first < n)
        return wrong(s, s->pos + first, "%s ends in the middle of a number", r->name);
    charge(s, n_items * r->item);
    *done = first;
    return ST_OK;
}

// Cuts [at, at + cut) out and puts `patch` in its place, which is `by` bytes shorter.
static status edit(struct scan *s, struct wire_edit e, int64_t by) {
    for (; s->n_edited < s->depth; s->n_edited++) {
        struct frame *f = &s->stack[s->n_edited];
        if (!VEC_PUSH(s->a, &s->out->edits,
                      ((struct wire_edit){.at = f->length_at,
                                          .cut = f->begin - f->length_at,
                                          .patch = WIRE_LENGTH})))
            return diag_out_of_memory(s->d);
        f->edit = s->out->edits.n;
    }
    if (!VEC_PUSH(s->a, &s->out->edits, e))
        return diag_out_of_memory(s->d);
    s->stack[s->depth - 1].shrink += by;
    charge(s, 3 * (int64_t)sizeof e); // growing lists take up to three times their length
    return ST_OK;
}

static int64_t varint_bytes(int64_t x) {
    int64_t n = 1;
    while (x >>= 7)
        n++;
    return n;
}

static void leave(struct scan *s) {
    struct frame *f = &s->stack[--s->depth];
    if (s->n_edited > s->depth)
        s->n_edited = s->depth;
    if (s->depth == 0)
        s->out->slim_bytes -= f->shrink;
    else if (f->lifted && !s->stack[s->depth - 1].lifted)
        s->n_lifted_bytes += f->end - f->begin;
    if (!f->edit)
        return;
    struct wire_edit *e = &s->out->edits.at[f->edit - 1];
    e->value = f->end - f->begin - f->shrink;
    s->stack[s->depth - 1].shrink += f->shrink + e->cut - varint_bytes(e->value);
}

static status enter(struct scan *s, const struct wire_rule *r, int64_t tag_at, int64_t length_at,
                    int64_t n_bytes) {
    if (s->depth == LIMIT_WIRE_DEPTH)
        return wrong(s, tag_at, "messages are nested more than %d deep", LIMIT_WIRE_DEPTH);
    bool lifted = s->stack[s->depth - 1].lifted;
    if (r->action == WIRE_TRAINING && !lifted) {
        lifted = true;
        struct wire_lift l = {.offset = s->pos, .n_bytes = n_bytes};
        int64_t cut = s->pos + n_bytes - tag_at;
        status st =
            edit(s, (struct wire_edit){.at = tag_at, .cut = cut, .patch = WIRE_NOTHING}, cut);
        if (st)
            return st;
        if (!VEC_PUSH(s->a, &s->out->training, l))
            return diag_out_of_memory(s->d);
    }
    if (r->action == WIRE_MESSAGE)
        charge(s, block_bytes((int64_t)r->child->message->sizeof_message) + block_bytes(r->item));
    s->stack[s->depth++] = (struct frame){.kind = r->child,
                                          .field = r->name,
                                          .length_at = length_at,
                                          .begin = s->pos,
                                          .end = s->pos + n_bytes,
                                          .lifted = lifted};
    return ST_OK;
}

static status payload(struct scan *s, const struct wire_rule *r, uint32_t number, int64_t tag_at,
                      int64_t n_bytes) {
    int64_t at = s->pos;
    s->pos += n_bytes;
    int64_t item = r->wire == WIRE_FIXED32 ? 4 : r->wire == WIRE_FIXED64 ? 8 : 1;
    if (n_bytes % item)
        return wrong(s, at, "%s has %lld bytes, which is not a multiple of %lld", r->name,
                     (long long)n_bytes, (long long)item);
    struct frame *f = &s->stack[s->depth - 1];
    if (f->lifted)
        return ST_OK;
    s->n_lifted_bytes += n_bytes;
    // A typed list of no elements is the same as none.
    bool empty = n_bytes == 0 && r->repeated;
    struct wire_edit e = {.at = tag_at,
                          .cut = s->pos - tag_at,
                          .value = (int64_t)s->out->payloads.n,
                          .patch = empty ? WIRE_NOTHING : WIRE_REFERENCE};
    if (empty)
        return edit(s, e, e.cut);
    if (f->seen & 1)
        return wrong(s, tag_at, "a tensor has its elements in two places");
    f->seen |= 1; // there is no field 0, so the bit is free to mean "has a payload"
    if (!VEC_PUSH(s->a, &s->out->payloads,
                  ((struct wire_lift){.offset = at, .n_bytes = n_bytes, .field = number})))
        return diag_out_of_memory(s->d);
    charge(s, 3 * (int64_t)sizeof(struct wire_lift) + block_bytes(REFERENCE_BYTES));
    return edit(s, e, e.cut - (2 + REFERENCE_BYTES));
}

static status delimited(struct scan *s, const struct wire_rule *r, uint32_t number,
                        int64_t tag_at) {
    struct frame *f = &s->stack[s->depth - 1];
    int64_t length_at = s->pos;
    uint64_t length = 0;
    status st = varint(s, LENGTH_BYTES, &length);
    if (st)
        return st;
    int64_t n = (int64_t)length;
    if (n > f->end - s->pos)
        return wrong(s, length_at, "%s is %lld bytes long, but what it is part of ends after %lld",
                     r->name ? r->name : "a field of unknown meaning", (long long)n,
                     (long long)(f->end - s->pos));
    switch (r->action) {
    case WIRE_MESSAGE:
    case WIRE_TRAINING:
        // Legal, and merged by protobuf; but nobody writes it, and merging takes quadratic time.
        if (!r->repeated && f->seen >> number & 1)
            return wrong(s, tag_at, "%s is there twice", r->name);
        f->seen |= 1u << number;
        return enter(s, r, tag_at, length_at, n);
    case WIRE_PAYLOAD:
        return payload(s, r, number, tag_at, n);
    case WIRE_STRING:
        charge(s, block_bytes(n + 1) + r->item);
        return pieces(s, n, r, look_at_text);
    case WIRE_SCALAR: // packed
        if (r->wire == WIRE_VARINT)
            return pieces(s, n, r, look_at_varints);
        if (n % r->item)
            return wrong(s, length_at, "%s has %lld bytes, which is not a multiple of %d", r->name,
                         (long long)n, r->item);
        break;
    default:
        break;
    }
    charge(s, block_bytes(n) + r->item + (int64_t)sizeof(ProtobufCMessageUnknownField));
    s->pos += n;
    return ST_OK;
}

enum { NOTE_BYTES = 80 }; // protobuf-c keeps 40 bytes on each field, in blocks that double

// Lists of numbers that are not packed are long runs of short fields: goes over those that follow
// with the same tag and are well within the window.
static void skip_run(struct scan *s, struct frame *f, uint8_t tag, unsigned wire) {
    const uint8_t *start = file_window_at(&s->w, s->pos), *p = start;
    const uint8_t *end = start + ((f->end < s->w.end ? f->end : s->w.end) - s->pos);
    uint32_t n = 0;
    for (; end - p > VARINT_BYTES && *p == tag; n++) {
        int len = wire == WIRE_FIXED32 ? 4 : wire == WIRE_FIXED64 ? 8 : 1;
        while (wire == WIRE_VARINT && len <= VARINT_BYTES && p[len] >= 0x80)
            len++;
        if (len > VARINT_BYTES)
            break;
        p += 1 + len;
    }
    s->pos += p - start;
    f->n_fields += n;
    charge(s, (int64_t)n * (8 + NOTE_BYTES));
}

static status field(struct scan *s) {
    static const struct wire_rule unknown = {.action = WIRE_UNKNOWN};
    struct frame *f = &s->stack[s->depth - 1];
    int64_t tag_at = s->pos;
    uint64_t tag = 0, number;
    status st = varint(s, TAG_BYTES, &tag);
    if (st)
        return st;
    if ((number = tag >> 3) == 0 || number > LIMIT_FIELD_NUMBER)
        return wrong(s, tag_at, "field number %llu does not exist", (unsigned long long)number);
    const struct wire_rule *r = number < WIRE_RULES ? &f->kind->rules[number] : &unknown;
    unsigned wire = (unsigned)tag & 7;
    bool list = r->repeated && (r->action == WIRE_SCALAR || r->action == WIRE_PAYLOAD);
    if (r->action != WIRE_UNKNOWN && wire != r->wire && !(wire == WIRE_DELIMITED && list))
        return wrong(s, tag_at, "%s has wire type %u instead of %u", r->name, wire, r->wire);
    if (++f->n_fields > 16) // the first notes lie on the stack
        charge(s, NOTE_BYTES);
    if (f->n_fields > LIMIT_WIRE_FIELDS)
        return diag_error(s->d, DIAG_LIMIT, loc_offset(s->w.source->path, tag_at),
                          "a message of more than %d fields", LIMIT_WIRE_FIELDS);
    int64_t skip = 0;
    switch (wire) {
    case WIRE_DELIMITED:
        return delimited(s, r, (uint32_t)number, tag_at);
    case WIRE_VARINT:
        st = varint(s, VARINT_BYTES, &tag);
        break;
    case WIRE_FIXED64:
        skip = 8;
        break;
    case WIRE_FIXED32:
        skip = 4;
        break;
    default:
        return wrong(s, tag_at, "wire type %u does not exist", wire);
    }
    if (!st && skip > f->end - s->pos)
        st = wrong(s, s->pos, "the message ends at byte %lld, in the middle of a number",
                   (long long)f->end);
    s->pos += skip;
    if (!st && r->repeated && number < 16) // whose tag is a single byte
        skip_run(s, f, (uint8_t)(number << 3 | wire), wire);
    charge(s, r->action == WIRE_UNKNOWN ? (int64_t)sizeof(ProtobufCMessageUnknownField) + 16 : 8);
    return st;
}

// A message may unpack into several times its size, but not into any multiple of it. The check is
// on what was seen so far, so a bomb is found before its traces fill the memory. A file of nothing
// but short numbers, as tree ensembles are, comes to 44 times; an empty tensor to more than 150.
static status check_footprint(struct scan *s) {
    int64_t seen = s->pos - s->n_lifted_bytes;
    s->allowed_bytes = LIMIT_FOOTPRINT_BASE + LIMIT_FOOTPRINT_RATIO * seen;
    if (seen > LIMIT_PROTO_BYTES || s->allowed_bytes > LIMIT_FOOTPRINT)
        s->allowed_bytes = LIMIT_FOOTPRINT;
    if (s->out->footprint_bytes <= s->allowed_bytes)
        return ST_OK;
    return diag_error(s->d, DIAG_LIMIT, loc_offset(s->w.source->path, s->pos),
                      "the model would take more than %lld bytes of memory without its weights, "
                      "out of proportion to its size in the file",
                      (long long)s->allowed_bytes);
}

status wire_scan(const struct source *source, const ProtobufCMessageDescriptor *top,
                 struct arena *a, struct diags *d, struct wire_scan *out) {
    *out = (struct wire_scan){.slim_bytes = source->n_bytes};
    struct arena scratch = arena_make(a->mem);
    struct scan *s = ARENA_NEW(&scratch, struct scan);
    const struct wire_kind *kind = s ? wire_kinds(top, &scratch) : NULL;
    status st = kind ? file_window_open(&s->w, source, &scratch, d) : diag_out_of_memory(d);
    if (!st) {
        s->a = a;
        s->d = d;
        s->out = out;
        s->stack[s->depth++] = (struct frame){.kind = kind, .end = source->n_bytes};
        s->n_edited = 1; // no length stands in front of the whole
    }
    while (!st && s->depth > 0) {
        if (s->pos == s->stack[s->depth - 1].end) {
            leave(s);
            continue;
        }
        if (!file_window_has(&s->w, s->pos, LOOK_AHEAD))
            st = file_window_move(&s->w, s->pos, LOOK_AHEAD);
        if (!st)
            st = field(s);
        if (!st && out->footprint_bytes > s->allowed_bytes)
            st = check_footprint(s);
    }
    if (!st && out->slim_bytes > LIMIT_PROTO_BYTES)
        st = diag_error(d, DIAG_LIMIT, loc_file(source->path),
                        "the model has %lld bytes without its weights, more than protobuf allows",
                        (long long)out->slim_bytes);
    arena_free(&scratch);
    return st;
}
