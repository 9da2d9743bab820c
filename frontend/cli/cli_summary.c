// What a plan promises and costs, as text: see cli_summary.h.
#include "frontend/cli/cli_summary.h"

#include "solver/model/strategy_report.h"

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

static void print_memory(struct str *out, const struct plan_report *r) {
    int64_t whole = r->baseline_bytes;
    str_addf(out, "%s\n", "memory                   bytes  of unplanned");
    add_bytes(out, "unplanned peak", whole, whole);
    add_bytes(out, "budget", r->budget_bytes, whole);
    add_bytes(out, "peak", r->peak_bytes, whole);
    if (r->fused_peak_bytes != r->plain_peak_bytes) {
        add_bytes(out, "  without fusions", r->plain_peak_bytes, whole);
        add_bytes(out, "  with fusions", r->fused_peak_bytes, whole);
    }
    add_bytes(out, "  by liveness", r->liveness_bytes, whole);
    add_bytes(out, "  laid out", r->persistent_bytes + r->arena_bytes, whole);
    add_bytes(out, "  fixed part", r->persistent_bytes, whole);
    str_addf(out, "%-18s %11.2f %%", "time more", percent(r->cost - r->base_cost, r->base_cost));
    if (r->bound != BOUND_NONE)
        str_addf(out, ", of which at least %.2f %% are needed",
                 percent(r->bound > r->base_cost ? r->bound - r->base_cost : 0, r->base_cost));
    str_addf(out, "\n%-18s %12lld of %lld, in %lld groups\n", "computed again",
             (long long)r->n_recomputed, (long long)r->n_nodes, (long long)r->n_clusters);
    str_addf(out, "%-18s %12lld for runtime %s\n", "control nodes", (long long)r->n_control,
             r->runtime);
    if (r->is_interrupted)
        str_add(out, "The search was interrupted: this is the best plan so far.\n");
}

static void print_devices(struct str *out, const struct plan_report *r) {
    const struct plan_placed *p = r->placed;
    strategy_report(out, &p->placement.problem, &p->result.best, &p->result.facts);
    str_addf(out, "computed again   %lld nodes\n", (long long)r->n_recomputed);
    str_addf(out, "search           %lld proposals%s\n", (long long)p->result.n_proposals,
             place_is_optimal(&p->result) ? "; proven optimal" : "");
}

void summary_print(struct str *out, const struct plan_report *r) {
    if (!r->planned)
        return;
    if (r->placed)
        print_devices(out, r);
    else
        print_memory(out, r);
}
