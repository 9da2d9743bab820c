// Writing a model as an ONNX file. Weights go from file to file without being loaded; the file that
// is replaced stays whole until the new one is.
//
// A model that would be too large for one protobuf message gets its weights in a second file beside
// it, and so do weights that the model keeps in files which its new folder cannot reach
// (external_out.h).
#pragma once

#include "ir/graph.h"

struct onnx_write_options {
    int64_t limit_bytes; // messages stay below it; 0: LIMIT_PROTO_BYTES
};

// `path` may be "-", standard output. Nothing is left behind on failure. Options may be NULL.
status onnx_write(const struct model *m, const char *path, const struct onnx_write_options *options,
                  struct diags *d);
