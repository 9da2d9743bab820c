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
// CMake finds the file by itself. `run` changes the model in place and reports errors to c->diags.
// A pass with options of its own names their table and reads them by options_int(c->options, …);
// every command that runs passes accepts them.
//
// Facts (ir/fact.h) state what a pass relies on and what it leaves behind:
//   needs   must hold before the pass;
//   gives   hold after it;
//   breaks  may no longer hold after it. All other facts must survive the pass.
// They are checked: a text pipeline with an unmet need is refused before its first pass runs, one
// written in C trips an assertion, and with pass_context.checks_facts the facts themselves are
// verified after each pass (passes/fact_check.h). mfc opt and the tests switch that on.
#pragma once

#include "ir/base/diag.h"
#include "ir/base/options.h"
#include "ir/base/stop.h"
#include "ir/fact.h"
#include "ir/graph.h"

struct cost_sources;

// What a pass gets besides the model.
struct pass_context {
    struct arena *arena; // scratch, freed when the pass returns; the model has its own
    struct diags *diags;
    const struct options *options; // the options of all passes, given or default
    const struct stop *stop;       // polled by long-running passes; may be NULL
    int64_t start_ns;              // of the command, for --time; 0: now (stop_clock_ns)
    void (*progress)(void *to, const char *line); // may be NULL: see pass_progress
    void *progress_to;
    const char *worker_path; // the mfc executable, for passes that search in worker processes;
                             // NULL: they search in this process
    const struct cost_sources *costs; // costs read from files (passes/cost/cost_source.h); or NULL
    bool checks_facts;                // verify all facts of the model after each pass
};

struct pass {
    const char *name, *summary;
    unsigned needs, gives, breaks;     // masks of enum fact: see above
    const struct option_spec *options; // its own; NULL: none
    status (*run)(struct model *m, struct pass_context *c);
};

extern const struct pass *const pass_table[]; // NULL-terminated, in the order of passes.def
const struct pass *pass_find(const char *name);

// Adds the option tables of all passes.
status pass_add_options(struct options *o, struct diags *d);
// The table of passes for --help, one aligned line each.
void pass_list(struct str *out);

// Reports a line of progress.
__attribute__((format(printf, 2, 3))) void pass_progress(struct pass_context *c, const char *format,
                                                         ...);

// The descriptors, for callers in C: pass_shapes, pass_fold, …
#define PASS(name) extern const struct pass pass_##name;
#include "passes/passes.def"
#undef PASS

// A sequence of passes. In C:
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

// Runs one pass even when the stop is raised, for work that must be completed. Asserts its needs.
status pass_run(const struct pass *pass, struct model *m, struct pass_context *c);

// Runs a pipeline written in C. Asserts its needs, reports each pass as a line of progress, and
// ends with ST_INTERRUPTED when the stop is raised between two passes.
status pass_run_all(struct pass_pipeline p, struct model *m, struct pass_context *c);

// The same for a pipeline from text. An unmet need is an error.
status pass_run_text(const char *text, struct model *m, struct pass_context *c);

// Reads a pipeline such as "sort,dce". Reports all unknown names at once.
status pass_pipeline_parse(struct arena *a, struct diags *d, const char *text,
                           struct pass_pipeline *out);

// Called around each pass; either may be NULL. A hook that fails ends the run.
struct pass_pipeline_hooks {
    void *to;
    status (*before)(void *to, const struct pass *p, size_t i, const struct model *m);
    status (*after)(void *to, const struct pass *p, size_t i, const struct model *m);
};

// Runs a pipeline from text. First checks the needs of all passes, so that a pipeline that cannot
// work fails at once; then runs the passes, with the structural verifier after each, and keeps
// m->facts up to date. c->arena is the parent of each pass's scratch arena.
status pass_pipeline_run(const struct pass_pipeline *p, struct model *m, struct pass_context *c,
                         const struct pass_pipeline_hooks *hooks);
