// Curves as a table, as CSV and as JSON: see sweep.h.
#include "frontend/tools/sweep.h"

void sweep_print(struct str *out, const struct sweep *s) {
    str_add(out, "extra time at each budget, in percent; -: no schedule\n");
    str_addf(out, "%-20s", "budget");
    for (int32_t k = 0; k < s->n; k++)
        str_addf(out, " %6.1f%%%s", 100.0 * (double)s->budgets[k] / (double)s->whole_bytes,
                 k == s->knee ? "*" : " ");
    str_add_char(out, '\n');
    for (size_t i = 0; i < s->n_lines; i++) {
        str_addf(out, "%-20s", s->lines[i].method->name);
        for (int32_t k = 0; k < s->n; k++)
            if (sweep_has(&s->lines[i].at[k]))
                str_addf(out, " %7.2f ", 100 * sweep_overhead(&s->lines[i].at[k]));
            else
                str_addf(out, " %7s ", "-");
        str_add_char(out, '\n');
    }
    const struct sweep_line *best = &s->lines[s->best];
    for (int32_t k = 0; best->runtime_bytes && k < s->n; k++) {
        if (k == 0)
            str_addf(out, "%-20s", "needs as a plan");
        if (sweep_has(&best->at[k]))
            str_addf(out, " %6.1f%% ",
                     100.0 * (double)best->runtime_bytes[k] / (double)s->whole_bytes);
        else
            str_addf(out, " %7s ", "-");
        if (k == s->n - 1)
            str_addf(out, " of the same, on the runtime, by %s\n", best->method->name);
    }
    str_addf(out, "100 %% are ");
    str_add_bytes(out, s->whole_bytes);
    str_add(out, ", by liveness, of which ");
    str_add_bytes(out, s->persistent_bytes);
    str_addf(out, " always count; %d nodes in %d groups\n", s->n_nodes, s->n_groups);
    if (!best->runtime_bytes)
        str_add(out,
                "A plan promises the peak of a runtime instead: --count runtime measures it.\n");
    if (s->knee != SWEEP_NO_KNEE)
        str_addf(out, "* the knee of %s\n", s->lines[s->best].method->name);
    if (s->is_interrupted)
        str_add(out, "interrupted: what is missing was not searched for\n");
}

void sweep_print_csv(struct str *out, const struct sweep *s) {
    str_add(out, "method,budget_bytes,budget_share,status,peak_bytes,cost,overhead,bound,knee,"
                 "runtime_peak_bytes\n");
    for (size_t i = 0; i < s->n_lines; i++)
        for (int32_t k = 0; k < s->n; k++) {
            const struct schedule *p = &s->lines[i].at[k];
            int64_t bound = p->free_order ? p->bound_any : p->bound;
            str_addf(out, "%s,%lld,%.6f,%s", s->lines[i].method->name, (long long)s->budgets[k],
                     (double)s->budgets[k] / (double)s->whole_bytes, outcome_name(p->outcome));
            if (sweep_has(p))
                str_addf(out, ",%lld,%lld,%.6f", (long long)p->peak_bytes, (long long)p->cost,
                         sweep_overhead(p));
            else
                str_add(out, ",,,");
            if (bound != BOUND_NONE && !s->lines[i].method->baseline)
                str_addf(out, ",%lld", (long long)bound);
            else
                str_add(out, ",");
            str_addf(out, ",%d,", i == s->best && k == s->knee);
            if (s->lines[i].runtime_bytes && sweep_has(p))
                str_addf(out, "%lld", (long long)s->lines[i].runtime_bytes[k]);
            str_add_char(out, '\n');
        }
}

static void add_point(struct str *out, const struct sweep *s, size_t i, int32_t k) {
    const struct schedule *p = &s->lines[i].at[k];
    int64_t bound = p->free_order ? p->bound_any : p->bound;
    str_addf(out, "{\"budget_bytes\":%lld,\"status\":\"%s\"", (long long)s->budgets[k],
             outcome_name(p->outcome));
    if (sweep_has(p))
        str_addf(out, ",\"peak_bytes\":%lld,\"cost\":%lld", (long long)p->peak_bytes,
                 (long long)p->cost);
    else
        str_add(out, ",\"peak_bytes\":null,\"cost\":null");
    if (s->lines[i].runtime_bytes && sweep_has(p))
        str_addf(out, ",\"runtime_peak_bytes\":%lld", (long long)s->lines[i].runtime_bytes[k]);
    else
        str_add(out, ",\"runtime_peak_bytes\":null");
    if (bound != BOUND_NONE && !s->lines[i].method->baseline)
        str_addf(out, ",\"bound\":%lld}", (long long)bound);
    else
        str_add(out, ",\"bound\":null}");
}

void sweep_print_json(struct str *out, const struct sweep *s) {
    str_addf(out,
             "{\"format\":\"mfc-curves\",\"version\":1,\"whole_bytes\":%lld,\"fixed_bytes\":%lld,"
             "\"base_cost\":%lld,\"nodes\":%d,\"groups\":%d,\"interrupted\":%s,\"knee_bytes\":",
             (long long)s->whole_bytes, (long long)s->persistent_bytes, (long long)s->base_cost,
             s->n_nodes, s->n_groups, s->is_interrupted ? "true" : "false");
    if (s->knee == SWEEP_NO_KNEE)
        str_add(out, "null");
    else
        str_addf(out, "%lld", (long long)s->budgets[s->knee]);
    str_add(out, ",\n\"methods\":[");
    for (size_t i = 0; i < s->n_lines; i++) {
        str_addf(out, "%s\n{\"name\":\"%s\",\"baseline\":%s,\"points\":[", i ? "," : "",
                 s->lines[i].method->name, s->lines[i].method->baseline ? "true" : "false");
        for (int32_t k = 0; k < s->n; k++) {
            str_add(out, k ? ",\n" : "\n");
            add_point(out, s, i, k);
        }
        str_add(out, "]}");
    }
    str_add(out, "]}\n");
}
