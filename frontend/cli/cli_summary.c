// The summary of a plan: see cli_summary.h.
#include "frontend/cli/cli_summary.h"

#include <string.h>

#include "solver/model/strategy_report.h"

static double percent(int64_t part, int64_t whole) {
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

// A label, a size, and what the size is of the baseline's peak.
static void add_bytes(struct str *out, const char *label, int64_t n_bytes, int64_t whole) {
    struct arena scratch = arena_make(out->arena->mem);
    struct str size = str_make(&scratch);
    str_add_bytes(&size, n_bytes);
    str_addf(out, "%-18s %12s", label, str_text(&size));
    if (whole > 0)
        str_addf(out, " %6.1f %%", percent(n_bytes, whole));
    str_add_char(out, '\n');
    arena_free(&scratch);
}

static void add_overhead(struct str *out, const struct plan_report *r) {
    str_addf(out, "%-18s %10.2f %%", "overhead", percent(r->cost - r->base_cost, r->base_cost));
    if (r->bound != BOUND_NONE) {
        int64_t bound = r->bound > r->base_cost ? r->bound : r->base_cost;
        str_addf(out, " (lower bound %.2f %%, optimality gap %.2f %%)",
                 percent(bound - r->base_cost, r->base_cost), percent(r->cost - bound, r->cost));
    }
    str_add_char(out, '\n');
}

static void add_details(struct str *out, const struct plan_report *r) {
    int64_t whole = r->baseline_bytes;
    if (r->fused_peak_bytes != r->plain_peak_bytes) {
        add_bytes(out, "  without fusions", r->plain_peak_bytes, whole);
        add_bytes(out, "  with fusions", r->fused_peak_bytes, whole);
    }
    add_bytes(out, "liveness peak", r->liveness_bytes, whole);
    add_bytes(out, "arena", r->arena_bytes, whole);
    add_bytes(out, "persistent memory", r->persistent_bytes, whole);
    str_addf(out, "%-18s %12lld\n", "clusters", (long long)r->n_clusters);
    str_addf(out, "%-18s %12lld\n", "control nodes", (long long)r->n_control);
}

static void print_memory(struct str *out, const struct plan_report *r, bool verbose) {
    int64_t whole = r->baseline_bytes;
    add_bytes(out, "baseline peak", whole, 0);
    if (r->max_overhead > 0)
        str_addf(out, "%-18s %12s (least memory at an overhead of at most %g %%)\n", "budget",
                 "none", 100 * r->max_overhead);
    else
        add_bytes(out, "budget", r->budget_bytes, whole);
    add_bytes(out, "planned peak", r->peak_bytes, whole);
    if (verbose)
        add_details(out, r);
    add_overhead(out, r);
    str_addf(out, "%-18s %12lld of %lld nodes\n", "recomputed", (long long)r->n_recomputed,
             (long long)r->n_nodes);
}

static void print_devices(struct str *out, const struct plan_report *r) {
    const struct plan_placed *p = r->placed;
    strategy_report(out, &p->placement.problem, &p->result.best, &p->result.facts);
    str_addf(out, "recomputed       %lld nodes\n", (long long)r->n_recomputed);
    str_addf(out, "search           %lld proposals%s\n", (long long)p->result.n_proposals,
             place_is_optimal(&p->result) ? "; proven optimal" : "");
}

void summary_print(struct str *out, const struct plan_report *r, const char *target, bool verbose) {
    if (!r->planned)
        return;
    if (r->placed)
        print_devices(out, r);
    else
        print_memory(out, r, verbose);
    if (r->is_interrupted)
        str_add(out, "The search was interrupted: this is the best plan so far.\n");
    if (!r->placed && strcmp(target, "-") != 0)
        str_addf(out, "%-18s mfc why %s TENSOR; --report FILE.html for a picture\n", "next",
                 target);
}
