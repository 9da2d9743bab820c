// Overhead curves of several methods: see curves.h.
#include "backend/report/curves.h"

#include <math.h>

#include "backend/report/markup.h"
#include "backend/report/report_parts.h"
#include "backend/report/svg.h"

#define WIDTH       960.0
#define HEIGHT      430.0
#define LEGEND_LEFT 745.0
#define ROW         21.0
#define MAX_HEIGHT  3.0 // of the plot, in heights of the best line
#define N_COLOURS   9

// One colour per line; further lines reuse the colours with dashes.
static void add_style(struct str *out) {
    static const char *const colours[N_COLOURS] = {"#7f8c9b", "#3f78b5", "#2f9e83",
                                                   "#8a63b8", "#c2578a", "#a8842c",
                                                   "#4aa3c7", "#6f9a3a", "#b5654a"};
    for (int i = 0; i < N_COLOURS; i++)
        str_addf(out, "svg .k%d{stroke:%s;color:%s}", i, colours[i], colours[i]);
    str_add(out, "svg .best{stroke:#e0651a;color:#e0651a;stroke-width:2.6}"
                 "svg .dash{stroke-dasharray:6 4}"
                 "svg .dot{fill:currentColor;stroke:none}"
                 "svg .knee{fill:none;stroke:var(--ink);stroke-width:1.5}"
                 "svg .name{font-size:12px}svg .strong{font-weight:650}");
}

static void add_class(struct str *out, const struct curves *c, size_t i) {
    if (c->lines[i].is_best)
        str_add(out, "best");
    else
        str_addf(out, "k%zu%s", i % N_COLOURS, i >= N_COLOURS ? " dash" : "");
}

static double max_overhead(const struct curves_line *l) {
    double max = 0;
    for (size_t k = 0; k < l->n; k++)
        max = fmax(max, l->overhead[k]);
    return max;
}

static double plot_top(const struct curves *c) {
    double all = 0, best = 0;
    for (size_t i = 0; i < c->n_lines; i++) {
        all = fmax(all, max_overhead(&c->lines[i]));
        if (c->lines[i].is_best)
            best = fmax(best, max_overhead(&c->lines[i]));
    }
    double top = best > 0 ? fmin(all, fmax(MAX_HEIGHT * best, 0.3)) : all;
    return top > 0 ? top * 1.05 : 0.1;
}

// Draws the visible part of a line; *n_clipped points are above the plot.
static void add_line(const struct svg_plot *p, const struct curves *c, size_t i,
                     size_t *n_clipped) {
    const struct curves_line *l = &c->lines[i];
    struct str class = str_make(p->out->arena);
    add_class(&class, c, i);
    size_t n = 0;
    while (n < l->n && l->overhead[n] <= p->y_max)
        n++;
    *n_clipped = l->n - n;
    struct str drawn = str_make(p->out->arena);
    str_addf(&drawn, "line %s", str_text(&class));
    if (n > 1)
        svg_line(p, &(struct svg_series){.x = l->bytes,
                                         .y = l->overhead,
                                         .n = n,
                                         .shape = SVG_STRAIGHT,
                                         .class = str_text(&drawn)});
    for (size_t k = 0; k < n; k++) {
        str_addf(p->out,
                 "<g class=\"%s\"><circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"><title>",
                 str_text(&class), svg_x(p, l->bytes[k]), svg_y(p, l->overhead[k]),
                 l->is_best ? "3.6" : "2.6");
        markup_add(p->out, l->name);
        str_add(p->out, ": ");
        svg_add_percent(p->out, l->overhead[k]);
        str_add(p->out, " overhead in ");
        svg_add_bytes(p->out, l->bytes[k]);
        str_add(p->out, "</title></circle></g>\n");
    }
}

static void add_legend(const struct svg_plot *p, const struct curves *c, size_t i, size_t row,
                       size_t n_clipped) {
    const struct curves_line *l = &c->lines[i];
    double y = p->top + 8 + ROW * (double)row;
    struct str text = str_make(p->out->arena);
    str_add(&text, l->name);
    str_add(&text, !l->n ? " (never fits)" : n_clipped == l->n ? " (above the plot)" : "");
    str_add(p->out, "<path class=\"line ");
    add_class(p->out, c, i);
    str_addf(p->out, "\" d=\"M%.1f %.1fh24\"/>", LEGEND_LEFT, y);
    svg_text(p->out, LEGEND_LEFT + 32, y + 4, SVG_START, l->is_best ? "name strong" : "name",
             str_text(&text));
}

static void add_plot(struct str *out, const struct curves *c) {
    double top = plot_top(c), min = c->min_bytes, max = c->whole_bytes;
    for (size_t i = 0; i < c->n_lines; i++)
        for (size_t k = 0; k < c->lines[i].n; k++)
            max = fmax(max, c->lines[i].bytes[k]);
    struct svg_plot p = {.out = out,
                         .left = 62,
                         .top = 14,
                         .width = LEGEND_LEFT - 90,
                         .height = HEIGHT - 70,
                         .x_min = min,
                         .x_max = max,
                         .y_max = top};
    svg_y_axis(&p, svg_round_step(top, 6), svg_add_percent);
    svg_x_axis(&p, svg_bytes_step(max - min, 5), svg_add_bytes);
    svg_text(out, p.left + p.width / 2, HEIGHT - 12, SVG_MIDDLE, "tick", "memory");
    svg_text(out, p.left + 6, p.top + 10, SVG_START, "tick", "overhead");
    for (size_t i = 0; i < c->n_lines; i++) {
        size_t n_clipped = 0;
        add_line(&p, c, i, &n_clipped);
        add_legend(&p, c, i, c->n_lines - 1 - i, n_clipped);
    }
    if (c->knee && c->knee[1] <= top) {
        double x = svg_x(&p, c->knee[0]), y = svg_y(&p, c->knee[1]);
        str_addf(out, "<circle class=\"knee\" cx=\"%.1f\" cy=\"%.1f\" r=\"7.5\"/>", x, y);
        svg_text(out, x + 11, y - 9, SVG_START, "name strong", "knee");
    }
}

void curves_print_svg(struct str *out, const struct curves *c) {
    str_addf(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" role=\"img\">\n"
             "<style>svg{--ink:#1b1f24;--soft:#667080;--faint:#c3c9d1;--line:#eceef1;"
             "--sans:system-ui,sans-serif;background:#fff}",
             WIDTH, HEIGHT);
    str_add(out, svg_style());
    add_style(out);
    str_add(out, "</style>\n<title>");
    markup_add(out, c->title);
    str_add(out, "</title>\n");
    add_plot(out, c);
    str_add(out, "</svg>\n");
}

static void add_table(struct str *out, const struct curves *c) {
    str_add(out, "<section><h2>Methods</h2>\n<table><thead><tr><th>method</th><th>what it does</th>"
                 "<th class=\"number\">minimum memory</th><th class=\"number\">overhead there</th>"
                 "</tr></thead><tbody>\n");
    for (size_t i = c->n_lines; i-- > 0;) {
        const struct curves_line *l = &c->lines[i];
        str_add(out, "<tr><td class=\"name\">");
        markup_add(out, l->name);
        str_add(out, "</td><td>");
        markup_add(out, l->summary);
        str_add(out, "</td><td class=\"number\">");
        if (l->n)
            svg_add_bytes(out, l->bytes[l->n - 1]);
        str_add(out, l->n ? "</td><td class=\"number\">" : "–</td><td class=\"number\">–");
        if (l->n)
            svg_add_percent(out, l->overhead[l->n - 1]);
        str_add(out, "</td></tr>\n");
    }
    str_add(out, "</tbody></table></section>\n");
}

void curves_print_page(struct str *out, const struct curves *c) {
    str_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                 "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>\n"
                 "<title>");
    markup_add(out, c->title);
    str_add(out, " · mfc sweep</title>\n<style>\n");
    str_add(out, svg_style());
    str_add(out, report_style());
    add_style(out);
    str_add(out, "\n</style>\n</head>\n<body>\n<header>\n<h1>");
    markup_add(out, c->title);
    str_add(out, "</h1>\n<p class=\"lead\">Overhead over memory budget, by method.</p>\n</header>\n"
                 "<section>\n");
    svg_begin(out, WIDTH, HEIGHT, "Overhead over memory budget");
    add_plot(out, c);
    svg_end(out);
    if (c->note) {
        str_add(out, "<p class=\"soft\">");
        markup_add(out, c->note);
        str_add(out, "</p>\n");
    }
    str_add(out, "</section>\n");
    add_table(out, c);
    str_add(out, "<section><h2>Reproduce</h2>\n<pre>");
    markup_add(out, c->command);
    str_add(out, "</pre>\n<p class=\"soft\">mfc ");
    markup_add(out, c->version);
    str_add(out, "</p></section>\n</body>\n</html>\n");
}
