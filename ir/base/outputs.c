// Files that appear together: see file.h. All that can fail for want of space or memory is done
// before the first of them gets its name.
#include "ir/base/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct outputs outputs_make(struct arena *a, struct diags *d) {
    return (struct outputs){.arena = a, .diags = d};
}

status outputs_open(struct outputs *x, const char *path, struct output **out) {
    struct output *o = ARENA_NEW(x->arena, struct output);
    if (!o || !VEC_PUSH(x->arena, &x->files, o))
        return diag_out_of_memory(x->diags);
    o->fd = o->stream = -1;
    *out = o;
    return x->in_memory ? output_open_memory(x->arena, x->diags, path, o)
                        : output_open(x->arena, x->diags, path, o);
}

status outputs_text(struct outputs *x, const char *path, const struct str *text) {
    struct output *o;
    if (text->failed)
        return diag_out_of_memory(x->diags);
    status st = outputs_open(x, path, &o);
    if (!st)
        st = output_write(o, x->diags, str_text(text), text->n);
    return st ? st : output_sync(o, x->diags);
}

status outputs_folder(struct outputs *x, const char *temporary, const char *target) {
    struct new_folder f = {arena_copy(x->arena, temporary, strlen(temporary) + 1),
                           arena_copy(x->arena, target, strlen(target) + 1), false};
    return f.temporary && f.target && VEC_PUSH(x->arena, &x->folders, f)
               ? ST_OK
               : diag_out_of_memory(x->diags);
}

bool outputs_remove(struct outputs *x, const char *path) {
    const char *kept = arena_copy(x->arena, path, strlen(path) + 1);
    return kept && VEC_PUSH(x->arena, &x->stale, kept);
}

static status publish_folder(struct outputs *x, struct new_folder *f) {
    f->is_published = rename(f->temporary, f->target) == 0;
    return f->is_published
               ? ST_OK
               : diag_error(x->diags, DIAG_IO, loc_file(f->target),
                            "cannot create the folder: %s; the target must not exist or be empty",
                            strerror(errno));
}

// Takes back what is published: the folders, and the files from `first` on.
static void revert(struct outputs *x, size_t first) {
    for (size_t i = 0; i < x->folders.n; i++)
        if (x->folders.at[i].is_published) {
            file_remove_folder(x->folders.at[i].target);
            x->folders.at[i].temporary = NULL;
        }
    for (size_t i = first; i < x->files.n; i++)
        output_revert(x->files.at[i]);
}

static status commit_several(struct outputs *x) {
    status st = ST_OK;
    for (size_t i = 0; i < x->files.n && !st; i++)
        st = output_prepare(x->files.at[i], x->diags);
    for (size_t i = 0; i < x->folders.n && !st; i++)
        st = publish_folder(x, &x->folders.at[i]);
    // The last first: a model is opened before the file of its data.
    size_t first = x->files.n;
    while (first > 0 && !st)
        if (!(st = output_publish(x->files.at[first - 1], x->diags)))
            first--;
    if (st)
        revert(x, first);
    for (size_t i = 0; i < x->files.n && !st; i++)
        output_settle(x->files.at[i]);
    return st;
}

status outputs_commit(struct outputs *x) {
    bool is_single = x->files.n == 1 && x->folders.n == 0;
    status st = is_single ? output_commit(x->files.at[0], x->diags) : commit_several(x);
    for (size_t i = 0; i < x->stale.n && !st; i++)
        unlink(x->stale.at[i]);
    outputs_abort(x);
    return st;
}

void outputs_abort(struct outputs *x) {
    for (size_t i = 0; i < x->files.n; i++)
        output_abort(x->files.at[i]);
    for (size_t i = 0; i < x->folders.n; i++)
        if (!x->folders.at[i].is_published && x->folders.at[i].temporary)
            file_remove_folder(x->folders.at[i].temporary);
    x->files.n = x->folders.n = x->stale.n = 0;
}
