// Writing a model, in stages: measure it and note its tensors; decide which of them live in other
// files; write the data file; write the model; then put both in place, data first. Until that last
// stage nothing is visible, and all that can fail for want of room has been done.
#include "backend/onnx/onnx_write.h"

#include <unistd.h>

#include "backend/onnx/external_out.h"
#include "backend/onnx/message.h"
#include "ir/base/limits.h"

struct job {
    struct message msg;
    struct external_out ext;
    struct output model, data;
    int64_t limit_bytes;
};

static status measure(struct job *j) {
    emit_measure(&j->msg.e);
    message_model(&j->msg);
    j->msg.note = false; // once is enough
    return emit_finish(&j->msg.e);
}

static bool too_large(const struct job *j) {
    return j->msg.e.n_bytes >= j->limit_bytes;
}

// Initializers are moved first: every runtime finds them in other files. Tensors in attributes are
// moved only when that was not enough.
static status place_tensors(struct job *j) {
    struct diags *d = j->msg.e.d;
    struct loc out = loc_file(j->model.path);
    j->msg.note = true;
    status st = measure(j);
    if (!st && !(st = external_out_carry(&j->ext, &j->msg)) && j->ext.places.n)
        st = measure(j);
    if (!st && too_large(j) && !j->ext.folder)
        return diag_error(d, DIAG_USAGE, out,
                          "the model has %lld bytes and needs a data file beside it; write it to a "
                          "file",
                          (long long)j->msg.e.n_bytes);
    for (int inits = 1; inits >= 0 && !st && too_large(j); inits--)
        if (!(st = external_out_move(&j->ext, &j->msg, inits)))
            st = measure(j);
    if (!st && too_large(j))
        return diag_error(d, DIAG_LIMIT, out,
                          "without its weights the model still has %lld bytes; an ONNX file must "
                          "stay below %lld",
                          (long long)j->msg.e.n_bytes, (long long)j->limit_bytes);
    return st;
}

static status write_data(struct job *j) {
    struct external_out *x = &j->ext;
    const char *path = file_join(x->arena, x->folder, x->location);
    if (!path)
        return diag_out_of_memory(x->d);
    status st = output_open(x->arena, x->d, path, &j->data);
    j->data.path = j->model.path; // for messages, until it has a name of its own
    if (!st)
        st = external_out_write(x, &j->data);
    return st ? st : output_sync(&j->data, x->d);
}

static status write_model(struct job *j) {
    emit_to(&j->msg.e, &j->model);
    message_model(&j->msg);
    status st = emit_finish(&j->msg.e);
    return st ? st : output_sync(&j->model, j->msg.e.d);
}

static status put_in_place(struct job *j) {
    struct diags *d = j->msg.e.d;
    bool has_data = j->ext.moved.n > 0;
    bool was_there = has_data && access(j->data.path, F_OK) == 0; // then with equal content
    status st = has_data ? output_commit(&j->data, d) : ST_OK;
    if (st)
        return st;
    st = output_commit(&j->model, d);
    if (!st)
        external_out_sweep(&j->ext, &j->msg);
    else if (has_data && !was_there)
        unlink(j->data.path);
    return st;
}

static status run(struct job *j, const struct model *m, const char *path) {
    struct diags *d = j->msg.e.d;
    status st = output_open(j->ext.arena, d, path, &j->model);
    if (!st)
        st = external_out_open(&j->ext, m, &j->model);
    if (!st)
        st = place_tensors(j);
    if (!st && j->ext.moved.n)
        st = write_data(j);
    if (!st)
        st = write_model(j);
    return st ? st : put_in_place(j);
}

status onnx_write(const struct model *m, const char *path, const struct onnx_write_options *options,
                  struct diags *d) {
    struct arena a = arena_make(m->arena->mem);
    int64_t limit = options ? options->limit_bytes : 0;
    struct job j = {.msg = {.e = {.arena = &a, .d = d}, .model = m, .places = map_make(&a)},
                    .ext = {.arena = &a, .d = d},
                    .model = {.fd = -1, .stream = -1},
                    .data = {.fd = -1, .stream = -1},
                    .limit_bytes = limit ? limit : LIMIT_PROTO_BYTES};
    status st = run(&j, m, path);
    output_abort(&j.model);
    output_abort(&j.data);
    arena_free(&a);
    return st;
}
