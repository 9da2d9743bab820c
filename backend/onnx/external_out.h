// Weights outside the model's own file. Two questions are answered here for an output:
//
// Can it still name the files that the model named? A location is a path beneath the model's
// folder, without "..". When the files lie beneath the new folder too, they are named from there
// and stay where they are; when they do not, their bytes are moved. Of a file that is absent only
// the name can be carried over.
//
// Is the model too large for one message? Then its weights are moved.
//
// What is moved goes into one file beside the output, plan.onnx.0123456789abcdef.data, whose middle
// part is a digest of its content. Two files cannot be replaced in one step, so the data of the old
// model and of the new one must be able to stand side by side: the new data file is put in place
// first, under a name that only equal content can have, then the model, and then data files of
// former models of that name go. A crash between the steps leaves the old model with its data, or
// the new one with its data, and at worst a data file that the next run clears away.
#pragma once

#include "backend/onnx/message.h"
#include "ir/base/file.h"

struct moved {
    struct span from;
    int64_t offset;
};

struct external_out {
    struct arena *arena;
    struct diags *d;
    const struct output *model_out;
    const char *folder, *name; // of the output; NULL: a stream, which has no folder
    const char *prefix;        // from the new folder to that of the input; NULL: no way
    char *location;            // of the data file; the digest comes last
    VEC(const char *) former;  // data files of former models of this name
    VEC(struct moved) moved;
    struct map known; // span -> offset, so that shared bytes are moved once
    int64_t n_bytes;  // of the data file
    VEC(struct payload_target) places;
    size_t n_kept;          // tensors whose file could neither be reached nor moved
    const char *first_kept; // its location
};

// Looks at where the output goes.
status external_out_open(struct external_out *x, const struct model *m,
                         const struct output *model_out);
// Gives tensors that are external already their place. `msg` has walked the model and noted them.
status external_out_carry(struct external_out *x, struct message *msg);
// Moves tensors that are not: the initializers, or the tensors in attributes.
status external_out_move(struct external_out *x, struct message *msg, bool inits);
// Writes the moved bytes, and so finds the name of the data file, which is then its o->path.
status external_out_write(struct external_out *x, struct output *o);
// Removes the data files of former models that `msg` does not use.
void external_out_sweep(struct external_out *x, const struct message *msg);
