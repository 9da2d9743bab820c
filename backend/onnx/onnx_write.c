// The ONNX writer: see onnx_write.h. Stages: measure the model and collect its tensors; decide
// which tensors go to external files; write the data file; write the model; rename both into place,
// data first. Nothing is visible before the last stage, which needs neither memory nor disk space.
#include "backend/onnx/onnx_write.h"

#include <assert.h>

#include "backend/onnx/external_out.h"
#include "backend/onnx/message.h"
#include "ir/base/limits.h"

struct writer {
    struct message msg;
    struct external_out ext;
    struct output *model, *data;
    struct outputs *together;
    int64_t limit_bytes;
};

static status measure(struct writer *j) {
    emit_measure(&j->msg.e);
    message_model(&j->msg);
    j->msg.collect = false; // the first walk has collected all
    return emit_finish(&j->msg.e);
}

static bool is_too_large(const struct writer *j) {
    return j->msg.e.n_bytes >= j->limit_bytes;
}

// Initializers are moved first: every runtime supports external initializers. Tensors in attributes
// are moved only when that is not enough.
static status choose_targets(struct writer *j) {
    struct diags *d = j->msg.e.d;
    struct loc out = loc_file(j->model->path);
    j->msg.collect = true;
    status st = measure(j);
    if (!st && !(st = external_out_relocate(&j->ext, &j->msg)) && j->ext.targets.n)
        st = measure(j);
    if (!st && is_too_large(j) && !j->ext.folder)
        return diag_error(d, DIAG_USAGE, out,
                          "the model has %lld bytes, too many for one ONNX message, and needs a "
                          "data file; write it to a file instead of standard output",
                          (long long)j->msg.e.n_bytes);
    for (int inits = 1; inits >= 0 && !st && is_too_large(j); inits--)
        if (!(st = external_out_move(&j->ext, &j->msg, inits)))
            st = measure(j);
    if (!st && is_too_large(j))
        return diag_error(d, DIAG_LIMIT, out,
                          "without its weights the model has %lld bytes; an ONNX file must have "
                          "less than %lld",
                          (long long)j->msg.e.n_bytes, (long long)j->limit_bytes);
    return st;
}

static status write_data(struct writer *j) {
    struct external_out *x = &j->ext;
    const char *path = file_join(x->arena, x->folder, x->location);
    if (!path)
        return diag_out_of_memory(x->d);
    status st = outputs_open(j->together, path, &j->data);
    if (st)
        return st;
    j->data->path = j->model->path; // for messages, until the digest gives it a name
    st = external_out_write(x, j->data);
    return st ? st : output_sync(j->data, x->d);
}

static status write_model(struct writer *j) {
    emit_to(&j->msg.e, j->model);
    message_model(&j->msg);
    status st = emit_finish(&j->msg.e);
    return st ? st : output_sync(j->model, j->msg.e.d);
}

static status run(struct writer *j, const struct model *m, const char *path) {
    status st = outputs_open(j->together, path, &j->model);
    if (!st)
        st = external_out_open(&j->ext, m, j->model);
    if (!st)
        st = choose_targets(j);
    if (!st && j->ext.moved.n)
        st = write_data(j);
    if (!st)
        st = write_model(j);
    if (!st)
        external_out_remove_stale(&j->ext, &j->msg, j->together);
    return st;
}

status onnx_write(const struct model *m, const char *path, const struct onnx_write_options *options,
                  struct diags *d) {
    assert(m && path && d);
    struct arena own = arena_make(m->arena->mem);
    struct outputs alone = outputs_make(&own, d);
    struct outputs *together = options && options->together ? options->together : &alone;
    int64_t limit = options ? options->limit_bytes : 0;
    struct arena *a = together->arena; // what is written later is held by it
    struct writer j = {.msg = {.e = {.arena = a, .d = d}, .model = m, .target_of = map_make(a)},
                       .ext = {.arena = a, .d = d},
                       .together = together,
                       .limit_bytes = limit ? limit : LIMIT_PROTO_BYTES};
    status st = run(&j, m, path);
    if (together == &alone) {
        st = st ? st : outputs_commit(&alone);
        outputs_abort(&alone);
    }
    arena_free(&own);
    return st;
}
