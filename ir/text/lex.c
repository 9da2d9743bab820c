// Lexer of the text form: see lex.h for the tokens. One token per call, by its first character; no
// backtracking. A malformed token becomes LEX_BAD with a message, and lexing continues after it.
#include "ir/text/lex.h"

#include <assert.h>
#include <string.h>

struct lex lex_make(struct arena *a, const char *text, size_t n) {
    assert(a && text);
    return (struct lex){.arena = a, .text = text, .n = n, .line = 1};
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '/' || c == ':' || c == '+' || c == '-';
}

// Skips blanks, line breaks and comments; returns whether a new line starts.
static bool skip_blanks(struct lex *l) {
    bool first = l->at == 0;
    for (; l->at < l->n; l->at++) {
        char c = l->text[l->at];
        if (c == '\n') {
            l->line++;
            l->line_start = l->at + 1;
            first = true;
        } else if (c == '#') {
            while (l->at + 1 < l->n && l->text[l->at + 1] != '\n')
                l->at++;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            break;
        }
    }
    return first;
}

static void bad(struct token *t, const char *what) {
    t->kind = LEX_BAD;
    t->at = what;
    t->n = what ? strlen(what) : 0;
}

static void take_word(struct lex *l, struct token *t) {
    size_t from = l->at;
    while (l->at < l->n && is_word(l->text[l->at]))
        l->at++;
    while (l->at > from + 1 && l->text[l->at - 1] == ':')
        l->at--;
    t->at = l->text + from;
    t->n = l->at - from;
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Decodes the escape at l->at, after its backslash. False: it is not a valid one.
static bool take_escape(struct lex *l, char *out) {
    static const char escapes[][2] = {
        {'"', '"'}, {'\\', '\\'}, {'n', '\n'}, {'t', '\t'}, {'r', '\r'}};
    if (l->at == l->n)
        return false;
    char c = l->text[l->at++];
    if (c == 'x' && l->n - l->at >= 2) {
        int high = hex_digit(l->text[l->at]), low = hex_digit(l->text[l->at + 1]);
        l->at += 2;
        *out = (char)(unsigned char)(high * 16 + low);
        return high >= 0 && low >= 0;
    }
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++)
        if (escapes[i][0] == c) {
            *out = escapes[i][1];
            return true;
        }
    return false;
}

// From the opening quote at l->at to the closing one. Copies the string only to decode escapes.
static void take_string(struct lex *l, struct token *t) {
    size_t from = ++l->at, end = from;
    bool plain = true;
    while (end < l->n && l->text[end] != '"' && l->text[end] != '\n') {
        plain &= l->text[end] != '\\';
        end += l->text[end] == '\\' && end + 1 < l->n && l->text[end + 1] != '\n' ? 2 : 1;
    }
    if (end >= l->n || l->text[end] != '"') {
        l->at = end < l->n ? end : l->n;
        bad(t, "this string has no closing quote on its line");
        return;
    }
    t->at = l->text + from;
    t->n = end - from;
    char *copy = plain ? NULL : arena_alloc(l->arena, end - from);
    if (!plain && !copy) {
        bad(t, NULL);
        return;
    }
    for (t->n = plain ? t->n : 0; copy && l->at < end;) {
        char c = l->text[l->at++];
        if (c == '\\' && !take_escape(l, &c)) {
            bad(t, "unknown escape; valid escapes are \\\" \\\\ \\n \\t \\r and \\xHH");
            l->at = end + 1;
            return;
        }
        copy[t->n++] = c;
    }
    t->at = copy ? copy : t->at;
    l->at = end + 1;
}

static void take_hex(struct lex *l, struct token *t) {
    take_string(l, t);
    if (t->kind == LEX_BAD)
        return;
    char *bytes = arena_alloc(l->arena, t->n / 2);
    if (!bytes) {
        bad(t, NULL);
        return;
    }
    bool good = t->n % 2 == 0;
    for (size_t i = 0; good && i < t->n; i += 2) {
        int high = hex_digit(t->at[i]), low = hex_digit(t->at[i + 1]);
        good = high >= 0 && low >= 0;
        bytes[i / 2] = (char)(unsigned char)(high * 16 + low);
    }
    if (good) {
        t->at = bytes;
        t->n /= 2;
    } else {
        bad(t, "bytes are written as pairs of the digits 0-9 and a-f");
    }
}

static void take_value(struct lex *l, struct token *t) {
    l->at++;
    if (l->at < l->n && l->text[l->at] == '"')
        take_string(l, t);
    else if (l->at < l->n && is_word(l->text[l->at]) && l->text[l->at] != ':')
        take_word(l, t);
    else
        bad(t, "a name is expected after %");
}

struct token lex_next(struct lex *l) {
    assert(l && l->at <= l->n);
    struct token t = {.first = skip_blanks(l)};
    t.line = l->line;
    t.col = (int64_t)(l->at - l->line_start) + 1;
    char c = l->at < l->n ? l->text[l->at] : 0;
    if (l->at == l->n) {
        t.kind = LEX_END;
        t.first = true;
    } else if (c == '"') {
        t.kind = LEX_STRING;
        take_string(l, &t);
    } else if (c == 'x' && l->n - l->at > 1 && l->text[l->at + 1] == '"') {
        t.kind = LEX_HEX;
        l->at++;
        take_hex(l, &t);
    } else if (c == '%') {
        t.kind = LEX_VALUE;
        take_value(l, &t);
    } else if (is_word(c) && c != ':') {
        t.kind = LEX_WORD;
        take_word(l, &t);
    } else if (c && strchr("()[]{}<>,=:?*$@", c)) {
        t.kind = LEX_MARK;
        t.mark = c;
        l->at++;
    } else {
        l->at++;
        bad(&t, "unexpected character");
    }
    t.end = l->at;
    return t;
}
