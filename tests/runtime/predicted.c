// Predictions of the runtime model: see predicted.h.
#include "tests/runtime/predicted.h"

#include <stdio.h>
#include <stdlib.h>

#include "frontend/load.h"
#include "ir/runtime/runtime.h"
#include "passes/pass.h"

void predicted_events(const char *path, struct arena *a, struct ort_events *out) {
    struct diags d = diags_make(a);
    struct pool names = pool_make(a);
    struct options options = options_make(a);
    struct pass_pipeline p;
    struct pass_context c = {.arena = a, .diags = &d, .options = &options};
    struct model *m;
    status st = load_model(a, &names, &d, path, &m);
    if (!st)
        st = pass_add_options(&options, &d);
    if (!st)
        st = pass_pipeline_parse(a, &d, "shapes,costs", &p);
    if (!st)
        st = pass_pipeline_run(&p, m, &c, NULL);
    if (!st)
        st = runtime_events(m->graph, a, &d, out);
    for (size_t i = 0; st && i < d.list.n; i++)
        fprintf(stderr, "%s\n", d.list.at[i].text);
    if (st)
        exit(1);
}
