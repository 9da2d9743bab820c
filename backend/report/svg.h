// Plots as inline SVG: axes with ticks at round numbers, lines, areas, labels. The page's style
// sheet sets colours and fonts: every element has a class, and svg_style() has the rules for the
// classes used here. Positions are in SVG units; svg_x and svg_y convert data to them.
//
//     svg_begin(out, 960, 300, "Memory over time");
//     struct svg_plot p = {.out = out, .left = 70, .top = 10, .width = 800, .height = 250,
//                          .x_max = 12.5, .y_max = 3e9};
//     svg_y_axis(&p, svg_bytes_step(p.y_max, 5), svg_add_bytes);
//     svg_line(&p, &(struct svg_series){.x = x, .y = y, .n = n, .shape = SVG_STEPS,
//                                       .class = "line before"});
//     svg_end(out);
#pragma once

#include "ir/base/str.h"

struct svg_plot {
    struct str *out;
    double left, top, width, height; // of the inner rectangle
    double x_min, x_max, y_min, y_max;
};

void svg_begin(struct str *out, double width, double height, const char *label);
void svg_end(struct str *out);

double svg_x(const struct svg_plot *p, double x);
double svg_y(const struct svg_plot *p, double y);

// The distance of about `n` ticks up to `max`: 1, 2 or 5 times a power of ten; for bytes a power of
// two of a binary unit.
double svg_round_step(double max, int n);
double svg_bytes_step(double max, int n);

// Axes with a grid line and a label at every multiple of the step. `add` prints the label.
typedef void svg_add(struct str *out, double x);
void svg_y_axis(const struct svg_plot *p, double step, svg_add *add);
void svg_x_axis(const struct svg_plot *p, double step, svg_add *add);
void svg_add_bytes(struct str *out, double n_bytes); // "1.5 GiB"
void svg_add_time(struct str *out, double ns);       // "12 ms"
void svg_add_count(struct str *out, double n);       // "1500"
void svg_add_percent(struct str *out, double share); // 0.2: "20 %"

enum svg_shape { SVG_STRAIGHT, SVG_STEPS };

// n points; with SVG_STEPS, y[i] applies from x[i] to x[i + 1], so x has n + 1 elements.
struct svg_series {
    const double *x, *y;
    const double *low; // of an area: its lower edge
    size_t n;
    enum svg_shape shape;
    const char *class;
};
void svg_line(const struct svg_plot *p, const struct svg_series *s);
void svg_area(const struct svg_plot *p, const struct svg_series *s); // between `low` and `y`

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };
// The text is escaped.
void svg_text(struct str *out, double x, double y, enum svg_anchor anchor, const char *class,
              const char *text);

// CSS rules for the classes above.
const char *svg_style(void);
