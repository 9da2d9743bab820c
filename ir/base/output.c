// Writing files whole or not at all: see file.h.
//
// The new file grows in the target's folder without a name, is synced, gets a name of its own, and
// takes the target's name in one rename; the folder is synced last. A kill at any moment so leaves
// the old file or the new one. Where the file system has no nameless files, the new one has its own
// name from the start (plan.onnx.4711-0.tmp), and that is what a kill may leave besides.
#include "ir/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
#ifdef MFC_SMALL
    BUFFER_BYTES = 64,
#else
    BUFFER_BYTES = 1 << 16,
#endif
    HOLE_BYTES = 1 << 16, // shorter runs are not asked about
    TAIL_BYTES = 40,      // of a temporary's name
};

static status refuse(struct output *o, struct diags *d, const char *what) {
    return diag_error(d, DIAG_IO, loc_file(o->path), "%s: %s", what, strerror(errno));
}

// A stream is spooled too, so that a failure on the way leaves it untouched.
static status open_stream(struct output *o, struct diags *d, const char *path) {
    if (path && (o->stream = open(path, O_WRONLY | O_CLOEXEC)) < 0)
        return refuse(o, d, "cannot open");
    return (o->fd = file_unnamed()) < 0 ? refuse(o, d, "cannot make a temporary file") : ST_OK;
}

// Makes a file of a name of its own, or gives that name to the one that has none. The name has the
// process in it and a count, so that two writers do not meet; the system decides. -1 and errno.
static int take_name(struct output *o, mode_t mode) {
    char nameless[64];
    snprintf(nameless, sizeof nameless, "/proc/self/fd/%d", o->fd);
    for (int i = 0; i < 1000; i++) {
        snprintf(o->temporary + o->n_stem, TAIL_BYTES, ".%ld-%d.tmp", (long)getpid(), i);
        if (o->fd >= 0)
            o->is_named =
                linkat(AT_FDCWD, nameless, AT_FDCWD, o->temporary, AT_SYMLINK_FOLLOW) == 0;
        else
            o->is_named =
                (o->fd = open(o->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                              mode)) >= 0;
        if (o->is_named || errno != EEXIST)
            break;
    }
    return o->is_named ? 0 : -1;
}

// A file that can be given a name later; -1 where there is no such thing.
static int open_nameless(const char *folder, mode_t mode) {
#ifdef MFC_SMALL // the other way, which few file systems need, is tested too
    (void)folder, (void)mode;
    return -1;
#else
    return access("/proc/self/fd", X_OK) < 0 ? -1
                                             : open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
#endif
}

// A long name is cut, for the whole must stay below the file system's limit.
static status open_temporary(struct arena *a, struct diags *d, struct output *o, mode_t mode) {
    o->folder = file_folder(a, o->path);
    char *stem = str_format(a, "%.200s", file_name(o->path));
    const char *start = o->folder && stem ? file_join(a, o->folder, stem) : NULL;
    if (!start || !(o->temporary = str_format(a, "%s%*s", start, TAIL_BYTES, "")))
        return diag_out_of_memory(d);
    o->n_stem = strlen(start);
    if ((o->fd = open_nameless(o->folder, mode)) < 0 && take_name(o, mode) < 0)
        return refuse(o, d, "cannot create a file in its folder");
    return ST_OK;
}

// Replacing a file changes its content, not who owns it and who may read it. Only root can give
// files away; for others the file becomes theirs, as with any editor.
static status keep_mode(struct output *o, struct diags *d, const struct stat *old) {
    if (fchown(o->fd, old->st_uid, old->st_gid) < 0 && errno != EPERM)
        return refuse(o, d, "cannot set its owner");
    return fchmod(o->fd, old->st_mode & 0777) < 0 ? refuse(o, d, "cannot set its mode") : ST_OK;
}

status output_open_memory(struct arena *a, struct diags *d, const char *name, struct output *out) {
    *out = (struct output){.path = name,
                           .fd = -1,
                           .stream = -1,
                           .in_memory = true,
                           .buffer = arena_alloc(a, BUFFER_BYTES)};
    return out->buffer ? open_stream(out, d, NULL) : diag_out_of_memory(d);
}

status output_open(struct arena *a, struct diags *d, const char *path, struct output *out) {
    bool is_stdout = strcmp(path, "-") == 0;
    *out = (struct output){.path = is_stdout ? "<stdout>" : path,
                           .fd = -1,
                           .stream = is_stdout ? STDOUT_FILENO : -1,
                           .buffer = arena_alloc(a, BUFFER_BYTES)};
    if (!out->buffer)
        return diag_out_of_memory(d);
    if (is_stdout)
        return open_stream(out, d, NULL);
    // A link goes on pointing at what it named: the file there is replaced, not the link.
    const char *target = file_follow(a, path);
    if (!target && errno == ENOMEM)
        return diag_out_of_memory(d);
    if (!target)
        return refuse(out, d, "cannot follow the link");
    if (!(out->path = arena_copy(a, target, strlen(target) + 1)))
        return diag_out_of_memory(d);
    struct stat st;
    if (stat(out->path, &st) < 0)
        return errno == ENOENT ? open_temporary(a, d, out, 0666) : refuse(out, d, "cannot write");
    if (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode))
        return open_stream(out, d, out->path);
    if (S_ISDIR(st.st_mode))
        return diag_error(d, DIAG_IO, loc_file(out->path), "is a folder, not a file");
    if (!S_ISREG(st.st_mode))
        return diag_error(d, DIAG_IO, loc_file(out->path), "exists and is not a regular file");
    if (faccessat(AT_FDCWD, out->path, W_OK, AT_EACCESS) < 0) // a rename would not ask
        return refuse(out, d, "cannot replace it");
    status bad = open_temporary(a, d, out, 0600);
    return bad ? bad : keep_mode(out, d, &st);
}

static status write_all(struct output *o, struct diags *d, int fd, const uint8_t *bytes,
                        size_t n_bytes) {
    for (size_t done = 0; done < n_bytes;) {
        ssize_t n = write(fd, bytes + done, n_bytes - done);
        if (n >= 0) {
            done += (size_t)n;
        } else if (errno == EAGAIN) { // a stream that somebody made non-blocking
            struct pollfd wait = {.fd = fd, .events = POLLOUT};
            poll(&wait, 1, -1);
        } else if (errno != EINTR) {
            return refuse(o, d, "cannot write");
        }
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

status output_skip(struct output *o, struct diags *d, int64_t n_bytes) {
    status st = flush(o, d);
    if (st)
        return st;
    o->n_bytes += n_bytes;
    return lseek(o->fd, n_bytes, SEEK_CUR) < 0 ? refuse(o, d, "cannot write") : ST_OK;
}

static int64_t run_end(int fd, int64_t at, int64_t end) {
    off_t hole = lseek(fd, at, SEEK_HOLE);
    return hole > at && hole < end ? hole : end;
}

// In the kernel where it can: from file to file without a copy in between. Where it cannot (another
// file system, an old kernel, a true error), the plain way goes on, and tells.
static status copy_run(struct output *o, struct diags *d, const struct source *s, int64_t at,
                       int64_t end) {
    status st = ST_OK;
    if (end - at >= HOLE_BYTES && !(st = flush(o, d)))
        for (ssize_t n = 1; n > 0 && at < end;) {
            off64_t in = at;
            n = copy_file_range(s->fd, &in, o->fd, NULL, (size_t)(end - at), 0);
            at += n > 0 ? n : 0;
            o->n_bytes += n > 0 ? n : 0;
        }
    uint8_t block[1 << 14];
    while (at < end && !st) {
        size_t n = end - at < (int64_t)sizeof block ? (size_t)(end - at) : sizeof block;
        if (!(st = source_read(s, d, at, block, n)))
            st = output_write(o, d, block, n);
        at += (int64_t)n;
    }
    return st;
}

status output_copy(struct output *o, struct diags *d, struct span from) {
    const struct source *s = from.source;
    if (!s || from.n_bytes == 0)
        return ST_OK;
    if (from.offset < 0 || from.n_bytes < 0 || from.offset > s->n_bytes ||
        from.n_bytes > s->n_bytes - from.offset)
        return diag_error(d, DIAG_MALFORMED, loc_offset(s->path, from.offset),
                          "%lld bytes are needed here, but the file ends at byte %lld",
                          (long long)from.n_bytes, (long long)s->n_bytes);
    if (s->memory)
        return output_write(o, d, s->memory + from.offset, (size_t)from.n_bytes);
    status st = ST_OK;
    for (int64_t at = from.offset, end = at + from.n_bytes, to; at < end && !st; at = to) {
        if (end - at < HOLE_BYTES) {
            st = copy_run(o, d, s, at, to = end);
        } else if ((to = at + source_hole(s, at, end - at)) > at) {
            st = output_skip(o, d, to - at);
        } else {
            st = copy_run(o, d, s, at, to = run_end(s->fd, at, end));
        }
    }
    return st;
}

status output_sync(struct output *o, struct diags *d) {
    status st = flush(o, d);
    if (st)
        return st;
    // A hole at the end is part of the file only when its size says so.
    if (ftruncate(o->fd, o->n_bytes) < 0)
        return refuse(o, d, "cannot write");
    bool is_file = o->stream < 0 && !o->in_memory;
    return is_file && fsync(o->fd) < 0 ? refuse(o, d, "cannot sync") : ST_OK;
}

status output_take(struct output *o, struct diags *d, void *to) {
    status st = output_sync(o, d);
    for (int64_t at = 0; at < o->n_bytes && !st;) {
        ssize_t n = pread(o->fd, (uint8_t *)to + at, (size_t)(o->n_bytes - at), at);
        if (n <= 0 && errno != EINTR)
            return refuse(o, d, "cannot read its temporary file back");
        at += n > 0 ? n : 0;
    }
    return st;
}

static status feed_stream(struct output *o, struct diags *d) {
    status st = ST_OK;
    uint8_t block[1 << 14];
    for (int64_t at = 0; at < o->n_bytes && !st;) {
        ssize_t n = pread(o->fd, block, sizeof block, at);
        if (n <= 0)
            return refuse(o, d, "cannot read its temporary file back");
        st = write_all(o, d, o->stream, block, (size_t)n);
        at += n;
    }
    return st;
}

// Not every file system can sync a folder; then there is nothing more to be done.
static void sync_folder(const char *folder) {
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

// A full disk may be reported as late as here. After EINTR the descriptor is closed, too.
static status close_now(struct output *o, struct diags *d, int *fd) {
    int was = *fd;
    *fd = -1;
    return close(was) < 0 && errno != EINTR ? refuse(o, d, "cannot write") : ST_OK;
}

status output_prepare(struct output *o, struct diags *d) {
    // The data must be on disk before the name is, and the name before we say so.
    status st = output_sync(o, d);
    if (!st && o->stream >= 0) {
        st = feed_stream(o, d);
        if (!st && o->stream > STDERR_FILENO)
            st = close_now(o, d, &o->stream);
    } else if (!st && !o->is_named && take_name(o, 0) < 0) {
        st = refuse(o, d, "cannot put the new file in place");
    }
    return st ? st : close_now(o, d, &o->fd);
}

// Where the file system cannot exchange two names, the old file is replaced at once.
status output_publish(struct output *o, struct diags *d) {
    if (!o->is_named)
        return ST_OK;
    o->is_new = false;
    if (renameat2(AT_FDCWD, o->temporary, AT_FDCWD, o->path, RENAME_EXCHANGE) == 0)
        return ST_OK;
    o->is_new = errno == ENOENT;
    if (!o->is_new && errno != EINVAL && errno != ENOSYS)
        return refuse(o, d, "cannot put the new file in place");
    if (rename(o->temporary, o->path) < 0)
        return refuse(o, d, "cannot put the new file in place");
    o->is_named = false;
    return ST_OK;
}

void output_revert(struct output *o) {
    if (o->is_named)
        renameat2(AT_FDCWD, o->temporary, AT_FDCWD, o->path, RENAME_EXCHANGE);
    else if (o->is_new)
        unlink(o->path);
    o->is_new = false;
}

void output_settle(struct output *o) {
    if (o->folder)
        sync_folder(o->folder);
    o->is_new = false;
    output_abort(o);
}

status output_commit(struct output *o, struct diags *d) {
    bool is_file = o->stream < 0;
    status st = output_prepare(o, d);
    if (!st && is_file && rename(o->temporary, o->path) < 0) {
        st = refuse(o, d, "cannot put the new file in place");
    } else if (!st && is_file) {
        o->is_named = false;
        sync_folder(o->folder);
    }
    output_abort(o);
    return st;
}

void output_abort(struct output *o) {
    if (o->fd >= 0)
        close(o->fd);
    if (o->stream > STDERR_FILENO)
        close(o->stream);
    o->fd = o->stream = -1;
    if (o->is_named)
        unlink(o->temporary);
    o->is_named = false;
}

// A stream is not touched: its reader would see the end.
status output_probe(struct arena *a, struct diags *d, const char *path) {
    struct stat st;
    struct output probe;
    if (strcmp(path, "-") == 0 ||
        (stat(path, &st) == 0 && (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode))))
        return ST_OK;
    status opened = output_open(a, d, path, &probe);
    if (!opened)
        output_abort(&probe);
    return opened;
}

status output_text(struct arena *a, struct diags *d, const char *path, const struct str *text) {
    struct output o;
    if (text->failed)
        return diag_out_of_memory(d);
    status st = output_open(a, d, path, &o);
    if (st)
        return st;
    st = output_write(&o, d, str_text(text), text->n);
    if (!st)
        st = output_commit(&o, d);
    output_abort(&o);
    return st;
}
