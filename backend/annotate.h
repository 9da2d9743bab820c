// The devices of a placed plan in ONNX's own words (multi-device annotations, IR version 11),
// beside the metadata that every placed plan has.
#pragma once

#include "ir/base/diag.h"
#include "ir/graph.h"

// Adds a device configuration with the devices of the model; and to every node that is on a device
// an entry of that configuration: where each of its operands is, whole, and as its pipeline stage
// the round (parts.h) that it runs in. What the model has of other configurations stays. Every node
// must be on a device, as parts_of wants it.
status annotate_devices(struct model *m, struct diags *d);
