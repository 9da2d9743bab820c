// Plots as inline SVG: see svg.h.
#include "backend/report/svg.h"

#include <assert.h>
#include <math.h>

#include "backend/report/markup.h"

void svg_begin(struct str *out, double width, double height, const char *label) {
    str_addf(out, "<svg viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\"", width, height);
    markup_add(out, label);
    str_add(out, "\">\n");
}

void svg_end(struct str *out) {
    str_add(out, "</svg>\n");
}

static double position(double x, double min, double max) {
    return max > min ? (x - min) / (max - min) : 0;
}

double svg_x(const struct svg_plot *p, double x) {
    return p->left + p->width * position(x, p->x_min, p->x_max);
}

double svg_y(const struct svg_plot *p, double y) {
    return p->top + p->height * (1 - position(y, p->y_min, p->y_max));
}

double svg_round_step(double max, int n) {
    if (!(max > 0))
        return 1;
    double raw = max / n, ten = pow(10, floor(log10(raw)));
    double times = raw / ten;
    return ten * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

double svg_bytes_step(double max, int n) {
    double raw = max / n, unit = 1;
    while (raw >= 1000 * unit)
        unit *= 1024;
    double step = unit;
    while (step < raw)
        step *= 2;
    return step;
}

static double first_tick(double min, double step) {
    return ceil(min / step - 1e-9) * step + 0.0; // never -0
}

void svg_y_axis(const struct svg_plot *p, double step, svg_add *add) {
    for (double y = first_tick(p->y_min, step); y <= p->y_max * (1 + 1e-9); y += step) {
        double at = svg_y(p, y);
        str_addf(p->out, "<path class=\"grid\" d=\"M%.1f %.1fh%.1f\"/>", p->left, at, p->width);
        str_addf(p->out, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">",
                 p->left - 8, at + 4);
        add(p->out, y);
        str_add(p->out, "</text>\n");
    }
}

void svg_x_axis(const struct svg_plot *p, double step, svg_add *add) {
    double bottom = p->top + p->height;
    str_addf(p->out, "<path class=\"axis\" d=\"M%.1f %.1fh%.1f\"/>", p->left, bottom, p->width);
    for (double x = first_tick(p->x_min, step); x <= p->x_max * (1 + 1e-9); x += step) {
        double at = svg_x(p, x);
        str_addf(p->out, "<path class=\"axis\" d=\"M%.1f %.1fv4\"/>", at, bottom);
        str_addf(p->out, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", at,
                 bottom + 17);
        add(p->out, x);
        str_add(p->out, "</text>\n");
    }
}

// At most three digits, without trailing zeros: 1, 1.5, 1.25.
static void add_short(struct str *out, double x, const char *unit) {
    str_addf(out, "%.*g", x >= 1000 ? 4 : 3, x);
    str_addf(out, "%s%s", *unit ? "\u00a0" : "", unit);
}

void svg_add_bytes(struct str *out, double n_bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t u = 0;
    while (n_bytes >= 1000 && u + 1 < sizeof units / sizeof *units) {
        n_bytes /= 1024;
        u++;
    }
    add_short(out, n_bytes, n_bytes == 0 ? "" : units[u]);
}

void svg_add_time(struct str *out, double ns) {
    static const char *const units[] = {"ns", "µs", "ms"};
    size_t u = 0;
    while (ns >= 1000 && u < 3) {
        ns /= 1000;
        u++;
    }
    add_short(out, ns, ns == 0 ? "" : u < 3 ? units[u] : "s");
}

void svg_add_count(struct str *out, double n) {
    str_addf(out, "%.0f", n);
}

void svg_add_percent(struct str *out, double share) {
    add_short(out, 100 * share, "%");
}

// The upper edge, from left to right.
static void add_path(const struct svg_plot *p, const struct svg_series *s) {
    double last = NAN;
    for (size_t i = 0; i < s->n; i++) {
        double at = svg_y(p, s->y[i]);
        if (i == 0)
            str_addf(p->out, "M%.1f %.1f", svg_x(p, s->x[i]), at);
        else if (s->shape == SVG_STRAIGHT)
            str_addf(p->out, "L%.1f %.1f", svg_x(p, s->x[i]), at);
        else if (at != last)
            str_addf(p->out, "H%.1fV%.1f", svg_x(p, s->x[i]), at);
        last = at;
    }
    if (s->n && s->shape == SVG_STEPS)
        str_addf(p->out, "H%.1f", svg_x(p, s->x[s->n]));
}

// The lower edge of an area, from right to left.
static void add_path_back(const struct svg_plot *p, const struct svg_series *s) {
    for (size_t i = s->n; i-- > 0;) {
        if (s->shape == SVG_STRAIGHT)
            str_addf(p->out, "L%.1f %.1f", svg_x(p, s->x[i]), svg_y(p, s->low[i]));
        else if (i + 1 == s->n || s->low[i] != s->low[i + 1])
            str_addf(p->out, "H%.1fV%.1f", svg_x(p, s->x[i + 1]), svg_y(p, s->low[i]));
    }
    if (s->n && s->shape == SVG_STEPS)
        str_addf(p->out, "H%.1f", svg_x(p, s->x[0]));
}

void svg_line(const struct svg_plot *p, const struct svg_series *s) {
    str_addf(p->out, "<path class=\"%s\" d=\"", s->class);
    add_path(p, s);
    str_add(p->out, "\"/>\n");
}

void svg_area(const struct svg_plot *p, const struct svg_series *s) {
    assert(s->low);
    str_addf(p->out, "<path class=\"%s\" d=\"", s->class);
    add_path(p, s);
    add_path_back(p, s);
    str_add(p->out, "Z\"/>\n");
}

void svg_text(struct str *out, double x, double y, enum svg_anchor anchor, const char *class,
              const char *text) {
    static const char *const anchors[] = {"start", "middle", "end"};
    str_addf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", class, x, y,
             anchors[anchor]);
    markup_add(out, text);
    str_add(out, "</text>\n");
}

const char *svg_style(void) {
    return "svg{display:block;width:100%;height:auto;font:12px var(--sans)}"
           "svg text{fill:var(--ink)}"
           "svg .tick{fill:var(--soft)}"
           "svg .grid{stroke:var(--line);fill:none;shape-rendering:crispEdges}"
           "svg .axis{stroke:var(--faint);fill:none;shape-rendering:crispEdges}"
           "svg .line{fill:none;stroke-width:1.5;stroke-linejoin:round}";
}
