// Escapes text for HTML and SVG: see markup.h.
#include "backend/report/markup.h"

#include <string.h>

// Decodes the character at `at`. Returns its length in bytes; 0: invalid UTF-8.
static size_t decode(const char *at, size_t n, uint32_t *out) {
    const unsigned char *b = (const unsigned char *)at;
    size_t length = b[0] < 0x80 ? 1 : b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : 4;
    if (length > n || str_utf8_error(at, length) != length)
        return 0;
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    *out = b[0] & masks[length];
    for (size_t i = 1; i < length; i++)
        *out = *out << 6 | (b[i] & 0x3f);
    return length;
}

// Invisible characters, direction marks, and U+FFFE and U+FFFF, which XML does not allow.
static bool is_shown_by_number(uint32_t c) {
    return (c >= 0x7f && c < 0xa0) || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
           c == 0xfffe || c == 0xffff;
}

static void add_character(struct str *out, uint32_t c, const char *at, size_t n) {
    if (c == '<')
        str_add(out, "&lt;");
    else if (c == '>')
        str_add(out, "&gt;");
    else if (c == '&')
        str_add(out, "&amp;");
    else if (c == '"')
        str_add(out, "&quot;");
    else if (c == '\'')
        str_add(out, "&#39;");
    else if (c < 0x20)
        str_addf(out, "\\x%02x", c);
    else if (is_shown_by_number(c))
        str_addf(out, "\\u%04x", c);
    else
        str_add_n(out, at, n);
}

static void add_part(struct str *out, const char *text, size_t n) {
    for (size_t i = 0; i < n;) {
        uint32_t c = 0;
        size_t length = decode(text + i, n - i, &c);
        if (length)
            add_character(out, c, text + i, length);
        else
            str_addf(out, "\\x%02x", (unsigned char)text[i]);
        i += length ? length : 1;
    }
}

void markup_add(struct str *out, const char *text) {
    add_part(out, text, strlen(text));
}

// The length in bytes of the first `max` characters.
static size_t prefix_bytes(const char *text, size_t n, size_t max) {
    size_t i = 0;
    for (uint32_t c; i < n && max > 0; max--) {
        size_t length = decode(text + i, n - i, &c);
        i += length ? length : 1;
    }
    return i;
}

static bool is_inside_character(char c) {
    return ((unsigned char)c & 0xc0) == 0x80;
}

void markup_add_short(struct str *out, const char *text, size_t max) {
    size_t n = strlen(text);
    if (prefix_bytes(text, n, max) == n) {
        add_part(out, text, n);
        return;
    }
    size_t head = prefix_bytes(text, n, max / 2), tail = n - max / 3;
    while (tail < n && is_inside_character(text[tail]))
        tail++;
    add_part(out, text, head);
    str_add(out, "…");
    add_part(out, text + tail, n - tail);
}
