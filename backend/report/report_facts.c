// The table of facts at the end of the report: all figures of the plan in exact numbers, and where
// its costs come from. Unknown figures have no row, except the lower bound of the time.
#include "backend/report/markup.h"
#include "backend/report/report_parts.h"

#define NAME_LENGTH 60

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
    bool placed = report_is_placed(r);
    fact_text(out, "runtime", placed ? NULL : f->runtime);
    fact_bytes(out, "budget", f->budget_bytes);
    fact_bytes(out, placed ? "largest device peak" : "peak on the runtime", f->peak_bytes);
    if (f->plain_peak_bytes != f->fused_peak_bytes) {
        fact_bytes(out, "peak at optimization levels disabled and basic", f->plain_peak_bytes);
        fact_bytes(out, "peak at optimization levels extended and all", f->fused_peak_bytes);
    }
    if (f->first_run_bytes != f->later_runs_bytes) {
        fact_bytes(out, "peak in the first run", f->first_run_bytes);
        fact_bytes(out, "peak in later runs", f->later_runs_bytes);
    }
    if (plan_facts_is_known(f->session_bytes))
        fact_bytes(out,
                   f->session_is_apart ? "session of ONNX Runtime, beside the peak"
                                       : "session of ONNX Runtime, in the peak",
                   f->session_bytes);
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
    bool placed = report_is_placed(r);
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

void report_facts(struct report_page *r) {
    struct str *out = r->out;
    const struct plan_facts *f = r->facts;
    str_add(out, "<section id=\"facts\">\n<h2>Facts</h2>\n<div class=\"wide\"><table "
                 "class=\"facts\">\n<tbody>\n");
    add_memory_facts(r);
    add_cost_facts(r);
    str_addf(out, "<tr><th scope=\"row\">nodes</th><td>%lld, of which %lld recomputed%s",
             (long long)f->n_nodes, (long long)f->n_recomputed,
             report_is_placed(r) ? " or duplicated" : "");
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
