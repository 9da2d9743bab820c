// Files that an input names: see file.h. A location is resolved with openat2 (RESOLVE_BENEATH, no
// links), or one path component at a time on kernels without it.
#include "ir/base/file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { READ_FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY };

// One path component at a time; refuses links and "..".
static int open_by_component(int folder, const char *location) {
    int at = folder;
    while (true) {
        char part[NAME_MAX + 1];
        location += strspn(location, "/");
        size_t n = strcspn(location, "/");
        const char *rest = location + n + strspn(location + n, "/");
        int fd = -1;
        if (n == 0 || n > NAME_MAX) {
            errno = n ? ENAMETOOLONG : EISDIR;
        } else {
            memcpy(part, location, n);
            part[n] = 0;
            if (strcmp(part, "..") == 0)
                errno = EXDEV;
            else
                fd = openat(at, part,
                            *rest ? O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC : READ_FLAGS);
        }
        int why = errno;
        struct stat st;
        // openat reports a link in the middle of the path as ENOTDIR; report ELOOP instead.
        if (fd < 0 && why == ENOTDIR && n <= NAME_MAX &&
            fstatat(at, part, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
            why = ELOOP;
        if (at != folder)
            close(at);
        errno = why;
        if (fd < 0 || !*rest)
            return fd;
        at = fd;
        location = rest;
    }
}

int file_open_beneath(int folder, const char *location, bool by_component) {
    assert(folder >= 0 && location);
    if (*location == '/') {
        errno = EXDEV;
        return -1;
    }
    if (!by_component) {
        struct open_how how = {.flags = READ_FLAGS,
                               .resolve =
                                   RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
        long fd = syscall(SYS_openat2, folder, location, &how, sizeof how);
        if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
            return (int)fd;
    }
    return open_by_component(folder, location);
}

// An absolute path or one with "..": refused even when no such file exists.
static bool is_outside(const char *location) {
    if (*location == '/')
        return true;
    for (const char *p = location; p; p = strchr(p, '/')) {
        p += *p == '/';
        size_t n = strcspn(p, "/");
        if (n == 2 && p[0] == '.' && p[1] == '.')
            return true;
    }
    return false;
}

static status check_file(struct arena *a, struct diags *d, const struct reference *r, int fd,
                         struct source **out) {
    struct stat st;
    if (fstat(fd, &st) < 0)
        return diag_error(d, DIAG_IO, r->where, "external data \"%s\": %s", r->location,
                          strerror(errno));
    if (!S_ISREG(st.st_mode))
        return diag_error(d, DIAG_EXTERNAL_OUTSIDE, r->where,
                          "external data \"%s\" is not a regular file", r->location);
    if (st.st_nlink != 1)
        return diag_error(d, DIAG_EXTERNAL_OUTSIDE, r->where,
                          "external data \"%s\" has other hard links, which may lie outside the "
                          "model's folder; replace the file with a copy",
                          r->location);
    struct source *s = ARENA_NEW(a, struct source);
    const char *path = file_join(a, r->folder, r->location);
    if (!s || !path)
        return diag_out_of_memory(d);
    *s = (struct source){.path = path, .fd = fd, .n_bytes = st.st_size};
    *out = s;
    return ST_OK;
}

status source_open_beneath(struct arena *a, struct diags *d, const struct reference *r,
                           struct source **out) {
    *out = NULL;
    if (is_outside(r->location))
        return diag_error(d, DIAG_EXTERNAL_OUTSIDE, r->where,
                          "external data \"%s\" is outside the model's folder; move the file into "
                          "the folder and correct its location in the model",
                          r->location);
    if (!r->folder)
        return ST_OK;
    int folder = open(r->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return diag_error(d, DIAG_IO, loc_file(r->folder), "cannot open: %s", strerror(errno));
    int fd = file_open_beneath(folder, r->location, false), why = errno;
    close(folder);
    if (fd >= 0) {
        status st = check_file(a, d, r, fd, out);
        if (st)
            close(fd);
        return st;
    }
    if (why == ENOENT || why == ENOTDIR)
        return ST_OK;
    if (why == ELOOP || why == EXDEV)
        return diag_error(d, DIAG_EXTERNAL_OUTSIDE, r->where,
                          "external data \"%s\" is reached through a symbolic link, which may lead "
                          "outside the model's folder; replace the link with the file",
                          r->location);
    return diag_error(d, DIAG_IO, r->where, "external data \"%s\": %s", r->location, strerror(why));
}

// The part of `path` behind the folder and a slash; NULL: it is not beneath.
static const char *strip_folder(const char *path, const char *folder) {
    size_t n = strlen(folder);
    if (strcmp(folder, ".") == 0)
        return is_outside(path) ? NULL : path;
    if (strncmp(path, folder, n) != 0 || (path[n] != '/' && folder[n - 1] != '/'))
        return NULL;
    return path + n + strspn(path + n, "/");
}

bool file_beneath(struct arena *a, const char *folder, const char *path, const char **out) {
    const char *inner = file_folder(a, path), *beneath = NULL;
    if (!inner)
        return false;
    // Resolved, so that the same folder is found under two names.
    char *outer = realpath(folder, NULL), *real = realpath(inner, NULL);
    bool no_memory = (!outer || !real) && errno == ENOMEM;
    if (!outer || !real)
        beneath = strip_folder(path, folder);
    else if (strcmp(outer, real) == 0)
        beneath = file_name(path);
    else if (strip_folder(real, outer))
        no_memory = !(beneath = str_format(a, "%s/%s", strip_folder(real, outer), file_name(path)));
    *out = beneath;
    free(outer);
    free(real);
    return !no_memory;
}
