// The options of the pass `shard`: --shard, as one division for each node, and --shard-dims.
#pragma once

#include "passes/shard/shard.h"

status shard_options_choose(struct graph *g, struct pass_context *c, struct shard_choices *out);

// --shard-dims: all dimensions are sample, parameter or attribute; this one may be divided.
status shard_check_dims(const struct options *o, struct diags *d);
bool shard_dims_allow(const struct options *o, const char *dimension);
