// The explanation of why.h as text and as JSON. Printed steps count from 1, as in reports.
#include "frontend/tools/why.h"

#include "ir/json/json_write.h"

static void add_line(struct str *out, const char *what) {
    str_addf(out, "%-11s", what);
}

static void add_bytes(struct str *out, int64_t n_bytes) {
    str_add_bytes(out, n_bytes);
    str_addf(out, " (%lld B)", (long long)n_bytes);
}

static void add_cost(struct str *out, const struct timeline *t, int64_t cost) {
    if (t->has_costs)
        str_addf(out, "%.3f ms", (double)cost * 1e-6);
    else
        str_addf(out, "%lld nodes", (long long)cost);
    if (t->cost > 0)
        str_addf(out, ", %.3f %% of the plan's time", 100.0 * (double)cost / (double)t->cost);
}

static const char *choice_of(const struct why *w) {
    if (w->parts.n && !w->runs.n)
        return "divided";
    if (w->is_persistent)
        return "fixed";
    if (w->is_control)
        return "control";
    if (w->view_of)
        return "view";
    if (w->runs.n > 1)
        return "recomputed";
    return w->moved_to.n ? "moved" : w->gap.from <= w->gap.to || w->is_output ? "kept" : "once";
}

static void add_headline(struct str *out, const struct why *w) {
    str_add(out, w->name);
    if (w->type)
        str_addf(out, " (%s)", w->type);
    if (w->is_persistent)
        str_add(out, " is persistent memory: a parameter, optimizer state, input or constant\n");
    else if (w->is_control)
        str_add(out, " is a control node: it enforces the order on the runtime, without data\n");
    else if (w->view_of)
        str_addf(out, " is a view of %s, whose memory it shares; see mfc why PLAN '%s'\n",
                 w->view_of, w->view_of);
    else if (w->runs.n > 1)
        str_addf(out, " is recomputed: it runs %zu times\n", w->runs.n);
    else if (w->gap.from <= w->gap.to)
        str_add(out, " is kept: it runs once, and its results stay in memory until their last "
                     "use\n");
    else if (w->is_output)
        str_add(out, " runs once; a result is an output of the step and stays in memory\n");
    else
        str_add(out, " runs once, and its results are used immediately\n");
}

static void add_runs(struct str *out, const struct timeline *t, const struct why *w) {
    for (size_t k = 0; k < w->runs.n; k++) {
        const struct why_run *r = &w->runs.at[k];
        add_line(out, k ? "recomputed" : "runs");
        str_addf(out, "as step %u of %u", r->step + 1, t->n_steps);
        if (r->stage)
            str_addf(out, ", stage %s", r->stage);
        if (*r->device)
            str_addf(out, ", on %s", r->device);
        if (w->view_of || w->is_control)
            str_add(out, "\n");
        else if (r->held_to >= t->n_steps)
            str_add(out, "; in memory to the end\n");
        else
            str_addf(out, "; in memory until step %u\n", r->held_to + 1);
    }
    for (size_t k = 0; k < w->moved_to.n; k++) {
        add_line(out, "moved");
        str_addf(out, "to %s\n", w->moved_to.at[k]);
    }
}

static void add_peak(struct str *out, const struct why *w, int64_t budget_bytes) {
    str_add(out, "the liveness peak ");
    int64_t change = w->alternative_peak_bytes - w->peak_bytes;
    if (change == 0) {
        str_add(out, "stays at ");
        add_bytes(out, w->peak_bytes);
    } else {
        str_add(out, "becomes ");
        add_bytes(out, w->alternative_peak_bytes);
        str_add(out, ", ");
        add_bytes(out, change < 0 ? -change : change);
        str_add(out, change < 0 ? " less at most" : " more");
    }
    if (budget_bytes > 0 && w->alternative_peak_bytes > budget_bytes) {
        str_add(out, ", ");
        str_add_bytes(out, w->alternative_peak_bytes - budget_bytes);
        str_add(out, " over the budget");
    } else if (budget_bytes > 0) {
        str_add(out, ", within the budget of ");
        add_bytes(out, budget_bytes);
    }
    str_add_char(out, '\n');
}

static void add_other(struct str *out, const struct timeline *t, const struct why *w,
                      int64_t budget_bytes) {
    bool has_gap = w->gap.from <= w->gap.to;
    if (w->runs.n > 1) {
        add_line(out, "overhead");
        add_cost(out, t, w->recompute_cost);
        str_add(out, "\n");
        if (has_gap) {
            add_line(out, "if kept");
            str_addf(out, "in steps %u to %u too: ", w->gap.from + 1, w->gap.to + 1);
            add_peak(out, w, budget_bytes);
        }
    } else if (w->is_random) {
        add_line(out, "otherwise");
        str_add(out, "not possible: a random node gives other values when it is recomputed\n");
    } else if (has_gap) {
        add_line(out, "otherwise");
        str_addf(out, "evicted in steps %u to %u and recomputed before step %u: ", w->gap.from + 1,
                 w->gap.to + 1, w->gap.to + 2);
        add_peak(out, w, budget_bytes);
        add_line(out, "");
        add_cost(out, t, w->recompute_cost);
        if (w->n_dependencies)
            str_addf(out, ", with %u other nodes that are not in memory then", w->n_dependencies);
        str_add_char(out, '\n');
    }
}

void why_print(struct str *out, const struct timeline *t, const struct why *w,
               int64_t budget_bytes) {
    why_print_parts(out, w);
    if (w->parts.n && !w->runs.n)
        return;
    add_headline(out, w);
    if (!w->is_control && !w->view_of) {
        add_line(out, "size");
        add_bytes(out, w->bytes);
        if (!w->is_persistent) {
            str_add(out, "; time ");
            add_cost(out, t, w->cost);
        }
        str_add_char(out, '\n');
    }
    add_runs(out, t, w);
    if (!w->is_persistent && !w->is_control && !w->view_of)
        add_other(out, t, w, budget_bytes);
}

static void add_json_runs(struct json_writer *w, const struct why *x) {
    json_write_array(w, "runs");
    for (size_t k = 0; k < x->runs.n; k++) {
        const struct why_run *r = &x->runs.at[k];
        json_write_object(w, NULL);
        json_write_int(w, "step", (int64_t)r->step + 1);
        json_write_int(w, "held_until", (int64_t)r->held_to + 1);
        json_write_text(w, "device", r->device);
        json_write_end(w);
    }
    json_write_end(w);
}

static void add_json_parts(struct json_writer *w, const struct why *x) {
    if (!x->parts.n)
        return;
    json_write_array(w, "parts");
    for (size_t k = 0; k < x->parts.n; k++) {
        json_write_object(w, NULL);
        json_write_text(w, "name", x->parts.at[k].name);
        json_write_text(w, "type", x->parts.at[k].type);
        json_write_text(w, "device", x->parts.at[k].device);
        json_write_int(w, "bytes", x->parts.at[k].bytes);
        json_write_end(w);
    }
    json_write_end(w);
    if (x->divisions)
        json_write_text(w, "divisions", x->divisions);
}

static void add_json_alternative(struct json_writer *w, const struct why *x) {
    bool is_recomputed = x->runs.n > 1;
    if (!is_recomputed && (x->gap.from > x->gap.to || x->is_random)) {
        json_write_null(w, "other");
        return;
    }
    json_write_object(w, "other");
    json_write_text(w, "choice", is_recomputed ? "kept" : "recomputed");
    json_write_int(w, "peak_bytes", x->alternative_peak_bytes);
    json_write_int(w, "cost_change", is_recomputed ? -x->recompute_cost : x->recompute_cost);
    json_write_end(w);
}

void why_print_json(struct str *out, const struct why *x, int64_t budget_bytes) {
    struct json_writer w = json_write_document(out, JSON_WRITE_COMPACT, "mfc-why");
    json_write_text(&w, "name", x->name);
    json_write_text(&w, "operator", x->type);
    json_write_text(&w, "choice", choice_of(x));
    json_write_int(&w, "bytes", x->bytes);
    json_write_int(&w, "cost", x->cost);
    add_json_runs(&w, x);
    add_json_parts(&w, x);
    json_write_array(&w, "moved_to");
    for (size_t k = 0; k < x->moved_to.n; k++)
        json_write_text(&w, NULL, x->moved_to.at[k]);
    json_write_end(&w);
    json_write_int(&w, "peak_bytes", x->peak_bytes);
    add_json_alternative(&w, x);
    json_write_int_if(&w, "budget_bytes", budget_bytes > 0, budget_bytes);
    json_write_finish(&w);
}
