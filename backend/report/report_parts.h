// Shared by the files of the report: see report.h.
#pragma once

#include "backend/report/report.h"
#include "backend/timeline.h"

struct report_page {
    struct str *out;
    struct arena *arena; // scratch
    const struct plan_facts *facts;
    struct timeline before, after; // the baseline step; the plan
};

// Sections of the page. Out of memory sets out->failed.
void report_memory(struct report_page *r);
void report_matrices(struct report_page *r);
void report_choices(struct report_page *r);
void report_moved(struct report_page *r);
void report_facts(struct report_page *r);

// Whether the plan is for several devices, the host included.
static inline bool report_is_placed(const struct report_page *r) {
    return r->facts->n_devices > 1;
}

const char *report_style(void);
const char *report_script(void);

// The CSS class of a kind of memory.
const char *report_holder_class(enum holder h);

// Numbers with units and a no-break space: "1.50 MiB"; "12.3 ms", or "12 steps" without costs;
// "19.5 %".
void report_add_bytes(struct str *out, int64_t n_bytes);
void report_add_cost(struct str *out, const struct timeline *t, int64_t cost);
void report_add_percent(struct str *out, double share);
