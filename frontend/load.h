// Models from and to files of any kind that mfc knows: ONNX, the text form (.mfc), and pictures
// (.dot, out only).
#pragma once

#include "ir/graph.h"

// What it is shows in its first bytes, so the name does not matter; "-" is standard input. The
// model comes out sorted and verified. model_close() it after success.
status load_model(struct arena *a, struct pool *names, struct diags *d, const char *path,
                  struct model **out);

// The same from memory, which must stay as it is until the model is closed. External data are
// absent.
status load_memory(struct arena *a, struct pool *names, struct diags *d, const void *bytes,
                   size_t n_bytes, struct model **out);

// `format` is "onnx", "mfc" or "dot"; NULL: by the name's ending, and the text form for standard
// output ("-"), as that is for reading.
status load_format(struct diags *d, const char *path, const char *format, const char **out);
status load_save(const struct model *m, const char *path, const char *format, struct diags *d);
// As ONNX, unless the name ends in .mfc or .dot.
status load_save_plan(const struct model *m, const char *path, struct diags *d);
