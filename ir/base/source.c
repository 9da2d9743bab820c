// Reading files by position: see file.h.
#include "ir/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static status refuse(struct diags *d, const char *path, const char *what) {
    return diag_error(d, DIAG_IO, loc_file(path), "%s: %s", what, strerror(errno));
}

// Standard input cannot be read by position: put it into a file that has no name.
static int spool_stdin(void) {
    int fd = file_unnamed();
    char block[1 << 16];
    while (fd >= 0) {
        ssize_t n = read(STDIN_FILENO, block, sizeof block);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            return fd;
        for (ssize_t done = 0, w; n > 0 && done < n; done += w)
            if ((w = write(fd, block + done, (size_t)(n - done))) < 0)
                n = -1;
        if (n < 0) {
            int why = errno;
            close(fd);
            errno = why;
            fd = -1;
        }
    }
    return fd;
}

status source_open(struct arena *a, struct diags *d, const char *path, struct source **out) {
    bool is_stdin = strcmp(path, "-") == 0;
    struct source *s = ARENA_NEW(a, struct source);
    const char *name = is_stdin ? "<stdin>" : arena_copy(a, path, strlen(path) + 1);
    if (!s || !name)
        return diag_out_of_memory(d);
    // Not blocking, so that a pipe with no writer is refused below instead of waited for.
    int fd = is_stdin ? spool_stdin() : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return refuse(d, name, "cannot open");
    struct stat st;
    status bad = ST_OK;
    if (fstat(fd, &st) < 0)
        bad = refuse(d, name, "cannot look at it");
    else if (S_ISDIR(st.st_mode))
        bad = diag_error(d, DIAG_IO, loc_file(name), "is a folder, not a file");
    else if (!S_ISREG(st.st_mode))
        bad = diag_error(d, DIAG_IO, loc_file(name), "is not a regular file");
    if (bad) {
        close(fd);
        return bad;
    }
    *s = (struct source){.path = name, .fd = fd, .n_bytes = st.st_size};
    *out = s;
    return ST_OK;
}

status source_memory(struct arena *a, struct diags *d, const void *bytes, int64_t n_bytes,
                     struct source **out) {
    struct source *s = ARENA_NEW(a, struct source);
    if (!s)
        return diag_out_of_memory(d);
    *s = (struct source){.path = "<memory>", .fd = -1, .memory = bytes, .n_bytes = n_bytes};
    *out = s;
    return ST_OK;
}

void source_close(struct source *s) {
    if (s && s->fd >= 0) {
        close(s->fd);
        s->fd = -1;
    }
}

status source_read(const struct source *s, struct diags *d, int64_t offset, void *to,
                   size_t n_bytes) {
    if (offset < 0 || offset > s->n_bytes || n_bytes > (uint64_t)(s->n_bytes - offset))
        return diag_error(d, DIAG_MALFORMED, loc_offset(s->path, offset),
                          "%zu bytes are needed here, but the file ends at byte %lld", n_bytes,
                          (long long)s->n_bytes);
    if (s->memory) {
        if (n_bytes)
            memcpy(to, s->memory + offset, n_bytes);
        return ST_OK;
    }
    for (size_t done = 0; done < n_bytes;) {
        ssize_t n = pread(s->fd, (char *)to + done, n_bytes - done, offset + (int64_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return refuse(d, s->path, "cannot read");
        if (n == 0)
            return diag_error(d, DIAG_IO, loc_offset(s->path, offset + (int64_t)done),
                              "the file became shorter while it was read");
        done += (size_t)n;
    }
    return ST_OK;
}

// A file system that knows no holes says that everything is data. The file may have become shorter
// since it was opened: what is missing at its end is no hole, and reading it will tell.
int64_t source_hole(const struct source *s, int64_t offset, int64_t n_bytes) {
    struct stat st;
    if (s->memory)
        return 0;
    off_t data = lseek(s->fd, offset, SEEK_DATA);
    if (data >= 0)
        return data - offset < n_bytes ? data - offset : n_bytes;
    return errno == ENXIO && fstat(s->fd, &st) == 0 && st.st_size >= offset + n_bytes ? n_bytes : 0;
}

status span_read(struct span s, struct diags *d, void *to) {
    return s.source ? source_read(s.source, d, s.offset, to, (size_t)s.n_bytes) : ST_OK;
}

status source_text(const struct source *s, struct arena *a, struct diags *d, int64_t limit_bytes,
                   char **text) {
    if (s->n_bytes > limit_bytes)
        return diag_error(d, DIAG_LIMIT, loc_file(s->path), "has %lld bytes; the limit is %lld",
                          (long long)s->n_bytes, (long long)limit_bytes);
    if (!(*text = arena_alloc(a, (size_t)s->n_bytes + 1)))
        return diag_out_of_memory(d);
    return source_read(s, d, 0, *text, (size_t)s->n_bytes);
}
