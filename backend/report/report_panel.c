// The schedule strips below a plot of memory: see report_panel.h.
#include "backend/report/report_panel.h"

static const char *const work_class[] = {"activation", "gradient", "recomputed", "transfer",
                                         "control"};

double panel_begin(const struct timeline *t, uint32_t step, enum axis axis) {
    return axis == AXIS_TIME ? (double)t->start[step] : step;
}

double panel_end(const struct timeline *t, uint32_t step, enum axis axis) {
    return axis == AXIS_TIME ? (double)t->end[step] : step + 1;
}

static enum strip strip_of(const struct timeline *t, uint32_t step) {
    return t->n_devices > 1 && t->work[step] == WORK_TRANSFER ? STRIP_SENT : STRIP_WORK;
}

// The last of the consecutive steps with the same device, strip and kind of work, without a visible
// gap between them.
static uint32_t run_end(const struct panel *p, const struct timeline *t, uint32_t first) {
    uint32_t last = first;
    for (uint32_t i = first + 1; i < t->n_steps; i++) {
        if (t->device[i] != t->device[first] || strip_of(t, i) != strip_of(t, first))
            continue;
        if (svg_x(&p->plot, panel_begin(t, i, p->axis)) -
                svg_x(&p->plot, panel_end(t, last, p->axis)) >
            1)
            break;
        if (t->work[i] != t->work[first])
            break;
        last = i;
    }
    return last;
}

// Consecutive steps of one kind become one block, all blocks of a kind one path. Recomputations and
// transfers are widened to be visible.
void panel_strip(const struct panel *p, const struct timeline *t, double y, const char *name,
                 enum strip kind) {
    struct str *out = p->r->out, kinds[WORK_COUNT_];
    for (int w = 0; w < WORK_COUNT_; w++)
        kinds[w] = str_make(p->r->arena);
    svg_text(out, PANEL_LEFT - 8, y + PANEL_STRIP - 3, SVG_END, "tick", name);
    uint32_t last = 0;
    for (uint32_t first = 0; first < t->n_steps; first = last + 1) {
        last = first;
        if (t->device[first] != p->device || strip_of(t, first) != kind)
            continue;
        enum work w = t->work[first];
        double x = svg_x(&p->plot, panel_begin(t, first, p->axis));
        last = run_end(p, t, first);
        double width = svg_x(&p->plot, panel_end(t, last, p->axis)) - x;
        if (width < 1 && (w == WORK_RECOMPUTE || w == WORK_TRANSFER))
            width = 1;
        if (width > 0.05)
            str_addf(&kinds[w], "M%.1f %.1fh%.1fv%gh-%.1fz", x, y, width, PANEL_STRIP, width);
    }
    for (int w = 0; w < WORK_COUNT_; w++) {
        if (w != WORK_CONTROL && kinds[w].n)
            str_addf(out, "<path class=\"%s\" d=\"%s\"/>\n", work_class[w], str_text(&kinds[w]));
        out->failed = out->failed || kinds[w].failed;
    }
}
