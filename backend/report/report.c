// The page of the report, from top to bottom: see report.h. A summary sentence, four key numbers,
// the plots, and at the end all facts and the command that reproduces the plan.
#include "backend/report/report.h"

#include <string.h>

#include "backend/report/markup.h"
#include "backend/report/report_parts.h"
#include "backend/report/svg.h"

#include "ir/runtime/runtime.h"

#define PEAK_ROWS   8
#define NAME_LENGTH 60

const char *report_holder_class(enum holder h) {
    static const char *const classes[] = {"persistent", "activation", "recomputed", "gradient",
                                          "workspace"};
    return classes[h];
}

void report_add_bytes(struct str *out, int64_t n_bytes) {
    svg_add_bytes(out, (double)n_bytes);
    if (n_bytes == 0)
        str_add(out, "\u00a0B");
}

void report_add_cost(struct str *out, const struct timeline *t, int64_t cost) {
    if (!t->has_costs)
        str_addf(out, "%lld\u00a0step%s", (long long)cost, cost == 1 ? "" : "s");
    else if (cost == 0)
        str_add(out, "0\u00a0ns");
    else
        svg_add_time(out, (double)cost);
}

void report_add_percent(struct str *out, double share) {
    str_addf(out, "%.*f\u00a0%%", share < 0.1 ? 2 : 1, 100 * share);
}

static void add_head(struct report_page *r) {
    struct str *out = r->out;
    str_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                 "<meta name=\"generator\" content=\"mfc\"/>\n<title>");
    markup_add_short(out, r->facts->title ? r->facts->title : "plan", NAME_LENGTH);
    str_add(out, " · mfc</title>\n<style>\n");
    str_add(out, svg_style());
    str_add(out, report_style());
    str_add(out, "</style>\n</head>\n<body>\n");
}

static void add_one_device_lead(struct report_page *r) {
    struct str *out = r->out;
    const struct plan_facts *f = r->facts;
    str_add(out, "One training step in ");
    report_add_bytes(out, f->devices[0].peak_bytes);
    if (plan_facts_is_known(f->baseline_bytes) && f->peak_bytes < f->baseline_bytes) {
        str_add(out, " instead of ");
        report_add_bytes(out, f->baseline_bytes);
    }
    if (f->n_recomputed == 0) {
        str_add(out, ", without recomputation.");
        return;
    }
    if (plan_facts_is_known(f->base_cost)) {
        str_add(out, ", with ");
        report_add_percent(out, plan_facts_overhead(f));
        str_add(out, " overhead");
    }
    str_addf(out, ": %lld recomputation%s in a step of %lld nodes.", (long long)f->n_recomputed,
             f->n_recomputed == 1 ? "" : "s", (long long)f->n_step_nodes);
}

static void add_devices_lead(struct report_page *r) {
    struct str *out = r->out;
    const struct plan_facts *f = r->facts;
    size_t n = 0;
    const char *store = NULL;
    for (size_t i = 0; i < f->n_devices; i++)
        if (f->devices[i].n_nodes)
            n++;
        else if (f->devices[i].peak_bytes > 0)
            store = f->devices[i].name;
    str_addf(out, "One training step on %zu device%s%s", n, n == 1 ? "" : "s",
             store ? " and " : "");
    if (store)
        markup_add_short(out, store, NAME_LENGTH);
    str_addf(out, ", %s at most ", n == 1 ? "which holds" : "each of which holds");
    report_add_bytes(out, f->peak_bytes);
    if (plan_facts_is_known(f->makespan_cost)) {
        str_add(out, ", in ");
        report_add_cost(out, &r->after, f->makespan_cost);
    }
    str_add(out, ".");
    if (!plan_facts_is_known(f->baseline_bytes) || !plan_facts_is_known(f->makespan_cost))
        return;
    str_add(out, n == 1 ? " The step without a plan would need "
                        : " On one of these devices the step would need ");
    report_add_bytes(out, f->baseline_bytes);
    str_add(out, " and take ");
    report_add_cost(out, &r->after, f->base_cost);
    str_add(out, ".");
}

// The summary, in a sentence or two.
static void add_lead(struct report_page *r) {
    struct str *out = r->out;
    str_add(out, "<header>\n<h1>");
    markup_add_short(out, r->facts->title ? r->facts->title : "plan", NAME_LENGTH);
    str_add(out, "</h1>\n<p class=\"lead\">");
    if (report_is_placed(r))
        add_devices_lead(r);
    else
        add_one_device_lead(r);
    if (plan_facts_is_optimal(r->facts) && plan_facts_is_known(r->facts->budget_bytes))
        str_add(out, " Proven optimal: no plan within this budget is faster.");
    else if (plan_facts_is_optimal(r->facts))
        str_addf(
            out,
            " Proven optimal: no plan with an overhead of at most %g\u00a0%% needs less memory.",
            100 * r->facts->max_overhead);
    str_add(out, "</p>\n");
}

static void key_begin(struct str *out, const char *what) {
    str_addf(out, "<li><span class=\"soft\">%s</span><b>", what);
}

static void key_end(struct str *out) {
    str_add(out, "</span></li>\n");
}

static void add_peak_key(struct report_page *r) {
    struct str *out = r->out;
    const struct plan_facts *f = r->facts;
    key_begin(out, report_is_placed(r) ? "largest device peak" : "peak memory");
    report_add_bytes(out, report_is_placed(r) ? f->peak_bytes : f->devices[0].peak_bytes);
    str_add(out, "</b><span class=\"soft\">");
    if (plan_facts_is_known(f->baseline_bytes) && f->baseline_bytes > 0) {
        report_add_percent(out, (double)f->peak_bytes / (double)f->baseline_bytes);
        str_add(out, " of ");
        report_add_bytes(out, f->baseline_bytes);
    }
    key_end(out);
}

static void add_overhead_key(struct report_page *r) {
    struct str *out = r->out;
    const struct plan_facts *f = r->facts;
    key_begin(out, "overhead");
    report_add_percent(out, plan_facts_overhead(f));
    str_add(out, "</b><span class=\"soft\">");
    report_add_cost(out, &r->after, f->cost - f->base_cost);
    str_add(out, " on ");
    report_add_cost(out, &r->after, f->base_cost);
    key_end(out);
}

static void add_makespan_key(struct report_page *r) {
    struct str *out = r->out;
    const struct plan_facts *f = r->facts;
    key_begin(out, "makespan");
    report_add_cost(out, &r->after, f->makespan_cost);
    str_add(out, "</b><span class=\"soft\">");
    report_add_percent(out, (double)f->makespan_cost / (double)f->base_cost);
    str_add(out, " of ");
    report_add_cost(out, &r->after, f->base_cost);
    str_add(out, " on one device");
    key_end(out);
}

static void add_gap_key(struct report_page *r) {
    struct str *out = r->out;
    const struct plan_facts *f = r->facts;
    key_begin(out, "optimality gap");
    if (!plan_facts_is_known(f->bound)) {
        str_add(out, "unknown</b><span class=\"soft\">lower bound: none known");
        key_end(out);
        return;
    }
    report_add_percent(out, plan_facts_gap(f));
    str_add(out, "</b><span class=\"soft\">");
    if (plan_facts_is_optimal(f) && f->cost == f->bound) {
        str_add(out, "proven optimal");
    } else {
        str_add(out, "lower bound ");
        report_add_percent(out, plan_facts_min_overhead(f));
        str_add(out, " overhead");
    }
    key_end(out);
}

static void add_keys(struct report_page *r) {
    struct str *out = r->out;
    const struct plan_facts *f = r->facts;
    str_add(out, "<ul class=\"key\">\n");
    add_peak_key(r);
    if (plan_facts_is_known(f->budget_bytes)) {
        key_begin(out, "budget");
        report_add_bytes(out, f->budget_bytes);
        str_add(out, "</b><span class=\"soft\">");
        report_add_percent(out, (double)f->peak_bytes / (double)f->budget_bytes);
        str_add(out, " used");
        key_end(out);
    }
    if (plan_facts_is_known(f->makespan_cost)) {
        add_makespan_key(r);
    } else if (!report_is_placed(r) && plan_facts_is_known(f->base_cost)) {
        add_overhead_key(r);
        if (f->planned)
            add_gap_key(r);
    }
    str_add(out, "</ul>\n</header>\n");
}

// The tensors in memory at the peak of the plan, largest first, with bars for comparison.
static void add_peak(struct report_page *r) {
    struct str *out = r->out;
    const struct timeline *t = &r->after;
    uint32_t largest[PEAK_ROWS];
    size_t n = t->n_steps ? timeline_held(t, t->peak_step, largest, PEAK_ROWS) : 0;
    if (!n)
        return;
    str_add(out, "<section id=\"peak\">\n<h2>Memory at the peak</h2>\n<p>The liveness peak is at "
                 "node <b>");
    markup_add_short(out, node_called(t->graph, t->order[t->peak_step]), NAME_LENGTH);
    str_add(out, "</b>: ");
    report_add_bytes(out, t->held_bytes[t->peak_step]);
    str_add(out, ", of which ");
    report_add_bytes(out, t->held[t->peak_step][HOLDER_PERSISTENT]);
    str_addf(out,
             " persistent memory (parameters, optimizer state, inputs). %s</p>\n"
             "<div class=\"wide\"><table>\n<tbody>\n",
             n > PEAK_ROWS ? "The largest other tensors:" : "The other tensors:");
    for (size_t k = 0; k < n && k < PEAK_ROWS; k++) {
        uint32_t s = largest[k];
        double share = (double)t->storage.bytes[s] / (double)t->storage.bytes[largest[0]];
        str_add(out, "<tr><td class=\"name\">");
        markup_add_short(out, graph_value(t->graph, t->storage.first[s])->name, NAME_LENGTH);
        str_addf(out, "</td><td>%s</td><td class=\"number\">", timeline_holder_name(t->holder[s]));
        report_add_bytes(out, t->storage.bytes[s]);
        str_addf(out,
                 "</td><td class=\"bars\"><span class=\"bar %s\" "
                 "style=\"width:%.1f%%\"></span></td></tr>\n",
                 report_holder_class(t->holder[s]), 100 * share);
    }
    str_add(out, "</tbody></table></div>\n");
    if (n > PEAK_ROWS)
        str_addf(out, "<p class=\"soft\">and %zu smaller tensors</p>\n", n - PEAK_ROWS);
    str_add(out, "</section>\n");
}

static void add_end(struct report_page *r) {
    struct str *out = r->out;
    if (r->facts->command) {
        str_add(out, "<section id=\"reproduce\">\n<h2>Reproduce</h2>\n<pre>");
        markup_add(out, r->facts->command);
        str_add(out, "</pre>\n</section>\n");
    }
    str_add(out, "<footer>mfc");
    if (r->facts->version) {
        str_add(out, " ");
        markup_add(out, r->facts->version);
    }
    str_add(out, "</footer>\n<div id=\"tip\" hidden=\"hidden\"></div>\n<script>\n");
    str_add(out, report_script());
    str_add(out, "</script>\n</body>\n</html>\n");
}

// The baseline step in the order of the runtime, which may differ from file order.
static status make_before(struct report_page *r, const struct model *m, struct diags *d) {
    enum runtime runtime;
    struct runtime_report run;
    if (!r->facts->runtime || !runtime_find(r->facts->runtime, &runtime))
        return timeline_make(m, r->arena, d, &r->before);
    status st = runtime_peak(m, runtime, r->arena, d, &run);
    return st ? st : timeline_make_in(m, run.order, run.n_order, r->arena, d, &r->before);
}

static status print_page(struct report_page *r, const struct model *baseline,
                         const struct model *plan, struct diags *d) {
    status st = timeline_make(plan, r->arena, d, &r->after);
    if (st == ST_OK)
        st = make_before(r, baseline, d);
    if (st != ST_OK)
        return st;
    add_head(r);
    add_lead(r);
    add_keys(r);
    if (r->after.n_steps && r->before.n_steps) {
        report_memory(r);
        report_matrices(r);
        add_peak(r);
        report_choices(r);
        report_moved(r);
    }
    report_facts(r);
    add_end(r);
    return r->out->failed ? diag_out_of_memory(d) : ST_OK;
}

status report_print(struct str *out, const struct model *baseline, const struct model *plan,
                    const struct plan_facts *facts, struct diags *d) {
    struct arena scratch = arena_make(out->arena->mem);
    struct report_page r = {.out = out, .arena = &scratch, .facts = facts};
    status st = print_page(&r, baseline, plan, d);
    arena_free(&scratch);
    return st;
}
