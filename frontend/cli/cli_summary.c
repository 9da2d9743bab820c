// The summary of a plan: see cli_summary.h.
#include "frontend/cli/cli_summary.h"

#include <string.h>

#include "passes/plan/plan_devices.h"

// A label, a size, and what the size is of the baseline's peak.
static void add_bytes(struct str *out, const char *label, int64_t n_bytes, int64_t whole) {
    struct arena scratch = arena_make(out->arena->mem);
    struct str size = str_make(&scratch);
    str_add_bytes(&size, n_bytes);
    str_addf(out, "%-18s %12s", label, str_text(&size));
    if (whole > 0)
        str_addf(out, " %6.1f %%", 100.0 * (double)n_bytes / (double)whole);
    str_add_char(out, '\n');
    arena_free(&scratch);
}

static void add_overhead(struct str *out, const struct plan_facts *f) {
    str_addf(out, "%-18s %10.2f %%", "overhead", 100 * plan_facts_overhead(f));
    if (plan_facts_is_known(f->bound))
        str_addf(out, " (lower bound %.2f %%, optimality gap %.2f %%)\n",
                 100 * plan_facts_min_overhead(f), 100 * plan_facts_gap(f));
    else
        str_add(out, " (lower bound: none known)\n");
}

static void add_details(struct str *out, const struct plan_facts *f) {
    int64_t whole = f->baseline_bytes;
    if (f->fused_peak_bytes != f->plain_peak_bytes) {
        add_bytes(out, "  without fusions", f->plain_peak_bytes, whole);
        add_bytes(out, "  with fusions", f->fused_peak_bytes, whole);
    }
    if (f->first_run_bytes != f->later_runs_bytes) {
        add_bytes(out, "  in the first run", f->first_run_bytes, whole);
        add_bytes(out, "  in later runs", f->later_runs_bytes, whole);
    }
    if (plan_facts_is_known(f->session_bytes))
        add_bytes(out, f->session_is_apart ? "session, besides" : "  of it session",
                  f->session_bytes, 0);
    add_bytes(out, "liveness peak", f->liveness_bytes, whole);
    add_bytes(out, "arena", f->arena_bytes, whole);
    add_bytes(out, "persistent memory", f->persistent_bytes, whole);
    str_addf(out, "%-18s %12lld\n", "clusters", (long long)f->n_clusters);
    str_addf(out, "%-18s %12lld\n", "control nodes", (long long)f->n_control);
    str_addf(out, "%-18s %12lld\n", "nodes", (long long)f->n_nodes);
}

static void print_memory(struct str *out, const struct plan_facts *f, bool verbose) {
    int64_t whole = f->baseline_bytes;
    add_bytes(out, "baseline peak", whole, 0);
    if (f->max_overhead > 0)
        str_addf(out, "%-18s %12s (least memory at an overhead of at most %g %%)\n", "budget",
                 "none", 100 * f->max_overhead);
    else
        add_bytes(out, "budget", f->budget_bytes, whole);
    add_bytes(out, "planned peak", f->peak_bytes, whole);
    if (verbose)
        add_details(out, f);
    add_overhead(out, f);
    str_addf(out, "%-18s %12lld of %lld nodes\n", "recomputed", (long long)f->n_recomputed,
             (long long)f->n_step_nodes);
}

static void add_time(struct str *out, int64_t cost) {
    str_addf(out, " %11.3f ms", (double)cost * 1e-6);
}

// The links that are in use, and for how long.
static void add_links(struct str *out, const struct plan_facts *f) {
    const struct placement *p = &f->placed->placement.problem;
    for (int32_t q = p->n_devices; q < p->n_resources; q++) {
        int64_t busy = f->placed->result.facts.busy_cost[q];
        if (busy == 0)
            continue;
        str_addf(out, "%-18s", p->resource_name[q]);
        add_time(out, busy);
        add_time(out, f->makespan_cost - busy);
        str_add_char(out, '\n');
    }
}

// One line a device, then the sums.
static void print_devices(struct str *out, const struct plan_facts *f, bool verbose) {
    const struct place_result *result = &f->placed->result;
    struct arena scratch = arena_make(out->arena->mem);
    str_addf(out, "%-18s %14s %14s %8s %12s %12s\n", "device", "busy", "idle", "nodes", "peak",
             "memory");
    for (size_t i = 0; i < f->n_devices; i++) {
        const struct plan_device *at = &f->devices[i];
        struct str peak = str_make(&scratch), memory = str_make(&scratch);
        str_add_bytes(&peak, at->peak_bytes);
        if (at->memory_bytes < INT64_MAX)
            str_add_bytes(&memory, at->memory_bytes);
        else
            str_add(&memory, "-");
        str_addf(out, "%-18s", at->name);
        add_time(out, at->busy_cost);
        if (at->n_nodes)
            add_time(out, f->makespan_cost - at->busy_cost);
        else // the host, which stores tensors
            str_addf(out, " %14s", "-");
        str_addf(out, " %8lld %12s %12s\n", (long long)at->n_nodes, str_text(&peak),
                 str_text(&memory));
    }
    if (verbose)
        add_links(out, f);
    str_addf(out, "%-18s", "makespan");
    add_time(out, f->makespan_cost);
    str_addf(out, "\n%-18s", "time per sample");
    add_time(out, f->load_cost);
    str_addf(out, "\n%-18s", "on one device");
    add_time(out, f->base_cost);
    struct str size = str_make(&scratch);
    str_add_bytes(&size, f->baseline_bytes);
    str_addf(out, ", peak %s\n", str_text(&size));
    str_addf(out, "%-18s %14lld of %lld nodes, duplicates included\n", "recomputed",
             (long long)f->n_recomputed, (long long)f->n_step_nodes);
    size.n = 0;
    str_add_bytes(&size, f->moved_bytes);
    str_addf(out, "%-18s %14lld, %s\n", "transfers", (long long)f->n_transfers, str_text(&size));
    str_addf(out, "%-18s %14lld proposals%s\n", "search", (long long)result->n_proposals,
             place_is_optimal(result) ? "; proven optimal for these clusters" : "");
    arena_free(&scratch);
}

void summary_print(struct str *out, const struct plan_facts *f, const char *target, bool verbose) {
    if (!f->planned && plan_facts_is_known(f->baseline_bytes)) {
        add_bytes(out, "peak", f->baseline_bytes, 0);
        str_add(out, "no plan is needed, or none needs less: this is the model itself, which is "
                     "written without one\n");
    }
    if (!f->planned)
        return;
    if (f->placed)
        print_devices(out, f, verbose);
    else
        print_memory(out, f, verbose);
    if (f->is_interrupted)
        str_add(out, "The search was interrupted: this is the best plan so far.\n");
    if (!f->placed && strcmp(target, "-") != 0)
        str_addf(out, "%-18s mfc why %s TENSOR; --report FILE.html for a picture\n", "next",
                 target);
}
