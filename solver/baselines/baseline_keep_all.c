// The schedule of a framework without rematerialization: every node runs once, in the given order,
// and its output stays in memory until its last use.
#include "solver/methods.h"

status baseline_keep_all(struct solve_run *r) {
    struct sequence s;
    if (!sequence_given(r->p, r->arena, &s))
        return diag_out_of_memory(r->diags);
    solve_offer(r, s, 'K');
    return ST_OK;
}
