// Text from models in HTML and SVG: see markup.h.
#include "backend/report/markup.h"

#include <string.h>

// The character that begins at `at`: how many bytes it has and which it is. 0 bytes: no UTF-8.
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

// Invisible, or of effect on what stands around it; U+FFFE and U+FFFF are no characters of XML.
static bool is_shown_by_number(uint32_t c) {
    return (c >= 0x7f && c < 0xa0) || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
           c == 0xfffe || c == 0xffff;
}

static void markup_character(struct str *out, uint32_t c, const char *at, size_t n) {
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

static void markup_part(struct str *out, const char *text, size_t n) {
    for (size_t i = 0; i < n;) {
        uint32_t c = 0;
        size_t length = decode(text + i, n - i, &c);
        if (length)
            markup_character(out, c, text + i, length);
        else
            str_addf(out, "\\x%02x", (unsigned char)text[i]);
        i += length ? length : 1;
    }
}

void markup_add(struct str *out, const char *text) {
    markup_part(out, text, strlen(text));
}

// Bytes of the first `most` characters.
static size_t take(const char *text, size_t n, size_t most) {
    size_t i = 0;
    for (uint32_t c; i < n && most > 0; most--) {
        size_t length = decode(text + i, n - i, &c);
        i += length ? length : 1;
    }
    return i;
}

static bool is_inside_character(char c) {
    return ((unsigned char)c & 0xc0) == 0x80;
}

void markup_add_short(struct str *out, const char *text, size_t most) {
    size_t n = strlen(text);
    if (take(text, n, most) == n) {
        markup_part(out, text, n);
        return;
    }
    size_t head = take(text, n, most / 2), tail = n - most / 3;
    while (tail < n && is_inside_character(text[tail]))
        tail++;
    markup_part(out, text, head);
    str_add(out, "…");
    markup_part(out, text + tail, n - tail);
}
