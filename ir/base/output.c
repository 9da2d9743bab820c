// Writing files whole or not at all: see file.h.
#include "ir/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 16 };

static status refuse(struct output *o, struct diags *d, const char *what) {
    return diag_error(d, DIAG_IO, loc_file(o->path), "%s: %s", what, strerror(errno));
}

const char *file_folder(struct arena *a, const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    size_t n = slash == path ? 1 : (size_t)(slash - path);
    char *folder = arena_alloc(a, n + 1);
    return folder ? memcpy(folder, path, n) : NULL;
}

const char *file_join(struct arena *a, const char *folder, const char *name) {
    return strcmp(folder, ".") == 0 ? arena_copy(a, name, strlen(name) + 1)
                                    : str_format(a, "%s/%s", folder, name);
}

status output_open(struct arena *a, struct diags *d, const char *path, struct output *out) {
    *out = (struct output){.fd = -1, .to_stdout = strcmp(path, "-") == 0};
    out->path = out->to_stdout ? "<stdout>" : arena_copy(a, path, strlen(path) + 1);
    out->buffer = arena_alloc(a, BUFFER_BYTES);
    if (!out->path || !out->buffer)
        return diag_no_room(d);
    if (out->to_stdout) {
        if ((out->fd = file_unnamed()) < 0)
            return refuse(out, d, "cannot make a temporary file");
        return ST_OK;
    }
    // A link is followed, so that it goes on pointing at what it named; the rename then replaces
    // the file itself.
    struct stat st;
    bool exists = stat(path, &st) == 0;
    if (exists && !S_ISREG(st.st_mode))
        return diag_error(d, DIAG_IO, loc_file(out->path), "exists and is not a regular file");
    char real[4096];
    ssize_t n = readlink(path, real, sizeof real - 1);
    const char *target = out->path;
    if (n > 0) {
        real[n] = 0;
        const char *folder = file_folder(a, path);
        target = real[0] == '/' || !folder ? arena_copy(a, real, (size_t)n + 1)
                                           : file_join(a, folder, real);
        if (!target)
            return diag_no_room(d);
        out->path = target;
    }
    char *temporary = str_format(a, "%s.XXXXXX.tmp", target);
    if (!temporary)
        return diag_no_room(d);
    if ((out->fd = mkostemps(temporary, 4, O_CLOEXEC)) < 0)
        return refuse(out, d, "cannot create");
    out->temporary = temporary;
    mode_t mask = umask(0);
    umask(mask);
    if (fchmod(out->fd, exists ? st.st_mode & 07777 : 0666 & ~mask) < 0)
        return refuse(out, d, "cannot set its mode");
    return ST_OK;
}

static status write_all(struct output *o, struct diags *d, int fd, const uint8_t *bytes,
                        size_t n_bytes) {
    for (size_t done = 0; done < n_bytes;) {
        ssize_t n = write(fd, bytes + done, n_bytes - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return refuse(o, d, "cannot write");
        done += (size_t)n;
    }
    return ST_OK;
}

static status flush(struct output *o, struct diags *d) {
    size_t n = o->n_buffered;
    o->n_buffered = 0;
    return write_all(o, d, o->fd, o->buffer, n);
}

status output_write(struct output *o, struct diags *d, const void *bytes, size_t n_bytes) {
    status st = ST_OK;
    o->n_bytes += (int64_t)n_bytes;
    if (n_bytes > BUFFER_BYTES - o->n_buffered && (st = flush(o, d)))
        return st;
    if (n_bytes >= BUFFER_BYTES)
        return write_all(o, d, o->fd, bytes, n_bytes);
    if (n_bytes)
        memcpy(o->buffer + o->n_buffered, bytes, n_bytes);
    o->n_buffered += n_bytes;
    return ST_OK;
}

status output_copy(struct output *o, struct diags *d, struct span from) {
    status st = ST_OK;
    if (!from.source || from.n_bytes == 0)
        return ST_OK;
    if (from.source->memory)
        return output_write(o, d, from.source->memory + from.offset, (size_t)from.n_bytes);
    int64_t at = from.offset, left = from.n_bytes;
    if (left >= BUFFER_BYTES && (st = flush(o, d)))
        return st;
    while (left >= BUFFER_BYTES) {
        off64_t in = at;
        ssize_t n = copy_file_range(from.source->fd, &in, o->fd, NULL, (size_t)left, 0);
        if (n <= 0)
            break; // another file system, an old kernel, or a true error: the plain way will tell
        at += n;
        left -= n;
        o->n_bytes += n;
    }
    uint8_t block[1 << 14];
    while (left > 0 && !st) {
        size_t n = left < (int64_t)sizeof block ? (size_t)left : sizeof block;
        if (!(st = source_read(from.source, d, at, block, n)))
            st = output_write(o, d, block, n);
        at += (int64_t)n;
        left -= (int64_t)n;
    }
    return st;
}

static status copy_to_stdout(struct output *o, struct diags *d) {
    status st = ST_OK;
    uint8_t block[1 << 14];
    for (int64_t at = 0; at < o->n_bytes && !st;) {
        ssize_t n = pread(o->fd, block, sizeof block, at);
        if (n <= 0)
            return refuse(o, d, "cannot read back");
        st = write_all(o, d, STDOUT_FILENO, block, (size_t)n);
        at += n;
    }
    return st;
}

status output_commit(struct output *o, struct diags *d) {
    status st = flush(o, d);
    if (!st && o->to_stdout)
        st = copy_to_stdout(o, d);
    // The data must be on disk before the name is, and the name before we say so. Not every file
    // system can sync a folder; then there is nothing more to be done.
    if (!st && !o->to_stdout) {
        if (fsync(o->fd) < 0)
            st = refuse(o, d, "cannot sync");
        else if (rename(o->temporary, o->path) < 0)
            st = refuse(o, d, "cannot put the new file in place");
        else
            o->temporary = NULL;
    }
    if (!st && !o->to_stdout) {
        char folder[4096] = ".";
        const char *slash = strrchr(o->path, '/');
        if (slash && (size_t)(slash - o->path) + 1 < sizeof folder) {
            memcpy(folder, o->path, (size_t)(slash - o->path) + 1);
            folder[slash - o->path + 1] = 0;
        }
        int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0) {
            fsync(fd);
            close(fd);
        }
    }
    output_abort(o);
    return st;
}

void output_abort(struct output *o) {
    if (o->fd >= 0)
        close(o->fd);
    o->fd = -1;
    if (o->temporary)
        unlink(o->temporary);
    o->temporary = NULL;
}
