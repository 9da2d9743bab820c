// A window on a source: reads a file of any size from front to back, with long skips, through a
// small buffer. A source in memory is used directly, without a copy.
#pragma once

#include "ir/base/file.h"

struct file_window {
    const struct source *source;
    struct diags *d;
    const uint8_t *at; // the bytes [begin, end) of the source
    int64_t begin, end;
    uint8_t *buffer;
    size_t fill; // bytes of the next refill: few after a skip, growing in sequence
};

// The buffer comes from the arena.
status file_window_open(struct file_window *w, const struct source *s, struct arena *a,
                        struct diags *d);

// Moves the window to `offset`: at least `need` bytes (at most FILE_WINDOW_MIN) are visible, or all
// that are left.
#define FILE_WINDOW_MIN 4096
status file_window_move(struct file_window *w, int64_t offset, int64_t need);

static inline bool file_window_has(const struct file_window *w, int64_t offset, int64_t need) {
    return offset >= w->begin && offset <= w->end && need <= w->end - offset;
}
static inline const uint8_t *file_window_at(const struct file_window *w, int64_t offset) {
    return w->at + (offset - w->begin);
}

// Copies n_bytes from `offset` to memory.
status file_window_copy(struct file_window *w, int64_t offset, int64_t n_bytes, uint8_t *to);
