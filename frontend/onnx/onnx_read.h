// The ONNX reader: from a file to a model. Weights stay in the file: the model's tensors are spans
// of it, or of its external data files, so memory use does not depend on their size.
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

// Takes ownership of the source: the model closes it, or onnx_read does when it fails. External
// data is resolved beneath the folder of the source; for a source in memory all of it counts as
// absent.
//
// The model is sorted topologically and structurally verified. It keeps everything in the file,
// including fields that mfc does not use. Reading continues after an error, so that all errors are
// reported together.
status onnx_read(struct source *s, struct arena *a, struct pool *names, struct diags *d,
                 struct model **out);
