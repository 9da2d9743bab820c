// A streaming JSON writer. It places commas, colons and quotes, tracks the nesting, and appends to
// a str, so that documents of millions of values need no tree.
//
//     struct json_writer w = json_write_document(&out, JSON_WRITE_COMPACT, "mfc-schedule");
//     json_write_int(&w, "cost", 7);
//     json_write_line(&w);
//     json_write_array(&w, "steps");
//     for (...)
//         json_write_int(&w, NULL, step[k]);
//     json_write_end(&w);
//     json_write_finish(&w);
//
// gives {"format":"mfc-schedule","version":1,"cost":7,\n"steps":[1,2,3]}\n. Every function takes
// the key of a member; the elements of an array have the key NULL.
// Unbalanced use is a programmer error. A failed allocation is kept in the str.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/str.h"

// COMPACT: no spaces, lines without indentation. SPACED: a space after each colon and comma; a line
// is indented by one space per level.
enum json_style { JSON_WRITE_COMPACT, JSON_WRITE_SPACED };

#define JSON_WRITE_MAX_DEPTH 16

struct json_writer {
    struct str *out;
    enum json_style style;
    int depth;        // number of objects and arrays that have not ended
    bool breaks_line; // the next element, member or end of an array or object starts a line
    struct {
        bool is_object, has_elements;
    } level[JSON_WRITE_MAX_DEPTH]; // [0]: the outermost object
};

// Begins the outermost object.
struct json_writer json_write_begin(struct str *out, enum json_style style);
// Begins it with the members "format" and "version": 1.
struct json_writer json_write_document(struct str *out, enum json_style style, const char *format);
void json_write_format(struct json_writer *w, const char *format); // these two members
// Ends the outermost object and adds a newline. Everything inside it must have ended.
void json_write_finish(struct json_writer *w);

void json_write_object(struct json_writer *w, const char *key);
void json_write_array(struct json_writer *w, const char *key);
void json_write_end(struct json_writer *w); // of the innermost object or array

// The next element, member or end starts a line.
void json_write_line(struct json_writer *w);

void json_write_null(struct json_writer *w, const char *key);
void json_write_bool(struct json_writer *w, const char *key, bool x);
void json_write_int(struct json_writer *w, const char *key, int64_t x);
// null unless `known`.
void json_write_int_if(struct json_writer *w, const char *key, bool known, int64_t x);
// `digits` significant digits as %g has them, or decimals as %f. Infinity and NaN become null.
void json_write_real(struct json_writer *w, const char *key, int digits, double x);
void json_write_fixed(struct json_writer *w, const char *key, int decimals, double x);
// The integer x / 1000, exactly, with three decimals. x >= 0.
void json_write_thousandths(struct json_writer *w, const char *key, int64_t x);
// A string with the hexadecimal floating-point number, exactly.
void json_write_hex(struct json_writer *w, const char *key, double x);
// NULL gives null. Bytes that are not UTF-8 become U+FFFD, one by one.
void json_write_text(struct json_writer *w, const char *key, const char *text);
__attribute__((format(printf, 3, 4))) void json_write_textf(struct json_writer *w, const char *key,
                                                            const char *format, ...);
