// The text form of a model, mfc's own: what tests, reviews and bug reports read. One statement a
// line, canonical order, nothing of the machine or the moment in it. Everything that a model holds
// is in it, so that model -> text -> model changes nothing, and
//
//     print(parse(print(m))) == print(m)     byte for byte.
//
// Weights of more than PRINT_INLINE_BYTES stay in the file they came from: span("file", at,
// length). docs/ir.md describes the language.
#pragma once

#include "ir/base/diag.h"
#include "ir/base/str.h"
#include "ir/graph.h"

#define PRINT_INLINE_BYTES 256

// Appends the text. Small payloads are read from their files for it.
status print_model(struct str *out, const struct model *m, struct diags *d);

// One type as in the text; f32[8,N].
void print_type(struct str *out, const struct type *t);

// A model from text, which must be followed by a NUL. `path` is for messages, and its folder is
// where the files named in spans are looked for first, then where they are from the current one; a
// file that is not there is a warning, and its bytes cannot be read later. Reports up to
// PARSE_ERRORS errors, each with line and column. What comes back is as written: neither sorted nor
// verified. model_close() it, also after an error (when *out is not NULL).
#define PARSE_ERRORS 20
struct model_text {
    const char *at;
    size_t n;
    const char *path;
};
status parse_text(struct model_text text, struct arena *a, struct pool *names, struct diags *d,
                  struct model **out);
status parse_file(const struct source *from, struct arena *a, struct pool *names, struct diags *d,
                  struct model **out);
