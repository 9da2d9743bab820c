// What a plan promises and costs, in words and for reports: see plan.h.
#include "frontend/plan.h"

static double percent(int64_t part, int64_t whole) {
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void add_bytes(struct str *out, const char *what, int64_t n_bytes, int64_t whole) {
    struct arena scratch = arena_make(out->arena->mem);
    struct str size = str_make(&scratch);
    str_add_bytes(&size, n_bytes);
    str_addf(out, "%-18s %12s %6.1f %%\n", what, str_text(&size), percent(n_bytes, whole));
    arena_free(&scratch);
}

void plan_report_print(struct str *out, const struct plan_report *r) {
    int64_t whole = r->unplanned_bytes;
    str_addf(out, "%s\n", "memory                   bytes  of unplanned");
    add_bytes(out, "unplanned peak", whole, whole);
    add_bytes(out, "budget", r->budget_bytes, whole);
    add_bytes(out, "peak", r->peak_bytes, whole);
    if (r->fused_peak_bytes != r->plain_peak_bytes) {
        add_bytes(out, "  without fusions", r->plain_peak_bytes, whole);
        add_bytes(out, "  with fusions", r->fused_peak_bytes, whole);
    }
    add_bytes(out, "  by liveness", r->liveness_bytes, whole);
    add_bytes(out, "  laid out", r->fixed_bytes + r->arena_bytes, whole);
    add_bytes(out, "  fixed part", r->fixed_bytes, whole);
    str_addf(out, "%-18s %11.2f %%", "time more", percent(r->cost - r->base_cost, r->base_cost));
    if (r->bound != BOUND_NONE)
        str_addf(out, ", of which at least %.2f %% are needed",
                 percent(r->bound > r->base_cost ? r->bound - r->base_cost : 0, r->base_cost));
    str_addf(out, "\n%-18s %12lld of %lld, in %lld groups\n", "computed again",
             (long long)r->n_again, (long long)r->n_nodes, (long long)r->n_groups);
    str_addf(out, "%-18s %12lld for runtime %s\n", "control nodes", (long long)r->n_control,
             r->runtime);
    if (r->is_interrupted)
        str_add(out, "The search was interrupted: this is the best plan so far.\n");
}

void plan_report_facts(const struct plan_report *r, struct facts *out) {
    out->is_interrupted = r->is_interrupted;
    if (r->makespan_cost > 0) {
        out->makespan = r->makespan_cost;
        out->peak_bytes = r->peak_bytes;
    }
    if (!r->planned)
        return;
    out->runtime = r->runtime;
    out->outcome = outcome_name(r->outcome);
    out->unplanned_peak_bytes = r->unplanned_bytes;
    out->budget_bytes = r->budget_bytes;
    out->peak_bytes = r->peak_bytes;
    out->plain_peak_bytes = r->plain_peak_bytes;
    out->fused_peak_bytes = r->fused_peak_bytes;
    out->liveness_bytes = r->liveness_bytes;
    out->arena_bytes = r->arena_bytes;
    out->base_cost = r->base_cost;
    out->cost = r->cost;
    out->least_bytes = r->least_bytes > 0 ? r->least_bytes : FACTS_UNKNOWN;
    out->bound = r->bound == BOUND_NONE ? FACTS_UNKNOWN : r->bound;
}
