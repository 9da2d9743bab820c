// External data of an output: see external_out.h.
#include "backend/onnx/external_out.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/base/checked.h"
#include "ir/base/digest.h"

enum {
    ALIGN_BYTES = 4096, // so that runtimes can map each tensor
    SMALL_BYTES = 1024, // smaller tensors stay in the model
    DIGEST_CHARS = 16,
    PIECE_BYTES = 1 << 22, // read for the digest, then copied while it is in the cache
};

// The relative path from one folder to another beneath it: "" or "a/b/". NULL: it is not beneath.
static const char *relative_path(struct arena *a, const char *from, const char *to) {
    char top[PATH_MAX], low[PATH_MAX];
    if (!realpath(from, top) || !realpath(to, low))
        return NULL;
    size_t n = strcmp(top, "/") == 0 ? 0 : strlen(top);
    if (strncmp(top, low, n) != 0)
        return NULL;
    if (!low[n])
        return "";
    if (low[n] != '/')
        return NULL;
    return low[n + 1] ? str_format(a, "%s/", low + n + 1) : "";
}

static bool is_data_file(const struct external_out *x, const char *entry) {
    size_t n = strlen(x->name);
    return strncmp(entry, x->name, n) == 0 && entry[n] == '.' &&
           strspn(entry + n + 1, "0123456789abcdef") == DIGEST_CHARS &&
           strcmp(entry + n + 1 + DIGEST_CHARS, ".data") == 0;
}

// Data files that exist before writing belong to older models; later ones may belong to another run
// with the same output.
static bool list_stale(struct external_out *x) {
    bool ok = true;
    DIR *dir = opendir(x->folder);
    for (struct dirent *e; ok && dir && (e = readdir(dir));)
        if (is_data_file(x, e->d_name)) {
            const char *name = arena_copy(x->arena, e->d_name, strlen(e->d_name) + 1);
            ok = name && VEC_PUSH(x->arena, &x->stale, name);
        }
    if (dir)
        closedir(dir);
    return ok;
}

status external_out_open(struct external_out *x, const struct model *m,
                         const struct output *model_out) {
    x->model_out = model_out;
    x->offset_of = map_make(x->arena);
    if (model_out->stream >= 0 || model_out->in_memory)
        return ST_OK;
    x->folder = model_out->folder;
    x->name = file_name(model_out->path);
    x->location = str_format(x->arena, "%s.%0*d.data", x->name, DIGEST_CHARS, 0);
    const char *input = m->path ? file_folder(x->arena, m->path) : ".";
    if (!x->location || !input || !list_stale(x))
        return diag_out_of_memory(x->d);
    x->prefix = relative_path(x->arena, x->folder, input);
    return ST_OK;
}

static const char *location_of(const struct tensor *t) {
    for (size_t i = 0; i < t->external.n; i++)
        if (t->external.at[i].key && strcmp(t->external.at[i].key, "location") == 0)
            return t->external.at[i].value;
    return NULL;
}

static status set_target(struct external_out *x, struct message *msg, const struct tensor *t,
                         struct payload_target p) {
    if (!VEC_PUSH(x->arena, &x->targets, p) ||
        !map_put_int(&msg->target_of, (int64_t)(intptr_t)t, (int64_t)x->targets.n - 1))
        return diag_out_of_memory(x->d);
    msg->targets = x->targets.at;
    return ST_OK;
}

static status move(struct external_out *x, struct message *msg, const struct tensor *t) {
    struct {
        const struct source *source;
        int64_t offset, n_bytes;
    } key = {t->data.source, t->data.offset, t->data.n_bytes};
    int64_t offset, end;
    if (!map_get(&x->offset_of, &key, sizeof key, &offset)) {
        offset = (x->n_bytes + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
        if (!checked_add(offset, t->data.n_bytes, &end) || end > INT64_MAX - ALIGN_BYTES)
            return diag_error(x->d, DIAG_LIMIT, loc_none(),
                              "the weights have more than 2^63 bytes");
        x->n_bytes = end;
        const void *kept = arena_copy(x->arena, &key, sizeof key); // maps do not copy keys
        if (!kept || !map_put(&x->offset_of, kept, sizeof key, offset) ||
            !VEC_PUSH(x->arena, &x->moved, ((struct moved_span){t->data, offset})))
            return diag_out_of_memory(x->d);
    }
    return set_target(
        x, msg, t,
        (struct payload_target){
            .location = x->location, .moved = true, .offset = offset, .n_bytes = t->data.n_bytes});
}

// The path names the very file that was read, and the output will not replace it.
static bool is_same_file(const struct external_out *x, const struct source *s, const char *path) {
    struct stat file, there, out;
    if (s->fd < 0 || fstat(s->fd, &file) < 0 || stat(path, &there) < 0)
        return false;
    bool replaced = stat(x->model_out->path, &out) == 0 && out.st_dev == there.st_dev &&
                    out.st_ino == there.st_ino;
    return !replaced && file.st_dev == there.st_dev && file.st_ino == there.st_ino;
}

static status relocate(struct external_out *x, struct message *msg, const struct tensor *t) {
    const char *was = location_of(t), *now = NULL, *path = NULL;
    if (was && x->prefix) {
        now = *x->prefix ? str_format(x->arena, "%s%s", x->prefix, was) : was;
        path = now ? file_join(x->arena, x->folder, now) : NULL;
        if (!path)
            return diag_out_of_memory(x->d);
    }
    if (x->folder && t->data.source && (!path || !is_same_file(x, t->data.source, path)))
        return move(x, msg, t);
    if (!now && x->n_kept++ == 0)
        x->first_kept = was;
    return now && now != was ? set_target(x, msg, t, (struct payload_target){.location = now})
                             : ST_OK;
}

status external_out_relocate(struct external_out *x, struct message *msg) {
    status st = ST_OK;
    for (size_t i = 0; i < msg->tensors.n && !st; i++)
        if (msg->tensors.at[i].tensor->payload == PAYLOAD_EXTERNAL)
            st = relocate(x, msg, msg->tensors.at[i].tensor);
    if (!st && x->n_kept)
        diag_note(x->d, DIAG_EXTERNAL_KEPT, loc_file(x->model_out->path),
                  "%zu tensors refer to external data files relative to the folder of the input "
                  "(the first: \"%s\"); copy the files to the folder of the output",
                  x->n_kept, x->first_kept ? x->first_kept : "");
    return st;
}

// External data is raw: only payloads with the same bytes in wire format can be moved.
static bool is_movable(const struct tensor *t) {
    bool floats = t->payload == PAYLOAD_FLOATS && (t->elem == ELEM_F32 || t->elem == ELEM_C64);
    bool doubles = t->payload == PAYLOAD_DOUBLES && (t->elem == ELEM_F64 || t->elem == ELEM_C128);
    return (t->payload == PAYLOAD_RAW || floats || doubles) && t->data.n_bytes >= SMALL_BYTES;
}

status external_out_move(struct external_out *x, struct message *msg, bool inits) {
    status st = ST_OK;
    for (size_t i = 0; i < msg->tensors.n && !st; i++)
        if (msg->tensors.at[i].is_init == inits && is_movable(msg->tensors.at[i].tensor))
            st = move(x, msg, msg->tensors.at[i].tensor);
    return st;
}

// Adds one piece to the digest; holes of a sparse file count as zeros without being read.
static status add_piece(struct external_out *x, struct digest *g, struct span s, uint8_t *buffer) {
    size_t n = (size_t)s.n_bytes;
    if (s.source->memory) {
        digest_add(g, s.source->memory + s.offset, n);
        return ST_OK;
    }
    status st = ST_OK;
    if (source_hole(s.source, s.offset, s.n_bytes) == s.n_bytes)
        memset(buffer, 0, n);
    else
        st = source_read(s.source, x->d, s.offset, buffer, n);
    digest_add(g, buffer, n);
    return st;
}

static void digest_number(struct digest *g, int64_t x) {
    uint8_t b[8];
    for (int i = 0; i < 8; i++)
        b[i] = (uint8_t)((uint64_t)x >> 8 * i);
    digest_add(g, b, sizeof b);
}

// Copies one span piece by piece and adds it to the digest.
static status copy_span(struct external_out *x, struct output *o, struct digest *g, struct span s,
                        uint8_t *buffer) {
    status st = ST_OK;
    digest_number(g, s.n_bytes); // the digest covers the boundaries of the spans too
    while (s.n_bytes > 0 && !st) {
        struct span piece = s;
        if (piece.n_bytes > PIECE_BYTES)
            piece.n_bytes = PIECE_BYTES;
        st = add_piece(x, g, piece, buffer);
        if (!st)
            st = output_copy(o, x->d, piece);
        s.offset += piece.n_bytes;
        s.n_bytes -= piece.n_bytes;
    }
    return st;
}

status external_out_write(struct external_out *x, struct output *o) {
    status st = ST_OK;
    uint8_t *buffer = arena_alloc(x->arena, PIECE_BYTES);
    struct digest *g = digest_new(x->arena);
    if (!buffer || !g)
        return diag_out_of_memory(x->d);
    for (size_t i = 0; i < x->moved.n && !st; i++) {
        if (x->moved.at[i].offset > o->n_bytes)
            st = output_skip(o, x->d, x->moved.at[i].offset - o->n_bytes);
        if (!st)
            st = copy_span(x, o, g, x->moved.at[i].from, buffer);
    }
    // The targets of all moved tensors share this string.
    char digits[DIGEST_CHARS + 1];
    snprintf(digits, sizeof digits, "%0*llx", DIGEST_CHARS, (unsigned long long)digest_value(g));
    memcpy(x->location + strlen(x->name) + 1, digits, DIGEST_CHARS);
    if (!st && !(o->path = file_join(x->arena, x->folder, x->location)))
        st = diag_out_of_memory(x->d);
    return st;
}

// The locations in the new model.
static bool collect_locations(struct map *used, const struct message *msg) {
    for (size_t i = 0; i < msg->tensors.n; i++) {
        const struct tensor *t = msg->tensors.at[i].tensor;
        int64_t k;
        bool has_target = map_get_int(&msg->target_of, (int64_t)(intptr_t)t, &k);
        const char *location = has_target ? msg->targets[k].location : location_of(t);
        if (location && !map_put_text(used, location, 1))
            return false;
    }
    return true;
}

void external_out_remove_stale(struct external_out *x, const struct message *msg,
                               struct outputs *together) {
    struct map used = map_make(x->arena);
    int64_t one;
    if (x->stale.n == 0 || !collect_locations(&used, msg))
        return;
    for (size_t i = 0; i < x->stale.n; i++) {
        const char *path = file_join(x->arena, x->folder, x->stale.at[i]);
        if (path && !map_get_text(&used, x->stale.at[i], &one))
            (void)outputs_remove(together, path); // else the next run removes it
    }
}
