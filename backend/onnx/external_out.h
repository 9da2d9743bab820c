// External data of an output. Weights are moved into a data file beside the output in two cases:
//
// - The model has external data that the output cannot refer to. A location is a path beneath the
// folder of the model, without "..". Files beneath the output's folder stay where they are and get
// a new location; the bytes of others are moved. The location of a missing file is kept.
// - The model is too large for one protobuf message.
//
// The data file is plan.onnx.0123456789abcdef.data, whose middle part is a digest of its content.
// Two files cannot be replaced atomically, so the data of the old and of the new model exist side
// by side for a moment: first the new data file is renamed into place, under a name that only equal
// content can have, then the model, and then the data files of older models of that name are
// removed. A crash in between leaves the old model or the new one, each with its data, and at worst
// a stale data file that the next run removes.
#pragma once

#include "backend/onnx/message.h"
#include "ir/base/file.h"

struct moved_span {
    struct span from;
    int64_t offset; // in the data file
};

struct external_out {
    struct arena *arena;
    struct diags *d;
    const struct output *model_out;
    const char *folder, *name; // of the output; NULL: a stream, which has no folder
    const char *prefix;        // relative path from the output's folder to the input's; NULL: none
    char *location;            // of the data file; its digest is set last
    VEC(const char *) stale;   // data files of older models of this name
    VEC(struct moved_span) moved;
    struct map offset_of; // span -> offset, so that shared bytes are moved once
    int64_t n_bytes;      // of the data file
    VEC(struct payload_target) targets;
    size_t n_kept;          // tensors whose file is missing: their location is kept
    const char *first_kept; // location of the first of them
};

// Examines the output's folder.
status external_out_open(struct external_out *x, const struct model *m,
                         const struct output *model_out);
// Relocates or moves the tensors that are external already. `msg` has measured the model and
// collected its tensors.
status external_out_relocate(struct external_out *x, struct message *msg);
// Moves tensors that are in the model: its initializers, or the tensors in attributes.
status external_out_move(struct external_out *x, struct message *msg, bool inits);
// Writes the moved bytes, then sets o->path to the final name of the data file.
status external_out_write(struct external_out *x, struct output *o);
// The data files of older models that `msg` does not use are removed when the files appear.
void external_out_remove_stale(struct external_out *x, const struct message *msg,
                               struct outputs *together);
