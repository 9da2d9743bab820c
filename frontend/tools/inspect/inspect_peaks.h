// What memory a model needs, without planning: its peak when it is run as it is, that of its
// training step, and the largest tensors at each. Of a plan: its own figures.
#pragma once

#include "ir/json/json_write.h"
#include "ir/plan_facts.h"
#include "passes/pass.h"

// One peak, or why it is not known.
struct inspect_peak {
    int64_t n_bytes; // PLAN_FACTS_UNKNOWN: see `why`
    const char *top; // the largest tensors at the peak
    const char *why; // the first error; NULL: it does not apply
};

struct inspect_peaks {
    const char *runtime;
    struct inspect_peak itself, step; // of a step or plan, only the first
    bool is_step;                     // the model is a step of mfc
    struct plan_facts plan;           // as the metadata have them
    const char *loss, *options;       // of a step
};

// Works on copies of the model, by the options of passes. What cannot be found out is no error.
status inspect_peaks(const struct model *m, struct pass_context *c, struct inspect_peaks *out);

void inspect_peaks_print(struct str *out, const struct inspect_peaks *p);
void inspect_peaks_json(struct json_writer *w, const struct inspect_peaks *p);
