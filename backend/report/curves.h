// Extra time against memory, a line for each method: Checkmate's figure. As a page of its own, like
// the report of a plan, or as one SVG file.
#pragma once

#include "ir/base/str.h"

struct curves_line {
    const char *name, *summary;
    const double *bytes, *overhead; // points, from the most memory to the least
    size_t n;
    bool is_best; // drawn to stand out
};

struct curves {
    const char *title, *command, *version; // the model; the command line; of mfc
    const struct curves_line *lines;
    size_t n_lines;
    double whole_bytes; // of the unplanned step
    double min_bytes;   // where the axis begins
    const double *knee; // bytes and overhead; NULL: there is none
    const char *note;   // under the picture; NULL: none
};

// Lines that go far above the best one are cut off at the top, and the legend says so.
void curves_print_page(struct str *out, const struct curves *c);
void curves_print_svg(struct str *out, const struct curves *c);
