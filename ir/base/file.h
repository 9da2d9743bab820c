// Files. A source is opened once and read by position; it is never mapped, so that a file which
// shrinks under us is a short read and not a signal. An output is written beside its target, synced
// and renamed: whoever looks, at any moment, sees the old file or the new one, whole.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/diag.h"
#include "ir/base/mem.h"
#include "ir/base/status.h"
#include "ir/base/str.h"

// Something with bytes at positions: an open file, or a block of memory (fd < 0).
struct source {
    const char *path; // as the user gave it, for messages; "<stdin>", "<memory>"
    int fd;
    const uint8_t *memory;
    int64_t n_bytes;
};

// A run of bytes in a source. Weights are spans: they go from file to file without being loaded.
struct span {
    const struct source *source; // NULL: no bytes at all
    int64_t offset, n_bytes;
};

// Regular files; "-" is standard input, spooled to an unnamed temporary file. A folder or a device
// is refused. The source and its path live in the arena; source_close() ends it.
status source_open(struct arena *a, struct diags *d, const char *path, struct source **out);
status source_memory(struct arena *a, struct diags *d, const void *bytes, int64_t n_bytes,
                     struct source **out);
void source_close(struct source *s);

// A file that an input names. The name is not trusted: it is resolved beneath the folder of the
// input only, without following symbolic links, and must be that of a regular file without other
// hard links; else DIAG_EXTERNAL_OUTSIDE.
struct reference {
    const char *folder; // NULL: the input is no file, and all files count as absent
    const char *location;
    struct loc where; // in the input
};

// *out is NULL when there is no such file.
status source_open_beneath(struct arena *a, struct diags *d, const struct reference *r,
                           struct source **out);

// Opens `location` beneath the folder for reading. Failure: -1 and errno; EXDEV: outside of the
// folder; ELOOP: through a symbolic link. `by_component` works without openat2.
int file_open_beneath(int folder, const char *location, bool by_component);

// The path as a location beneath the folder; NULL: it is not beneath. False: out of memory.
bool file_beneath(struct arena *a, const char *folder, const char *path, const char **out);

// All n_bytes at offset, or an error: reading past the end is malformed input.
status source_read(const struct source *s, struct diags *d, int64_t offset, void *to,
                   size_t n_bytes);
// How many of the n_bytes at offset are a hole, zeros that need not be read; 0: none.
int64_t source_hole(const struct source *s, int64_t offset, int64_t n_bytes);
status span_read(struct span s, struct diags *d, void *to); // s.n_bytes bytes

// The whole file as NUL-terminated text (the NUL is not counted), refused above the limit.
status source_text(const struct source *s, struct arena *a, struct diags *d, int64_t limit_bytes,
                   char **text);

// An output on its way. Nothing is visible at `path` until output_commit; output_abort (also after
// a failure, also after commit) leaves no trace. "-" is standard output; it, a pipe and a device
// such as /dev/null are streams, which are fed at commit.
struct output {
    const char *path; // where it goes; what a link names, when it was given a link
    const char *folder;
    char *temporary; // its name on the way, when is_named
    size_t n_stem;   // of that name
    bool is_named;
    int fd;
    bool is_new;     // there was no file of that name when it was published
    int stream;      // where a stream goes; -1: a file, to be renamed
    bool in_memory;  // a stream whose bytes the caller takes
    int64_t n_bytes; // written so far
    uint8_t *buffer; // small writes are gathered
    size_t n_buffered;
};

status output_open(struct arena *a, struct diags *d, const char *path, struct output *out);
// An output that has no file: the caller takes its bytes with output_take instead of committing it.
status output_open_memory(struct arena *a, struct diags *d, const char *name, struct output *out);
// All of its n_bytes so far.
status output_take(struct output *o, struct diags *d, void *to);
status output_write(struct output *o, struct diags *d, const void *bytes, size_t n_bytes);
status output_copy(struct output *o, struct diags *d, struct span from); // holes stay holes
status output_skip(struct output *o, struct diags *d, int64_t n_bytes);  // a hole in the file
// All that was written is on disk, still invisible: a full disk has then been noticed.
status output_sync(struct output *o, struct diags *d);
status output_commit(struct output *o, struct diags *d);
void output_abort(struct output *o);
// Whether it could be opened, for a command that is busy for long before it writes. Nothing stays.
status output_probe(struct arena *a, struct diags *d, const char *path);
// The three parts of a commit, for outputs that belong together (struct outputs). All but the
// rename, and a stream gets its bytes; the rename, which keeps an old file under the temporary
// name; the end of the old file. output_revert takes the second part back.
status output_prepare(struct output *o, struct diags *d);
status output_publish(struct output *o, struct diags *d);
void output_settle(struct output *o);
void output_revert(struct output *o);
// All of it in one: opens, writes the text and commits.
status output_text(struct arena *a, struct diags *d, const char *path, const struct str *text);

// Files that appear together: all of them, or none. When one cannot be put in place, those before
// it are taken back, and the old files are as they were; only a stream cannot take back what it
// got.
struct new_folder {
    const char *temporary, *target;
    bool is_published;
};

struct outputs {
    struct arena *arena;
    struct diags *diags;
    VEC(struct output *) files;
    VEC(struct new_folder) folders;
    VEC(const char *) stale; // files that are removed at the end
    bool in_memory;          // the files exist in memory only, for output_take
};

struct outputs outputs_make(struct arena *a, struct diags *d);
status outputs_open(struct outputs *x, const char *path, struct output **out);
status outputs_text(struct outputs *x, const char *path, const struct str *text);
// The folder of files at `temporary`, which is complete, gets the name `target`.
status outputs_folder(struct outputs *x, const char *temporary, const char *target);
bool outputs_remove(struct outputs *x, const char *path); // a file that is removed at the end
status outputs_commit(struct outputs *x);
void outputs_abort(struct outputs *x); // at any time, also after commit: leaves no trace

// Removes a folder that holds files only.
void file_remove_folder(const char *folder);

// The folder part of a path ("." when there is none), its last part, and a path in a folder.
const char *file_folder(struct arena *a, const char *path);
const char *file_name(const char *path);
const char *file_join(struct arena *a, const char *folder, const char *name);
// The final target of a symbolic link, existing or not; any other path itself. NULL and
// errno: out of memory, or links in a circle.
const char *file_follow(struct arena *a, const char *path);

// A temporary file that has no name and ends with its descriptor; -1 and errno when there is none
// to be had.
int file_unnamed(void);
