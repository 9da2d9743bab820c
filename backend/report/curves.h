// Overhead over memory budget, one line per method, as in Checkmate (Jain et al. 2020): an HTML
// page in the style of the report, or one SVG file.
#pragma once

#include "ir/base/str.h"

struct curves_line {
    const char *name, *summary;
    const double *bytes, *overhead; // points, from the largest budget to the smallest
    size_t n;
    bool is_best; // highlighted
};

struct curves {
    const char *title, *command, *version; // model; command line; version of mfc
    const struct curves_line *lines;
    size_t n_lines;
    double whole_bytes; // of the baseline step
    double min_bytes;   // start of the memory axis
    const double *knee; // bytes and overhead; NULL: none
    const char *note;   // below the plot; NULL: none
};

// Lines far above the best one are clipped; the legend marks those without a visible point.
void curves_print_page(struct str *out, const struct curves *c);
void curves_print_svg(struct str *out, const struct curves *c);
