// A buffered window on a file: see file_window.h. The window grows while it is read in sequence and
// shrinks after a skip, so that a skip past weights costs one small read.
#include "frontend/onnx/file_window.h"

#include <string.h>

#ifdef MFC_SMALL
enum { BUFFER_BYTES = FILE_WINDOW_MIN }; // test builds: refills are frequent
#else
enum { BUFFER_BYTES = 256 << 10 };
#endif

status file_window_open(struct file_window *w, const struct source *s, struct arena *a,
                        struct diags *d) {
    *w = (struct file_window){.source = s, .d = d, .fill = FILE_WINDOW_MIN};
    if (s->fd < 0) {
        w->at = s->memory;
        w->end = s->n_bytes;
        return ST_OK;
    }
    w->at = w->buffer = arena_alloc(a, BUFFER_BYTES);
    return w->buffer ? ST_OK : diag_out_of_memory(d);
}

status file_window_move(struct file_window *w, int64_t offset, int64_t need) {
    if (file_window_has(w, offset, need) || (w->end == w->source->n_bytes && offset >= w->begin))
        return ST_OK;
    bool in_sequence = offset >= w->begin && offset <= w->end;
    w->fill = !in_sequence                 ? FILE_WINDOW_MIN
              : w->fill < BUFFER_BYTES / 4 ? w->fill * 4
                                           : BUFFER_BYTES;
    int64_t left = w->source->n_bytes - offset;
    size_t n = left < (int64_t)w->fill ? (size_t)left : w->fill;
    status st = source_read(w->source, w->d, offset, w->buffer, n);
    w->begin = offset;
    w->end = offset + (st ? 0 : (int64_t)n);
    return st;
}

status file_window_copy(struct file_window *w, int64_t offset, int64_t n_bytes, uint8_t *to) {
    while (n_bytes > 0) {
        if (!file_window_has(w, offset, 1)) {
            if (n_bytes >= BUFFER_BYTES)
                return source_read(w->source, w->d, offset, to, (size_t)n_bytes);
            status st = file_window_move(w, offset, 1);
            if (st)
                return st;
        }
        int64_t here = w->end - offset < n_bytes ? w->end - offset : n_bytes;
        memcpy(to, file_window_at(w, offset), (size_t)here);
        offset += here;
        to += here;
        n_bytes -= here;
    }
    return ST_OK;
}
