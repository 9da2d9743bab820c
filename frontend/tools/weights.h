// Some runtimes, such as ONNX Runtime's JavaScript bindings, cannot feed a new value for an
// initializer: for these the parameters become plain inputs. The starting state (training_state.h)
// has their values.
#pragma once

#include "ir/graph.h"

// Makes the parameters, initializers that are inputs too, plain inputs.
void weights_detach(struct model *m);
