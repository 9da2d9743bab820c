// Predictions of the runtime model: see predicted.h.
#include "tests/runtime/predicted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/load.h"
#include "ir/runtime/runtime.h"
#include "passes/pass.h"

static void must(status st, const struct diags *d) {
    for (size_t i = 0; st && i < d->list.n; i++)
        fprintf(stderr, "%s\n", d->list.at[i].text);
    if (st)
        exit((int)st);
}

struct model *predicted_model(const char *path, struct arena *a, struct diags *d) {
    struct pool *names = ARENA_NEW(a, struct pool);
    struct options options = options_make(a);
    struct pass_pipeline p;
    struct pass_context c = {.arena = a, .diags = d, .options = &options};
    struct model *m = NULL;
    if (!names)
        exit((int)ST_LIMIT);
    *names = pool_make(a);
    status st = load_model(a, names, d, path, &m);
    if (!st)
        st = pass_add_options(&options, d);
    if (!st)
        st = pass_pipeline_parse(a, d, "shapes,costs", &p);
    if (!st)
        st = pass_pipeline_run(&p, m, &c, NULL);
    must(st, d);
    return m;
}

static enum ort_level level_of(const char *name) {
    static const char *const names[] = {"disabled", "basic", "extended"};
    for (enum ort_level l = ORT_DISABLED; l < ORT_EXTENDED; l++)
        if (strcmp(name, names[l]) == 0)
            return l;
    return ORT_EXTENDED;
}

struct model *predicted_events(const char *path, const char *level, struct arena *a,
                               struct ort_events *out) {
    struct diags d = diags_make(a);
    struct model *m = predicted_model(path, a, &d);
    struct ort_setting how = {level_of(level), m->is_wrapped};
    must(runtime_events(m, how, a, &d, out), &d);
    return m;
}
