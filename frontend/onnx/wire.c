// The scan of the wire guard: see wire.h. One loop over the fields, with the enclosing messages on
// an explicit stack. Tables made from protobuf-c's descriptors (wire_kinds.h) give the rule for
// each field; payloads and unknown fields are skipped without being read.
//
// Lengths in the slim copy: cutting out a payload shortens every enclosing message, so each needs a
// new length prefix, whose own size may change too. The first cut inside a message adds an edit for
// its length to the list (enclosing messages first, so that the list stays in file order); the end
// of the message fills it in.
#include "frontend/onnx/wire.h"

#include <assert.h>
#include <string.h>

#include "frontend/onnx/file_window.h"
#include "frontend/onnx/wire_kinds.h"
#include "ir/base/limits.h"

enum {
    TAG_BYTES = 5,
    LENGTH_BYTES = 5, // the maximum of protobuf-c: 32 GiB
    LOOK_AHEAD = 32,  // a tag with its length or number is shorter
    REFERENCE_BYTES = 4,
};

struct frame {
    const struct wire_kind *kind;
    const char *field;             // its name in the enclosing message
    int64_t length_at, begin, end; // offsets of its length prefix and of its content
    int64_t shrink;                // bytes that the slim copy removes from the content
    size_t edit;                   // of its length, counted from 1; 0: none so far
    uint32_t seen;                 // bit per singular field that has occurred
    uint32_t n_fields;
    bool lifted; // inside a message that the slim copy leaves out
};

struct scanner {
    struct file_window w;
    struct arena *a;
    struct diags *d;
    struct wire_scan *out;
    int64_t pos;
    size_t depth;
    int64_t n_lifted_bytes; // that the slim copy leaves out
    int64_t allowed_bytes;  // limit of the footprint at the last check; it only grows
    size_t n_edited;        // the outermost n_edited frames have an edit
    struct frame stack[LIMIT_WIRE_DEPTH];
};

// "byte 17: … (in graph.node.attribute)", or that the file is no ONNX model at all.
__attribute__((format(printf, 3, 4))) static status malformed(struct scanner *s, int64_t at,
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
                           "%s); the file is damaged or truncated", str_text(&text));
    arena_free(&scratch);
    return st;
}

// Reads a varint of at most max_bytes at the current position, which the window covers.
static inline status read_varint(struct scanner *s, int max_bytes, uint64_t *out) {
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
        return malformed(s, s->pos, "a number has more than %d bytes", max_bytes);
    return malformed(s, s->pos, "the message ends at byte %lld, in the middle of a number",
                     (long long)end);
}

// The size of an arena block for n bytes.
static inline int64_t block_bytes(int64_t n) {
    return (n + 15) / 16 * 16;
}

// Adds to the memory that unpacking will take; lifted parts are not unpacked.
static inline void charge(struct scanner *s, int64_t n_bytes) {
    if (!s->stack[s->depth - 1].lifted)
        s->out->footprint_bytes += n_bytes;
}

// Checks text and packed lists chunk by chunk. `check` sets *done to the bytes that it has
// consumed: all n, or fewer to see the rest again together with the bytes that follow.
static status check_chunks(struct scanner *s, int64_t n_bytes, const struct wire_rule *r,
                           status (*check)(struct scanner *, const struct wire_rule *,
                                           const uint8_t *, int64_t n, bool last, int64_t *done)) {
    int64_t end = s->pos + n_bytes;
    while (s->pos < end) {
        int64_t need = end - s->pos < FILE_WINDOW_MIN ? end - s->pos : FILE_WINDOW_MIN;
        status st = file_window_move(&s->w, s->pos, need);
        if (st)
            return st;
        int64_t n = s->w.end < end ? s->w.end - s->pos : end - s->pos;
        int64_t done = 0;
        if ((st = check(s, r, file_window_at(&s->w, s->pos), n, s->pos + n == end, &done)))
            return st;
        s->pos += done;
    }
    return ST_OK;
}

static status check_text(struct scanner *s, const struct wire_rule *r, const uint8_t *p, int64_t n,
                         bool last, int64_t *done) {
    *done = (int64_t)str_utf8_error((const char *)p, (size_t)n);
    if (*done == n || (!last && *done > n - 4)) // a character may cross the end of the chunk
        return ST_OK;
    return malformed(s, s->pos + *done, p[*done] ? "%s is not UTF-8" : "%s contains a zero byte",
                     r->name);
}

static status check_varints(struct scanner *s, const struct wire_rule *r, const uint8_t *p,
                            int64_t n, bool last, int64_t *done) {
    int64_t n_items = 0, first = 0; // first byte of the current number
    for (int64_t i = 0; i < n; i++)
        if (p[i] < 0x80) {
            n_items++;
            first = i + 1;
        } else if (i - first + 1 >= VARINT_BYTES) {
            return malformed(s, s->pos + first, "a number has more than %d bytes in %s",
                             VARINT_BYTES, r->name);
        }
    if (last && first < n)
        return malformed(s, s->pos + first, "%s ends in the middle of a number", r->name);
    charge(s, n_items * r->item);
    *done = first;
    return ST_OK;
}

// Adds an edit, which makes the innermost message `by` bytes shorter, and the edits for the lengths
// of the enclosing messages.
static status add_edit(struct scanner *s, struct wire_edit e, int64_t by) {
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
    charge(s, 3 * (int64_t)sizeof e); // a growing list takes up to three times its length
    return ST_OK;
}

static int64_t varint_bytes(int64_t x) {
    int64_t n = 1;
    while (x >>= 7)
        n++;
    return n;
}

static void leave_message(struct scanner *s) {
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

static status enter_message(struct scanner *s, const struct wire_rule *r, int64_t tag_at,
                            int64_t length_at, int64_t n_bytes) {
    if (s->depth == LIMIT_WIRE_DEPTH)
        return malformed(s, tag_at, "messages are nested more than %d deep", LIMIT_WIRE_DEPTH);
    bool lifted = s->stack[s->depth - 1].lifted;
    if (r->action == WIRE_TRAINING && !lifted) {
        lifted = true;
        struct wire_lift l = {.offset = s->pos, .n_bytes = n_bytes};
        int64_t cut = s->pos + n_bytes - tag_at;
        status st =
            add_edit(s, (struct wire_edit){.at = tag_at, .cut = cut, .patch = WIRE_NOTHING}, cut);
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

static status lift_payload(struct scanner *s, const struct wire_rule *r, uint32_t number,
                           int64_t tag_at, int64_t n_bytes) {
    int64_t at = s->pos;
    s->pos += n_bytes;
    int64_t item = r->wire == WIRE_FIXED32 ? 4 : r->wire == WIRE_FIXED64 ? 8 : 1;
    if (n_bytes % item)
        return malformed(s, at, "%s has %lld bytes, which is not a multiple of %lld", r->name,
                         (long long)n_bytes, (long long)item);
    struct frame *f = &s->stack[s->depth - 1];
    if (f->lifted)
        return ST_OK;
    s->n_lifted_bytes += n_bytes;
    // An empty typed list is the same as an absent one.
    bool empty = n_bytes == 0 && r->repeated;
    struct wire_edit e = {.at = tag_at,
                          .cut = s->pos - tag_at,
                          .value = (int64_t)s->out->payloads.n,
                          .patch = empty ? WIRE_NOTHING : WIRE_REFERENCE};
    if (empty)
        return add_edit(s, e, e.cut);
    if (f->seen & 1)
        return malformed(s, tag_at, "a tensor has elements in two fields");
    f->seen |= 1; // there is no field 0: the bit means "has a payload"
    if (!VEC_PUSH(s->a, &s->out->payloads,
                  ((struct wire_lift){.offset = at, .n_bytes = n_bytes, .field = number})))
        return diag_out_of_memory(s->d);
    charge(s, 3 * (int64_t)sizeof(struct wire_lift) + block_bytes(REFERENCE_BYTES));
    return add_edit(s, e, e.cut - (2 + REFERENCE_BYTES));
}

static status scan_delimited(struct scanner *s, const struct wire_rule *r, uint32_t number,
                             int64_t tag_at) {
    struct frame *f = &s->stack[s->depth - 1];
    int64_t length_at = s->pos;
    uint64_t length = 0;
    status st = read_varint(s, LENGTH_BYTES, &length);
    if (st)
        return st;
    int64_t n = (int64_t)length;
    if (n > f->end - s->pos)
        return malformed(s, length_at, "%s has %lld bytes, but its message ends after %lld",
                         r->name ? r->name : "an unknown field", (long long)n,
                         (long long)(f->end - s->pos));
    switch (r->action) {
    case WIRE_MESSAGE:
    case WIRE_TRAINING:
        // Legal, and merged by protobuf; but no exporter writes it, and merging takes quadratic
        // time.
        if (!r->repeated && f->seen >> number & 1)
            return malformed(s, tag_at, "%s occurs twice", r->name);
        f->seen |= 1u << number;
        return enter_message(s, r, tag_at, length_at, n);
    case WIRE_PAYLOAD:
        return lift_payload(s, r, number, tag_at, n);
    case WIRE_STRING:
        charge(s, block_bytes(n + 1) + r->item);
        return check_chunks(s, n, r, check_text);
    case WIRE_SCALAR: // packed
        if (r->wire == WIRE_VARINT)
            return check_chunks(s, n, r, check_varints);
        if (n % r->item)
            return malformed(s, length_at, "%s has %lld bytes, which is not a multiple of %d",
                             r->name, (long long)n, r->item);
        break;
    default:
        break;
    }
    charge(s, block_bytes(n) + r->item + (int64_t)sizeof(ProtobufCMessageUnknownField));
    s->pos += n;
    return ST_OK;
}

enum { FIELD_BYTES = 80 }; // protobuf-c uses 40 bytes per field, in blocks that double

// Unpacked lists of numbers are long runs of short fields: skips the following fields with the same
// tag that are well inside the window.
static void skip_run(struct scanner *s, struct frame *f, uint8_t tag, unsigned wire) {
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
    charge(s, (int64_t)n * (8 + FIELD_BYTES));
}

static status scan_field(struct scanner *s) {
    static const struct wire_rule unknown = {.action = WIRE_UNKNOWN};
    struct frame *f = &s->stack[s->depth - 1];
    int64_t tag_at = s->pos;
    uint64_t tag = 0, number;
    status st = read_varint(s, TAG_BYTES, &tag);
    if (st)
        return st;
    if ((number = tag >> 3) == 0 || number > LIMIT_FIELD_NUMBER)
        return malformed(s, tag_at, "field number %llu does not exist", (unsigned long long)number);
    const struct wire_rule *r = number < WIRE_RULES ? &f->kind->rules[number] : &unknown;
    unsigned wire = (unsigned)tag & 7;
    bool list = r->repeated && (r->action == WIRE_SCALAR || r->action == WIRE_PAYLOAD);
    if (r->action != WIRE_UNKNOWN && wire != r->wire && !(wire == WIRE_DELIMITED && list))
        return malformed(s, tag_at, "%s has wire type %u instead of %u", r->name, wire, r->wire);
    if (++f->n_fields > 16) // protobuf-c keeps the first 16 on its stack
        charge(s, FIELD_BYTES);
    if (f->n_fields > LIMIT_WIRE_FIELDS)
        return diag_error(s->d, DIAG_LIMIT, loc_offset(s->w.source->path, tag_at),
                          "a message has more than %d fields, the limit of mfc", LIMIT_WIRE_FIELDS);
    int64_t skip = 0;
    switch (wire) {
    case WIRE_DELIMITED:
        return scan_delimited(s, r, (uint32_t)number, tag_at);
    case WIRE_VARINT:
        st = read_varint(s, VARINT_BYTES, &tag);
        break;
    case WIRE_FIXED64:
        skip = 8;
        break;
    case WIRE_FIXED32:
        skip = 4;
        break;
    default:
        return malformed(s, tag_at, "wire type %u does not exist", wire);
    }
    if (!st && skip > f->end - s->pos)
        st = malformed(s, s->pos, "the message ends at byte %lld, in the middle of a number",
                       (long long)f->end);
    s->pos += skip;
    if (!st && r->repeated && number < 16) // the tag is one byte
        skip_run(s, f, (uint8_t)(number << 3 | wire), wire);
    charge(s, r->action == WIRE_UNKNOWN ? (int64_t)sizeof(ProtobufCMessageUnknownField) + 16 : 8);
    return st;
}

// Limits the memory of the unpacked message to a multiple of its size. The check is incremental, so
// a decompression bomb is found before the scan itself runs out of memory. A file of short numbers
// (a tree ensemble) unpacks to 44 times its size, an empty tensor to more than 150 times.
static status check_footprint(struct scanner *s) {
    int64_t seen = s->pos - s->n_lifted_bytes;
    s->allowed_bytes = LIMIT_FOOTPRINT_BASE + LIMIT_FOOTPRINT_RATIO * seen;
    if (seen > LIMIT_PROTO_BYTES || s->allowed_bytes > LIMIT_FOOTPRINT)
        s->allowed_bytes = LIMIT_FOOTPRINT;
    if (s->out->footprint_bytes <= s->allowed_bytes)
        return ST_OK;
    return diag_error(s->d, DIAG_LIMIT, loc_offset(s->w.source->path, s->pos),
                      "without its weights the model would take more than %lld bytes of memory, "
                      "out of proportion to the size of the file",
                      (long long)s->allowed_bytes);
}

status wire_scan(const struct source *source, const ProtobufCMessageDescriptor *top,
                 struct arena *a, struct diags *d, struct wire_scan *out) {
    assert(source && top && a && d && out);
    *out = (struct wire_scan){.slim_bytes = source->n_bytes};
    struct arena scratch = arena_make(a->mem);
    struct scanner *s = ARENA_NEW(&scratch, struct scanner);
    const struct wire_kind *kind = s ? wire_kinds(top, &scratch) : NULL;
    status st = kind ? file_window_open(&s->w, source, &scratch, d) : diag_out_of_memory(d);
    if (!st) {
        s->a = a;
        s->d = d;
        s->out = out;
        s->stack[s->depth++] = (struct frame){.kind = kind, .end = source->n_bytes};
        s->n_edited = 1; // the outermost message has no length prefix
    }
    while (!st && s->depth > 0) {
        if (s->pos == s->stack[s->depth - 1].end) {
            leave_message(s);
            continue;
        }
        if (!file_window_has(&s->w, s->pos, LOOK_AHEAD))
            st = file_window_move(&s->w, s->pos, LOOK_AHEAD);
        if (!st)
            st = scan_field(s);
        if (!st && out->footprint_bytes > s->allowed_bytes)
            st = check_footprint(s);
    }
    if (!st && out->slim_bytes > LIMIT_PROTO_BYTES)
        st = diag_error(d, DIAG_LIMIT, loc_file(source->path),
                        "without its weights the model has %lld bytes, more than protobuf allows",
                        (long long)out->slim_bytes);
    arena_free(&scratch);
    return st;
}
