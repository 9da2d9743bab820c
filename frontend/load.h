// Reads and writes models: ONNX, the text form (.mfc), and Graphviz (.dot, write only).
#pragma once

#include "ir/base/file.h"
#include "ir/graph.h"

// Reads a model. The first bytes decide the format, not the file name; "-" is standard input. The
// model is sorted and verified. A plan inside an If is taken out (ir/wrapper/unwrap.h). The caller
// closes the model with model_close() after success.
status load_model(struct arena *a, struct pool *names, struct diags *d, const char *path,
                  struct model **out);

// The same, with the plan left inside its If.
status load_verbatim(struct arena *a, struct pool *names, struct diags *d, const char *path,
                     struct model **out);

// load_model from memory, which must stay unchanged until the model is closed. External data counts
// as absent.
status load_memory(struct arena *a, struct pool *names, struct diags *d, const void *bytes,
                   size_t n_bytes, struct model **out);

// The format to write: `format` ("onnx", "mfc" or "dot"); when it is NULL, the extension of the
// path, or the text form for standard output ("-").
status load_format(struct diags *d, const char *path, const char *format, const char **out);
// Writes a model in the format of load_format. `together`: its files become visible with these,
// when they are committed; NULL: at once.
status load_save(const struct model *m, const char *path, const char *format,
                 struct outputs *together, struct diags *d);
// With m->is_wrapped, the graph is put into its branch first. `format` as above, but NULL: ONNX,
// unless the path ends with .mfc or .dot.
status load_save_plan_as(struct model *m, const char *path, const char *format,
                         struct outputs *together, struct diags *d);
status load_save_plan(struct model *m, const char *path, struct outputs *together, struct diags *d);
