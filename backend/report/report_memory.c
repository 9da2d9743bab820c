// Memory over time of the baseline step and the plan on one axis, with the schedule below. Stages:
// steps are merged into bands that are wide enough to be visible, each drawn with the maximum of
// its steps, so that no peak is lost; areas, lines and strips are drawn from the bands; on top are
// invisible rectangles whose tooltips list the tensors in memory. There are two plots, by time and
// by step, and a switch between them.
#include <string.h>

#include "backend/report/markup.h"
#include "backend/report/report_panel.h"

#define WIDTH       960.0
#define RIGHT       22.0
#define PLOT_TOP    26.0
#define PLOT_HEIGHT 270.0
#define STRIP_STEP  19.0 // from one strip to the next
#define MAX_BANDS   440  // approximately
#define NAME_LENGTH 48
#define SHOWN       4 // tensors in a tooltip

static double span_of(const struct timeline *t, enum axis axis) {
    return axis == AXIS_TIME ? (double)t->span : t->n_steps;
}

// Bands have no gaps between them: memory stays in use while a device waits.
static struct bands make_bands(const struct timeline *t, uint32_t device, enum axis axis,
                               double min_width, struct arena *a) {
    struct bands b = {ARENA_ARRAY(a, struct band, (size_t)t->n_steps + 1), 0};
    for (uint32_t i = 0; b.at && i < t->n_steps; i++) {
        if (t->device[i] != device)
            continue;
        struct band *last = b.n ? &b.at[b.n - 1] : NULL;
        if (last && (last->to - last->from < min_width || panel_end(t, i, axis) <= last->to)) {
            last->last = i;
            last->n++;
            if (t->held_bytes[i] > t->held_bytes[last->top])
                last->top = i;
        } else {
            double from = panel_begin(t, i, axis);
            if (last && from < last->from) // a transfer in parallel with a node
                from = last->from;
            if (last)
                last->to = from;
            b.at[b.n++] = (struct band){.first = i, .last = i, .top = i, .n = 1, .from = from};
        }
        if (panel_end(t, i, axis) > b.at[b.n - 1].to || b.at[b.n - 1].n == 1)
            b.at[b.n - 1].to = panel_end(t, i, axis);
    }
    return b;
}

// The edges of the bands, for lines and areas of steps.
static double *edges(const struct bands *b, struct arena *a) {
    double *x = ARENA_ARRAY(a, double, b->n + 1);
    for (size_t i = 0; x && i < b->n; i++) {
        x[i] = b->at[i].from;
        x[i + 1] = b->at[i].to;
    }
    return x;
}

static void draw_areas(const struct panel *p) {
    struct report_page *r = p->r;
    size_t n = p->after.n;
    double *x = edges(&p->after, r->arena), *low = ARENA_ARRAY(r->arena, double, n),
           *high = ARENA_ARRAY(r->arena, double, n);
    if (!x || !low || !high) {
        r->out->failed = true;
        return;
    }
    for (int h = 0; h < HOLDER_COUNT_; h++) {
        int64_t max = 0;
        for (size_t i = 0; i < n; i++) {
            int64_t held = r->after.held[p->after.at[i].top][h];
            high[i] = low[i] + (double)held;
            max = held > max ? held : max;
        }
        struct svg_series area = {x, high, low, n, SVG_STEPS, report_holder_class((enum holder)h)};
        if (max > 0)
            svg_area(&p->plot, &area);
        memcpy(low, high, n * sizeof *low);
    }
}

static void draw_before(const struct panel *p) {
    struct report_page *r = p->r;
    size_t n = p->before.n;
    double *x = edges(&p->before, r->arena), *y = ARENA_ARRAY(r->arena, double, n);
    if (!x || !y) {
        r->out->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++)
        y[i] = (double)r->before.held_bytes[p->before.at[i].top];
    svg_line(&p->plot, &(struct svg_series){
                           .x = x, .y = y, .n = n, .shape = SVG_STEPS, .class = "line before"});
}

static const struct band *fullest(const struct timeline *t, const struct bands *b) {
    const struct band *best = NULL;
    for (size_t i = 0; i < b->n; i++)
        if (!best || t->held_bytes[b->at[i].top] > t->held_bytes[best->top])
            best = &b->at[i];
    return best;
}

// A dot at the peak with its size above. Returns the x position of the label.
static double mark_peak(const struct panel *p, const struct timeline *t, const struct bands *b,
                        const char *what, const char *class) {
    const struct band *top = fullest(t, b);
    if (!top)
        return -1;
    double x = svg_x(&p->plot, (top->from + top->to) / 2);
    double y = svg_y(&p->plot, (double)t->held_bytes[top->top]);
    struct str label = str_make(p->r->arena);
    str_addf(&label, "%s ", what);
    report_add_bytes(&label, t->held_bytes[top->top]);
    str_addf(p->r->out, "<circle class=\"dot %s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>", class, x, y);
    double middle = x;
    const double margin = 80;
    if (middle < PANEL_LEFT + margin)
        middle = PANEL_LEFT + margin;
    if (middle > WIDTH - RIGHT - margin)
        middle = WIDTH - RIGHT - margin;
    double budget = svg_y(&p->plot, (double)p->budget_bytes);
    bool crossed = p->budget_bytes > 0 && budget < y && budget > y - 24;
    svg_text(p->r->out, middle, (crossed ? budget : y) - 9, SVG_MIDDLE, "mark", str_text(&label));
    return middle;
}

static void draw_budget(const struct panel *p, double peak_label_x) {
    struct report_page *r = p->r;
    double budget = (double)p->budget_bytes;
    if (p->budget_bytes <= 0 || budget > p->plot.y_max)
        return;
    double y = svg_y(&p->plot, budget);
    struct str label = str_make(r->arena);
    str_add(&label, r->after.n_devices > 1 ? "memory " : "budget ");
    report_add_bytes(&label, p->budget_bytes);
    bool left = peak_label_x > WIDTH - 300;
    str_addf(r->out, "<path class=\"line budget\" d=\"M%.1f %.1fh%.1f\"/>", p->plot.left, y,
             p->plot.width);
    svg_text(r->out, left ? PANEL_LEFT + 6 : WIDTH - RIGHT - 6, y - 6, left ? SVG_START : SVG_END,
             "mark budget-text", str_text(&label));
}

static void add_held(struct str *out, const struct timeline *t, uint32_t step) {
    str_add(out, "\nin memory ");
    report_add_bytes(out, t->held_bytes[step]);
    const char *before = ": ";
    for (int h = 0; h < HOLDER_COUNT_; h++)
        if (t->held[step][h] > 0) {
            str_addf(out, "%s%s ", before, timeline_holder_name((enum holder)h));
            report_add_bytes(out, t->held[step][h]);
            before = ", ";
        }
    uint32_t largest[SHOWN];
    size_t n = timeline_held(t, step, largest, SHOWN);
    for (size_t k = 0; k < n && k < SHOWN; k++) {
        str_add(out, "\n");
        markup_add_short(out, graph_value(t->graph, t->storage.first[largest[k]])->name,
                         NAME_LENGTH);
        str_add(out, "  ");
        report_add_bytes(out, t->storage.bytes[largest[k]]);
    }
    if (n > SHOWN)
        str_addf(out, "\nand %zu more", n - SHOWN);
}

static void add_title(struct str *out, const struct timeline *t, const struct band *b) {
    node_id id = t->order[b->top];
    markup_add_short(out, node_called(t->graph, id), NAME_LENGTH);
    str_add(out, " · ");
    markup_add_short(out, graph_node(t->graph, id)->type, NAME_LENGTH);
    if (t->work[b->top] != WORK_FORWARD && t->work[b->top] != WORK_BACKWARD)
        str_addf(out, " · %s", timeline_work_name(t->work[b->top]));
    str_addf(out, "\nstep %u of %u, from ", b->top + 1, t->n_steps);
    report_add_cost(out, t, t->start[b->top]);
    if (b->n > 1)
        str_addf(out, "; the maximum of %u steps", b->n);
    add_held(out, t, b->top);
}

static void draw_tooltips(const struct panel *p, double bottom) {
    struct str *out = p->r->out;
    str_add(out, "<g>\n");
    for (size_t i = 0; i < p->after.n; i++) {
        const struct band *b = &p->after.at[i];
        double x = svg_x(&p->plot, b->from);
        str_addf(out,
                 "<rect class=\"hover\" x=\"%.2f\" y=\"%g\" width=\"%.2f\" height=\"%g\"><title>",
                 x, PLOT_TOP, svg_x(&p->plot, b->to) - x, bottom - PLOT_TOP);
        add_title(out, &p->r->after, b);
        str_add(out, "</title></rect>\n");
    }
    str_add(out, "</g>\n");
}

// The baseline step is on one device, so it is shown only with a plan for one device.
static bool is_comparable(const struct report_page *r) {
    return r->before.n_devices == r->after.n_devices;
}

// The budget of the plan, or the memory of one of several devices; 0: no limit.
static int64_t budget_of(const struct report_page *r, uint32_t device) {
    int64_t n_bytes =
        r->after.n_devices > 1 ? r->after.device_bytes[device] : r->facts->budget_bytes;
    return n_bytes > 0 && n_bytes < INT64_MAX ? n_bytes : 0;
}

static double plot_height_bytes(const struct report_page *r) {
    double max = 0, budget = 0;
    double before = (double)r->before.held_bytes[r->before.peak_step];
    for (uint32_t i = 0; i < r->after.n_steps; i++)
        if ((double)r->after.held_bytes[i] > max)
            max = (double)r->after.held_bytes[i];
    if (is_comparable(r) && before > max)
        max = before;
    for (uint32_t device = 0; device < r->after.n_devices; device++) {
        // A budget far above the peak is not drawn: it would flatten the areas.
        double here = (double)budget_of(r, device);
        budget = here > budget && here < 1.25 * max ? here : budget;
    }
    return budget > max ? budget : max;
}

static void draw_axes(const struct panel *p, double strips_bottom) {
    svg_y_axis(&p->plot, svg_bytes_step(p->plot.y_max, 5), svg_add_bytes);
    struct svg_plot below = p->plot;
    below.height = strips_bottom - below.top;
    bool is_time = p->axis == AXIS_TIME && p->r->after.has_costs;
    svg_x_axis(&below, svg_round_step(p->plot.x_max, 8), is_time ? svg_add_time : svg_add_count);
}

static void draw_panel(struct report_page *r, enum axis axis, uint32_t device) {
    bool same = is_comparable(r);
    double span = span_of(&r->after, axis), other = span_of(&r->before, axis);
    span = same && other > span ? other : span;
    struct panel p = {.r = r,
                      .axis = axis,
                      .device = device,
                      .budget_bytes = budget_of(r, device),
                      .plot = {.out = r->out,
                               .left = PANEL_LEFT,
                               .top = PLOT_TOP,
                               .width = WIDTH - PANEL_LEFT - RIGHT,
                               .height = PLOT_HEIGHT,
                               .x_max = span,
                               .y_max = plot_height_bytes(r) * 1.04}};
    p.after = make_bands(&r->after, device, axis, span / MAX_BANDS, r->arena);
    if (same)
        p.before = make_bands(&r->before, device, axis, span / MAX_BANDS, r->arena);
    if (!p.after.at || (same && !p.before.at)) {
        r->out->failed = true;
        return;
    }
    double strips = PLOT_TOP + PLOT_HEIGHT + 8;
    bool several = r->after.n_devices > 1;
    double bottom = strips + (same || several ? 2 : 1) * STRIP_STEP;
    str_add(r->out, "<figure>\n");
    svg_begin(r->out, WIDTH, bottom + 26, "Memory over time, and the schedule");
    draw_axes(&p, bottom);
    draw_areas(&p);
    if (same)
        draw_before(&p);
    if (same)
        mark_peak(&p, &r->before, &p.before, "baseline", "before-dot");
    draw_budget(&p, mark_peak(&p, &r->after, &p.after, "plan", "plan-dot"));
    panel_strip(&p, &r->after, strips, several ? "runs" : "plan", STRIP_WORK);
    if (several)
        panel_strip(&p, &r->after, strips + STRIP_STEP, "receives", STRIP_SENT);
    else if (same)
        panel_strip(&p, &r->before, strips + STRIP_STEP, "baseline", STRIP_WORK);
    draw_tooltips(&p, bottom);
    svg_end(r->out);
    str_add(r->out, "</figure>\n");
}

static void draw_panels(struct report_page *r, enum axis axis) {
    str_addf(r->out, "<div class=\"%s\">\n", axis == AXIS_TIME ? "by-time" : "by-step");
    for (uint32_t device = 0; device < r->after.n_devices; device++) {
        if (r->after.n_devices > 1) {
            const char *name = r->after.device_name[device];
            str_add(r->out, "<h3>");
            markup_add_short(r->out, *name ? name : "not placed", NAME_LENGTH);
            str_add(r->out, "</h3>\n");
        }
        draw_panel(r, axis, device);
    }
    str_add(r->out, "</div>\n");
}

static void draw_legend(struct report_page *r) {
    static const char *const pass_of[HOLDER_COUNT_] = {"", ", forward pass", "", ", backward pass",
                                                       ""};
    str_add(r->out, "<ul class=\"legend\">");
    for (int h = 0; h < HOLDER_COUNT_; h++) {
        bool used = false;
        for (uint32_t i = 0; i < r->after.n_steps; i++)
            used = used || r->after.held[i][h] > 0;
        if (used)
            str_addf(r->out, "<li><i class=\"%s\"></i>%s%s</li>",
                     report_holder_class((enum holder)h), timeline_holder_name((enum holder)h),
                     pass_of[h]);
    }
    if (is_comparable(r))
        str_add(r->out, "<li><i class=\"before-key\"></i>baseline step</li>");
    if (r->after.n_devices > 1)
        str_add(r->out, "<li><i class=\"transfer\"></i>transfer from another device</li>");
    str_add(r->out, "</ul>\n");
}

// Explains why the peaks on the runtime differ from those of the plot.
static void add_note(struct report_page *r) {
    const struct plan_facts *f = r->facts;
    int64_t live = r->after.held_bytes[r->after.peak_step];
    int64_t before = r->before.held_bytes[r->before.peak_step];
    if (r->after.n_devices > 1 || !f->runtime ||
        (f->peak_bytes == live && f->baseline_bytes == before))
        return;
    str_add(r->out, "<p class=\"soft\">The plot shows live tensors, in the order of runtime ");
    markup_add_short(r->out, f->runtime, NAME_LENGTH);
    str_add(r->out, ". The peaks on that runtime, ");
    report_add_bytes(r->out, f->peak_bytes);
    str_add(r->out, " of the plan and ");
    report_add_bytes(r->out, f->baseline_bytes);
    str_add(r->out,
            " of the baseline step, include what it allocates besides and frees later.</p>\n");
}

void report_memory(struct report_page *r) {
    bool both = r->after.has_costs && r->before.has_costs;
    str_add(r->out, "<section id=\"memory\">\n<h2>Memory over time</h2>\n");
    if (both)
        str_add(r->out, "<input type=\"radio\" name=\"axis\" id=\"axis-time\" checked=\"checked\"/>"
                        "<label for=\"axis-time\">by time</label>"
                        "<input type=\"radio\" name=\"axis\" id=\"axis-step\"/>"
                        "<label for=\"axis-step\">by step</label>\n");
    draw_legend(r);
    if (both)
        draw_panels(r, AXIS_TIME);
    draw_panels(r, AXIS_STEP);
    add_note(r);
    str_add(r->out, "</section>\n");
}
