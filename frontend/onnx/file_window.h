// A moving window on a source: what reads a file of any size from front to back, with long skips,
// looks at it through a small buffer. A block of memory is seen as it is, without a copy.
#pragma once

#include "ir/base/file.h"

struct file_window {
    const struct source *source;
    struct diags *d;
    const uint8_t *at; // the bytes [begin, end) of the source
    int64_t begin, end;
    uint8_t *buffer;
    size_t fill; // how much the next refill reads: little after a skip, more and more in sequence
};

// The buffer comes from the arena.
status file_window_open(struct file_window *w, const struct source *s, struct arena *a,
                        struct diags *d);

// Makes the bytes from `offset` on visible: at least `need` of them (at most WINDOW_LEAST), or all
// that are left.
#define WINDOW_LEAST 4096
status file_window_move(struct file_window *w, int64_t offset, int64_t need);

static inline bool file_window_has(const struct file_window *w, int64_t offset, int64_t need) {
    return offset >= w->begin && offset <= w->end && need <= w->end - offset;
}
static inline const uint8_t *file_window_at(const struct file_window *w, int64_t offset) {
    return w->at + (offset - w->begin);
}

// n_bytes from offset to memory.
status file_window_copy(struct file_window *w, int64_t offset, int64_t n_bytes, uint8_t *to);
