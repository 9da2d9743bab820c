// Reads and writes buffers as CSV. There is no quoting in this format: a quote is an error, not a
// guess. Rows are kept as text, so that what is written differs from what was read by the offset
// alone.
#include "solver/model/buffers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ir/base/checked.h"
#include "ir/base/limits.h"
#include "ir/base/map.h"

enum column { ID, LOWER, UPPER, SIZE, ALIGNMENT, FIXED, OFFSET, N_COLUMNS };

static const char *const column_name[N_COLUMNS] = {"id",        "lower", "upper", "size",
                                                   "alignment", "fixed", "offset"};

struct reader {
    struct arena *a;
    struct diags *d;
    const char *file;
    const char *at, *end; // the text that is left
    int64_t line;
    int place[N_COLUMNS]; // field number, or -1
    int n_fields;
    struct map ids; // id -> line
};

struct field {
    const char *at; // without spaces around
    size_t n;
    size_t from, to; // bytes in the row, spaces included
};

static status bad(struct reader *r, size_t byte, const char *what, const char *more) {
    return diag_error(r->d, DIAG_MALFORMED, loc_line(r->file, r->line, (int64_t)byte + 1), "%s%s",
                      what, more);
}

// The next line that is not blank.
static bool next_row(struct reader *r, struct buffers_row *row) {
    while (r->at < r->end) {
        const char *eol = memchr(r->at, '\n', (size_t)(r->end - r->at));
        const char *next = eol ? eol + 1 : r->end;
        const char *stop = eol ? eol : r->end;
        if (stop > r->at && stop[-1] == '\r')
            stop--;
        *row = (struct buffers_row){.text = r->at, .n = (size_t)(stop - r->at), .line = ++r->line};
        r->at = next;
        for (size_t i = 0; i < row->n; i++)
            if (row->text[i] != ' ' && row->text[i] != '\t')
                return true;
    }
    return false;
}

// The field that starts at byte `from`; false when the row has no more.
static bool next_field(const struct buffers_row *row, size_t from, struct field *f) {
    if (from > row->n)
        return false;
    const char *comma = memchr(row->text + from, ',', row->n - from);
    size_t to = comma ? (size_t)(comma - row->text) : row->n;
    size_t lo = from, hi = to;
    while (lo < hi && (row->text[lo] == ' ' || row->text[lo] == '\t'))
        lo++;
    while (hi > lo && (row->text[hi - 1] == ' ' || row->text[hi - 1] == '\t'))
        hi--;
    *f = (struct field){row->text + lo, hi - lo, from, to};
    return true;
}

static bool is_name(const struct field *f, const char *name) {
    return strlen(name) == f->n && memcmp(f->at, name, f->n) == 0;
}

static status read_header(struct reader *r, struct buffers *out) {
    if (!next_row(r, &out->header)) {
        r->line = 1;
        return bad(r, 0, "the file is empty; its first line must name the columns ",
                   "id,lower,upper,size");
    }
    status st = ST_OK;
    struct field f;
    for (int c = 0; c < N_COLUMNS; c++)
        r->place[c] = -1;
    for (size_t from = 0; next_field(&out->header, from, &f); from = f.to + 1, r->n_fields++) {
        for (int c = 0; c < N_COLUMNS; c++) {
            if (!is_name(&f, column_name[c]))
                continue;
            if (r->place[c] >= 0)
                st = bad(r, f.from, "there are two columns ", column_name[c]);
            r->place[c] = r->n_fields;
        }
    }
    for (int c = ID; c <= SIZE; c++)
        if (r->place[c] < 0)
            st = bad(r, 0, "there is no column ", column_name[c]);
    out->has_offset = r->place[OFFSET] >= 0;
    return st;
}

static status read_int(struct reader *r, const struct field *f, const char *name, int64_t least,
                       int64_t *out) {
    size_t i = f->n && f->at[0] == '-';
    bool negative = i > 0, fits = true;
    int64_t value = 0;
    if (i == f->n)
        return bad(r, f->from, "a whole number is needed here: ", name);
    for (; i < f->n; i++) {
        int digit = f->at[i] - '0';
        if (digit < 0 || digit > 9)
            return bad(r, f->from, "a whole number is needed here: ", name);
        fits = fits && checked_mul(value, 10, &value) &&
               checked_add(value, negative ? -digit : digit, &value);
    }
    if (!fits)
        return bad(r, f->from, "the number does not fit in 64 bits: ", name);
    if (value < least)
        return bad(r, f->from, "must not be negative: ", name);
    *out = value;
    return ST_OK;
}

static status read_id(struct reader *r, const struct field *f, const char **out) {
    int64_t line;
    if (f->n == 0)
        return bad(r, f->from, "the id is empty", "");
    char *id = arena_alloc(r->a, f->n + 1);
    if (!id)
        return diag_out_of_memory(r->d);
    memcpy(id, f->at, f->n);
    if (map_get(&r->ids, id, f->n, &line))
        return diag_error(r->d, DIAG_MALFORMED, loc_line(r->file, r->line, (int64_t)f->from + 1),
                          "id \"%s\" is already on line %" PRId64, id, line);
    *out = id;
    return map_put(&r->ids, id, f->n, r->line) ? ST_OK : diag_out_of_memory(r->d);
}

static void keep_worst(status *st, status next) {
    if (*st == ST_OK || next == ST_LIMIT)
        *st = next;
}

// What can only be judged with all fields of the row at hand.
static status check_row(struct reader *r, const struct field *field, const struct buffer *b) {
    if (b->lower > b->upper)
        return bad(r, field[UPPER].from, "upper is below lower", "");
    if (b->is_fixed && b->alignment > 1 && b->fixed % b->alignment != 0)
        return bad(r, field[FIXED].from, "fixed is not a multiple of alignment", "");
    return ST_OK;
}

static status read_row(struct reader *r, struct buffers_row *row, struct buffer *b,
                       const char **id) {
    struct field f, field[N_COLUMNS] = {{0}};
    status st = ST_OK;
    int n_fields = 0;
    const char *quote = memchr(row->text, '"', row->n);
    if (quote)
        return bad(r, (size_t)(quote - row->text), "quotes are not part of this format", "");
    if (memchr(row->text, '\0', row->n))
        return bad(r, 0, "the row holds a NUL byte", "");
    for (size_t from = 0; next_field(row, from, &f); from = f.to + 1, n_fields++)
        for (int c = 0; c < N_COLUMNS; c++)
            if (r->place[c] == n_fields)
                field[c] = f;
    if (n_fields != r->n_fields)
        return diag_error(r->d, DIAG_MALFORMED, loc_line(r->file, r->line, (int64_t)row->n + 1),
                          "the row has %d fields, the first line %d", n_fields, r->n_fields);
    row->offset_from = field[OFFSET].from;
    row->offset_to = field[OFFSET].to;
    keep_worst(&st, read_id(r, &field[ID], id));
    status range = read_int(r, &field[LOWER], "lower", INT64_MIN, &b->lower);
    keep_worst(&range, read_int(r, &field[UPPER], "upper", INT64_MIN, &b->upper));
    keep_worst(&st, range);
    keep_worst(&st, read_int(r, &field[SIZE], "size", 0, &b->size));
    if (field[ALIGNMENT].n)
        keep_worst(&st, read_int(r, &field[ALIGNMENT], "alignment", 0, &b->alignment));
    b->is_fixed = field[FIXED].n > 0;
    if (b->is_fixed)
        keep_worst(&st, read_int(r, &field[FIXED], "fixed", 0, &b->fixed));
    return st == ST_OK ? check_row(r, field, b) : st;
}

static size_t count_lines(const char *text, const char *end) {
    size_t n = 1;
    for (const char *p = text; (p = memchr(p, '\n', (size_t)(end - p))); p++)
        n++;
    return n;
}

status buffers_read(struct arena *a, struct diags *d, const struct source *csv,
                    struct buffers *out) {
    char *text;
    *out = (struct buffers){0};
    status st = source_text(csv, a, d, LIMIT_TEXT_BYTES, &text);
    if (st != ST_OK)
        return st;
    struct reader r = {.a = a, .d = d, .file = csv->path, .at = text, .ids = map_make(a)};
    r.end = text + csv->n_bytes;
    if (csv->n_bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        r.at += 3; // the mark that some editors put before UTF-8
    st = read_header(&r, out);
    if (st != ST_OK)
        return st;
    size_t n = count_lines(r.at, r.end);
    out->buffer = ARENA_ARRAY(a, struct buffer, n);
    out->id = ARENA_ARRAY(a, const char *, n);
    out->row = ARENA_ARRAY(a, struct buffers_row, n);
    if (!out->buffer || !out->id || !out->row)
        return diag_out_of_memory(d);
    for (; next_row(&r, &out->row[out->n]); out->n++)
        keep_worst(&st, read_row(&r, &out->row[out->n], &out->buffer[out->n], &out->id[out->n]));
    return st;
}

static status write_row(const struct buffers *b, const struct buffers_row *row, const char *offset,
                        struct output *to, struct diags *d) {
    size_t before = b->has_offset ? row->offset_from : row->n;
    size_t after = b->has_offset ? row->offset_to : row->n;
    status st = output_write(to, d, row->text, before);
    if (st == ST_OK && !b->has_offset)
        st = output_write(to, d, ",", 1);
    if (st == ST_OK)
        st = output_write(to, d, offset, strlen(offset));
    if (st == ST_OK)
        st = output_write(to, d, row->text + after, row->n - after);
    return st == ST_OK ? output_write(to, d, "\n", 1) : st;
}

status buffers_write(const struct buffers *b, const int64_t *offset, struct output *to,
                     struct diags *d) {
    struct buffers_row header = b->header;
    status st;
    if (b->has_offset) { // it stays as it is
        st = output_write(to, d, header.text, header.n);
        if (st == ST_OK)
            st = output_write(to, d, "\n", 1);
    } else {
        st = write_row(b, &header, "offset", to, d);
    }
    for (size_t i = 0; st == ST_OK && i < b->n; i++) {
        char number[32];
        snprintf(number, sizeof number, "%" PRId64, offset[i]);
        st = write_row(b, &b->row[i], number, to, d);
    }
    return st;
}
