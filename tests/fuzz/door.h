// What the doors of the fuzzer share: memory with a limit, diagnostics, and the laws that hold for
// every reader whatever the bytes are. It ends with a result, or with an error that says why; never
// with an internal error; and it gives all memory back.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ir/base/diag.h"
#include "ir/base/file.h"
#include "ir/base/mem.h"

// libFuzzer calls it; so does drive.c.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define DOOR_MEMORY ((int64_t)256 << 20)

struct door {
    struct mem mem;
    struct arena a;
    struct diags d;
};

static inline void door_open(struct door *o) {
    o->mem = mem_make(DOOR_MEMORY);
    o->a = arena_make(&o->mem);
    o->d = diags_make(&o->a);
}

// The laws, for a reader that has ended with `st`.
static inline void door_check(const struct door *o, status st) {
    if (st ? st == ST_INTERNAL || o->d.n_errors == 0 : o->d.n_errors > 0)
        abort();
}

static inline void door_close(struct door *o) {
    arena_free(&o->a);
    if (o->mem.used_bytes != 0)
        abort();
}

// An input of two files: the first ends at a byte of zero.
static inline size_t door_split(const uint8_t *bytes, size_t n) {
    const uint8_t *end = n ? memchr(bytes, 0, n) : NULL;
    return end ? (size_t)(end - bytes) : n;
}

static inline struct source *door_source(struct door *o, const uint8_t *bytes, size_t n) {
    struct source *s;
    return source_memory(&o->a, &o->d, bytes, (int64_t)n, &s) ? NULL : s;
}

// A file of these bytes, for readers that open a path themselves.
static inline int door_file(const uint8_t *bytes, size_t n, char path[32]) {
    int fd = memfd_create("door", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
        abort();
    snprintf(path, 32, "/proc/self/fd/%d", fd);
    return fd;
}
