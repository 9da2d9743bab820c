// A model as a graph in the DOT language of Graphviz: `mfc convert model.onnx model.dot`, then `dot
// -Tsvg model.dot -o model.svg`.
#pragma once

#include "ir/graph.h"

status dot_print(struct str *out, const struct model *m, struct diags *d);
