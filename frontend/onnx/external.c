// External data: see external.h. A location is resolved with openat2 (RESOLVE_BENEATH, no links),
// or one path component at a time on kernels without it.
#include "frontend/onnx/external.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ir/base/checked.h"

enum { READ_FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY };

struct external external_make(struct arena *a, const char *folder) {
    return (struct external){.arena = a, .folder = folder, .fd = -1, .by_location = map_make(a)};
}

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

int external_open_beneath(int folder, const char *location, bool by_component) {
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

static status check_file(struct external *e, struct diags *d, struct loc where,
                         const char *location, int fd, struct source **out) {
    struct stat st;
    if (fstat(fd, &st) < 0)
        return diag_error(d, DIAG_IO, where, "external data \"%s\": %s", location, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return diag_error(d, DIAG_EXTERNAL_OUTSIDE, where,
                          "external data \"%s\" is not a regular file", location);
    if (st.st_nlink != 1)
        return diag_error(d, DIAG_EXTERNAL_OUTSIDE, where,
                          "external data \"%s\" has other hard links, which may lie outside the "
                          "model's folder; replace the file with a copy",
                          location);
    struct source *s = ARENA_NEW(e->arena, struct source);
    const char *path = file_join(e->arena, e->folder, location);
    if (!s || !path)
        return diag_out_of_memory(d);
    *s = (struct source){.path = path, .fd = fd, .n_bytes = st.st_size};
    *out = s;
    return ST_OK;
}

// Opens the file; *out stays NULL when there is none.
static status open_file(struct external *e, struct diags *d, struct loc where, const char *location,
                        struct source **out) {
    *out = NULL;
    if (is_outside(location))
        return diag_error(d, DIAG_EXTERNAL_OUTSIDE, where,
                          "external data \"%s\" is outside the model's folder; move the file into "
                          "the folder and correct its location in the model",
                          location);
    if (!e->folder)
        return ST_OK;
    if (e->fd < 0 && (e->fd = open(e->folder, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0)
        return diag_error(d, DIAG_IO, loc_file(e->folder), "cannot open: %s", strerror(errno));
    int fd = external_open_beneath(e->fd, location, false);
    if (fd >= 0) {
        status st = check_file(e, d, where, location, fd, out);
        if (st)
            close(fd);
        return st;
    }
    if (errno == ENOENT || errno == ENOTDIR)
        return ST_OK;
    if (errno == ELOOP || errno == EXDEV)
        return diag_error(d, DIAG_EXTERNAL_OUTSIDE, where,
                          "external data \"%s\" is reached through a symbolic link, which may lead "
                          "outside the model's folder; replace the link with the file",
                          location);
    return diag_error(d, DIAG_IO, where, "external data \"%s\": %s", location, strerror(errno));
}

static status file_of(struct external *e, struct diags *d, struct loc where, const char *location,
                      struct external_file *out) {
    int64_t known;
    *out = (struct external_file){0};
    if (map_get_text(&e->by_location, location, &known)) {
        *out = e->files.at[known];
        return ST_OK;
    }
    status st = open_file(e, d, where, location, &out->source);
    out->refused = st != ST_OK;
    const char *key = arena_copy(e->arena, location, strlen(location) + 1);
    if (!key || !VEC_PUSH(e->arena, &e->files, *out)) {
        source_close(out->source);
        return diag_out_of_memory(d);
    }
    if (!map_put_text(&e->by_location, key, (int64_t)e->files.n - 1))
        return diag_out_of_memory(d);
    return st;
}

// Decimal digits only.
static bool parse_number(const char *text, int64_t *out) {
    int64_t x = 0;
    if (!*text)
        return false;
    for (; *text; text++)
        if (*text < '0' || *text > '9' || !checked_mul(x, 10, &x) ||
            !checked_add(x, *text - '0', &x))
            return false;
    *out = x;
    return true;
}

status external_find(struct external *e, struct diags *d, struct loc where, struct tensor *t) {
    const char *location = NULL, *offset_text = NULL, *length_text = NULL;
    assert(t->payload == PAYLOAD_EXTERNAL);
    for (size_t i = 0; i < t->external.n; i++) {
        const struct pair *p = &t->external.at[i];
        const char *key = p->key ? p->key : "", *value = p->value ? p->value : "";
        if (strcmp(key, "location") == 0)
            location = value;
        else if (strcmp(key, "offset") == 0)
            offset_text = value;
        else if (strcmp(key, "length") == 0)
            length_text = value;
    }
    int64_t offset = 0, length = 0, need = 0;
    if (!location || !*location)
        return diag_error(d, DIAG_EXTERNAL, where, "the external data has no location");
    if (offset_text && !parse_number(offset_text, &offset))
        return diag_error(d, DIAG_EXTERNAL, where,
                          "the offset of the external data is \"%s\", not a number of bytes",
                          offset_text);
    if (length_text && !parse_number(length_text, &length))
        return diag_error(d, DIAG_EXTERNAL, where,
                          "the length of the external data is \"%s\", not a number of bytes",
                          length_text);
    bool sized = tensor_bytes(t, &need);
    if (sized && length_text && length != need)
        return diag_error(d, DIAG_EXTERNAL, where,
                          "the external data has %lld bytes, but the tensor takes %lld",
                          (long long)length, (long long)need);
    struct external_file file;
    status st = file_of(e, d, where, location, &file);
    if (st || file.refused)
        return st;
    struct source *s = file.source;
    if (!s) {
        if (e->n_absent++ == 0)
            e->first_absent = location;
        return ST_OK;
    }
    int64_t left = s->n_bytes - offset;
    if (!length_text)
        length = sized ? need : left;
    if (offset > s->n_bytes || length > left)
        return diag_error(d, DIAG_EXTERNAL, where,
                          "the external data is bytes %lld to %lld of \"%s\", which has only %lld",
                          (long long)offset,
                          (long long)offset +
                              (length > INT64_MAX - offset ? INT64_MAX - offset : length),
                          location, (long long)s->n_bytes);
    t->data = (struct span){.source = s, .offset = offset, .n_bytes = length};
    return ST_OK;
}

void external_done(struct external *e, struct diags *d, const char *model) {
    if (e->n_absent)
        diag_warning(d, DIAG_EXTERNAL_ABSENT, loc_file(model),
                     "the external data of %zu tensors is missing (the first file: \"%s\"); the "
                     "output refers to the files without copying them",
                     e->n_absent, e->first_absent);
    if (e->fd >= 0)
        close(e->fd);
    e->fd = -1;
}
