// The files that a run writes beside the plan: see extras.h.
#include "frontend/tools/extras.h"

#include <string.h>
#include <sys/stat.h>

#include "backend/plan_json.h"
#include "backend/report/report.h"
#include "backend/trace.h"

static const char *const option_names[] = {"report", "trace", "json"};

// Whether two paths name one file, even when it does not exist yet: the same name in the same
// folder. Several outputs may go to a stream such as /dev/null, but not to standard output.
static bool is_same_file(struct arena *a, const char *one, const char *other) {
    struct stat x, y;
    if (strcmp(one, "-") == 0 || strcmp(other, "-") == 0)
        return strcmp(one, other) == 0;
    if (stat(one, &x) == 0 && stat(other, &y) == 0)
        return x.st_dev == y.st_dev && x.st_ino == y.st_ino && S_ISREG(x.st_mode);
    const char *first = file_follow(a, one), *second = file_follow(a, other);
    const char *folder = first ? file_folder(a, first) : NULL;
    const char *beside = second ? file_folder(a, second) : NULL;
    return folder && beside && strcmp(file_name(first), file_name(second)) == 0 &&
           stat(folder, &x) == 0 && stat(beside, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

static status check_paths(const struct options *o, const char *model, const char *target,
                          struct arena *a, struct diags *d) {
    status st = ST_OK;
    for (int i = 0; i < EXTRA_COUNT_; i++) {
        const char *path = options_text(o, option_names[i]);
        if (!path)
            continue;
        if (strcmp(path, "-") != 0 && is_same_file(a, path, model))
            st = diag_error(d, DIAG_USAGE, loc_file(path),
                            "--%s would overwrite the model; choose another file", option_names[i]);
        if (is_same_file(a, path, target))
            st = diag_error(d, DIAG_USAGE, loc_file(path), "--%s and -o name the same file",
                            option_names[i]);
        for (int k = 0; k < i; k++)
            if (options_text(o, option_names[k]) &&
                is_same_file(a, path, options_text(o, option_names[k])))
                st = diag_error(d, DIAG_USAGE, loc_file(path), "--%s and --%s name the same file",
                                option_names[k], option_names[i]);
    }
    return st;
}

status extras_open(struct extras *x, const struct options *o, const char *model, const char *target,
                   struct outputs *together) {
    *x = (struct extras){0};
    status st = check_paths(o, model, target, together->arena, together->diags);
    for (int i = 0; i < EXTRA_COUNT_ && !st; i++) {
        const char *path = options_text(o, option_names[i]);
        if (path)
            st = outputs_open(together, path, &x->at[i]);
    }
    return st;
}

status extras_print(struct str *text, enum extra e, const struct model *baseline,
                    const struct model *plan, const struct plan_facts *facts, struct diags *d) {
    switch (e) {
    case EXTRA_REPORT:
        return report_print(text, baseline, plan, facts, d);
    case EXTRA_TRACE:
        return trace_print(text, plan, d);
    default:
        return plan_json_print(text, plan, facts, d);
    }
}

status extras_write(struct extras *x, const struct model *baseline, const struct model *plan,
                    const struct plan_facts *facts, struct diags *d) {
    status st = ST_OK;
    for (int i = 0; i < EXTRA_COUNT_ && !st; i++) {
        if (!x->at[i])
            continue;
        struct arena scratch = arena_make(plan->arena->mem);
        struct str text = str_make(&scratch);
        st = extras_print(&text, (enum extra)i, baseline, plan, facts, d);
        if (!st)
            st = output_write(x->at[i], d, str_text(&text), text.n);
        if (!st)
            st = output_sync(x->at[i], d);
        arena_free(&scratch);
    }
    return st;
}
