// Paths and unnamed files, for source.c and output.c: see file.h.
#include "ir/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *file_folder(struct arena *a, const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    size_t n = slash == path ? 1 : (size_t)(slash - path);
    char *folder = arena_alloc(a, n + 1);
    return folder ? memcpy(folder, path, n) : NULL;
}

const char *file_join(struct arena *a, const char *folder, const char *name) {
    if (strcmp(folder, ".") == 0)
        return arena_copy(a, name, strlen(name) + 1);
    size_t n = strlen(folder);
    return str_format(a, n && folder[n - 1] == '/' ? "%s%s" : "%s/%s", folder, name);
}

const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// Follows links by hand, because the last one may point at a file that is yet to be made, for which
// realpath has no answer.
const char *file_follow(struct arena *a, const char *path) {
    enum { MAX_LINKS = 40, MAX_LINK_BYTES = 4096 }; // Linux's own bounds
    for (int hops = 0; path; hops++) {
        char to[MAX_LINK_BYTES];
        ssize_t n = readlink(path, to, sizeof to);
        if (n < 0 || n == MAX_LINK_BYTES) // not a link, or one that the system itself would refuse
            return path;
        if (hops == MAX_LINKS) {
            errno = ELOOP;
            return NULL;
        }
        const char *folder = file_folder(a, path);
        const char *next = folder ? str_format(a, "%.*s", (int)n, to) : NULL;
        path = next && next[0] != '/' ? file_join(a, folder, next) : next;
    }
    errno = ENOMEM;
    return NULL;
}

// Without an allocation, because it also cleans up when memory has run out.
void file_remove_folder(const char *folder) {
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    _Alignas(struct dirent64) char block[4096];
    for (ssize_t n = 1; fd >= 0 && (n = getdents64(fd, block, sizeof block)) > 0;)
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *e = (const void *)(block + at);
            if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
                unlinkat(fd, e->d_name, 0);
            at += e->d_reclen;
        }
    if (fd >= 0)
        close(fd);
    rmdir(folder);
}

int file_unnamed(void) {
    const char *const folders[] = {getenv("TMPDIR"), "/tmp", "/var/tmp", "."};
    int fd = -1;
    for (size_t i = 0; fd < 0 && i < sizeof folders / sizeof *folders; i++)
        if (folders[i] && folders[i][0])
            fd = open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return fd;
}
