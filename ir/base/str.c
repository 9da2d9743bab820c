// Strings: see str.h.
#include "ir/base/str.h"

#include <stdio.h>
#include <string.h>

#include "ir/base/hash.h"
#include "ir/base/plain.h"

struct str str_make(struct arena *a) {
    return (struct str){.arena = a};
}

static bool str_room(struct str *s, size_t more) {
    if (s->failed || more > SIZE_MAX / 4)
        return !(s->failed = true);
    if (s->n + more + 1 <= s->cap)
        return true;
    size_t cap = s->cap ? s->cap * 2 : 64;
    while (cap < s->n + more + 1)
        cap *= 2;
    char *at = arena_alloc(s->arena, cap);
    if (!at)
        return !(s->failed = true);
    if (s->n)
        memcpy(at, s->at, s->n);
    s->at = at;
    s->cap = cap;
    return true;
}

void str_add_n(struct str *s, const void *bytes, size_t n) {
    if (!str_room(s, n))
        return;
    if (n)
        memcpy(s->at + s->n, bytes, n);
    s->n += n;
    s->at[s->n] = 0;
}

void str_add(struct str *s, const char *text) {
    str_add_n(s, text, strlen(text));
}

void str_add_char(struct str *s, char c) {
    str_add_n(s, &c, 1);
}

// Most texts fit what there is, so that they are formatted once.
void str_addv(struct str *s, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    locale_t before = plain_begin();
    size_t room = s->cap - s->n;
    int n = vsnprintf(room ? s->at + s->n : NULL, room, format, args);
    if (n < 0)
        s->failed = true;
    else if ((size_t)n >= room && str_room(s, (size_t)n))
        vsnprintf(s->at + s->n, (size_t)n + 1, format, again);
    if (s->failed && room)
        s->at[s->n] = 0;
    else if (!s->failed)
        s->n += (size_t)n;
    plain_end(before);
    va_end(again);
}

void str_addf(struct str *s, const char *format, ...) {
    va_list args;
    va_start(args, format);
    str_addv(s, format, args);
    va_end(args);
}

const char *str_text(const struct str *s) {
    return s->at ? s->at : "";
}

size_t str_control_bytes(const char *text) {
    const unsigned char *b = (const unsigned char *)text;
    if (b[0] < 0x20 || b[0] == 0x7f)
        return 1;
    if (b[0] == 0xc2 && b[1] < 0xa0)
        return 2;
    bool turns = b[0] == 0xe2 && ((b[1] == 0x80 && b[2] >= 0xaa && b[2] <= 0xae) ||
                                  (b[1] == 0x81 && b[2] >= 0xa6 && b[2] <= 0xa9));
    return turns ? 3 : 0;
}

void str_add_visible(struct str *s, const char *text, bool has_lines) {
    size_t n = strlen(text), legal = 0;
    for (size_t i = 0; i < n;) {
        if (i >= legal)
            legal = i + str_utf8_error(text + i, n - i);
        size_t end = i;
        while (end < legal && (str_control_bytes(text + end) == 0 ||
                               (has_lines && (text[end] == '\n' || text[end] == '\t'))))
            end++;
        str_add_n(s, text + i, end - i);
        size_t n_hidden = end == n ? 0 : end < legal ? str_control_bytes(text + end) : 1;
        for (i = end; i < end + n_hidden; i++)
            str_addf(s, "\\x%02x", (unsigned)(unsigned char)text[i]);
    }
}

void str_add_quoted(struct str *s, const char *bytes, size_t n) {
    static const char escapes[][2] = {
        {'"', '"'}, {'\\', '\\'}, {'\n', 'n'}, {'\t', 't'}, {'\r', 'r'}};
    str_add_char(s, '"');
    for (size_t i = 0, legal = 0; i < n;) {
        // Copy the longest run of legal text, then escape the one byte that ended it.
        if (i >= legal)
            legal = i + str_utf8_error(bytes + i, n - i);
        size_t end = i;
        while (end < legal && str_control_bytes(bytes + end) == 0 && bytes[end] != '"' &&
               bytes[end] != '\\')
            end++;
        str_add_n(s, bytes + i, end - i);
        if ((i = end) == n)
            break;
        char letter = 0;
        for (size_t e = 0; e < sizeof escapes / sizeof *escapes; e++)
            if (escapes[e][0] == bytes[i])
                letter = escapes[e][1];
        size_t n_control = i < legal ? str_control_bytes(bytes + i) : 0;
        size_t n_hidden = letter || n_control == 0 ? 1 : n_control;
        if (letter)
            str_addf(s, "\\%c", letter);
        for (size_t k = 0; !letter && k < n_hidden; k++)
            str_addf(s, "\\x%02x", (unsigned)(unsigned char)bytes[i + k]);
        i += n_hidden;
    }
    str_add_char(s, '"');
}

void str_add_shell(struct str *s, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./,:@%";
    if (*word && !word[strspn(word, plain)]) {
        str_add(s, word);
        return;
    }
    str_add_char(s, '\'');
    for (const char *c = word; *c; c++)
        if (*c == '\'')
            str_add(s, "'\\''");
        else
            str_add_char(s, *c);
    str_add_char(s, '\'');
}

void str_add_wrapped(struct str *s, const char *text, int indent) {
    size_t column = (size_t)indent;
    bool is_first = true; // on its line
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, " \n");
        if (!is_first && column + 1 + n > STR_WIDTH) {
            str_addf(s, "\n%*s", indent, "");
            column = (size_t)indent;
        } else if (!is_first) {
            str_add_char(s, ' ');
            column++;
        }
        str_add_n(s, p, n);
        column += n;
        is_first = false;
        p += n;
        if (*p == ' ') {
            p++;
            continue;
        }
        for (; *p == '\n'; p++, is_first = true, column = (size_t)indent)
            str_addf(s, "\n%*s", p[1] && p[1] != '\n' ? indent : 0, "");
    }
}

void str_add_bytes(struct str *s, int64_t n_bytes) {
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (n_bytes > -1024 && n_bytes < 1024) {
        str_addf(s, "%lld B", (long long)n_bytes);
        return;
    }
    double x = (double)n_bytes / 1024;
    size_t u = 0;
    while ((x >= 1024 || x <= -1024) && u + 1 < sizeof units / sizeof *units) {
        x /= 1024;
        u++;
    }
    str_addf(s, "%.2f %s", x, units[u]);
}

char *str_format(struct arena *a, const char *format, ...) {
    struct str s = str_make(a);
    va_list args;
    va_start(args, format);
    str_addv(&s, format, args);
    va_end(args);
    return s.failed ? NULL : s.at;
}

size_t str_utf8_error(const char *bytes, size_t n) {
    const unsigned char *b = (const unsigned char *)bytes;
    size_t i = 0;
    while (i < n) {
        size_t len = b[i] < 0x80       ? 1
                     : b[i] >> 5 == 6  ? 2
                     : b[i] >> 4 == 14 ? 3
                     : b[i] >> 3 == 30 ? 4
                                       : 0;
        if (len == 0 || len > n - i || b[i] == 0)
            return i;
        for (size_t k = 1; k < len; k++)
            if (b[i + k] >> 6 != 2)
                return i;
        // Overlong forms, surrogates, and what lies beyond U+10FFFF.
        unsigned second = len > 1 ? b[i + 1] : 0;
        if (b[i] == 0xc0 || b[i] == 0xc1 || (b[i] == 0xe0 && second < 0xa0) ||
            (b[i] == 0xed && second > 0x9f) || (b[i] == 0xf0 && second < 0x90) ||
            (b[i] == 0xf4 && second > 0x8f) || b[i] > 0xf4)
            return i;
        i += len;
    }
    return n;
}

bool str_ends_with(const char *text, const char *end) {
    size_t n = strlen(text), n_end = strlen(end);
    return n >= n_end && strcmp(text + n - n_end, end) == 0;
}

bool str_match(const char *pattern, const char *text) {
    // On a mismatch, let the last star take one more character; linear in both for one star.
    const char *star = NULL, *from = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            from = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star;
            text = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

size_t str_distance(const char *a, const char *b) {
    size_t na = strlen(a), nb = strlen(b), row[64];
    if (na > 63 || nb > 63)
        return SIZE_MAX;
    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[nb];
}

bool str_is_nearer(const char *word, const char *candidate, size_t *nearest) {
    size_t edits = str_distance(word, candidate);
    if (edits >= *nearest)
        return false;
    *nearest = edits;
    return true;
}

struct pool_entry {
    UT_hash_handle hh;
    char text[];
};

struct pool pool_make(struct arena *a) {
    return (struct pool){.arena = a};
}

const char *pool_intern_n(struct pool *p, const char *text, size_t n) {
    struct pool_entry *e;
    HASH_FIND(hh, p->entries, text, n, e);
    if (e)
        return e->text;
    struct arena *uthash_arena = p->arena;
    e = arena_alloc(p->arena, sizeof *e + n + 1);
    if (!e)
        return NULL;
    memcpy(e->text, text, n);
    HASH_ADD_KEYPTR(hh, p->entries, e->text, n, e);
    return e->hh.tbl ? e->text : NULL; // a failed insert clears the handle
}

const char *pool_intern(struct pool *p, const char *text) {
    return pool_intern_n(p, text, strlen(text));
}
