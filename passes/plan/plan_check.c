// What every plan passes after the search, before it is written: the checks, and the static layout
// of its arena.
#include "ir/base/quantity.h"
#include "ir/check/device_peaks.h"
#include "ir/check/equivalence.h"
#include "ir/keys.h"
#include "passes/plan/plan_devices.h"

static status check_budget(const struct plan_report *r, struct diags *d) {
    if (r->peak_bytes <= r->budget_bytes)
        return ST_OK;
    return diag_error(d, DIAG_VERIFY, loc_none(),
                      "the plan needs %lld bytes, over the budget of %lld: a defect of mfc",
                      (long long)r->peak_bytes, (long long)r->budget_bytes);
}

static status check_devices(const struct model *m, const struct plan_placed *p,
                            struct pass_context *c) {
    const struct placement *problem = &p->placement.problem;
    int64_t *peak_bytes = ARENA_ARRAY(c->arena, int64_t, problem->n_places);
    status st = peak_bytes ? device_peaks(m->graph, c->arena, c->diags, peak_bytes)
                           : diag_out_of_memory(c->diags);
    for (int32_t k = 0; k < problem->n_places && !st; k++)
        if (peak_bytes[k] > problem->place[k].memory_bytes)
            st = diag_error(c->diags, DIAG_VERIFY, loc_none(),
                            "the plan needs %lld bytes on %s, which has %lld: a defect of mfc",
                            (long long)peak_bytes[k], problem->place[k].name,
                            (long long)problem->place[k].memory_bytes);
    return st;
}

status plan_check(const struct model *m, struct pass_context *c, const struct plan_report *r) {
    status st = equivalence_check(r->step, m, c->diags);
    if (st)
        return st;
    return r->placed ? check_devices(m, r->placed, c) : check_budget(r, c->diags);
}

status plan_lay_out(struct model *m, struct pass_context *c, struct plan_report *r) {
    status st = pass_run(&pass_layout, m, c);
    const char *arena_bytes = pairs_get(&m->metadata, KEY_ARENA);
    if (!st && arena_bytes)
        quantity_parse_bytes(arena_bytes, &r->arena_bytes);
    return st;
}
