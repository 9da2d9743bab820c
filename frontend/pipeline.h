// The default pipeline: from a model to a plan. The command and the library go through it, with and
// without devices.
#pragma once

#include "passes/plan/plan.h"
#include "passes/plan/plan_devices.h"

struct pipeline {
    struct model *model;            // read by load.h; becomes the plan
    struct pass_context *context;   // its arena holds what the report points to
    const char *passes;             // run these, as text, instead of the default pipeline; or NULL
    const struct plan_watch *watch; // of the search for one device, or NULL
    struct plan_devices_how devices_how; // of the search for several
    struct plan_report report;           // what came of it
};

// Everything between reading and writing.
status pipeline_plan(struct pipeline *p);

// Writes the plan: text for a name that ends with .mfc, a picture for .dot, else ONNX. What is
// written beside it, and in which form, the options say (PIPELINE_WRITE_OPTIONS).
status pipeline_write(struct pipeline *p, const char *path);
