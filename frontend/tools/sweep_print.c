// Overhead curves as a table, as CSV and as JSON: see sweep.h.
#include "frontend/tools/sweep.h"

#include "ir/json/json_write.h"

void sweep_print(struct str *out, const struct sweep *s) {
    str_add(out, "overhead at each budget, in percent; -: no schedule found\n");
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
            str_addf(out, "%-20s", "peak on the runtime");
        if (sweep_has(&best->at[k]))
            str_addf(out, " %6.1f%% ",
                     100.0 * (double)best->runtime_bytes[k] / (double)s->runtime_bytes);
        else
            str_addf(out, " %7s ", "-");
        if (k == s->n - 1)
            str_addf(out, " as a plan of %s\n", best->method->name);
    }
    str_addf(out, "100 %% is ");
    str_add_bytes(out, s->whole_bytes);
    str_add(out, ", the liveness peak of the baseline step, with ");
    str_add_bytes(out, s->persistent_bytes);
    str_addf(out, " persistent memory;\n%d nodes in %d clusters\n", s->n_nodes, s->n_groups);
    if (best->runtime_bytes) {
        str_add(out, "100 % of the peak on the runtime is ");
        str_add_bytes(out, s->runtime_bytes);
        str_add(out, ", of the baseline step\n");
    } else {
        str_add(out, "budgets limit the liveness peak; --count runtime measures the peak on the "
                     "runtime\n");
    }
    if (s->knee != SWEEP_NO_KNEE)
        str_addf(out, "* knee of the curve of %s\n", s->lines[s->best].method->name);
    if (s->is_interrupted)
        str_add(out, "stopped early: missing entries were not searched\n");
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

static void add_point(struct json_writer *w, const struct sweep *s, size_t i, int32_t k) {
    const struct sweep_line *line = &s->lines[i];
    const struct schedule *p = &line->at[k];
    int64_t bound = p->free_order ? p->bound_any : p->bound;
    bool has_runtime = line->runtime_bytes && sweep_has(p);
    json_write_object(w, NULL);
    json_write_int(w, "budget_bytes", s->budgets[k]);
    json_write_text(w, "status", outcome_name(p->outcome));
    json_write_int_if(w, "peak_bytes", sweep_has(p), p->peak_bytes);
    json_write_int_if(w, "cost", sweep_has(p), p->cost);
    json_write_int_if(w, "runtime_peak_bytes", has_runtime,
                      has_runtime ? line->runtime_bytes[k] : 0);
    json_write_int_if(w, "bound", bound != BOUND_NONE && !line->method->baseline, bound);
    json_write_end(w);
}

void sweep_print_json(struct str *out, const struct sweep *s) {
    bool has_knee = s->knee != SWEEP_NO_KNEE;
    struct json_writer w = json_write_document(out, JSON_WRITE_COMPACT, "mfc-curves");
    json_write_int(&w, "whole_bytes", s->whole_bytes);
    json_write_int_if(&w, "runtime_whole_bytes", s->runtime_bytes > 0, s->runtime_bytes);
    json_write_int(&w, "fixed_bytes", s->persistent_bytes);
    json_write_int(&w, "base_cost", s->base_cost);
    json_write_int(&w, "nodes", s->n_nodes);
    json_write_int(&w, "groups", s->n_groups);
    json_write_bool(&w, "interrupted", s->is_interrupted);
    json_write_int_if(&w, "knee_bytes", has_knee, has_knee ? s->budgets[s->knee] : 0);
    json_write_line(&w);
    json_write_array(&w, "methods");
    for (size_t i = 0; i < s->n_lines; i++) {
        json_write_line(&w);
        json_write_object(&w, NULL);
        json_write_text(&w, "name", s->lines[i].method->name);
        json_write_bool(&w, "baseline", s->lines[i].method->baseline);
        json_write_array(&w, "points");
        for (int32_t k = 0; k < s->n; k++) {
            json_write_line(&w);
            add_point(&w, s, i, k);
        }
        json_write_end(&w);
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_finish(&w);
}
