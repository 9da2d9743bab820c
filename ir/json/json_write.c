// JSON output: see json_write.h. One function, start(), writes what stands before a value; the
// state that it needs is two flags per level.
#include "ir/json/json_write.h"

#include <assert.h>
#include <math.h>
#include <string.h>

// The code point of a character of one to three bytes.
static unsigned code_of(const char *text, size_t n_bytes) {
    const unsigned char *b = (const unsigned char *)text;
    return n_bytes == 1   ? b[0]
           : n_bytes == 2 ? (b[0] & 31u) << 6 | (b[1] & 63u)
                          : (b[0] & 15u) << 12 | (b[1] & 63u) << 6 | (b[2] & 63u);
}

static void add_string(struct str *s, const char *text) {
    size_t n = strlen(text);
    str_add_char(s, '"');
    for (size_t i = 0; i < n;) {
        size_t legal = i + str_utf8_error(text + i, n - i);
        while (i < legal) {
            size_t end = i;
            while (end < legal && str_control_bytes(text + end) == 0 && text[end] != '"' &&
                   text[end] != '\\')
                end++;
            str_add_n(s, text + i, end - i);
            size_t n_control = end < legal ? str_control_bytes(text + end) : 0;
            if (n_control)
                str_addf(s, "\\u%04x", code_of(text + end, n_control));
            else if (end < legal)
                str_addf(s, "\\%c", text[end]);
            i = end == legal ? end : end + (n_control ? n_control : 1);
        }
        if (i < n) {
            str_add(s, "\\ufffd");
            i++;
        }
    }
    str_add_char(s, '"');
}

static void break_line(struct json_writer *w, int n_spaces) {
    str_add_char(w->out, '\n');
    for (int i = 0; w->style == JSON_WRITE_SPACED && i < n_spaces; i++)
        str_add_char(w->out, ' ');
    w->breaks_line = false;
}

// Writes what precedes a value: the comma, a space or a line break, and the key.
static void start(struct json_writer *w, const char *key) {
    assert(w->depth > 0);
    assert(w->level[w->depth - 1].is_object == (key != NULL));
    bool has_comma = w->level[w->depth - 1].has_elements;
    if (has_comma)
        str_add_char(w->out, ',');
    if (w->breaks_line)
        break_line(w, w->depth);
    else if (has_comma && w->style == JSON_WRITE_SPACED)
        str_add_char(w->out, ' ');
    w->level[w->depth - 1].has_elements = true;
    if (key) {
        add_string(w->out, key);
        str_add(w->out, w->style == JSON_WRITE_SPACED ? ": " : ":");
    }
}

static void open_level(struct json_writer *w, bool is_object) {
    assert(w->depth < JSON_WRITE_MAX_DEPTH);
    str_add_char(w->out, is_object ? '{' : '[');
    w->level[w->depth].is_object = is_object;
    w->level[w->depth].has_elements = false;
    w->depth++;
}

struct json_writer json_write_begin(struct str *out, enum json_style style) {
    assert(out);
    struct json_writer w = {.out = out, .style = style};
    open_level(&w, true);
    return w;
}

struct json_writer json_write_document(struct str *out, enum json_style style, const char *format) {
    struct json_writer w = json_write_begin(out, style);
    json_write_format(&w, format);
    return w;
}

void json_write_format(struct json_writer *w, const char *format) {
    json_write_text(w, "format", format);
    json_write_int(w, "version", 1);
}

void json_write_finish(struct json_writer *w) {
    assert(w->depth == 1);
    json_write_end(w);
    str_add_char(w->out, '\n');
}

void json_write_object(struct json_writer *w, const char *key) {
    start(w, key);
    open_level(w, true);
}

void json_write_array(struct json_writer *w, const char *key) {
    start(w, key);
    open_level(w, false);
}

void json_write_end(struct json_writer *w) {
    assert(w->depth > 0);
    if (w->breaks_line)
        break_line(w, w->depth - 1);
    w->depth--;
    str_add_char(w->out, w->level[w->depth].is_object ? '}' : ']');
}

void json_write_line(struct json_writer *w) {
    assert(w->depth > 0);
    w->breaks_line = true;
}

void json_write_null(struct json_writer *w, const char *key) {
    start(w, key);
    str_add(w->out, "null");
}

void json_write_bool(struct json_writer *w, const char *key, bool x) {
    start(w, key);
    str_add(w->out, x ? "true" : "false");
}

void json_write_int(struct json_writer *w, const char *key, int64_t x) {
    start(w, key);
    str_addf(w->out, "%lld", (long long)x);
}

void json_write_int_if(struct json_writer *w, const char *key, bool known, int64_t x) {
    if (known)
        json_write_int(w, key, x);
    else
        json_write_null(w, key);
}

void json_write_real(struct json_writer *w, const char *key, int digits, double x) {
    start(w, key);
    if (fabs(x) < 1e5 && x == floor(x) && x != 0 && digits >= 5) // the same text, and faster
        str_addf(w->out, "%d", (int)x);
    else if (isfinite(x))
        str_addf(w->out, "%.*g", digits, x);
    else
        str_add(w->out, "null");
}

void json_write_fixed(struct json_writer *w, const char *key, int decimals, double x) {
    start(w, key);
    if (isfinite(x))
        str_addf(w->out, "%.*f", decimals, x);
    else
        str_add(w->out, "null");
}

void json_write_thousandths(struct json_writer *w, const char *key, int64_t x) {
    assert(x >= 0);
    start(w, key);
    str_addf(w->out, "%lld.%03d", (long long)(x / 1000), (int)(x % 1000));
}

void json_write_hex(struct json_writer *w, const char *key, double x) {
    start(w, key);
    str_addf(w->out, "\"%a\"", x);
}

void json_write_text(struct json_writer *w, const char *key, const char *text) {
    start(w, key);
    if (text)
        add_string(w->out, text);
    else
        str_add(w->out, "null");
}

void json_write_textf(struct json_writer *w, const char *key, const char *format, ...) {
    struct str text = str_make(w->out->arena);
    va_list args;
    va_start(args, format);
    str_addv(&text, format, args);
    va_end(args);
    w->out->failed |= text.failed;
    json_write_text(w, key, str_text(&text));
}
