// The ONNX writer. Weights are copied from file to file without being loaded. The output appears
// complete or not at all: an existing file is replaced by rename.
//
// A second file beside the output holds the weights of a model that is too large for one protobuf
// message, and external data that the output cannot refer to (external_out.h).
#pragma once

#include "ir/base/file.h"
#include "ir/graph.h"

struct onnx_write_options {
    int64_t limit_bytes;      // of one message; 0: LIMIT_PROTO_BYTES
    struct outputs *together; // the files become visible with these, when they are committed; NULL
};

// `path` may be "-" for standard output. A failure leaves no file behind. Options may be NULL.
status onnx_write(const struct model *m, const char *path, const struct onnx_write_options *options,
                  struct diags *d);
