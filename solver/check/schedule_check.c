// The exact replay: see schedule_check.h. It follows the steps as a machine would, with one flag
// per node for "held", and believes nothing that the schedule says about itself. Kept deliberately
// plain.
#include "solver/check/schedule_check.h"

#include <string.h>

#include "ir/base/checked.h"

static struct replay wrong(struct replay r, int32_t step, int32_t node, const char *reason) {
    r.failed_step = step;
    r.node = node;
    r.reason = reason;
    return r;
}

static struct replay play(const struct problem *p, struct steps s, bool *held, bool *ran) {
    struct replay r = {.peak_bytes = p->persistent_bytes,
                       .peak_step = -1,
                       .failed_step = -1,
                       .node = -1,
                       .given_order = true};
    int64_t now = p->persistent_bytes;
    int32_t n_ran = 0;
    for (int32_t k = 0; k < s.n; k++) {
        int32_t v = s.at[k].node;
        if (v < 0 || v >= p->n)
            return wrong(r, k, -1, "there is no such node");
        if (s.at[k].kind == STEP_FREE) {
            if (!held[v])
                return wrong(r, k, v, "it is freed, but not held");
            held[v] = false;
            now -= p->bytes[v];
            continue;
        }
        if (held[v])
            return wrong(r, k, v, "it is computed, but still held");
        if (ran[v] && p->once[v])
            return wrong(r, k, v, "it runs twice, but must run only once");
        for (int32_t e = p->in_start[v]; e < p->in_start[v + 1]; e++)
            if (!held[p->in_of[e]])
                return wrong(r, k, v, "it is computed while one of its inputs is not held");
        int64_t during;
        if (!checked_add(now, p->bytes[v], &now) || !checked_add(now, p->workspace[v], &during) ||
            !checked_add(r.cost, p->cost[v], &r.cost))
            return wrong(r, k, v, "the sums leave the range of 64 bits");
        if (during > r.peak_bytes || r.peak_step < 0) {
            r.peak_bytes = during;
            r.peak_step = k;
        }
        if (!ran[v]) {
            r.given_order = r.given_order && v == n_ran;
            n_ran++;
        }
        held[v] = ran[v] = true;
    }
    for (int32_t i = 0; i < p->n; i++) {
        if (!ran[i])
            return wrong(r, s.n, i, "it never runs");
        if (p->keep[i] && !held[i])
            return wrong(r, s.n, i, "it is to be kept, but is not held at the end");
    }
    return r;
}

status schedule_check_steps(const struct problem *p, struct steps s, struct arena *scratch,
                            struct diags *d, struct replay *out) {
    struct arena a = arena_make(scratch->mem);
    bool *held = ARENA_ARRAY(&a, bool, p->n), *ran = ARENA_ARRAY(&a, bool, p->n);
    bool ok = held && ran;
    if (ok)
        *out = play(p, s, held, ran);
    arena_free(&a);
    return ok ? ST_OK : diag_out_of_memory(d);
}

static status differs(struct diags *d, const char *what, int64_t says, int64_t is) {
    return diag_error(d, DIAG_VERIFY, loc_none(),
                      "the schedule says %s %lld, the replay gives %lld", what, (long long)says,
                      (long long)is);
}

static status check_claims(const struct problem *p, const struct schedule *s,
                           const struct replay *r, struct diags *d) {
    status st = ST_OK;
    int64_t base = 0;
    for (int32_t i = 0; i < p->n; i++)
        base += p->cost[i];
    if (s->peak_bytes != r->peak_bytes)
        st = differs(d, "peak_bytes", s->peak_bytes, r->peak_bytes);
    if (s->cost != r->cost)
        st = differs(d, "cost", s->cost, r->cost);
    if (s->base_cost != base)
        st = differs(d, "base_cost", s->base_cost, base);
    if (r->peak_bytes > s->budget_bytes)
        st = diag_error(d, DIAG_VERIFY, loc_none(), "the peak %lld is over the budget %lld",
                        (long long)r->peak_bytes, (long long)s->budget_bytes);
    if (!s->free_order && !r->given_order)
        st = diag_error(d, DIAG_VERIFY, loc_none(),
                        "the schedule says order given, but first executions come otherwise");
    if ((s->bound != BOUND_NONE && s->bound > r->cost) ||
        (s->bound_any != BOUND_NONE && s->bound_any > r->cost))
        st = diag_error(d, DIAG_VERIFY, loc_none(), "a bound is above the cost %lld",
                        (long long)r->cost);
    if (s->outcome == OUTCOME_OPTIMAL && s->bound != r->cost && s->bound_any != r->cost)
        st = diag_error(d, DIAG_VERIFY, loc_none(),
                        "the schedule says optimal, but no bound equals the cost %lld",
                        (long long)r->cost);
    return st;
}

status schedule_check(const struct problem *p, const struct schedule *s, struct arena *scratch,
                      struct diags *d) {
    bool has_steps = s->outcome == OUTCOME_FEASIBLE || s->outcome == OUTCOME_OPTIMAL;
    if (!has_steps && s->steps.n == 0)
        return ST_OK; // it claims no steps, so there are none to replay
    struct replay r;
    status st = schedule_check_steps(p, s->steps, scratch, d, &r);
    if (st != ST_OK)
        return st;
    if (r.failed_step >= 0)
        return diag_error(d, DIAG_VERIFY, loc_none(), "step %d, node %d (%s): %s", r.failed_step,
                          r.node, r.node >= 0 ? p->name[r.node] : "?", r.reason);
    return check_claims(p, s, &r, d);
}
