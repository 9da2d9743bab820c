// The largest batches as a table, as CSV and as JSON: see max_batch.h.
#include "frontend/tools/max_batch.h"

#include <string.h>

#include "ir/json/json_write.h"

static const struct batch_line *keep_all(const struct batch_table *t) {
    for (size_t i = 0; i < t->n_lines; i++)
        if (strcmp(t->lines[i].method->name, "keep-all") == 0)
            return &t->lines[i];
    return NULL;
}

void max_batch_print(struct str *out, const struct batch_table *t) {
    const struct batch_line *all = keep_all(t);
    int64_t impossible = 0;
    str_add(out, "largest batch within ");
    str_add_bytes(out, t->budget_bytes);
    str_add(out, t->on_runtime ? " (peak on the runtime)" : " (liveness peak)");
    str_addf(out, "\n%-20s %8s %9s %8s %10s  %s\n", "method", "batch", "ratio", "budget",
             "overhead", "next larger batch");
    for (size_t i = 0; i < t->n_lines; i++) {
        const struct batch_line *l = &t->lines[i];
        str_addf(out, "%-20s %8lld", l->method->name, (long long)l->fits);
        if (all && all->fits && l->fits)
            str_addf(out, " %8.2fx", (double)l->fits / (double)all->fits);
        else
            str_addf(out, " %9s", "-");
        if (l->fits)
            str_addf(out, " %6.1f %% %8.2f %%", 100 * l->share, 100 * l->overhead);
        else
            str_addf(out, " %8s %10s", "-", "-");
        if (l->fails && l->impossible == l->fails)
            str_addf(out, "  %lld: proven infeasible", (long long)l->fails);
        else if (l->fails)
            str_addf(out, "  %lld: no plan found", (long long)l->fails);
        str_add_char(out, '\n');
        impossible = l->impossible;
    }
    if (all)
        str_add(out, "ratio: to the batch of keep-all; budget: share used\n");
    if (impossible)
        str_addf(out, "proven: no plan fits a batch of %lld\n", (long long)impossible);
    if (!t->on_runtime)
        str_add(out, "the budget limits the liveness peak; --count runtime limits the peak on the "
                     "runtime\n");
    if (t->is_interrupted)
        str_add(out, "stopped early: larger batches may fit\n");
}

void max_batch_print_csv(struct str *out, const struct batch_table *t) {
    str_add(out, "method,budget_bytes,batch,not_found_at,proven_impossible,budget_used,overhead\n");
    for (size_t i = 0; i < t->n_lines; i++) {
        const struct batch_line *l = &t->lines[i];
        str_addf(out, "%s,%lld,%lld,%lld,%lld,%.6f,%.6f\n", l->method->name,
                 (long long)t->budget_bytes, (long long)l->fits, (long long)l->fails,
                 (long long)l->impossible, l->share, l->overhead);
    }
}

void max_batch_print_json(struct str *out, const struct batch_table *t) {
    struct json_writer w = json_write_document(out, JSON_WRITE_COMPACT, "mfc-max-batch");
    json_write_int(&w, "budget_bytes", t->budget_bytes);
    json_write_text(&w, "count", t->on_runtime ? "runtime" : "liveness");
    json_write_bool(&w, "interrupted", t->is_interrupted);
    json_write_array(&w, "methods");
    for (size_t i = 0; i < t->n_lines; i++) {
        const struct batch_line *l = &t->lines[i];
        json_write_line(&w);
        json_write_object(&w, NULL);
        json_write_text(&w, "name", l->method->name);
        json_write_int(&w, "batch", l->fits);
        json_write_int_if(&w, "not_found_at", l->fails != 0, l->fails);
        json_write_int_if(&w, "proven_impossible", l->impossible != 0, l->impossible);
        json_write_fixed(&w, "budget_used", 6, l->share);
        json_write_fixed(&w, "overhead", 6, l->overhead);
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_finish(&w);
}
