// `mfc opt FILE --passes=…`: runs passes one after the other and shows what they do. For tests, and
// for looking inside. A run that fails can leave a reproducer: the model as it was before the
// failing pass, in text form, with the rest of the pipeline in its first line, where `mfc opt`
// finds it again.
#include <string.h>

#include "frontend/cli/cli.h"
#include "frontend/inputs/cost_files.h"
#include "frontend/load.h"
#include "frontend/tools/inspect/inspect.h"
#include "ir/text/text.h"
#include "passes/pass.h"

static const char repro_mark[] = "# mfc opt --passes=";

struct opt {
    struct cli *c;
    const struct pass_pipeline *p;
    size_t at;         // the pass that runs
    struct arena kept; // holds the text of the model before it
    struct str before;
};

static bool is_listed(const struct cli *c, const char *option, const char *pass) {
    const struct option_value *v = options_get(&c->options, option);
    for (size_t i = 0; i < v->list.n; i++)
        if (strcmp(v->list.at[i], pass) == 0 || strcmp(v->list.at[i], "all") == 0)
            return true;
    return false;
}

static status show(struct cli *c, const char *when, const struct pass *pass,
                   const struct model *m) {
    str_addf(&c->out, "# %s %s\n", when, pass->name);
    return print_model(&c->out, m, ".", &c->diags);
}

static status before(void *to, const struct pass *pass, size_t i, const struct model *m) {
    struct opt *o = to;
    o->at = i;
    if (is_listed(o->c, "print-before", pass->name)) {
        status st = show(o->c, "before", pass, m);
        if (st)
            return st;
    }
    if (!options_text(&o->c->options, "reproducer"))
        return ST_OK;
    arena_free(&o->kept);
    o->before = str_make(&o->kept);
    str_add(&o->before, repro_mark);
    for (size_t k = i; k < o->p->n; k++)
        str_addf(&o->before, "%s%s", k == i ? "" : ",", o->p->at[k]->name);
    str_add_char(&o->before, '\n');
    const char *folder = file_folder(&o->kept, options_text(&o->c->options, "reproducer"));
    return folder ? print_model(&o->before, m, folder, &o->c->diags)
                  : diag_out_of_memory(&o->c->diags);
}

static status after(void *to, const struct pass *pass, size_t i, const struct model *m) {
    (void)i;
    struct opt *o = to;
    return is_listed(o->c, "print-after", pass->name) ? show(o->c, "after", pass, m) : ST_OK;
}

static void leave_reproducer(struct opt *o) {
    struct cli *c = o->c;
    const char *path = options_text(&c->options, "reproducer");
    struct output out;
    if (!path || !o->before.n || output_open(&c->arena, &c->diags, path, &out))
        return;
    if (!output_write(&out, &c->diags, str_text(&o->before), o->before.n) &&
        !output_commit(&out, &c->diags))
        diag_note(&c->diags, DIAG_INTERNAL, loc_file(path),
                  "holds the model before pass %s; mfc opt runs it again from there",
                  o->p->at[o->at]->name);
    output_abort(&out);
}

// Names given to --print-before and --print-after must be those of passes.
static status check_names(struct cli *c, const char *option) {
    const struct option_value *v = options_get(&c->options, option);
    status st = ST_OK;
    for (size_t i = 0; i < v->list.n; i++) {
        struct pass_pipeline one;
        if (strcmp(v->list.at[i], "all") != 0 &&
            pass_pipeline_parse(&c->arena, &c->diags, v->list.at[i], &one))
            st = ST_USAGE;
    }
    return st;
}

// The pipeline as it was given, or that of a reproducer.
static status find_passes(struct cli *c, const char **out) {
    struct str text = str_make(&c->arena);
    const struct option_value *v = options_get(&c->options, "passes");
    for (size_t i = 0; i < v->list.n; i++)
        str_addf(&text, "%s%s", i ? "," : "", v->list.at[i]);
    struct source *s;
    char line[512] = {0};
    const size_t n_mark = sizeof repro_mark - 1;
    if (!v->given && strcmp(c->arguments[0], "-") != 0) {
        status st = source_open(&c->arena, &c->diags, c->arguments[0], &s);
        if (st)
            return st;
        size_t n = s->n_bytes < (int64_t)sizeof line - 1 ? (size_t)s->n_bytes : sizeof line - 1;
        st = source_read(s, &c->diags, 0, line, n);
        source_close(s);
        if (st)
            return st;
        if (strncmp(line, repro_mark, n_mark) == 0)
            str_add_n(&text, line + n_mark, strcspn(line + n_mark, "\r\n"));
    }
    *out = str_text(&text);
    return text.failed ? diag_out_of_memory(&c->diags) : ST_OK;
}

static status run_passes(struct cli *c, const struct pass_pipeline *p, struct model *m) {
    struct opt o = {.c = c, .p = p, .kept = arena_make(&c->mem)};
    struct pass_context context = cli_context(c, &c->arena);
    context.checks_facts = true;
    struct pass_pipeline_hooks hooks = {.to = &o, .before = before, .after = after};
    status st = cost_files_read(&c->arena, &c->diags, &c->options, &context.costs);
    if (!st) {
        st = pass_pipeline_run(p, m, &context, &hooks);
        if (st)
            leave_reproducer(&o);
    }
    arena_free(&o.kept);
    return st;
}

static status write_result(struct cli *c, const struct model *m) {
    const char *to = options_text(&c->options, "file");
    bool shown =
        options_given(&c->options, "print-after") || options_given(&c->options, "print-before");
    const char *format = options_text(&c->options, "to");
    const char *json = options_text(&c->options, "json");
    status st = ST_OK;
    if (to || format)
        st = load_save(m, to ? to : "-", format, NULL, &c->diags);
    else if (!shown && !json)
        st = print_model(&c->out, m, ".", &c->diags);
    return st || !json ? st : inspect_write(m, NULL, json, &c->arena, &c->diags);
}

static status optimize(struct cli *c) {
    struct pool names = pool_make(&c->arena);
    struct pass_pipeline p;
    struct model *m;
    const char *passes;
    status st = find_passes(c, &passes);
    if (!st)
        st = pass_pipeline_parse(&c->arena, &c->diags, passes, &p);
    if (!st)
        st = check_names(c, "print-before");
    if (!st)
        st = check_names(c, "print-after");
    if (!st)
        st = load_model(&c->arena, &names, &c->diags, c->arguments[0], &m);
    if (st)
        return st;
    cli_flush_diags(c);
    st = run_passes(c, &p, m);
    if (!st)
        st = write_result(c, m);
    model_close(m);
    return st;
}

static status run(struct cli *c) {
    if (options_flag(&c->options, "list")) {
        pass_list(&c->out);
        return ST_OK;
    }
    if (!c->n_arguments)
        return diag_error(&c->diags, DIAG_USAGE, loc_none(),
                          "usage: mfc opt [OPTION]... FILE; mfc opt --list lists the passes");
    return optimize(c);
}

static const struct option_spec opt_options[] = {
    {"passes", 'p', OPTION_LIST, "NAMES", NULL, 0, 0, "passes to run, in this order"},
    {"print-before", 0, OPTION_LIST, "NAMES", NULL, 0, 0,
     "show the model before these passes, or before all"},
    {"print-after", 0, OPTION_LIST, "NAMES", NULL, 0, 0,
     "show the model after these passes, or after all"},
    {"file", 'o', OPTION_TEXT, "FILE", NULL, 0, 0,
     "where the result goes: .onnx, .mfc or .dot; otherwise text to standard output"},
    {"to", 't', OPTION_CHOICE, "onnx|mfc|dot", NULL, 0, 0,
     "form of the output; otherwise by its name"},
    {"json", 0, OPTION_TEXT, "FILE", NULL, 0, 0,
     "write what is in the result as JSON, as mfc inspect does; - is stdout"},
    {"reproducer", 0, OPTION_TEXT, "FILE", NULL, 0, 0,
     "on failure, keep the model as it was before the failing pass"},
    {"list", 0, OPTION_FLAG, NULL, NULL, 0, 0, "list the passes"},
    {0}};

const struct command cmd_opt = {
    .name = "opt",
    .summary = "run passes on a model and show what they do",
    .arguments = "FILE",
    .description = "FILE is ONNX or text (.mfc). The passes run in the order given, and the graph "
                   "is verified after each. Without -o the result is printed as text, unless "
                   "--print-before or --print-after print it. mfc opt --list lists the passes.",
    .min_arguments = 0,
    .max_arguments = 1,
    .options = opt_options,
    .passes = true,
    .run = run,
};
