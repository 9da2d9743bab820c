// What every plan passes after the search, before it is written: the static layout of its arena,
// and the checks.
#include "ir/check/equivalence.h"
#include "passes/plan/plan.h"

status plan_lay_out(struct model *m, struct pass_context *c) {
    return pass_run(&pass_layout, m, c);
}

static status check_budget(const struct plan_facts *f, struct diags *d) {
    if (!plan_facts_is_known(f->budget_bytes) || f->peak_bytes <= f->budget_bytes)
        return ST_OK;
    return diag_error(d, DIAG_VERIFY, loc_none(),
                      "the plan needs %lld bytes, over the budget of %lld: a defect of mfc",
                      (long long)f->peak_bytes, (long long)f->budget_bytes);
}

static status check_devices(const struct plan_facts *f, struct diags *d) {
    status st = ST_OK;
    for (size_t i = 0; i < f->n_devices; i++)
        if (f->devices[i].peak_bytes > f->devices[i].memory_bytes)
            st = diag_error(d, DIAG_VERIFY, loc_none(),
                            "the plan needs %lld bytes on %s, which has %lld: a defect of mfc",
                            (long long)f->devices[i].peak_bytes, f->devices[i].name,
                            (long long)f->devices[i].memory_bytes);
    return st;
}

status plan_check(const struct model *m, struct pass_context *c, const struct plan_facts *f) {
    status st = equivalence_check(f->step, m, c->diags);
    if (!st)
        st = check_budget(f, c->diags);
    return st ? st : check_devices(f, c->diags);
}
