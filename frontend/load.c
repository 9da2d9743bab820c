// Reads and writes models: see load.h.
#include "frontend/load.h"

#include <string.h>

#include "backend/dot.h"
#include "backend/onnx/onnx_write.h"
#include "frontend/onnx/onnx_read.h"
#include "ir/text/text.h"
#include "ir/wrapper/unwrap.h"
#include "passes/rewrite/wrap.h"

// The text form starts with "mfc" or a comment. No ONNX file does: these bytes would be groups, or
// fields that a ModelProto does not have.
static bool is_text(const struct source *s, struct mem *mem) {
    char first[3];
    struct arena scratch = arena_make(mem);
    struct diags ignored = diags_make(&scratch); // the reader will report the same error
    bool failed = s->n_bytes < 3 || source_read(s, &ignored, 0, first, sizeof first);
    arena_free(&scratch);
    if (failed)
        return str_ends_with(s->path, ".mfc");
    return first[0] == '#' || memcmp(first, "mfc", 3) == 0 || str_ends_with(s->path, ".mfc");
}

static status sort_and_verify(struct model *m, struct diags *d) {
    status st = graph_sort(m->graph, d);
    for (size_t i = 0; i < m->functions.n && !st; i++)
        st = graph_sort(m->functions.at[i].body, d);
    if (!st)
        st = model_verify(m, d);
    if (!st)
        m->facts |= FACT_TOPO;
    return st;
}

static status load_source(struct arena *a, struct pool *names, struct diags *d, struct source *s,
                          struct model **out) {
    if (!is_text(s, a->mem))
        return onnx_read(s, a, names, d, out);
    status st = parse_file(s, a, names, d, out);
    source_close(s);
    if (!st)
        st = sort_and_verify(*out, d);
    if (st)
        model_close(*out);
    return st;
}

static status unwrap(struct model *m, struct diags *d) {
    status st = unwrap_model(m, d);
    if (!st && m->is_wrapped)
        st = model_verify(m, d);
    if (st)
        model_close(m);
    return st;
}

status load_verbatim(struct arena *a, struct pool *names, struct diags *d, const char *path,
                     struct model **out) {
    struct source *s;
    status st = source_open(a, d, path, &s);
    return st ? st : load_source(a, names, d, s, out);
}

status load_model(struct arena *a, struct pool *names, struct diags *d, const char *path,
                  struct model **out) {
    status st = load_verbatim(a, names, d, path, out);
    return st ? st : unwrap(*out, d);
}

status load_memory(struct arena *a, struct pool *names, struct diags *d, const void *bytes,
                   size_t n_bytes, struct model **out) {
    struct source *s;
    if (n_bytes > INT64_MAX)
        return diag_error(d, DIAG_LIMIT, loc_none(), "a model of %zu bytes is too large", n_bytes);
    status st = source_memory(a, d, bytes, (int64_t)n_bytes, &s);
    if (!st)
        st = load_source(a, names, d, s, out);
    return st ? st : unwrap(*out, d);
}

status load_format(struct diags *d, const char *path, const char *format, const char **out) {
    static const char *const known[] = {"onnx", "mfc", "dot"};
    *out = format ? format : strcmp(path, "-") == 0 ? "mfc" : NULL;
    for (size_t i = 0; !*out && i < sizeof known / sizeof *known; i++) {
        const char *dot = strrchr(path, '.');
        if (dot && strcmp(dot + 1, known[i]) == 0)
            *out = known[i];
    }
    return *out ? ST_OK
                : diag_error(d, DIAG_USAGE, loc_file(path),
                             "the file name ends with neither .onnx, .mfc nor .dot; give the "
                             "format with --to=onnx, --to=mfc or --to=dot");
}

static status save_text(const struct model *m, const char *path, bool as_dot,
                        struct outputs *together, struct diags *d) {
    struct arena scratch = arena_make(m->arena->mem);
    struct str text = str_make(&scratch);
    const char *folder = file_folder(&scratch, path);
    status st = !folder  ? diag_out_of_memory(d)
                : as_dot ? dot_print(&text, m, d)
                         : print_model(&text, m, folder, d);
    if (!st)
        st = together ? outputs_text(together, path, &text) : output_text(&scratch, d, path, &text);
    arena_free(&scratch);
    return st;
}

status load_save(const struct model *m, const char *path, const char *format,
                 struct outputs *together, struct diags *d) {
    status st = load_format(d, path, format, &format);
    if (st)
        return st;
    if (strcmp(format, "onnx") == 0)
        return onnx_write(m, path, &(struct onnx_write_options){.together = together}, d);
    return save_text(m, path, strcmp(format, "dot") == 0, together, d);
}

status load_save_plan_as(struct model *m, const char *path, const char *format,
                         struct outputs *together, struct diags *d) {
    if (!format)
        format = str_ends_with(path, ".dot") ? "dot" : str_ends_with(path, ".mfc") ? "mfc" : "onnx";
    struct arena scratch = arena_make(m->arena->mem);
    struct pass_context c = {.arena = &scratch, .diags = d};
    status st = m->is_wrapped && strcmp(format, "dot") != 0 ? wrap_model(m, &c) : ST_OK;
    if (!st)
        st = load_save(m, path, format, together, d);
    arena_free(&scratch);
    return st;
}

status load_save_plan(struct model *m, const char *path, struct outputs *together,
                      struct diags *d) {
    return load_save_plan_as(m, path, NULL, together, d);
}
