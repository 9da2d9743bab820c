// Passes: graph in, graph out. A pass is a constant descriptor in a file of its own, and one table
// lists them all.
//
// To add a pass NAME:
//   1. Write passes/NAME.c, which ends with
//
//          const struct pass pass_NAME = {
//              .name = "NAME", .summary = "one line for mfc opt --help",
//              .needs = FACT_TOPO | FACT_SHAPES, .gives = FACT_COSTS, .run = run};
//
//   2. Add PASS(NAME) to passes/passes.def.
//
// CMake finds the file by itself. `run` changes the model in place; what is wrong goes to c->diags.
// A pass that has options of its own names their table, and asks for them by
// options_int(c->options, …): the commands that run passes take the tables in.
#pragma once

#include "ir/base/diag.h"
#include "ir/base/options.h"
#include "ir/base/stop.h"
#include "ir/fact.h"
#include "ir/graph.h"

struct cost_sources;

// What a pass gets besides the model.
struct pass_context {
    struct arena *arena; // for its own use, freed when it has returned; the model has its own
    struct diags *diags;
    const struct options *options; // holds the options of all passes, given or default
    struct stop *stop;             // asked for by long-running passes; may be NULL
    void (*progress)(void *to, const char *line); // may be NULL: see pass_progress
    void *progress_to;
    const char *worker_path; // the mfc executable, for passes that search in processes of their
                             // own; NULL: they search here
    const struct cost_sources
        *costs; // what files say about costs (passes/cost/cost_source.h); or NULL
};

struct pass {
    const char *name, *summary;
    unsigned needs;                    // facts that must hold before (enum fact)
    unsigned gives;                    // facts that hold after
    unsigned breaks;                   // facts that may no longer hold after
    const struct option_spec *options; // its own; NULL: none
    status (*run)(struct model *m, struct pass_context *c);
};

extern const struct pass *const pass_table[]; // NULL-terminated, in the order of passes.def
const struct pass *pass_find(const char *name);

// Takes the option tables of all passes in.
status pass_add_options(struct options *o, struct diags *d);
// One line an entry, aligned, for --help.
void pass_list(struct str *out);

__attribute__((format(printf, 2, 3))) void pass_progress(struct pass_context *c, const char *format,
                                                         ...);

// Every pass by its descriptor, for callers in C: pass_shapes, pass_fold, …
#define PASS(name) extern const struct pass pass_##name;
#include "passes/passes.def"
#undef PASS

// Passes, one after the other. In C:
//
//     st = pass_run_all(PASS_PIPELINE(&pass_shapes, &pass_costs), m, c);
struct pass_pipeline {
    const struct pass *const *at;
    size_t n;
};

#define PASS_PIPELINE(...)                                                                         \
    ((struct pass_pipeline){(const struct pass *const[]){__VA_ARGS__},                             \
                            sizeof((const struct pass *const[]){__VA_ARGS__}) /                    \
                                sizeof(struct pass *)})

// One pass, whether the stop is raised or not: for what must be finished.
status pass_run(const struct pass *pass, struct model *m, struct pass_context *c);

// Each pass is announced by a line of progress. When the stop is raised between two of them, the
// run ends with ST_INTERRUPTED.
status pass_run_all(struct pass_pipeline p, struct model *m, struct pass_context *c);

// From text such as "sort,dce". Unknown names are all reported at once.
status pass_pipeline_parse(struct arena *a, struct diags *d, const char *text,
                           struct pass_pipeline *out);

// Called around each pass; either may be NULL. A hook that fails ends the run.
struct pass_pipeline_hooks {
    void *to;
    status (*before)(void *to, const struct pass *p, size_t i, const struct model *m);
    status (*after)(void *to, const struct pass *p, size_t i, const struct model *m);
};

// Checks first that every pass will find the facts it needs, so that a pipeline that cannot work
// fails before it has worked for an hour. Runs the passes, the structural verifier after each, and
// keeps m->facts up to date. c->arena is the parent of each pass's own arena.
status pass_pipeline_run(const struct pass_pipeline *p, struct model *m, struct pass_context *c,
                         const struct pass_pipeline_hooks *hooks);
