// The largest batches as a table, as CSV and as JSON: see max_batch.h.
#include "frontend/tools/max_batch.h"

#include <string.h>

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
    str_add(out, t->on_runtime ? ", as plans promise it" : ", by liveness");
    str_addf(out, "\n%-20s %8s %9s %8s %10s  %s\n", "method", "batch", "over", "budget",
             "extra time", "above");
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
            str_addf(out, "  %lld is proven not to fit", (long long)l->fails);
        else if (l->fails)
            str_addf(out, "  %lld: none found", (long long)l->fails);
        str_add_char(out, '\n');
        impossible = l->impossible;
    }
    if (all)
        str_add(out, "over: in proportion to keep-all\n");
    if (impossible)
        str_addf(out, "proven: no schedule for a batch of %lld\n", (long long)impossible);
    if (!t->on_runtime)
        str_add(out, "A plan promises the peak of a runtime instead: --count runtime.\n");
    if (t->is_interrupted)
        str_add(out, "interrupted: larger ones may fit\n");
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

static void add_number(struct str *out, const char *key, int64_t x) {
    if (x)
        str_addf(out, ",\"%s\":%lld", key, (long long)x);
    else
        str_addf(out, ",\"%s\":null", key);
}

void max_batch_print_json(struct str *out, const struct batch_table *t) {
    str_addf(out,
             "{\"format\":\"mfc-max-batch\",\"version\":1,\"budget_bytes\":%lld,"
             "\"count\":\"%s\",\"interrupted\":%s,\"methods\":[",
             (long long)t->budget_bytes, t->on_runtime ? "runtime" : "liveness",
             t->is_interrupted ? "true" : "false");
    for (size_t i = 0; i < t->n_lines; i++) {
        const struct batch_line *l = &t->lines[i];
        str_addf(out, "%s\n{\"name\":\"%s\",\"batch\":%lld", i ? "," : "", l->method->name,
                 (long long)l->fits);
        add_number(out, "not_found_at", l->fails);
        add_number(out, "proven_impossible", l->impossible);
        str_addf(out, ",\"budget_used\":%.6f,\"overhead\":%.6f}", l->share, l->overhead);
    }
    str_add(out, "]}\n");
}
