// The comparison of allocation algorithms as a table: see layout_compare.h. Human-readable as text
// or Markdown, machine-readable as CSV or JSON.
#include <string.h>

#include "ir/json/json_write.h"
#include "passes/layout/layout_compare.h"

// The arena without reuse divided by this one; the overhead in percent.
static double ratio(const struct layout_rows *r, const struct layout_row *row) {
    return row->arena_bytes > 0 ? (double)r->rows.at[0].arena_bytes / (double)row->arena_bytes : 0;
}

static double overhead(const struct layout_rows *r, const struct layout_row *row) {
    int64_t base = r->rows.at[0].cost;
    return base > 0 ? 100.0 * (double)(row->cost - base) / (double)base : 0;
}

static void print_text(struct str *out, const struct layout_rows *r, bool markdown) {
    str_addf(out,
             markdown ? "| %s | %s | %s | %s | %s |\n|---|---|---|---|---|\n"
                      : "%-34s %14s %14s %8s %9s\n",
             "allocation", "bytes", "live at once", "smaller", "overhead");
    for (size_t i = 0; i < r->rows.n; i++) {
        const struct layout_row *row = &r->rows.at[i];
        str_addf(out,
                 markdown ? "| %s | %lld | %lld | %.2f x | %.1f %% |\n"
                          : "%-34s %14lld %14lld %6.2f x %7.1f %%\n",
                 row->name, (long long)row->arena_bytes, (long long)row->live_bytes, ratio(r, row),
                 overhead(r, row));
    }
    str_addf(out, "%spersistent memory (inputs, parameters, constants), in addition: %lld bytes\n",
             markdown ? "\n" : "", (long long)r->persistent_bytes);
}

static void print_csv(struct str *out, const struct layout_rows *r) {
    str_add(out, "allocation,bytes,live_bytes,smaller,overhead_percent,cost,fixed_bytes\n");
    for (size_t i = 0; i < r->rows.n; i++) {
        const struct layout_row *row = &r->rows.at[i];
        str_addf(out, "\"%s\",%lld,%lld,%.4f,%.4f,%lld,%lld\n", row->name,
                 (long long)row->arena_bytes, (long long)row->live_bytes, ratio(r, row),
                 overhead(r, row), (long long)row->cost, (long long)r->persistent_bytes);
    }
}

static void print_json(struct str *out, const struct layout_rows *r) {
    struct json_writer w = json_write_document(out, JSON_WRITE_COMPACT, "mfc-comparison");
    json_write_int(&w, "fixed_bytes", r->persistent_bytes);
    json_write_line(&w);
    json_write_array(&w, "rows");
    for (size_t i = 0; i < r->rows.n; i++) {
        const struct layout_row *row = &r->rows.at[i];
        json_write_line(&w);
        json_write_object(&w, NULL);
        json_write_text(&w, "allocation", row->name);
        json_write_int(&w, "bytes", row->arena_bytes);
        json_write_int(&w, "live_bytes", row->live_bytes);
        json_write_int(&w, "cost", row->cost);
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_finish(&w);
}

void layout_table_print(struct str *out, const struct layout_rows *r, const char *form) {
    if (strcmp(form, "csv") == 0)
        print_csv(out, r);
    else if (strcmp(form, "json") == 0)
        print_json(out, r);
    else
        print_text(out, r, strcmp(form, "markdown") == 0);
}
