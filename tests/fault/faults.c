// A library for LD_PRELOAD that makes one call of a program fail: the sweeps of sweep.py.
//
//     MFC_FAULT=alloc:17        the 17th allocation fails; alloc:17+ it and all that follow
//     MFC_FAULT=write:3:ENOSPC  the 3rd write fails with that error
//     MFC_FAULT=read:2:short    the 2nd read gives one byte less than it could, or one byte
//     MFC_FAULT_COUNT=FILE      how many calls there were of the kind, written at the end
//
// Calls are counted from main() on, in each process on its own, so that a worker's calls fail too.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *block, size_t n);
void *__libc_memalign(size_t align, size_t n);

enum kind { ALLOC, OPEN, READ, WRITE, FSYNC, RENAME, LINK, CLOSE, MKDIR, TRUNCATE, KIND_COUNT_ };

static const char *const kind_names[] = {"alloc",  "open", "read",  "write", "fsync",
                                         "rename", "link", "close", "mkdir", "truncate"};

static const struct {
    const char *name;
    int number;
} errors[] = {{"EIO", EIO}, {"ENOSPC", ENOSPC}, {"EINTR", EINTR}, {"ENOMEM", ENOMEM}, {"short", 0}};

static atomic_bool is_armed;
static atomic_long n_calls;
static enum kind kind;
static long at;        // the call that fails
static bool is_onward; // and all that follow
static int error;      // 0: a short count

static void read_fault(const char *text) {
    const char *number = strchr(text, ':');
    if (!number)
        return;
    for (int k = 0; k < KIND_COUNT_; k++)
        if (strncmp(text, kind_names[k], (size_t)(number - text)) == 0)
            kind = (enum kind)k;
    char *end;
    at = strtol(number + 1, &end, 10);
    is_onward = *end == '+';
    error = kind == ALLOC ? ENOMEM : EIO;
    const char *name = strchr(end, ':');
    for (size_t i = 0; name && i < sizeof errors / sizeof *errors; i++)
        if (strcmp(name + 1, errors[i].name) == 0)
            error = errors[i].number;
    is_armed = true;
}

// Whether this call fails; errno is then set. *is_short: it gives less instead.
static bool fails(enum kind k, bool *is_short) {
    if (!is_armed || k != kind)
        return false;
    long n = ++n_calls;
    if (n != at && !(is_onward && n > at))
        return false;
    if (is_short && error == 0) {
        *is_short = true;
        return false;
    }
    errno = error ? error : EIO;
    return true;
}

static void *next(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

static void write_count(void) {
    const char *path = getenv("MFC_FAULT_COUNT");
    bool was_armed = atomic_exchange(&is_armed, false);
    FILE *f = was_armed && path ? fopen(path, "w") : NULL;
    if (f) {
        fprintf(f, "%ld\n", (long)n_calls);
        fclose(f);
    }
}

static int (*real_main)(int, char **, char **);

static int armed_main(int argc, char **argv, char **environment) {
    const char *fault = getenv("MFC_FAULT");
    if (fault) {
        atexit(write_count);
        read_fault(fault);
    }
    return real_main(argc, argv, environment);
}

// The C library calls it with four more: init, fini, rtld_fini and the end of the stack.
int __libc_start_main(int (*program)(int, char **, char **), int argc, char **argv, ...);
int __libc_start_main(int (*program)(int, char **, char **), int argc, char **argv, ...) {
    void *more[4];
    va_list args;
    va_start(args, argv);
    for (int i = 0; i < 4; i++)
        more[i] = va_arg(args, void *);
    va_end(args);
    int (*start)(int (*)(int, char **, char **), int, char **, ...) = next("__libc_start_main");
    real_main = program;
    return start(armed_main, argc, argv, more[0], more[1], more[2], more[3]);
}

void *malloc(size_t n) {
    return fails(ALLOC, NULL) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size) {
    return fails(ALLOC, NULL) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *block, size_t n) {
    return n && fails(ALLOC, NULL) ? NULL : __libc_realloc(block, n);
}

void *aligned_alloc(size_t align, size_t n) {
    return fails(ALLOC, NULL) ? NULL : __libc_memalign(align, n);
}

int posix_memalign(void **block, size_t align, size_t n) {
    *block = fails(ALLOC, NULL) ? NULL : __libc_memalign(align, n);
    return *block ? 0 : ENOMEM;
}

static mode_t mode_of(int flags, va_list args) {
    return flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(args, int) : 0;
}

int open(const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    int (*real)(const char *, int, ...) = next("open");
    return fails(OPEN, NULL) ? -1 : real(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    int (*real)(int, const char *, int, ...) = next("openat");
    return fails(OPEN, NULL) ? -1 : real(folder, path, flags, mode);
}

// openat2 has no function of its own.
long syscall(long number, ...) {
    long x[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        x[i] = va_arg(args, long);
    va_end(args);
    long (*real)(long, ...) = next("syscall");
    if (number == SYS_openat2 && fails(OPEN, NULL))
        return -1;
    return real(number, x[0], x[1], x[2], x[3], x[4], x[5]);
}

static size_t shorter(size_t n) {
    return n > 1 ? n / 2 : n;
}

ssize_t read(int fd, void *to, size_t n) {
    bool is_short = false;
    ssize_t (*real)(int, void *, size_t) = next("read");
    return fails(READ, &is_short) ? -1 : real(fd, to, is_short ? shorter(n) : n);
}

ssize_t pread(int fd, void *to, size_t n, off_t offset) {
    bool is_short = false;
    ssize_t (*real)(int, void *, size_t, off_t) = next("pread");
    return fails(READ, &is_short) ? -1 : real(fd, to, is_short ? shorter(n) : n, offset);
}

ssize_t write(int fd, const void *from, size_t n) {
    bool is_short = false;
    ssize_t (*real)(int, const void *, size_t) = next("write");
    return fails(WRITE, &is_short) ? -1 : real(fd, from, is_short ? shorter(n) : n);
}

ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t n, unsigned flags) {
    bool is_short = false;
    ssize_t (*real)(int, off64_t *, int, off64_t *, size_t, unsigned) = next("copy_file_range");
    return fails(WRITE, &is_short) ? -1 : real(in, from, out, to, is_short ? shorter(n) : n, flags);
}

int fsync(int fd) {
    int (*real)(int) = next("fsync");
    return fails(FSYNC, NULL) ? -1 : real(fd);
}

int ftruncate(int fd, off_t n) {
    int (*real)(int, off_t) = next("ftruncate");
    return fails(TRUNCATE, NULL) ? -1 : real(fd, n);
}

int rename(const char *from, const char *to) {
    int (*real)(const char *, const char *) = next("rename");
    return fails(RENAME, NULL) ? -1 : real(from, to);
}

int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
    int (*real)(int, const char *, int, const char *, unsigned) = next("renameat2");
    return fails(RENAME, NULL) ? -1 : real(a, from, b, to, flags);
}

int linkat(int a, const char *from, int b, const char *to, int flags) {
    int (*real)(int, const char *, int, const char *, int) = next("linkat");
    return fails(LINK, NULL) ? -1 : real(a, from, b, to, flags);
}

// The descriptor is closed also when the call fails, as on Linux.
int close(int fd) {
    int (*real)(int) = next("close");
    int closed = real(fd);
    return fails(CLOSE, NULL) ? -1 : closed;
}

int mkdir(const char *path, mode_t mode) {
    int (*real)(const char *, mode_t) = next("mkdir");
    return fails(MKDIR, NULL) ? -1 : real(path, mode);
}

char *mkdtemp(char *pattern) {
    char *(*real)(char *) = next("mkdtemp");
    return fails(MKDIR, NULL) ? NULL : real(pattern);
}
