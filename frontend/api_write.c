// The results of a session: files and bytes, in every format, and the way from training back to
// inference. Writing works on a copy of the graph, whose form the options may change, so that the
// model stays as it is.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/api_session.h"
#include "frontend/load.h"
#include "frontend/tools/export.h"
#include "frontend/tools/extras.h"
#include "ir/copy.h"

// One write: the pipeline of the session over copies of its models.
struct writing {
    struct arena arena;
    struct pass_context context;
    struct pipeline pipeline;
    struct outputs outputs;
};

static status begin(struct writing *w, struct mfc *m, bool in_memory) {
    status st = api_need_model(m);
    w->arena = arena_make(&m->mem);
    w->context = m->has_run ? m->context : api_context(m, &w->arena);
    w->outputs = outputs_make(&w->arena, &m->diags);
    w->outputs.in_memory = in_memory;
    if (st)
        return st;
    w->pipeline = m->pipeline;
    w->pipeline.context = &w->context;
    w->pipeline.model = model_copy(m->model, &w->arena);
    if (m->pipeline.unchanged)
        w->pipeline.unchanged = model_copy(m->pipeline.unchanged, &w->arena);
    bool ok = w->pipeline.model && (w->pipeline.unchanged || !m->pipeline.unchanged);
    return ok ? ST_OK : diag_out_of_memory(&m->diags);
}

static void end(struct writing *w) {
    outputs_abort(&w->outputs);
    arena_free(&w->arena);
}

static bool is_extra(const char *format, enum extra *out) {
    static const char *const names[] = {
        [EXTRA_REPORT] = "html", [EXTRA_TRACE] = "trace", [EXTRA_JSON] = "json"};
    for (int i = 0; i < EXTRA_COUNT_; i++)
        if (strcmp(format, names[i]) == 0) {
            *out = (enum extra)i;
            return true;
        }
    return false;
}

static status write_extra(struct mfc *m, struct writing *w, enum extra e, const char *path) {
    struct str text = str_make(&w->arena);
    if (!m->has_run)
        return diag_error(&m->diags, DIAG_USAGE, loc_none(),
                          "there is no plan to describe; call mfc_run(m, NULL) first");
    struct pipeline *p = &w->pipeline;
    const char *name = m->model->path ? file_name(m->model->path) : "model";
    status st = pipeline_describe(p, name, NULL);
    const struct model *step = p->facts.step ? p->facts.step : p->model;
    if (!st)
        st = extras_print(&text, e, step, p->model, &p->facts, &m->diags);
    return st ? st : outputs_text(&w->outputs, path, &text);
}

static status write_as(struct mfc *m, struct writing *w, const char *format, const char *path) {
    enum extra e;
    if (is_extra(format, &e))
        return write_extra(m, w, e, path);
    if (strcmp(format, "onnx") != 0 && strcmp(format, "mfc") != 0 && strcmp(format, "dot") != 0)
        return diag_error(&m->diags, DIAG_USAGE, loc_none(),
                          "there is no format \"%s\"; there are onnx, mfc, dot, json, html and "
                          "trace",
                          format);
    return pipeline_write_as(&w->pipeline, path, format, &w->outputs);
}

int mfc_write(struct mfc *m, const char *file) {
    assert(m && file);
    struct writing w;
    status st = begin(&w, m, false);
    if (!st)
        st = pipeline_write(&w.pipeline, file, &w.outputs);
    if (!st)
        st = outputs_commit(&w.outputs);
    end(&w);
    return api_finish(m, st);
}

int mfc_write_as(struct mfc *m, const char *format, const char *file) {
    assert(m && format && file);
    struct writing w;
    status st = begin(&w, m, false);
    if (!st)
        st = write_as(m, &w, format, file);
    if (!st)
        st = outputs_commit(&w.outputs);
    end(&w);
    return api_finish(m, st);
}

// The bytes are the caller's result, not mfc's working memory: they do not count to its limit.
static status take(struct mfc *m, struct output *o) {
    int64_t n = o->n_bytes;
    if (!(m->written = malloc(n ? (size_t)n : 1)))
        return diag_out_of_memory(&m->diags);
    m->n_written = (size_t)n;
    return output_take(o, &m->diags, m->written);
}

int mfc_write_memory(struct mfc *m, const char *format, const void **bytes, size_t *n_bytes) {
    assert(m && format && bytes && n_bytes);
    struct writing w;
    *bytes = NULL;
    *n_bytes = 0;
    free(m->written);
    m->written = NULL;
    status st = begin(&w, m, true);
    if (!st)
        st = write_as(m, &w, format, "<memory>");
    if (!st)
        st = take(m, w.outputs.files.at[0]);
    end(&w);
    if (!st) {
        *bytes = m->written;
        *n_bytes = m->n_written;
    }
    return api_finish(m, st);
}

static status write_state(struct mfc *m, const char *model, const char *file, struct arena *a) {
    struct state_sources from = {.step = {m->model}};
    struct pool names = pool_make(a);
    struct model *source = NULL;
    struct tensors start;
    status st = model ? load_model(a, &names, &m->diags, model, &source) : ST_OK;
    if (st)
        return st;
    from.model = source;
    st = state_start(&from, a, &m->diags, &start);
    if (!st)
        st = state_require(&start, m->model, &m->diags);
    if (!st)
        st = state_write(&start, m->model, file, NULL, &m->diags);
    model_close(source);
    return st;
}

int mfc_write_state(struct mfc *m, const char *model, const char *file) {
    assert(m && file);
    struct arena scratch = arena_make(&m->mem);
    status st = api_need_model(m);
    if (!st)
        st = write_state(m, model, file, &scratch);
    arena_free(&scratch);
    return api_finish(m, st);
}

// Tensors of the model then refer to the state, which stays open as long as the model.
static status export(struct mfc *m, const char *state_file, struct arena *scratch) {
    struct pass_context c = api_context(m, scratch);
    struct exported facts;
    if (m->has_trained)
        return diag_error(&m->diags, DIAG_USAGE, loc_none(),
                          "the model has the parameters of a state already; load it again first");
    status st = state_read(state_file, &m->model_arena, &m->names, &m->diags, &m->trained);
    m->has_trained = true;
    if (!st)
        st = export_model(m->model, &m->trained.tensors, &c, &facts);
    if (st)
        api_unload(m); // it may be half changed
    return st;
}

int mfc_export(struct mfc *m, const char *state_file) {
    assert(m && state_file);
    struct arena scratch = arena_make(&m->mem);
    status st = api_need_model(m);
    if (!st)
        st = export(m, state_file, &scratch);
    arena_free(&scratch);
    return api_finish(m, st);
}
