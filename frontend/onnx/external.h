// Tensors whose bytes are in files beside the model. The names of those files come from the model,
// that is from a stranger: they are resolved beneath the model's folder only, without following
// symbolic links, and must lead to a regular file that has no other name. A file that is not there
// is no error: planning needs no weights, and the reference is carried along.
#pragma once

#include "ir/base/file.h"
#include "ir/base/map.h"
#include "ir/tensor.h"

struct external_file {
    struct source *source; // NULL: absent or refused
    bool refused;          // an error was reported
};

struct external {
    struct arena *arena;
    const char *folder;     // NULL: there is none, all files are absent
    int fd;                 // of the folder, once it is needed; -1
    struct map by_location; // location -> index in files
    VEC(struct external_file) files;
    size_t n_absent; // tensors whose file is not there
    const char *first_absent;
};

struct external external_make(struct arena *a, const char *folder);

// Sets t->data by t->external, if the file is there. `loc` is where the tensor is, for messages.
status external_find(struct external *e, struct diags *d, struct loc where, struct tensor *t);

// Says once how many tensors have no data, and closes the folder; the files stay open, they are the
// caller's.
void external_done(struct external *e, struct diags *d, const char *model);

// Opens `location` beneath the folder for reading; -1 and errno. EXDEV: it leads
// outside; ELOOP: through a symbolic link. `by_hand` does without openat2, for kernels that lack
// it.
int external_open_beneath(int folder, const char *location, bool by_hand);
