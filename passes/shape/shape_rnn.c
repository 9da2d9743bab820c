// Shapes of RNN, GRU and LSTM: Y is [length, directions, batch, hidden], the last states
// [directions, batch, hidden]; layout 1 puts the batch first.
#include "passes/shape/shape.h"

#include <string.h>

status shape_rnn(struct shape *s) {
    const struct type *x = shape_ranked(s, 0), *w = shape_ranked(s, 1), *r = shape_ranked(s, 2);
    if (x && x->rank != 3)
        return shape_fail(s, "needs an input of rank 3, not %d", x->rank);
    bool both = strcmp(node_text(s->g, s->n, "direction", "forward"), "bidirectional") == 0;
    struct dim directions = dim_of(both ? 2 : 1);
    if (w && (w->rank != 3 || (dim_known(w->dims[0]) && w->dims[0].size != directions.size)))
        return shape_fail(s, "the weights are not for %lld direction(s)",
                          (long long)directions.size);
    int64_t hidden = node_int(s->n, "hidden_size", DIM_UNKNOWN);
    struct dim h = hidden >= 0 ? dim_of(hidden) : r && r->rank == 3 ? r->dims[2] : dim_unknown();
    bool batch_first = node_int(s->n, "layout", 0) != 0;
    struct dim length = x ? x->dims[batch_first] : dim_unknown(),
               batch = x ? x->dims[!batch_first] : dim_unknown();
    struct dim y[] = {length, directions, batch, h}, last[] = {directions, batch, h};
    struct dim y_first[] = {batch, length, directions, h}, last_first[] = {batch, directions, h};
    enum elem e = shape_elem(s, 0);
    status st = shape_set(s, 0, e, batch_first ? y_first : y, 4);
    for (uint32_t k = 1; !st && k < 3; k++)
        st = shape_set(s, k, e, batch_first ? last_first : last, 3);
    return st;
}
