// The public interface, mfc.h: a session around the modules of the library. Each call works on the
// session's arenas, then passes new diagnostics to the caller's callback and returns the status.
#include <assert.h>
#include <stdlib.h>

#include "frontend/api_session.h"
#include "frontend/load.h"
#include "frontend/version.h"
#include "ir/copy.h"

_Static_assert((int)MFC_VERIFY == (int)ST_VERIFY && (int)MFC_LIMIT == (int)ST_LIMIT &&
                   (int)MFC_CANCELLED == (int)ST_INTERRUPTED,
               "public and internal statuses are the same numbers");

static const struct option_spec own_options[] = {
#include "frontend/inputs/output_options.def"
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
    m->run_arena = arena_make(&m->mem);
    m->plan_arena = arena_make(&m->mem);
    m->solve_arena = arena_make(&m->mem);
    m->options = options_make(&m->option_arena);
    m->diags = diags_make(&m->diag_arena);
    m->stop.deadline_ns = STOP_NEVER;
    if (pass_add_options(&m->options, &m->diags) ||
        options_add(&m->options, &m->diags, own_options)) {
        mfc_free(m);
        return NULL;
    }
    return m;
}

static void forget_run(struct mfc *m) {
    m->plan = NULL;
    m->has_run = false;
    m->pipeline = (struct pipeline){.context = &m->context};
    arena_free(&m->plan_arena);
    arena_free(&m->run_arena);
}

void api_unload(struct mfc *m) {
    forget_run(m);
    free(m->written);
    m->written = NULL;
    if (m->has_trained)
        state_close(&m->trained);
    m->has_trained = false;
    model_close(m->model);
    m->model = NULL;
    arena_free(&m->model_arena);
}

void mfc_free(struct mfc *m) {
    if (!m)
        return;
    api_unload(m);
    arena_free(&m->solve_arena);
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

void mfc_on_search(struct mfc *m, void (*call)(void *, const struct mfc_search *), void *context) {
    m->on_search = call;
    m->search_context = context;
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

int api_finish(struct mfc *m, status st) {
    bool has_error = false;
    for (size_t i = 0; i < m->diags.list.n; i++) {
        const struct diag *d = &m->diags.list.at[i];
        has_error |= d->severity == DIAG_ERROR;
        if (m->on_message)
            report(m, d);
    }
    // There may have been no memory left for the diagnostic itself.
    if (st == ST_LIMIT && !has_error && m->on_message)
        report(m, &(struct diag){DIAG_ERROR, DIAG_LIMIT, loc_none(), "out of memory"});
    if (st && !m->failed)
        m->failed = st;
    // The next call must not take these errors for its own, nor share their limit in number.
    arena_free(&m->diag_arena);
    m->diags = diags_make(&m->diag_arena);
    return (int)st;
}

int mfc_status(const struct mfc *m) {
    return (int)m->failed;
}

int mfc_set(struct mfc *m, const char *option, const char *value) {
    assert(m && option && value);
    return api_finish(m, options_set(&m->options, &m->diags, option, value));
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
    api_unload(m);
    m->names = pool_make(&m->model_arena);
    m->failed = ST_OK;
    atomic_store(&m->stop.raised, 0);
}

// A failed load leaves no model.
static int end_load(struct mfc *m, status st) {
    if (st) {
        m->model = NULL; // the reader has closed it
        api_unload(m);
    }
    return api_finish(m, st);
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

status api_need_model(struct mfc *m) {
    return m->model ? ST_OK
                    : diag_error(&m->diags, DIAG_USAGE, loc_none(),
                                 "no model is loaded; call mfc_load or mfc_load_memory first");
}

struct pass_context api_context(struct mfc *m, struct arena *scratch) {
    return (struct pass_context){.arena = scratch,
                                 .diags = &m->diags,
                                 .options = &m->options,
                                 .stop = &m->stop,
                                 .progress = m->on_progress,
                                 .progress_to = m->progress_context};
}

// ---- Progress of a search ----

static void search_begins(void *session, int64_t base_cost, int64_t budget_bytes, int64_t end_ns) {
    struct mfc *m = session;
    (void)end_ns;
    m->search = (struct mfc_search){.cost = MFC_UNKNOWN,
                                    .bound = MFC_UNKNOWN,
                                    .base_cost = base_cost,
                                    .budget_bytes = budget_bytes,
                                    .round = m->search.round + 1};
    m->on_search(m->search_context, &m->search);
}

static void search_goes_on(void *session, const struct solve_event *e) {
    struct mfc *m = session;
    m->search.cost = e->cost == INT64_MAX ? MFC_UNKNOWN : e->cost;
    m->search.bound = e->bound == BOUND_NONE ? MFC_UNKNOWN : e->bound;
    m->search.peak_bytes = e->peak_bytes;
    m->search.seconds = e->seconds;
    m->on_search(m->search_context, &m->search);
}

void api_search_begins(struct mfc *m, int64_t base_cost, int64_t budget_bytes) {
    m->search.round = 0;
    if (m->on_search)
        search_begins(m, base_cost, budget_bytes, 0);
}

struct solve_hooks api_hooks(struct mfc *m) {
    return (struct solve_hooks){
        .progress = m->on_search ? search_goes_on : NULL, .context = m, .stop = &m->stop};
}

static double call_on_cost(void *session, const struct mcmc_values *v) {
    const struct mfc *m = session;
    return m->on_cost(m->cost_context, &(struct mfc_strategy){v->makespan, v->load, v->peak_bytes,
                                                              v->moved_bytes, v->energy});
}

static status run(struct mfc *m, const char *passes) {
    struct mcmc_objective own = {.goal = MCMC_CUSTOM, .value = call_on_cost, .context = m};
    struct plan_watch watch = {.hooks = api_hooks(m), .begin = search_begins};
    struct pipeline *p = &m->pipeline;
    m->context = api_context(m, &m->run_arena);
    *p = (struct pipeline){.model = m->model, .context = &m->context, .passes = passes};
    p->watch = m->on_search ? &watch : NULL;
    p->devices_how.hooks.stop = &m->stop;
    p->devices_how.objective = m->on_cost ? &own : NULL;
    if (options_given(&m->options, "update") &&
        !(p->unchanged = model_copy(m->model, &m->model_arena)))
        return diag_out_of_memory(&m->diags);
    status st = pipeline_plan(p);
    p->watch = NULL; // it ends with this function
    p->devices_how.objective = NULL;
    return st;
}

int mfc_run(struct mfc *m, const char *passes) {
    assert(m);
    status st = api_need_model(m);
    if (!st && !passes)
        st = pipeline_check_options(&m->options, &m->diags);
    if (st)
        return api_finish(m, st);
    forget_run(m);
    m->search.round = 0;
    st = run(m, passes);
    m->has_run = !st && !passes;
    if (!m->has_run)
        forget_run(m);
    return api_finish(m, st);
}

void mfc_cancel(struct mfc *m) {
    stop_raise(&m->stop, 1);
}
