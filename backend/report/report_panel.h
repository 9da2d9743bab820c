// One plot of memory over time: the areas (report_memory.c) and the schedule strips below them
// (report_panel.c) share an axis.
#pragma once

#include "backend/report/report_parts.h"
#include "backend/report/svg.h"

#define PANEL_LEFT  72.0 // margin of the plot
#define PANEL_STRIP 13.0 // height of a strip

enum axis { AXIS_TIME, AXIS_STEP };

// Consecutive steps of one device, drawn as one.
struct band {
    uint32_t first, last, top; // `top`: the step with the most memory in use
    uint32_t n;                // number of steps
    double from, to;           // on the axis
};

struct bands {
    struct band *at;
    size_t n;
};

struct panel {
    struct report_page *r;
    int64_t budget_bytes; // of the plan, or the memory of the device; 0: no limit
    struct svg_plot plot;
    enum axis axis;
    uint32_t device;
    struct bands before, after;
};

// Transfers run in parallel with the nodes and have a strip of their own.
enum strip { STRIP_WORK, STRIP_SENT };

// Begin and end of a step on the axis.
double panel_begin(const struct timeline *t, uint32_t step, enum axis axis);
double panel_end(const struct timeline *t, uint32_t step, enum axis axis);

// Draws the schedule of one device as a row at height y.
void panel_strip(const struct panel *p, const struct timeline *t, double y, const char *name,
                 enum strip kind);
