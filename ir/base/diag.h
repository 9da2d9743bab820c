// Diagnostics: what is wrong, where, and what to do about it. They are collected in the order in
// which they were found and never printed by the library. Each has a code from diag.def, which says
// the status that it leads to and carries the long explanation of `mfc explain CODE`.
//
//     if (n < 0)
//         return diag_error(d, DIAG_BAD_DIM, loc_node(path), "dimension %d is %lld", axis, n);
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/mem.h"
#include "ir/base/status.h"
#include "ir/base/str.h"

enum diag_code {
#define DIAG(name, slug, st, text) DIAG_##name,
#include "ir/base/diag.def"
#undef DIAG
    DIAG_COUNT_
};

enum diag_severity { DIAG_NOTE, DIAG_WARNING, DIAG_ERROR };

// Where. Fill in what is known; -1 or NULL is unknown.
struct loc {
    const char *file;
    int64_t offset;    // byte in a binary file
    int64_t line, col; // in a text file, from 1
    const char *path;  // in a graph: "graph/node 17 (Conv conv1)"
};

static inline struct loc loc_none(void) {
    return (struct loc){.offset = -1};
}
static inline struct loc loc_file(const char *file) {
    return (struct loc){.file = file, .offset = -1};
}
static inline struct loc loc_offset(const char *file, int64_t offset) {
    return (struct loc){.file = file, .offset = offset};
}
static inline struct loc loc_line(const char *file, int64_t line, int64_t col) {
    return (struct loc){.file = file, .offset = -1, .line = line, .col = col};
}
static inline struct loc loc_path(const char *file, const char *path) {
    return (struct loc){.file = file, .offset = -1, .path = path};
}

struct diag {
    enum diag_severity severity;
    enum diag_code code;
    struct loc where;
    const char *text;
};

struct diags {
    struct arena *arena; // holds copies of all texts and locations
    VEC(struct diag) list;
    size_t n_errors, n_dropped; // dropped: over LIMIT_DIAGS, or out of memory
    status worst;               // of the first error; what the run ends with
    bool ran_out;               // of memory, whatever else was reported
};

struct diags diags_make(struct arena *a);

// Adds an error and returns the status of its code, for `return diag_error(…)`.
__attribute__((format(printf, 4, 5))) status diag_error(struct diags *d, enum diag_code code,
                                                        struct loc where, const char *format, ...);
__attribute__((format(printf, 4, 0))) status diag_errorv(struct diags *d, enum diag_code code,
                                                         struct loc where, const char *format,
                                                         va_list args);
__attribute__((format(printf, 4, 5))) void diag_warning(struct diags *d, enum diag_code code,
                                                        struct loc where, const char *format, ...);
__attribute__((format(printf, 4, 5))) void diag_note(struct diags *d, enum diag_code code,
                                                     struct loc where, const char *format, ...);
void diags_take(struct diags *to, const struct diags *from); // adds copies of all of them
status diag_out_of_memory(struct diags *d);                  // out of memory or budget: ST_LIMIT

const char *diag_slug(enum diag_code code);
const char *diag_explanation(enum diag_code code);
status diag_status(enum diag_code code);
bool diag_find(const char *slug, enum diag_code *code);

// "error: model.onnx: byte 17: … [wire-depth]" and so on, one line, for the command's stderr.
void diag_print(struct str *out, const struct diag *d);
