// Tokens of the text form. A line break is no token, but a token knows whether it is the first of
// its line: statements end where lines do. `#` starts a comment.
//
//     word     f32  MatMul  0.5  /conv1/Conv  aten::add   (letters, digits, _ . / : + -)
//     value    %x  %/conv1/out:0  %"odd name"
//     string   "…" with \" \\ \n \t \r \xHH
//     hex      x"0a0b"
//     and the single characters ( ) [ ] { } < > , = : ? * $ @
//
// A colon joins words only in the middle: %x: is %x and a colon.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/mem.h"

enum lex_kind { LEX_END, LEX_WORD, LEX_VALUE, LEX_STRING, LEX_HEX, LEX_MARK, LEX_BAD };

struct token {
    enum lex_kind kind;
    char mark;  // of a MARK
    bool first; // on its line
    const char
        *at;  // WORD: in the text; VALUE, STRING, HEX: decoded; BAD: what is wrong (NULL: no room)
    size_t n; // bytes at `at`
    size_t end; // offset in the text behind the token
    int64_t line, col;
};

struct lex {
    struct arena *arena; // for what has to be decoded
    const char *text;
    size_t n, at;
    int64_t line;
    size_t line_start;
};

struct lex lex_make(struct arena *a, const char *text, size_t n);
struct token lex_next(struct lex *l);
