// The report of a plan: one HTML file that needs nothing else, neither network nor scripts. It
// shows memory over time before and after, what runs when, Checkmate's matrices, what is kept and
// what computed again and why, the peaks, and how far from optimal the plan can be.
//
// The pictures come from the two models alone (the graph is the plan, see backend/timeline.h). What
// the models cannot tell comes as facts.
//
// Files:
//   report.c           the page from top to bottom: summary, sections, facts
//   report_style.c     its style sheet and script
//   report_memory.c    memory over time and the schedule strip, on one axis
//   report_matrices.c  the matrices R and S
//   report_choices.c   what is kept and what is computed again, and why
//   report_moved.c     what goes from one device to another
#pragma once

#include "backend/facts.h"

// The page. Both models must have all sizes. The unplanned one may be the plan itself.
status report_print(struct str *out, const struct model *unplanned, const struct model *plan,
                    const struct facts *facts, struct diags *d);
status report_write(const struct model *unplanned, const struct model *plan,
                    const struct facts *facts, const char *path, struct diags *d);
