// Tokens of the text form. A line break is not a token; instead, each token has a flag whether it
// is the first of its line, because a statement ends with its line. `#` starts a comment.
//
//     word     f32  MatMul  0.5  /conv1/Conv  aten::add   (letters, digits, _ . / : + -)
//     value    %x  %/conv1/out:0  %"odd name"
//     string   "…" with \" \\ \n \t \r \xHH
//     hex      x"0a0b"
//     and the single characters ( ) [ ] { } < > , = : ? * $ @
//
// A colon is part of a word only in its middle: %x: is the value %x and a colon.
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
    // WORD: in the text; VALUE, STRING, HEX: decoded; BAD: the message (NULL: out of memory)
    const char *at;
    size_t n;   // bytes at `at`
    size_t end; // offset of the end of the token in the text
    int64_t line, col;
};

struct lex {
    struct arena *arena; // for decoded strings
    const char *text;
    size_t n, at;
    int64_t line;
    size_t line_start;
};

struct lex lex_make(struct arena *a, const char *text, size_t n);
struct token lex_next(struct lex *l);
