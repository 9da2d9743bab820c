// The report of a plan: one self-contained HTML file, which needs neither network nor scripts. It
// shows memory over time of the baseline step and the plan, the schedule, Checkmate's matrices,
// kept and recomputed tensors with reasons, the peak, overhead and optimality gap.
//
// The plots come from the two models (backend/timeline.h), all other numbers from the facts.
//
// Files:
//   report.c           the page from top to bottom: summary, sections
//   report_style.c     style sheet and script
//   report_memory.c    memory over time
//   report_panel.c     the schedule below it, on the same axis
//   report_matrices.c  the matrices R and S
//   report_choices.c   kept and recomputed tensors
//   report_moved.c     transfers between devices
//   report_facts.c     all figures in exact numbers
#pragma once

#include "ir/plan_facts.h"

// Prints the page. All types of both models must be known. The baseline may be the plan itself.
status report_print(struct str *out, const struct model *baseline, const struct model *plan,
                    const struct plan_facts *facts, struct diags *d);
