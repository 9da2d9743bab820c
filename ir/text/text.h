// The text form of a model, for tests, reviews and bug reports: one statement per line, in
// canonical order, without addresses or times. It is lossless: model -> text -> model changes
// nothing, and
//
//     print(parse(print(m))) == print(m)     byte for byte.
//
// Weights of more than PRINT_INLINE_BYTES stay in their file; the text refers to them by
// span("file", offset, length). docs/ir.md describes the language.
#pragma once

#include "ir/base/diag.h"
#include "ir/base/str.h"
#include "ir/graph.h"

#define PRINT_INLINE_BYTES 256

// Appends the text of the model. Reads small payloads from their files. Spans are relative to the
// folder, where the text will be: "." for standard output.
status print_model(struct str *out, const struct model *m, const char *folder, struct diags *d);

// Appends one type, such as f32[8,N]; _ for NULL.
void print_type(struct str *out, const struct type *t);

// Parses a model. The text must end with a NUL at at[n]. `path` is used in messages. A file named
// in a span must be beneath the folder of `path` (struct reference); a missing file is a warning,
// and its bytes cannot be read later. Reports up to PARSE_ERRORS errors, each with line
// and column. The model is neither sorted nor verified. The caller must model_close() it, also
// after an error (when *out is not NULL).
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
