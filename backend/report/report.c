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

static bool is_placed(const struct report_page *r) {
    return r->facts->n_devices > 1;
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
    if (is_placed(r))
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
    key_begin(out, is_placed(r) ? "largest device peak" : "peak memory");
    report_add_bytes(out, is_placed(r) ? f->peak_bytes : f->devices[0].peak_bytes);
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
    } else if (!is_placed(r) && plan_facts_is_known(f->base_cost)) {
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

static void fact_bytes(struct str *out, const char *what, int64_t n_bytes) {
    if (!plan_facts_is_known(n_bytes))
        return;
    str_addf(out, "<tr><th scope=\"row\">%s</th><td>", what);
    report_add_bytes(out, n_bytes);
    str_addf(out, " <span class=\"soft\">%lld B</span></td></tr>\n", (long long)n_bytes);
}

static void fact_cost(struct report_page *r, const char *what, int64_t x) {
    if (!plan_facts_is_known(x))
        return;
    str_addf(r->out, "<tr><th scope=\"row\">%s</th><td>", what);
    report_add_cost(r->out, &r->after, x);
    str_addf(r->out, " <span class=\"soft\">%lld%s</span></td></tr>\n", (long long)x,
             r->after.has_costs ? " ns" : "");
}

static void fact_text(struct str *out, const char *what, const char *text) {
    if (!text)
        return;
    str_addf(out, "<tr><th scope=\"row\">%s</th><td>", what);
    markup_add_short(out, text, 200);
    str_add(out, "</td></tr>\n");
}

// Peak and memory of each device.
static void add_device_facts(struct report_page *r) {
    for (size_t i = 0; i < r->facts->n_devices; i++) {
        const struct plan_device *at = &r->facts->devices[i];
        str_add(r->out, "<tr><th scope=\"row\">peak of ");
        markup_add_short(r->out, at->name, NAME_LENGTH);
        str_add(r->out, "</th><td>");
        report_add_bytes(r->out, at->peak_bytes);
        if (at->memory_bytes < INT64_MAX) {
            str_add(r->out, " of ");
            report_add_bytes(r->out, at->memory_bytes);
        }
        str_addf(r->out, " <span class=\"soft\">%lld B</span></td></tr>\n",
                 (long long)at->peak_bytes);
    }
}

static const char *min_bytes_label(const struct plan_facts *f, struct arena *a) {
    struct str text = str_make(a);
    str_add(&text, "lower bound of the peak");
    if (f->max_overhead > 0)
        str_addf(&text, " for an overhead of at most %g\u00a0%%", 100 * f->max_overhead);
    return str_text(&text);
}

static void add_memory_facts(struct report_page *r) {
    struct str *out = r->out;
    const struct plan_facts *f = r->facts;
    bool placed = is_placed(r);
    fact_text(out, "runtime", placed ? NULL : f->runtime);
    fact_bytes(out, "budget", f->budget_bytes);
    fact_bytes(out, placed ? "largest device peak" : "peak on the runtime", f->peak_bytes);
    if (f->plain_peak_bytes != f->fused_peak_bytes) {
        fact_bytes(out, "peak at optimization levels disabled and basic", f->plain_peak_bytes);
        fact_bytes(out, "peak at optimization levels extended and all", f->fused_peak_bytes);
    }
    if (placed)
        add_device_facts(r);
    fact_bytes(out, placed ? "liveness peak of all devices together" : "liveness peak",
               f->liveness_bytes);
    if (plan_facts_is_known(f->arena_bytes))
        fact_bytes(out, "arena (static layout) and persistent memory",
                   f->arena_bytes + f->persistent_bytes);
    fact_bytes(out,
               placed ? "baseline step: peak on one device" : "baseline step: peak on the runtime",
               f->baseline_bytes);
    fact_bytes(out, "baseline step: liveness peak in file order", f->baseline_liveness_bytes);
    fact_bytes(out, "persistent memory", f->persistent_bytes);
    if (plan_facts_is_known(f->min_bytes))
        fact_bytes(out, min_bytes_label(f, r->arena), f->min_bytes);
}

static void add_cost_facts(struct report_page *r) {
    const struct plan_facts *f = r->facts;
    bool placed = is_placed(r);
    fact_cost(r, placed ? "time of all nodes together" : "time of the plan", f->cost);
    fact_cost(
        r, placed ? "time of the baseline step on the fastest device" : "time of the baseline step",
        f->base_cost);
    if (plan_facts_is_known(f->bound))
        fact_cost(r, "lower bound of the time", f->bound);
    else if (f->planned && !placed)
        fact_text(r->out, "lower bound of the time", "none known");
    fact_cost(r, "makespan, simulated with transfers", f->makespan_cost);
    fact_text(r->out, "outcome", f->outcome);
    fact_text(r->out, "cost model", f->cost_model);
    if (f->cost_match >= 0) {
        str_add(r->out, "<tr><th scope=\"row\">measured share of the cost</th><td>");
        report_add_percent(r->out, f->cost_match);
        str_add(r->out, "</td></tr>\n");
    }
}

static void add_facts(struct report_page *r) {
    struct str *out = r->out;
    const struct plan_facts *f = r->facts;
    str_add(out, "<section id=\"facts\">\n<h2>Facts</h2>\n<div class=\"wide\"><table "
                 "class=\"facts\">\n<tbody>\n");
    add_memory_facts(r);
    add_cost_facts(r);
    str_addf(out, "<tr><th scope=\"row\">nodes</th><td>%lld, of which %lld recomputed%s",
             (long long)f->n_nodes, (long long)f->n_recomputed,
             is_placed(r) ? " or duplicated" : "");
    if (f->n_control)
        str_addf(out, ", %lld control nodes", (long long)f->n_control);
    if (f->n_transfers)
        str_addf(out, ", %lld transfers", (long long)f->n_transfers);
    str_addf(
        out,
        "</td></tr>\n<tr><th scope=\"row\">nodes of the baseline step</th><td>%lld</td></tr>\n",
        (long long)f->n_step_nodes);
    str_add(out, "</tbody></table></div>\n</section>\n");
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
    add_facts(r);
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
