// The option --shard of the pass `shard`, as one division for each node.
#pragma once

#include "passes/shard/shard.h"

status shard_options_choose(struct graph *g, struct pass_context *c, struct shard_choices *out);
