// Buffers: what the offset allocator (solver/offsets.h) gives addresses to; and their CSV form,
// which is MiniMalloc's. The first line names the columns: id, lower, upper and size are needed, in
// any order; alignment and fixed (an offset that is given; empty: none) are optional; others are
// kept as they are. What is written has the same rows and columns, and the offset as a further one,
// or in place of an offset column that was there.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/file.h"

struct buffer {
    int64_t lower, upper; // live from lower up to, not including, upper; lower <= upper
    int64_t size;         // bytes, >= 0
    int64_t alignment;    // the offset is a multiple of it; 0 and 1: any offset
    bool is_fixed;        // the offset is given:
    int64_t fixed;
};

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
