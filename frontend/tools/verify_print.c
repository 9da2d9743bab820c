// The result of a verification, as a table and as JSON: see verify_plan.h.
#include "frontend/tools/verify_plan.h"

#include <string.h>

static void add_bytes(struct str *out, const char *what, int64_t n_bytes) {
    str_addf(out, "%-12s%lld bytes (", what, (long long)n_bytes);
    str_add_bytes(out, n_bytes);
    str_add_char(out, ')');
}

static void add_devices(struct str *out, const struct plan_facts *f) {
    for (size_t i = 0; i < f->n_devices; i++) {
        const struct plan_device *one = &f->devices[i];
        if (!*one->name)
            continue;
        str_addf(out, "device      %s: peak %lld bytes", one->name, (long long)one->peak_bytes);
        if (one->memory_bytes != INT64_MAX)
            str_addf(out, " of %lld: within its memory", (long long)one->memory_bytes);
        str_add_char(out, '\n');
    }
}

// Costs may depend on a profile or a cost model that is not in the files.
static void add_costs(struct str *out, const struct verified *v) {
    const struct plan_facts *f = &v->facts;
    bool has_costs = plan_facts_is_known(f->cost) && plan_facts_is_known(f->base_cost);
    if (plan_facts_is_known(f->makespan_cost))
        str_addf(out, "makespan    %lld ns, as claimed; costs are not verified\n",
                 (long long)f->makespan_cost);
    else if (has_costs && v->costs_are_found)
        str_addf(out, "overhead    at most %.2f %% + 1 %%, by %s\n", 100 * plan_facts_overhead(f),
                 f->cost_model);
    else if (has_costs)
        str_addf(out, "overhead    %.2f %%, as claimed; costs are not verified\n",
                 100 * plan_facts_overhead(f));
    if (has_costs && plan_facts_is_known(f->bound))
        str_addf(out, "lower bound %.2f %%, as claimed; bounds are not verified\n",
                 100 * plan_facts_min_overhead(f));
}

void verify_plan_print(struct str *out, const struct verified *v) {
    const struct plan_facts *f = &v->facts;
    bool is_placed = f->n_devices > 1;
    str_addf(out, "outputs     all %zu are the same expressions as in the baseline step",
             v->outputs.n_outputs);
    if (v->outputs.n_reordered)
        str_addf(out, ", %zu of them up to the order of summation", v->outputs.n_reordered);
    str_add_char(out, '\n');
    if (v->division)
        str_addf(out, "division    %s parts\n", v->division);
    if (v->loss)
        str_addf(out, "loss        %s\n", v->loss);
    str_addf(out,
             "nodes       %lld, of which %lld recomputed and %lld control nodes; the baseline step "
             "has %lld\n",
             (long long)f->n_nodes, (long long)f->n_recomputed, (long long)f->n_control,
             (long long)f->n_step_nodes);
    if (strcmp(f->runtime, "file-order") == 0)
        str_add(out, "order       that of the file, which this runtime follows\n");
    else
        str_addf(out,
                 "order       enforced for %zu nodes; the others change the peak by at most %lld "
                 "bytes\n",
                 v->forced.n_heavy, (long long)v->forced.loose_bytes);
    add_bytes(out, "persistent", f->persistent_bytes);
    str_add_char(out, '\n');
    add_bytes(out, "liveness", f->liveness_bytes);
    str_add_char(out, '\n');
    add_bytes(out, "baseline", f->baseline_bytes);
    str_addf(out, " on runtime %s\n", f->runtime);
    add_bytes(out, "peak", f->peak_bytes);
    if (is_placed)
        str_add(out, " of the fullest device\n");
    else
        str_addf(out, " on runtime %s\n", f->runtime);
    if (plan_facts_is_known(f->arena_bytes)) {
        add_bytes(out, "arena", f->arena_bytes);
        str_add(out, ": no overlapping addresses\n");
    }
    if (plan_facts_is_known(f->budget_bytes)) {
        add_bytes(out, "budget", f->budget_bytes);
        str_add(out, ": within budget\n");
    } else if (!is_placed) {
        str_add(out, "budget      none claimed\n");
    }
    add_devices(out, f);
    add_costs(out, v);
}

static void add_number(struct json_writer *w, const char *key, int64_t x) {
    json_write_int_if(w, key, plan_facts_is_known(x) && x != INT64_MAX, x);
}

void verify_plan_json(struct json_writer *w, const char *key, const struct verified *v) {
    const struct plan_facts *f = &v->facts;
    json_write_object(w, key);
    json_write_int(w, "outputs", (int64_t)v->outputs.n_outputs);
    json_write_int(w, "reordered_outputs", (int64_t)v->outputs.n_reordered);
    json_write_text(w, "loss", v->loss ? v->loss : "");
    add_number(w, "nodes", f->n_nodes);
    add_number(w, "recomputations", f->n_recomputed);
    add_number(w, "control_nodes", f->n_control);
    add_number(w, "step_nodes", f->n_step_nodes);
    json_write_int(w, "ordered_nodes", (int64_t)v->forced.n_heavy);
    json_write_int(w, "loose_bytes", v->forced.loose_bytes);
    json_write_text(w, "runtime", f->runtime);
    add_number(w, "fixed_bytes", f->persistent_bytes);
    add_number(w, "liveness_bytes", f->liveness_bytes);
    add_number(w, "peak_bytes", f->peak_bytes);
    add_number(w, "plain_peak_bytes", f->plain_peak_bytes);
    add_number(w, "fused_peak_bytes", f->fused_peak_bytes);
    add_number(w, "first_run_bytes", f->first_run_bytes);
    add_number(w, "later_runs_bytes", f->later_runs_bytes);
    add_number(w, "session_bytes", f->session_bytes);
    json_write_bool(w, "session_in_peak", !f->session_is_apart);
    add_number(w, "unplanned_peak_bytes", f->baseline_bytes);
    add_number(w, "unplanned_liveness_bytes", f->baseline_liveness_bytes);
    add_number(w, "arena_bytes", f->arena_bytes);
    add_number(w, "budget_bytes", f->budget_bytes);
    json_write_bool(w, "costs_verified", v->costs_are_found);
    json_write_object(w, "claimed");
    add_number(w, "cost", f->cost);
    add_number(w, "base_cost", f->base_cost);
    add_number(w, "bound", f->bound);
    add_number(w, "makespan", f->makespan_cost);
    json_write_text(w, "cost_model", f->cost_model);
    json_write_end(w);
    json_write_array(w, "devices");
    for (size_t i = 0; i < f->n_devices; i++) {
        if (!*f->devices[i].name)
            continue;
        json_write_object(w, NULL);
        json_write_text(w, "name", f->devices[i].name);
        add_number(w, "peak_bytes", f->devices[i].peak_bytes);
        add_number(w, "memory_bytes", f->devices[i].memory_bytes);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_end(w);
}
