// The devices of a placed plan as ONNX multi-device annotations (IR version 11), in addition to the
// metadata of every placed plan.
#pragma once

#include "ir/base/diag.h"
#include "ir/graph.h"

// Adds a device configuration with the devices of the model, and to each node an entry of that
// configuration: the device of each operand, unsharded, and the node's round (parts.h) as its
// pipeline stage. Other configurations of the model stay. Every node must be on a device, as
// parts_of requires.
status annotate_devices(struct model *m, struct diags *d);
