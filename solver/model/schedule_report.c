// A schedule in words: see schedule_report.h.
#include "solver/model/schedule_report.h"

#include "solver/model/sequence.h"

double schedule_overhead(const struct schedule *s) {
    return s->base_cost > 0 ? 100.0 * (double)(s->cost - s->base_cost) / (double)s->base_cost : 0;
}

double schedule_gap(const struct schedule *s) {
    int64_t bound = s->free_order ? s->bound_any : s->bound;
    if (bound == BOUND_NONE)
        return 100;
    return s->cost > 0 ? 100.0 * (double)(s->cost - bound) / (double)s->cost : 0;
}

// The peak of the schedule's first executions, with nothing run twice.
static bool order_peak(const struct problem *p, const struct schedule *s, struct arena *a,
                       int64_t *peak) {
    struct sequence q, once = {ARENA_ARRAY(a, int32_t, p->n), 0};
    bool *ran = ARENA_ARRAY(a, bool, p->n);
    struct sequence_facts f;
    if (!once.at || !ran || !sequence_of_steps(s->steps, a, &q))
        return false;
    for (int32_t t = 0; t < q.n; t++)
        if (!ran[q.at[t]]) {
            ran[q.at[t]] = true;
            once.at[once.n++] = q.at[t];
        }
    if (!sequence_measure(p, once, a, &f))
        return false;
    *peak = f.peak_bytes;
    return true;
}

static void add_size(struct str *out, int64_t n_bytes) {
    str_add_bytes(out, n_bytes);
    if (n_bytes >= 1024)
        str_addf(out, " (%lld B)", (long long)n_bytes);
}

void schedule_report_bounds(struct str *out, const struct schedule *s) {
    if (s->bound != BOUND_NONE)
        str_addf(out, "bound      %lld, with the first executions in %s order\n",
                 (long long)s->bound, s->steps.n ? "this" : "the given");
    if (s->bound_any != BOUND_NONE)
        str_addf(out, "           %lld, in any order\n", (long long)s->bound_any);
}

bool schedule_report(struct str *out, const struct problem *p, const struct schedule *s,
                     struct arena *scratch) {
    struct arena a = arena_make(scratch->mem);
    int64_t given = problem_given_peak(p, &a), alone = 0;
    bool ok = given >= 0 && order_peak(p, s, &a, &alone);
    arena_free(&a);
    if (!ok)
        return false;
    int32_t n_runs = 0;
    for (int32_t k = 0; k < s->steps.n; k++)
        n_runs += s->steps.at[k].kind == STEP_COMPUTE;
    str_addf(out, "status     %s", outcome_name(s->outcome));
    if (s->outcome == OUTCOME_FEASIBLE)
        str_addf(out, ", at most %.3f %% from optimal", schedule_gap(s));
    str_addf(out, " (order: %s)\npeak       ", s->free_order ? "free" : "given");
    add_size(out, s->peak_bytes);
    str_add(out, " of a budget of ");
    add_size(out, s->budget_bytes);
    str_addf(out, "\ncost       %lld, overhead %.3f %%; %d of %d runs are recomputations\n",
             (long long)s->cost, schedule_overhead(s), n_runs - p->n, n_runs);
    schedule_report_bounds(out, s);
    str_add(out, "keep-all   ");
    add_size(out, given);
    str_add(out, " in the given order");
    if (s->free_order) {
        str_add(out, ", ");
        add_size(out, alone);
        str_add(out, " in the order of this schedule");
    }
    str_add_char(out, '\n');
    return !out->failed;
}

int32_t schedule_report_largest(const struct problem *p, const int32_t *forcing, int32_t n_forcing,
                                int32_t *out) {
    int32_t n = 0;
    for (int32_t k = 0; k < n_forcing; k++) {
        int32_t at = n;
        while (at > 0 && p->bytes[out[at - 1]] < p->bytes[forcing[k]])
            at--;
        n += n < SCHEDULE_REPORT_FORCING;
        for (int32_t i = n - 1; i > at; i--)
            out[i] = out[i - 1];
        if (at < n)
            out[at] = forcing[k];
    }
    return n;
}

status schedule_report_failure(const struct problem *p, const struct schedule *s,
                               struct arena *scratch, struct diags *d) {
    bool never = s->outcome == OUTCOME_INFEASIBLE;
    struct arena a = arena_make(scratch->mem);
    struct str text = str_make(&a);
    str_add(&text, never ? "no schedule fits the budget of " : "found no schedule within ");
    add_size(&text, s->budget_bytes);
    str_add(&text, s->free_order ? "" : " in the given order");
    str_add(&text, "; lower bound: ");
    add_size(&text, s->min_bytes);
    if (s->known_bytes > 0) {
        str_add(&text,
                never ? "; raise the budget to " : "; search longer, or raise the budget to ");
        add_size(&text, s->known_bytes);
        str_add(&text, ", which is feasible");
    }
    int32_t forcing[SCHEDULE_REPORT_FORCING];
    int32_t n = schedule_report_largest(p, s->forcing, s->n_forcing, forcing);
    for (int32_t k = 0; k < n; k++) {
        int32_t v = forcing[k];
        str_addf(&text, "%s%d (%s, ", k ? ", " : "; in memory together: node ", v, p->name[v]);
        str_add_bytes(&text, p->bytes[v]);
        str_add(&text, ")");
    }
    if (s->n_forcing > n)
        str_addf(&text, " and %d more", s->n_forcing - n);
    status st =
        diag_error(d, never ? DIAG_INFEASIBLE : DIAG_NO_PLAN, loc_none(), "%s", str_text(&text));
    arena_free(&a);
    return st;
}
