// Binds dimensions of the inputs to the numbers of --dim, --shape and --batch. A batch that is open
// is bound. One that is a number is changed, if the model allows it: nodes may hold the old batch
// as a constant, such as the shape of a Reshape.
#pragma once

#include "passes/pass.h"

struct shape_bound {
    int64_t old_batch, new_batch; // a fixed batch that was changed; 0: none was
};

status shape_bind(struct model *m, struct pass_context *c, struct shape_bound *out);

// After inference, whose outcome is `inferred`: refuses a model whose nodes hold the old batch.
status shape_bind_check(const struct model *m, struct pass_context *c, const struct shape_bound *b,
                        status inferred);
