// Profiles written by ONNX Runtime: a JSON array of events in the order of their ends. An event of
// category "Node" whose name ends with _kernel_time has the duration of one node in microseconds; a
// "model_run" ends each run. The first run is a warm-up and is ignored when there are others; each
// node gets the median of the other runs. Several executions of a node in one run (in a loop) are
// added up; events after the last model_run are ignored.
#include <stdlib.h>
#include <string.h>

#include "frontend/inputs/cost_files.h"
#include "ir/base/checked.h"
#include "ir/json/json.h"

static const char suffix[] = "_kernel_time";

struct events {
    struct arena *a, *scratch;
    struct diags *d;
    struct cost_profile *p;
    json_t *root;
    size_t n_runs;
    double *times; // [node * n_runs + run], microseconds; -1: it did not run
};

static status bad_event(const struct events *e, size_t i, const char *what) {
    return diag_error(e->d, DIAG_PROFILE, loc_file(e->p->path), "event %zu: %s", i, what);
}

// The length of the node's name in a kernel event; 0: another kind of event.
static size_t kernel_name(const json_t *event, const char **name) {
    const char *category = json_string_value(json_object_get(event, "cat"));
    *name = json_string_value(json_object_get(event, "name"));
    size_t n = *name ? strlen(*name) : 0, n_suffix = sizeof suffix - 1;
    return category && strcmp(category, "Node") == 0 && n > n_suffix &&
                   strcmp(*name + n - n_suffix, suffix) == 0
               ? n - n_suffix
               : 0;
}

static bool ends_run(const json_t *event) {
    const char *name = json_string_value(json_object_get(event, "name"));
    return name && strcmp(name, "model_run") == 0;
}

static status count_runs(struct events *e) {
    size_t i;
    json_t *event;
    if (!json_is_array(e->root))
        return diag_error(e->d, DIAG_PROFILE, loc_file(e->p->path),
                          "not a profile of ONNX Runtime, which is a list of events");
    json_array_foreach(e->root, i, event) {
        if (!json_is_object(event))
            return bad_event(e, i, "not an object");
        e->n_runs += ends_run(event);
    }
    if (e->n_runs)
        return ST_OK;
    return diag_error(e->d, DIAG_PROFILE, loc_file(e->p->path),
                      "the profile has no event \"model_run\"; finish at least one run before "
                      "ending the profile");
}

// Collects the names of all nodes.
static status collect_names(struct events *e) {
    struct cost_profile *p = e->p;
    size_t i, max = json_array_size(e->root);
    json_t *event;
    p->by_name = map_make(e->a);
    p->names = ARENA_ARRAY(e->a, const char *, max);
    p->types = ARENA_ARRAY(e->a, const char *, max);
    if (!p->names || !p->types)
        return diag_out_of_memory(e->d);
    json_array_foreach(e->root, i, event) {
        const char *name, *type;
        int64_t known;
        size_t n = kernel_name(event, &name);
        if (!n || map_get(&p->by_name, name, n, &known))
            continue;
        type = json_string_value(json_object_get(json_object_get(event, "args"), "op_name"));
        p->names[p->n] = str_format(e->a, "%.*s", (int)n, name);
        p->types[p->n] = type ? str_format(e->a, "%s", type) : NULL;
        if (!p->names[p->n] || (type && !p->types[p->n]) ||
            !map_put(&p->by_name, p->names[p->n], n, (int64_t)p->n))
            return diag_out_of_memory(e->d);
        p->n++;
    }
    return ST_OK;
}

static status collect_times(struct events *e) {
    size_t i, run = 0, n_times;
    json_t *event;
    if (!checked_size(e->p->n, e->n_runs, &n_times) ||
        !(e->times = ARENA_ARRAY(e->scratch, double, n_times)))
        return diag_out_of_memory(e->d);
    for (i = 0; i < n_times; i++)
        e->times[i] = -1;
    json_array_foreach(e->root, i, event) {
        const char *name;
        size_t n = kernel_name(event, &name);
        int64_t node;
        run += ends_run(event);
        if (run == e->n_runs)
            break;
        if (!n || !map_get(&e->p->by_name, name, n, &node))
            continue;
        const json_t *dur = json_object_get(event, "dur");
        if (!json_is_number(dur) || json_number_value(dur) < 0)
            return bad_event(e, i, "\"dur\" is not a number of microseconds");
        double *t = &e->times[(size_t)node * e->n_runs + run];
        *t = (*t < 0 ? 0 : *t) + json_number_value(dur);
    }
    return ST_OK;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// The profile rounds times below a microsecond to 0; they count as half a microsecond.
static double median(double *at, size_t n) {
    qsort(at, n, sizeof *at, by_size);
    double us = n ? (at[(n - 1) / 2] + at[n / 2]) / 2 : 0;
    return us < 0.5 ? 500 : us * 1000;
}

static status take_medians(struct events *e) {
    if (!(e->p->times = ARENA_ARRAY(e->a, double, e->p->n)))
        return diag_out_of_memory(e->d);
    for (size_t i = 0; i < e->p->n; i++) {
        double *at = &e->times[i * e->n_runs];
        size_t n = 0;
        for (size_t run = e->n_runs > 1; run < e->n_runs; run++)
            if (at[run] >= 0)
                at[n++] = at[run];
        e->p->times[i] = median(at, n);
    }
    return ST_OK;
}

status profile_read(struct arena *a, struct diags *d, const char *path, struct cost_profile *out) {
    struct arena scratch = arena_make(a->mem);
    struct events e = {.a = a, .scratch = &scratch, .d = d, .p = out};
    struct source *s;
    status st = source_open(a, d, path, &s);
    if (st)
        return st;
    out->path = s->path;
    st = json_read(&scratch, d, s, &e.root);
    if (!st)
        st = count_runs(&e);
    if (!st)
        st = collect_names(&e);
    if (!st)
        st = collect_times(&e);
    if (!st)
        st = take_medians(&e);
    json_decref(e.root);
    arena_free(&scratch);
    source_close(s);
    return st;
}
