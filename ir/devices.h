// Devices of a model: nodes are on devices by number, the model knows their names, and in ONNX
// files every node says the name in its metadata (KEY_DEVICE).
#pragma once

#include "ir/base/diag.h"
#include "ir/graph.h"

// The number of the device of that name, which is added when it is new; 0: no room.
uint32_t devices_add(struct model *m, const char *name);

// From metadata to node.device, for the nodes that have no device yet; and back.
status devices_from_metadata(struct model *m, struct diags *d);
status devices_to_metadata(struct model *m, struct diags *d);

// How much memory each device of the model has, INT64_MAX: no limit. What a placed plan promises is
// that none holds more. False from devices_memory: the model does not say, or not for all.
status devices_set_memory(struct model *m, const int64_t *memory_bytes, struct diags *d);
bool devices_memory(const struct model *m, int64_t *memory_bytes);

// Adds the Identity node that stands for the copy of `v` that is sent to a device, at the end of
// the order, and returns the copy; none: no room. `v` must be made by a node that is on a device.
value_id devices_send(struct graph *g, value_id v, uint32_t device);

// Held wherever it is read, never sent: an input, an initializer, or a constant.
bool devices_resident(const struct graph *g, value_id v);
