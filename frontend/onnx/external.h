// External data: tensors whose bytes are in files beside the model. The file names come from the
// model and are not trusted: they are resolved beneath the model's folder only, without following
// symbolic links, and must name a regular file without other hard links. A missing file is no
// error: planning needs no weights, and the output keeps the reference.
#pragma once

#include "ir/base/file.h"
#include "ir/base/map.h"
#include "ir/tensor.h"

struct external_file {
    struct source *source; // NULL: absent or refused
    bool refused;          // and an error was reported
};

struct external {
    struct arena *arena;
    const char *folder;     // NULL: a model in memory; all files count as absent
    struct map by_location; // location -> index in files
    VEC(struct external_file) files;
    size_t n_absent; // tensors whose file does not exist
    const char *first_absent;
};

struct external external_make(struct arena *a, const char *folder);

// Sets t->data from t->external when the file exists. `where` locates the tensor in messages.
status external_find(struct external *e, struct diags *d, struct loc where, struct tensor *t);

// Warns once about all missing files. The files stay open: the caller owns them.
void external_done(struct external *e, struct diags *d, const char *model);
