// The public interface, mfc.h: a session around the modules of the library. Each call works on the
// session's arenas, then passes new diagnostics to the caller's callback and returns the status.
#include "frontend/mfc.h"

#include <assert.h>
#include <stdlib.h>

#include "frontend/load.h"
#include "frontend/pipeline.h"
#include "frontend/version.h"
#include "ir/base/options.h"
#include "ir/base/stop.h"
#include "passes/pass.h"

_Static_assert((int)MFC_VERIFY == (int)ST_VERIFY && (int)MFC_LIMIT == (int)ST_LIMIT &&
                   (int)MFC_CANCELLED == (int)ST_INTERRUPTED,
               "public and internal statuses are the same numbers");

struct mfc {
    struct mem mem;
    struct arena option_arena; // lives as long as the session
    struct arena diag_arena;   // until the next load
    struct arena model_arena;  // the model and its names, until the next load
    struct pool names;
    struct options options;
    struct diags diags;
    size_t n_reported;   // diagnostics passed to the callback
    struct model *model; // NULL: none is loaded
    status failed;       // of the first call that failed since the load
    struct stop stop;
    void (*on_message)(void *, const struct mfc_message *);
    void *message_context;
    void (*on_progress)(void *, const char *);
    void *progress_context;
    double (*on_cost)(void *, const struct mfc_strategy *);
    void *cost_context;
};

static const struct option_spec rig_options[] = {
#include "frontend/inputs/rig_options.def"
    {0}};

const char *mfc_version(void) {
    return version_mfc();
}

struct mfc *mfc_new(int64_t limit_bytes) {
    struct mfc *m = calloc(1, sizeof *m); // not through the allocation gate, which is a member
    if (!m)
        return NULL;
    m->mem = mem_make(limit_bytes > 0 ? limit_bytes : MEM_UNLIMITED);
    m->option_arena = arena_make(&m->mem);
    m->diag_arena = arena_make(&m->mem);
    m->model_arena = arena_make(&m->mem);
    m->options = options_make(&m->option_arena);
    m->diags = diags_make(&m->diag_arena);
    m->stop.deadline_ns = STOP_NEVER;
    if (pass_add_options(&m->options, &m->diags) ||
        options_add(&m->options, &m->diags, rig_options)) {
        mfc_free(m);
        return NULL;
    }
    return m;
}

static void unload(struct mfc *m) {
    model_close(m->model);
    m->model = NULL;
    arena_free(&m->model_arena);
}

void mfc_free(struct mfc *m) {
    if (!m)
        return;
    unload(m);
    arena_free(&m->diag_arena);
    arena_free(&m->option_arena);
    free(m);
}

void mfc_on_message(struct mfc *m, void (*call)(void *, const struct mfc_message *),
                    void *context) {
    m->on_message = call;
    m->message_context = context;
}

void mfc_on_progress(struct mfc *m, void (*call)(void *, const char *), void *context) {
    m->on_progress = call;
    m->progress_context = context;
}

void mfc_on_cost(struct mfc *m, double (*call)(void *, const struct mfc_strategy *),
                 void *context) {
    m->on_cost = call;
    m->cost_context = context;
}

static void report(struct mfc *m, const struct diag *d) {
    struct arena scratch = arena_make(&m->mem);
    struct str whole = str_make(&scratch);
    diag_print(&whole, d);
    if (whole.n) // drop the newline
        whole.at[--whole.n] = 0;
    struct mfc_message message = {
        .severity = (enum mfc_severity)d->severity,
        .status = (enum mfc_status)diag_status(d->code),
        .code = diag_slug(d->code),
        .text = d->text,
        .file = d->where.file,
        .offset = d->where.offset,
        .line = d->where.line,
        .column = d->where.col,
        .path = d->where.path,
        .whole = whole.failed ? d->text : str_text(&whole),
    };
    m->on_message(m->message_context, &message);
    arena_free(&scratch);
}

// The end of every call: reports new diagnostics and records the status.
static int finish(struct mfc *m, status st) {
    bool has_error = false;
    for (; m->n_reported < m->diags.list.n; m->n_reported++) {
        const struct diag *d = &m->diags.list.at[m->n_reported];
        has_error |= d->severity == DIAG_ERROR;
        if (m->on_message)
            report(m, d);
    }
    // There may have been no memory left for the diagnostic itself.
    if (st == ST_LIMIT && !has_error && m->on_message)
        report(m, &(struct diag){DIAG_ERROR, DIAG_LIMIT, loc_none(), "out of memory"});
    if (st && !m->failed)
        m->failed = st;
    return (int)st;
}

int mfc_status(const struct mfc *m) {
    return (int)m->failed;
}

int mfc_set(struct mfc *m, const char *option, const char *value) {
    assert(m && option && value);
    return finish(m, options_set(&m->options, &m->diags, option, value));
}

void mfc_option(const struct mfc *m, size_t i, const char **name, const char **help,
                const char **default_text) {
    const struct option_spec *s = NULL;
    for (size_t k = 0, n = 0; k < m->options.items.n && !s; k++)
        if (m->options.items.at[k].spec->help && n++ == i) // the others are old names
            s = m->options.items.at[k].spec;
    *name = s ? s->name : NULL;
    *help = s ? s->help : NULL;
    *default_text = s ? s->default_text : NULL;
}

static void begin_load(struct mfc *m) {
    unload(m);
    m->names = pool_make(&m->model_arena);
    arena_free(&m->diag_arena);
    m->diags = diags_make(&m->diag_arena);
    m->n_reported = 0;
    m->failed = ST_OK;
    atomic_store(&m->stop.raised, 0);
}

// A failed load leaves no model.
static int end_load(struct mfc *m, status st) {
    if (st) {
        m->model = NULL; // the reader has closed it
        unload(m);
    }
    return finish(m, st);
}

int mfc_load(struct mfc *m, const char *file) {
    assert(m && file);
    begin_load(m);
    return end_load(m, load_model(&m->model_arena, &m->names, &m->diags, file, &m->model));
}

int mfc_load_memory(struct mfc *m, const void *bytes, size_t n_bytes) {
    assert(m && (bytes || !n_bytes));
    begin_load(m);
    return end_load(m,
                    load_memory(&m->model_arena, &m->names, &m->diags, bytes, n_bytes, &m->model));
}

static status no_model(struct mfc *m) {
    return diag_error(&m->diags, DIAG_USAGE, loc_none(),
                      "no model is loaded; call mfc_load or mfc_load_memory first");
}

static double call_on_cost(void *session, const struct mcmc_values *v) {
    const struct mfc *m = session;
    return m->on_cost(m->cost_context, &(struct mfc_strategy){v->makespan, v->load, v->peak_bytes,
                                                              v->moved_bytes, v->energy});
}

int mfc_run(struct mfc *m, const char *passes) {
    assert(m);
    if (!m->model)
        return finish(m, no_model(m));
    struct arena scratch = arena_make(&m->mem);
    struct pass_context c = {.arena = &scratch,
                             .diags = &m->diags,
                             .options = &m->options,
                             .stop = &m->stop,
                             .progress = m->on_progress,
                             .progress_to = m->progress_context};
    struct mcmc_objective own = {.goal = MCMC_CUSTOM, .value = call_on_cost, .context = m};
    struct pipeline p = {.model = m->model, .context = &c, .passes = passes};
    p.devices_how.hooks.stop = &m->stop;
    p.devices_how.objective = m->on_cost ? &own : NULL;
    status st = pipeline_plan(&p);
    arena_free(&scratch);
    return finish(m, st);
}

int mfc_write(struct mfc *m, const char *file) {
    assert(m && file);
    if (!m->model)
        return finish(m, no_model(m));
    return finish(m, load_save_plan(m->model, file, NULL, &m->diags));
}

void mfc_cancel(struct mfc *m) {
    stop_raise(&m->stop, 1);
}
