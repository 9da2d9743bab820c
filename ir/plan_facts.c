// The figures of a plan, and their form as metadata: see plan_facts.h.
#include "ir/plan_facts.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "ir/base/quantity.h"
#include "ir/keys.h"

// Figures that a plan claims.
static const struct number {
    const char *key;
    size_t at; // in struct plan_facts
} numbers[] = {
#define NUMBER(key, member)                                                                        \
    { key, offsetof(struct plan_facts, member) }
    NUMBER(KEY_BUDGET, budget_bytes),
    NUMBER(KEY_PEAK, peak_bytes),
    NUMBER(KEY_PLAIN_PEAK, plain_peak_bytes),
    NUMBER(KEY_FUSED_PEAK, fused_peak_bytes),
    NUMBER(KEY_FIRST_RUN, first_run_bytes),
    NUMBER(KEY_LATER_RUNS, later_runs_bytes),
    NUMBER(KEY_SESSION, session_bytes),
    NUMBER(KEY_LIVENESS, liveness_bytes),
    NUMBER(KEY_ARENA, arena_bytes),
    NUMBER(KEY_BASELINE_PEAK, baseline_bytes),
    NUMBER(KEY_COST, cost),
    NUMBER(KEY_BASE_COST, base_cost),
    NUMBER(KEY_BOUND, bound),
    NUMBER(KEY_MAKESPAN, makespan_cost),
    NUMBER(KEY_RECOMPUTED, n_recomputed),
    NUMBER(KEY_CONTROL, n_control),
#undef NUMBER
};

enum { N_NUMBERS = sizeof numbers / sizeof *numbers };

static int64_t get(const struct plan_facts *f, const struct number *n) {
    int64_t x;
    memcpy(&x, (const char *)f + n->at, sizeof x);
    return x;
}

struct plan_facts plan_facts_none(void) {
    const int64_t none = PLAN_FACTS_UNKNOWN;
    return (struct plan_facts){.cost_match = -1,
                               .budget_bytes = none,
                               .n_step_nodes = none,
                               .baseline_bytes = none,
                               .baseline_liveness_bytes = none,
                               .base_cost = none,
                               .n_nodes = none,
                               .n_recomputed = none,
                               .n_control = none,
                               .n_transfers = none,
                               .peak_bytes = none,
                               .plain_peak_bytes = none,
                               .fused_peak_bytes = none,
                               .first_run_bytes = none,
                               .later_runs_bytes = none,
                               .session_bytes = none,
                               .liveness_bytes = none,
                               .persistent_bytes = none,
                               .arena_bytes = none,
                               .cost = none,
                               .makespan_cost = none,
                               .load_cost = none,
                               .moved_bytes = none,
                               .bound = none,
                               .min_bytes = none,
                               .n_clusters = none};
}

static double share(int64_t part, int64_t whole) {
    return whole > 0 ? (double)part / (double)whole : 0;
}

double plan_facts_overhead(const struct plan_facts *f) {
    bool known = plan_facts_is_known(f->cost) && plan_facts_is_known(f->base_cost);
    return known ? share(f->cost - f->base_cost, f->base_cost) : NAN;
}

double plan_facts_min_overhead(const struct plan_facts *f) {
    bool known = plan_facts_is_known(f->bound) && plan_facts_is_known(f->base_cost);
    return known ? share(f->bound - f->base_cost, f->base_cost) : NAN;
}

double plan_facts_gap(const struct plan_facts *f) {
    bool known = plan_facts_is_known(f->bound) && plan_facts_is_known(f->cost);
    return known ? share(f->cost - f->bound, f->cost) : NAN;
}

bool plan_facts_is_optimal(const struct plan_facts *f) {
    return f->outcome && strcmp(f->outcome, "optimal") == 0;
}

static bool put(struct model *m, const char *key, const char *text) {
    const char *kept = text ? pool_intern(m->pool, text) : NULL;
    return kept && pairs_set(&m->metadata, m->arena, key, kept);
}

// The peaks of the devices, one line each. NULL: out of memory.
static const char *device_peaks_text(const struct plan_facts *f, struct arena *a) {
    struct str text = str_make(a);
    for (size_t i = 0; i < f->n_devices; i++)
        str_addf(&text, "%s%lld", i ? "\n" : "", (long long)f->devices[i].peak_bytes);
    return text.failed ? NULL : str_text(&text);
}

status plan_facts_write(struct model *plan, const struct plan_facts *f, struct diags *d) {
    struct arena scratch = arena_make(plan->arena->mem);
    bool ok = true;
    for (size_t i = 0; i < N_NUMBERS && ok; i++) {
        int64_t x = get(f, &numbers[i]);
        if (plan_facts_is_known(x))
            ok = put(plan, numbers[i].key, str_format(&scratch, "%lld", (long long)x));
    }
    if (ok && f->runtime)
        ok = put(plan, KEY_RUNTIME, f->runtime);
    if (ok && f->session_is_apart)
        ok = put(plan, KEY_SESSION_APART, "apart");
    if (ok && f->cost_model)
        ok = put(plan, KEY_COST_MODEL, f->cost_model);
    if (ok && plan->device_names.n)
        ok = put(plan, KEY_DEVICE_PEAKS, device_peaks_text(f, &scratch));
    arena_free(&scratch);
    return ok ? ST_OK : diag_out_of_memory(d);
}

status plan_facts_read(const struct model *plan, struct plan_facts *f, struct diags *d) {
    status st = ST_OK;
    f->runtime = pairs_get(&plan->metadata, KEY_RUNTIME);
    f->session_is_apart = pairs_get(&plan->metadata, KEY_SESSION_APART);
    f->cost_model = pairs_get(&plan->metadata, KEY_COST_MODEL);
    for (size_t i = 0; i < N_NUMBERS; i++) {
        const char *text = pairs_get(&plan->metadata, numbers[i].key);
        int64_t x;
        if (!text)
            continue;
        if (quantity_parse_bytes(text, &x))
            memcpy((char *)f + numbers[i].at, &x, sizeof x);
        else
            st = diag_error(d, DIAG_MALFORMED, loc_file(plan->path), "%s is \"%s\", not a number",
                            numbers[i].key, text);
    }
    return st;
}

status plan_facts_compare(const struct model *plan, const struct plan_facts *claimed,
                          const struct plan_facts *found, struct diags *d) {
    status st = ST_OK;
    for (size_t i = 0; i < N_NUMBERS; i++) {
        int64_t x = get(claimed, &numbers[i]), y = get(found, &numbers[i]);
        if (plan_facts_is_known(x) && plan_facts_is_known(y) && x != y)
            st = diag_error(d, DIAG_VERIFY, loc_file(plan->path),
                            "the plan claims %s = %lld, but it is %lld", numbers[i].key,
                            (long long)x, (long long)y);
    }
    const char *peaks = pairs_get(&plan->metadata, KEY_DEVICE_PEAKS);
    struct arena scratch = arena_make(plan->arena->mem);
    const char *own = peaks ? device_peaks_text(found, &scratch) : "";
    if (!own)
        st = diag_out_of_memory(d);
    else if (peaks && strcmp(peaks, own) != 0)
        st = diag_error(d, DIAG_VERIFY, loc_file(plan->path),
                        "the plan claims other peaks of its devices than it has: %s",
                        KEY_DEVICE_PEAKS);
    arena_free(&scratch);
    return st;
}
