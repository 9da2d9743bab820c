// What the files of the report share; see report.h.
#pragma once

#include "backend/report/report.h"
#include "backend/timeline.h"

struct report {
    struct str *out;
    struct arena *arena; // scratch
    const struct facts *facts;
    struct timeline before, after;
};

// Sections of the page. What fails for want of room shows in out->failed.
void report_memory(struct report *r);
void report_matrices(struct report *r);
void report_choices(struct report *r);
void report_moved(struct report *r);

const char *report_style(void);
const char *report_script(void);

// Words for people: "1.50 MiB" with a space that does not break, "12.3 ms" or "12 units" when costs
// are no times, "19.5 %".
void report_add_bytes(struct str *out, int64_t n_bytes);
void report_add_cost(struct str *out, const struct timeline *t, int64_t cost);
void report_add_percent(struct str *out, double share);
