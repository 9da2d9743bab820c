// The report, from top to bottom: see report.h. A sentence that says it all, the four numbers that
// people ask for, then the pictures, and at the end what is needed to check it or make it again.
#include "backend/report/report.h"

#include <string.h>

#include "backend/report/markup.h"
#include "backend/report/report_parts.h"
#include "backend/report/svg.h"
#include "ir/base/file.h"
#include "ir/runtime/runtime.h"

#define ALIVE_SHOWN 8
#define NAME_LENGTH 60

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

// The runtime's count where it is known, else that of liveness.
static int64_t peak_before(const struct report *r) {
    int64_t x = r->facts->unplanned_peak_bytes;
    return x >= 0 ? x : r->before.liveness.peak_bytes;
}

static int64_t peak_after(const struct report *r) {
    if (r->after.n_devices > 1)
        return r->after.n_steps ? r->after.held_bytes[r->after.peak_step] : 0;
    return r->facts->peak_bytes >= 0 ? r->facts->peak_bytes : r->after.liveness.peak_bytes;
}

static int64_t base_cost(const struct report *r) {
    return r->facts->base_cost >= 0 ? r->facts->base_cost : r->after.cost - r->after.recompute_cost;
}

static int64_t cost(const struct report *r) {
    return r->facts->cost >= 0 ? r->facts->cost : r->after.cost;
}

static double overhead(const struct report *r) {
    int64_t base = base_cost(r);
    return base > 0 ? (double)(cost(r) - base) / (double)base : 0;
}

static bool is_optimal(const struct report *r) {
    return r->facts->bound >= 0 && cost(r) <= r->facts->bound;
}

static double gap(const struct report *r) {
    return cost(r) > 0 ? (double)(cost(r) - r->facts->bound) / (double)cost(r) : 0;
}

static void add_head(struct report *r) {
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

static void add_one_device_lead(struct report *r) {
    struct str *out = r->out;
    str_add(out, "One training step in ");
    report_add_bytes(out, peak_after(r));
    if (r->after.n_recomputed == 0) {
        str_add(out, ". Nothing is computed twice.");
        return;
    }
    str_add(out, " instead of ");
    report_add_bytes(out, peak_before(r));
    str_add(out, ", for ");
    report_add_percent(out, overhead(r));
    str_addf(out, " more time: %u of %u runs repeat earlier ones.", r->after.n_recomputed,
             r->after.n_steps - r->after.n_control);
}

static void add_devices_lead(struct report *r) {
    struct str *out = r->out;
    uint32_t n = 0;
    const char *store = NULL;
    for (uint32_t k = 0; k < r->after.n_devices; k++)
        if (r->after.computes[k])
            n++;
        else
            store = r->after.device_name[k];
    str_addf(out, "One training step on %u device%s%s", n, n == 1 ? "" : "s", store ? " and " : "");
    if (store)
        markup_add_short(out, store, NAME_LENGTH);
    str_addf(out, ", %s at most ", n == 1 ? "which holds" : "each of which holds");
    report_add_bytes(out, peak_after(r));
    str_add(out, ". On one device alone it would hold ");
    report_add_bytes(out, peak_before(r));
    if (r->after.has_costs && r->before.has_costs) {
        str_add(out, " and compute for ");
        report_add_cost(out, &r->before, r->before.span);
        str_add(out, " instead of ");
        report_add_cost(out, &r->after,
                        r->facts->makespan >= 0 ? r->facts->makespan : r->after.span);
    }
    str_add(out, ".");
}

// What came of it, in a sentence or two.
static void add_lead(struct report *r) {
    struct str *out = r->out;
    str_add(out, "<header>\n<h1>");
    markup_add_short(out, r->facts->title ? r->facts->title : "plan", NAME_LENGTH);
    str_add(out, "</h1>\n<p class=\"lead\">");
    if (r->after.n_devices > 1)
        add_devices_lead(r);
    else
        add_one_device_lead(r);
    if (is_optimal(r))
        str_add(out, " Proven: no plan within this budget is faster.");
    str_add(out, "</p>\n");
}

static void key_begin(struct str *out, const char *what) {
    str_addf(out, "<li><span class=\"soft\">%s</span><b>", what);
}

static void key_end(struct str *out) {
    str_add(out, "</span></li>\n");
}

static void add_keys(struct report *r) {
    struct str *out = r->out;
    const struct facts *f = r->facts;
    int64_t before = peak_before(r);
    str_add(out, "<ul class=\"key\">\n");
    key_begin(out, r->after.n_devices > 1 ? "peak of the fullest device" : "peak memory");
    report_add_bytes(out, peak_after(r));
    str_add(out, "</b><span class=\"soft\">");
    report_add_percent(out, before > 0 ? (double)peak_after(r) / (double)before : 1);
    str_add(out, " of ");
    report_add_bytes(out, before);
    key_end(out);
    if (f->budget_bytes > 0) {
        key_begin(out, "budget");
        report_add_bytes(out, f->budget_bytes);
        str_add(out, "</b><span class=\"soft\">");
        report_add_percent(out, (double)peak_after(r) / (double)f->budget_bytes);
        str_add(out, " of it used");
        key_end(out);
    }
    key_begin(out, "extra time");
    report_add_percent(out, overhead(r));
    str_add(out, "</b><span class=\"soft\">");
    report_add_cost(out, &r->after, cost(r) - base_cost(r));
    str_add(out, " on ");
    report_add_cost(out, &r->after, base_cost(r));
    key_end(out);
    if (f->bound >= 0) {
        key_begin(out, "distance from the optimum");
        str_add(out, is_optimal(r) ? "none" : "at most ");
        if (!is_optimal(r))
            report_add_percent(out, gap(r));
        str_addf(out, "</b><span class=\"soft\">%s", is_optimal(r) ? "proven optimal" : "proven");
        key_end(out);
    }
    str_add(out, "</ul>\n</header>\n");
}

// What is held at the plan's peak, largest first, with bars to compare.
static void add_alive(struct report *r) {
    struct str *out = r->out;
    const struct timeline *t = &r->after;
    uint32_t largest[ALIVE_SHOWN];
    size_t n = t->n_steps ? timeline_held(t, t->peak_step, largest, ALIVE_SHOWN) : 0;
    if (!n)
        return;
    static const char *const classes[] = {"fixed", "activation", "again", "gradient", "workspace"};
    str_add(out, "<section id=\"peak\">\n<h2>At the peak</h2>\n<p>The plan holds most while <b>");
    markup_add_short(out, node_called(t->graph, t->order[t->peak_step]), NAME_LENGTH);
    str_add(out, "</b> runs: ");
    report_add_bytes(out, t->held_bytes[t->peak_step]);
    str_add(out, ", of which ");
    report_add_bytes(out, t->held[t->peak_step][HOLDER_FIXED]);
    str_addf(out, " are parameters and inputs. %s</p>\n<div class=\"wide\"><table>\n<tbody>\n",
             n > ALIVE_SHOWN ? "The largest besides these:" : "Besides these:");
    for (size_t k = 0; k < n && k < ALIVE_SHOWN; k++) {
        uint32_t s = largest[k];
        double share = (double)t->storage.bytes[s] / (double)t->storage.bytes[largest[0]];
        str_add(out, "<tr><td class=\"name\">");
        markup_add_short(out, graph_value(t->graph, t->storage.first[s])->name, NAME_LENGTH);
        str_addf(out, "</td><td>%s</td><td class=\"number\">", holder_name(t->holder[s]));
        report_add_bytes(out, t->storage.bytes[s]);
        str_addf(out,
                 "</td><td class=\"bars\"><span class=\"bar %s\" "
                 "style=\"width:%.1f%%\"></span></td></tr>\n",
                 classes[t->holder[s]], 100 * share);
    }
    str_add(out, "</tbody></table></div>\n");
    if (n > ALIVE_SHOWN)
        str_addf(out, "<p class=\"soft\">and %zu smaller ones</p>\n", n - ALIVE_SHOWN);
    str_add(out, "</section>\n");
}

static void fact_bytes(struct str *out, const char *what, int64_t n_bytes) {
    if (n_bytes < 0)
        return;
    str_addf(out, "<tr><th scope=\"row\">%s</th><td>", what);
    report_add_bytes(out, n_bytes);
    str_addf(out, " <span class=\"soft\">%lld B</span></td></tr>\n", (long long)n_bytes);
}

static void fact_cost(struct report *r, const char *what, int64_t x) {
    if (x < 0)
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

// What each device holds at most, of what it has.
static void add_device_facts(struct report *r) {
    const struct timeline *t = &r->after;
    for (uint32_t k = 0; k < t->n_devices; k++) {
        int64_t peak = 0;
        for (uint32_t i = 0; i < t->n_steps; i++)
            if (t->device[i] == k && t->held_bytes[i] > peak)
                peak = t->held_bytes[i];
        str_add(r->out, "<tr><th scope=\"row\">peak of ");
        markup_add_short(r->out, t->device_name[k], NAME_LENGTH);
        str_add(r->out, "</th><td>");
        report_add_bytes(r->out, peak);
        if (t->device_bytes[k] < INT64_MAX) {
            str_add(r->out, " of ");
            report_add_bytes(r->out, t->device_bytes[k]);
        }
        str_addf(r->out, " <span class=\"soft\">%lld B</span></td></tr>\n", (long long)peak);
    }
}

static void add_facts(struct report *r) {
    struct str *out = r->out;
    const struct facts *f = r->facts;
    str_add(out, "<section id=\"facts\">\n<h2>Facts</h2>\n<div class=\"wide\"><table "
                 "class=\"facts\">\n<tbody>\n");
    fact_text(out, "runtime", f->runtime);
    fact_bytes(out, "budget", f->budget_bytes > 0 ? f->budget_bytes : FACTS_UNKNOWN);
    if (r->after.n_devices == 1)
        fact_bytes(out, "peak on the runtime", f->peak_bytes);
    if (f->plain_peak_bytes != f->fused_peak_bytes) {
        fact_bytes(out, "at its levels disabled and basic", f->plain_peak_bytes);
        fact_bytes(out, "at its levels extended and all", f->fused_peak_bytes);
    }
    fact_bytes(out, "peak by liveness", r->after.liveness.peak_bytes);
    if (f->arena_bytes >= 0)
        fact_bytes(out, "peak laid out: arena, parameters and inputs",
                   f->arena_bytes + r->after.storage.persistent_bytes);
    fact_bytes(out, "unplanned, on the runtime without its optimizations", f->unplanned_peak_bytes);
    fact_bytes(out, "unplanned, by liveness", r->before.liveness.peak_bytes);
    fact_bytes(out, "parameters and inputs", r->after.storage.persistent_bytes);
    fact_bytes(out, "proven: by liveness, no plan of this time needs less than", f->min_bytes);
    fact_cost(r, "time of the plan", cost(r));
    fact_cost(r, "time with nothing repeated", base_cost(r));
    fact_cost(r, "proven: no plan is faster than", f->bound);
    fact_cost(r, "time of the step, simulated with the links", f->makespan);
    if (r->after.n_devices > 1)
        add_device_facts(r);
    fact_text(out, "outcome", f->outcome);
    fact_text(out, "cost model", f->cost_model);
    if (f->cost_match >= 0) {
        str_add(out, "<tr><th scope=\"row\">measured share of the cost</th><td>");
        report_add_percent(out, f->cost_match);
        str_add(out, "</td></tr>\n");
    }
    str_addf(out, "<tr><th scope=\"row\">nodes</th><td>%u, of which %u repeat others",
             r->after.n_steps, r->after.n_recomputed);
    if (r->after.n_control)
        str_addf(out, " and %u only hold the order", r->after.n_control);
    str_add(out, "</td></tr>\n");
    str_add(out, "</tbody></table></div>\n</section>\n");
}

static void add_end(struct report *r) {
    struct str *out = r->out;
    if (r->facts->command) {
        str_add(out, "<section id=\"again\">\n<h2>Make it again</h2>\n<pre>");
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

// The unplanned step runs as the runtime would run it, which need not be the order of its file.
static status make_before(struct report *r, const struct model *m, struct diags *d) {
    enum runtime runtime;
    struct runtime_report report;
    if (!r->facts->runtime || !runtime_find(r->facts->runtime, &runtime))
        return timeline_make(m, r->arena, d, &r->before);
    status st = runtime_peak(m, runtime, r->arena, d, &report);
    return st ? st : timeline_make_in(m, report.order, report.n_order, r->arena, d, &r->before);
}

static status print_page(struct report *r, const struct model *unplanned, const struct model *plan,
                         struct diags *d) {
    status st = timeline_make(plan, r->arena, d, &r->after);
    if (st == ST_OK)
        st = make_before(r, unplanned, d);
    if (st != ST_OK)
        return st;
    add_head(r);
    add_lead(r);
    add_keys(r);
    if (r->after.n_steps && r->before.n_steps) {
        report_memory(r);
        report_matrices(r);
        add_alive(r);
        report_choices(r);
        report_moved(r);
    }
    add_facts(r);
    add_end(r);
    return r->out->failed ? diag_out_of_memory(d) : ST_OK;
}

status report_print(struct str *out, const struct model *unplanned, const struct model *plan,
                    const struct facts *facts, struct diags *d) {
    struct arena scratch = arena_make(out->arena->mem);
    struct report r = {.out = out, .arena = &scratch, .facts = facts};
    status st = print_page(&r, unplanned, plan, d);
    arena_free(&scratch);
    return st;
}

status report_write(const struct model *unplanned, const struct model *plan,
                    const struct facts *facts, const char *path, struct diags *d) {
    struct arena scratch = arena_make(plan->arena->mem);
    struct str text = str_make(&scratch);
    status st = report_print(&text, unplanned, plan, facts, d);
    if (st == ST_OK)
        st = output_text(&scratch, d, path, &text);
    arena_free(&scratch);
    return st;
}
