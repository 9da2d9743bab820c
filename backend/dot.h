// A model as a picture in Graphviz's language: `mfc convert model.onnx model.dot`, then
// `dot -Tsvg model.dot -o model.svg`.
#pragma once

#include "ir/graph.h"

status dot_print(struct str *out, const struct model *m, struct diags *d);
