// The inside of a session, for the files of the public interface (api*.c) only.
#pragma once

#include "frontend/mfc.h"
#include "frontend/mfc_solve.h"
#include "frontend/pipeline.h"
#include "frontend/tools/training_state.h"
#include "ir/base/options.h"
#include "ir/base/stop.h"
#include "passes/pass.h"

struct mfc {
    struct mem mem;
    struct arena option_arena; // lives as long as the session
    struct arena diag_arena;   // until the end of the call
    struct arena model_arena;  // the model and its names, until the next load
    struct arena run_arena;    // what the last run found, until the next run or load
    struct arena plan_arena;   // the answer of mfc_get_plan, likewise
    struct arena solve_arena;  // the last schedule, until the next one
    struct pool names;
    struct options options;
    struct diags diags;
    struct model *model; // NULL: none is loaded
    status failed;       // of the first call that failed since the load
    struct stop stop;
    struct pass_context context; // of the last run
    struct pipeline pipeline;    // likewise
    bool has_run;                // the default pipeline, with success
    struct mfc_plan *plan;       // NULL: not made yet
    struct state_file trained;   // open while the model refers to its tensors
    bool has_trained;
    struct mfc_search search; // as the callback saw it last
    uint8_t *written;         // the answer of mfc_write_memory
    size_t n_written;
    void (*on_message)(void *, const struct mfc_message *);
    void *message_context;
    void (*on_progress)(void *, const char *);
    void *progress_context;
    void (*on_search)(void *, const struct mfc_search *);
    void *search_context;
    double (*on_cost)(void *, const struct mfc_strategy *);
    void *cost_context;
};

// The end of every call: reports its diagnostics and records the status.
int api_finish(struct mfc *m, status st);

// Without a model, and without all that refers to one.
void api_unload(struct mfc *m);
status api_need_model(struct mfc *m);
struct pass_context api_context(struct mfc *m, struct arena *scratch);
// For a search outside of mfc_run.
void api_search_begins(struct mfc *m, int64_t base_cost, int64_t budget_bytes);
struct solve_hooks api_hooks(struct mfc *m);

// An unknown number, inside and outside.
static inline int64_t api_known(int64_t x) {
    return x == PLAN_FACTS_UNKNOWN ? MFC_UNKNOWN : x;
}
