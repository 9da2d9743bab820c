// Strings: a growing buffer that remembers failure, a pool that makes equal strings the same
// pointer, and the few tests on text that readers need.
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/mem.h"

// Append freely, look at `failed` once at the end. `at` is always NUL-terminated once anything was
// appended; str_text() is never NULL.
struct str {
    struct arena *arena;
    char *at;
    size_t n, cap;
    bool failed;
};

struct str str_make(struct arena *a);
void str_add(struct str *s, const char *text);
void str_add_n(struct str *s, const void *bytes, size_t n);
void str_add_char(struct str *s, char c);
__attribute__((format(printf, 2, 3))) void str_addf(struct str *s, const char *format, ...);
__attribute__((format(printf, 2, 0))) void str_addv(struct str *s, const char *format,
                                                    va_list args);
const char *str_text(const struct str *s);

// "…" with \", \\, \n, \t, \r and \xHH for what is not printable ASCII or UTF-8.
void str_add_quoted(struct str *s, const char *bytes, size_t n);

// A word as a shell takes it: in single quotes where that is needed.
void str_add_shell(struct str *s, const char *word);

// How many bytes of legal UTF-8 at `text` are a control character (C0, DEL, C1) or a mark that
// turns the direction of writing; 0: another character starts there.
size_t str_control_bytes(const char *text);

// Text for a terminal, which obeys control characters: those, and bytes that are not UTF-8, become
// \xHH. `has_lines`: \n and \t stay.
void str_add_visible(struct str *s, const char *text, bool has_lines);

// 1536 -> "1.50 KiB"; human-readable. Files carry plain integers.
void str_add_bytes(struct str *s, int64_t n_bytes);

// Formatted text in an arena; NULL: out of memory.
__attribute__((format(printf, 2, 3))) char *str_format(struct arena *a, const char *format, ...);

// Text broken between words into lines of at most STR_WIDTH columns. The first line begins in
// column `indent`, the others are indented so far. Line breaks of the text stay.
#define STR_WIDTH 80
void str_add_wrapped(struct str *s, const char *text, int indent);

// Offset of the first byte that is not part of legal UTF-8 (or is NUL), or n.
size_t str_utf8_error(const char *bytes, size_t n);

bool str_ends_with(const char *text, const char *end);

// Shell pattern over the whole text: * any run, ? one character.
bool str_match(const char *pattern, const char *text);

// Edits (insert, delete, replace) from one word to the other; words of more than 63 bytes are as
// far as can be.
size_t str_distance(const char *a, const char *b);

// For "is it …?": whether the candidate is nearer to the word than any before, of which *nearest
// keeps count. Start it with STR_NEAR: what is farther is a guess, not a help.
#define STR_NEAR 3
bool str_is_nearer(const char *word, const char *candidate, size_t *nearest);

// Interned strings: equal text, equal pointer, for the life of the arena.
struct pool_entry;

struct pool {
    struct arena *arena;
    struct pool_entry *entries;
};

struct pool pool_make(struct arena *a);
const char *pool_intern(struct pool *p, const char *text); // NULL: out of memory
const char *pool_intern_n(struct pool *p, const char *text, size_t n);
