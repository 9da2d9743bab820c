// One picture of memory over time: what its areas (report_memory.c) and its strips
// (report_strips.c) share.
#pragma once

#include "backend/report/report_parts.h"
#include "backend/report/svg.h"

#define LEFT  72.0 // of the plot
#define STRIP 13.0 // height of a strip

enum axis { AXIS_TIME, AXIS_STEP };

struct band {
    uint32_t first, last, top; // steps of one device; `top` is the fullest
    uint32_t n;                // how many of them
    double from, to;
};

struct bands {
    struct band *at;
    size_t n;
};

struct panel {
    struct report *r;
    int64_t budget_bytes; // of the plan, or what the device has; 0: none
    struct svg_plot plot;
    enum axis axis;
    uint32_t device;
    struct bands before, after;
};

// What is sent has a strip of its own: it arrives beside the work.
enum strip { STRIP_WORK, STRIP_SENT };

// Where a step begins and ends on the axis.
double panel_begin(const struct timeline *t, uint32_t step, enum axis axis);
double panel_end(const struct timeline *t, uint32_t step, enum axis axis);

// What one device does, in one row at height y.
void panel_strip(const struct panel *p, const struct timeline *t, double y, const char *name,
                 enum strip kind);
