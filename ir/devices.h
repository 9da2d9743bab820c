// Devices of a model. A node holds the number of its device, from 1; the model maps numbers to
// names. In an ONNX file the metadata of a node holds the name (KEY_DEVICE).
#pragma once

#include "ir/base/diag.h"
#include "ir/graph.h"

// The number of the device with this name, added if it is new. 0: out of memory.
uint32_t devices_add(struct model *m, const char *name);

// Reads node.device from the metadata of nodes without a device, and writes it there.
status devices_from_metadata(struct model *m, struct diags *d);
status devices_to_metadata(struct model *m, struct diags *d);

// The memory limit of each device, INT64_MAX: none. A placed plan claims to stay within these
// limits. devices_memory returns false if the metadata lacks the limit of a device.
status devices_set_memory(struct model *m, const int64_t *memory_bytes, struct diags *d);
bool devices_memory(const struct model *m, int64_t *memory_bytes);

// Appends a transfer of `v` to a device (an Identity node) to the order and returns the copy;
// VALUE_NONE: out of memory. The producer of `v` must be a node on a device.
value_id devices_send(struct graph *g, value_id v, uint32_t device);

// Whether every device that reads `v` has its own copy, without transfers: an input, an
// initializer or a constant.
bool devices_resident(const struct graph *g, value_id v);
