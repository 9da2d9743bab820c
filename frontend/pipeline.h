// The default pipeline: from a model to a plan, for one device or a rig. The command and the
// library use it.
#pragma once

#include "ir/base/file.h"
#include "passes/plan/plan.h"
#include "passes/plan/plan_devices.h"

struct pipeline {
    struct model *model;                 // read by load.h; becomes the plan
    struct model *unchanged;             // a copy of it, for --update; or NULL
    struct pass_context *context;        // its arena holds what the facts point to
    const char *passes;                  // a text pipeline instead of the default one; or NULL
    const struct plan_watch *watch;      // of the search for one device, or NULL
    struct plan_devices_how devices_how; // of the search for several devices
    struct plan_facts facts;             // of the plan
};

// Options that need each other, or exclude each other. --eval alone turns planning off: without
// gradients there is little to plan.
status pipeline_check_options(struct options *o, struct diags *d);

// Everything between reading and writing.
status pipeline_plan(struct pipeline *p);

// Completes the facts for a reader: what the plan is called and how it was made, and the figures of
// a step that is not planned. The texts are not copied.
status pipeline_describe(struct pipeline *p, const char *title, const char *command);

// Writes the plan: the text form for a name that ends with .mfc, Graphviz for .dot, else ONNX; or
// in a format of load_format. Options change the form (--weights, --annotate), of p->model, too.
status pipeline_write_as(struct pipeline *p, const char *path, const char *format,
                         struct outputs *together);
// The same with the further files of the options (--initial, --update, --split). All become visible
// with `together`.
status pipeline_write(struct pipeline *p, const char *path, struct outputs *together);
