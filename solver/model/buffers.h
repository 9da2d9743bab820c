// The CSV door of the offset allocator, in MiniMalloc's format. The first line names the columns:
// id, lower, upper and size are needed, in any order; alignment and fixed (an offset that is given;
// empty: none) are optional; others are kept as they are. What is written has the same rows and
// columns, and the offset as a further one, or in place of an offset column that was there.
#pragma once

#include "ir/base/file.h"
#include "solver/offsets.h"

struct buffers_row {
    const char *text; // without its line end
    size_t n;
    size_t offset_from, offset_to; // the bytes of the old offset
    int64_t line;
};

struct buffers {
    size_t n;
    struct buffer *buffer;
    const char **id;
    struct buffers_row *row;
    struct buffers_row header;
    bool has_offset; // there is an offset column to be replaced
};

// All that is wrong in the file is reported, each with line and column.
status buffers_read(struct arena *a, struct diags *d, const struct source *csv,
                    struct buffers *out);
status buffers_write(const struct buffers *b, const int64_t *offset, struct output *to,
                     struct diags *d);
