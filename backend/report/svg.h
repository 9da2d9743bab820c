// Plots as SVG, to stand in a page: axes with ticks at round numbers, lines, areas, labels. Colours
// and type are the page's: everything carries a class, and svg_style() has a rule for each that is
// used here. Positions are in the units of the drawing; svg_x and svg_y turn data into them.
//
//     svg_begin(out, 960, 300, "Memory over time");
//     struct svg_plot p = {.out = out, .left = 70, .top = 10, .width = 800, .height = 250,
//                          .x_most = 12.5, .y_most = 3e9};
//     svg_y_axis(&p, svg_bytes_step(p.y_most, 5), svg_add_bytes);
//     svg_line(&p, x, y, n, SVG_STEPS, "line before");
//     svg_end(out);
#pragma once

#include "ir/base/str.h"

struct svg_plot {
    struct str *out;
    double left, top, width, height; // of the inner rectangle
    double x_least, x_most, y_least, y_most;
};

void svg_begin(struct str *out, double width, double height, const char *label);
void svg_end(struct str *out);

double svg_x(const struct svg_plot *p, double x);
double svg_y(const struct svg_plot *p, double y);

// A round distance (1, 2 or 5 times a power of ten) for about `n` ticks up to `most`; the same for
// bytes, in powers of two of the binary units.
double svg_round_step(double most, int n);
double svg_bytes_step(double most, int n);

// Axes: a grid line and a label at every multiple of the step. `add` writes the label.
typedef void svg_add(struct str *out, double x);
void svg_y_axis(const struct svg_plot *p, double step, svg_add *add);
void svg_x_axis(const struct svg_plot *p, double step, svg_add *add);
void svg_add_bytes(struct str *out, double n_bytes); // "1.5 GiB"
void svg_add_time(struct str *out, double ns);       // "12 ms"
void svg_add_count(struct str *out, double n);       // "1500"
void svg_add_percent(struct str *out, double share); // 0.2: "20 %"

// Through n points; with SVG_STEPS, y[i] holds from x[i] to x[i + 1], so x has n + 1 elements.
enum svg_shape { SVG_STRAIGHT, SVG_STEPS };
void svg_line(const struct svg_plot *p, const double *x, const double *y, size_t n,
              enum svg_shape shape, const char *class);
// Between `low` and `high`, in the same way.
void svg_area(const struct svg_plot *p, const double *x, const double *low, const double *high,
              size_t n, enum svg_shape shape, const char *class);

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };
// At a place in the drawing. The text is escaped.
void svg_text(struct str *out, double x, double y, enum svg_anchor anchor, const char *class,
              const char *text);
void svg_rect(struct str *out, double x, double y, double width, double height, const char *class);

// Names of lines, beside their ends rather than in a legend: those that would overlap move apart.
struct svg_end_label {
    double y; // in: where the line ends, in the drawing; out: where the label went
    const char *class, *text;
};
void svg_end_labels(struct str *out, double x, struct svg_end_label *labels, size_t n,
                    double line_height);

// CSS for all classes that are used above, light and dark.
const char *svg_style(void);
