// ONNX in: a file becomes a model. Weights stay where they are: the model's tensors are spans of
// the file, or of the external files it names, so the memory that reading takes does not depend on
// them.
//
//     struct source *s;
//     struct model *m;
//     status st = source_open(&arena, &diags, path, &s);
//     if (!st)
//         st = onnx_read(s, &arena, &names, &diags, &m);
//     ...
//     if (!st)
//         model_close(m);
#pragma once

#include "ir/graph.h"

// The source belongs to the model from here on, and is closed when reading fails. External data are
// looked for beneath the folder of the source; for a source in memory all of them are absent.
//
// The model comes out with its nodes in topological order and structurally verified. Everything
// that the file holds is in it, also what mfc has no use for. All problems of a kind are reported
// together.
status onnx_read(struct source *s, struct arena *a, struct pool *names, struct diags *d,
                 struct model **out);
