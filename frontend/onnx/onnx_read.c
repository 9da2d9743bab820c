// ONNX in: see onnx_read.h. Stages: the guard scans the file and makes the slim copy, in which
// weights are only references (wire.h); protobuf-c unpacks that; the message is turned into a model
// (onnx_reading.h); nodes are put in order and the whole is verified.
#include "frontend/onnx/onnx_read.h"

#include <string.h>

#include "frontend/onnx/onnx_reading.h"

enum { NEWEST_IR = 13, OLDEST_OPSET = 7 };

// protobuf-c allocates through this. The message lives and dies with its arena.
struct unpacking {
    struct arena *arena;
    bool out_of_memory;
};

static void *unpack_alloc(void *data, size_t n_bytes) {
    struct unpacking *u = data;
    void *block = arena_alloc(u->arena, n_bytes);
    u->out_of_memory |= !block;
    return block;
}

static void unpack_free(void *data, void *block) {
    (void)data;
    (void)block;
}

static status unpack(const struct source *s, struct arena *scratch, struct diags *d,
                     struct wire_scan *scan, Onnx__ModelProto **out) {
    const ProtobufCMessageDescriptor *top = &onnx__model_proto__descriptor;
    uint8_t *slim = NULL;
    status st = wire_scan(s, top, scratch, d, scan);
    if (!st)
        st = wire_slim(s, scan, scratch, d, &slim);
    if (!st && s->fd >= 0) {
        // The file may have changed between scan and copy: what protobuf-c is given is what must be
        // sound.
        struct source copy = {
            .path = s->path, .fd = -1, .memory = slim, .n_bytes = scan->slim_bytes};
        struct wire_scan again;
        st = wire_scan(&copy, top, scratch, d, &again);
    }
    if (st)
        return st;
    struct unpacking u = {.arena = scratch};
    ProtobufCAllocator allocator = {
        .alloc = unpack_alloc, .free = unpack_free, .allocator_data = &u};
    *out = (Onnx__ModelProto *)protobuf_c_message_unpack(top, &allocator, (size_t)scan->slim_bytes,
                                                         slim);
    if (*out)
        return ST_OK;
    return u.out_of_memory ? diag_out_of_memory(d)
                           : diag_error(d, DIAG_INTERNAL, loc_file(s->path),
                                        "protobuf-c refuses what the guard let through");
}

static struct opset *read_opsets(struct reading *r, Onnx__OperatorSetIdProto *const *at, size_t n) {
    struct opset *sets = reading_room(r, ARENA_ARRAY(r->a, struct opset, n));
    for (size_t i = 0; sets && i < n; i++)
        sets[i] = (struct opset){.domain = reading_name(r, at[i]->domain),
                                 .version = at[i]->version,
                                 .extra = reading_extra(r, &at[i]->base)};
    return sets;
}

// Nodes of the standard domain need to say which version of it they mean.
static void check_opset(struct reading *r, const struct graph *g, int64_t version,
                        const char *what) {
    size_t n = 0;
    for (size_t i = 1; i < g->nodes.n; i++)
        n += !*g->nodes.at[i].domain || strcmp(g->nodes.at[i].domain, "ai.onnx") == 0;
    if (n && version <= 0)
        reading_wrong(r, DIAG_NOT_ONNX, NULL,
                      "%s does not say which version of ONNX's operators its %zu nodes mean", what,
                      n);
    else if (n && version < OLDEST_OPSET)
        diag_warning(r->d, DIAG_OLD_OPSET, loc_file(r->source->path),
                     "%s uses version %lld of the operators; mfc knows %d and later", what,
                     (long long)version, OLDEST_OPSET);
}

static void read_functions(struct reading *r, const Onnx__ModelProto *p) {
    for (size_t i = 0; i < p->n_functions; i++) {
        const Onnx__FunctionProto *fp = p->functions[i];
        struct function f = {.opsets = read_opsets(r, fp->opset_import, fp->n_opset_import)};
        f.n_opsets = f.opsets ? fp->n_opset_import : 0;
        reading_function(r, fp, &f);
        if (!f.body || !VEC_PUSH(r->a, &r->m->functions, f)) {
            reading_room(r, NULL);
            return;
        }
        int64_t version = 0;
        for (size_t k = 0; k < f.n_opsets; k++)
            if (!f.opsets[k].domain || !*f.opsets[k].domain ||
                strcmp(f.opsets[k].domain, "ai.onnx") == 0)
                version = f.opsets[k].version;
        check_opset(r, f.body, version, f.name ? f.name : "a function");
    }
}

static void read_model(struct reading *r, const Onnx__ModelProto *p) {
    struct model *m = r->m;
    m->path = r->source->path;
    m->ir_version = p->ir_version;
    m->producer = reading_name(r, p->producer_name);
    m->producer_version = reading_name(r, p->producer_version);
    m->domain = reading_name(r, p->domain);
    m->doc = reading_name(r, p->doc_string);
    m->version = p->model_version;
    m->metadata = reading_pairs(r, p->metadata_props, p->n_metadata_props);
    m->extra = reading_extra(r, &p->base);
    m->opsets.at = read_opsets(r, p->opset_import, p->n_opset_import);
    m->opsets.n = m->opsets.cap = m->opsets.at ? p->n_opset_import : 0;
    for (size_t i = 0; i < r->scan->training.n; i++) {
        const struct wire_lift *l = &r->scan->training.at[i];
        struct span s = {.source = r->source, .offset = l->offset, .n_bytes = l->n_bytes};
        if (!VEC_PUSH(r->a, &m->training, s))
            reading_room(r, NULL);
    }
    for (size_t i = 0; i < p->n_configuration; i++) {
        const ProtobufCMessage *c = &p->configuration[i]->base;
        if (!VEC_PUSH(r->a, &m->configurations, reading_packed(r, &c, 1, 0)))
            reading_room(r, NULL);
    }
    reading_graph(r, NULL, m->graph, p->graph);
    check_opset(r, m->graph, model_opset(m, ""), "the model");
    read_functions(r, p);
}

// The parts without which nothing else makes sense. A text or a picture may well pass as protobuf,
// all of whose fields are unknown.
static void check_parts(struct reading *r, const Onnx__ModelProto *p) {
    const char *guess = wire_guess(r->source);
    const char *lacks = !p->graph ? "graph" : p->ir_version <= 0 ? "IR version" : NULL;
    if (lacks && guess)
        reading_wrong(r, DIAG_NOT_ONNX, NULL, "not an ONNX model: the file seems to be %s", guess);
    else if (lacks)
        reading_wrong(r, DIAG_NOT_ONNX, NULL,
                      "the file has no %s, so it is not an ONNX model, or cut off", lacks);
}

static status finish(struct reading *r) {
    status st = graph_sort(r->m->graph, r->d);
    for (size_t i = 0; i < r->m->functions.n; i++) {
        status other = graph_sort(r->m->functions.at[i].body, r->d);
        st = st ? st : other;
    }
    if (!st)
        st = model_verify(r->m, r->d);
    if (st)
        return st;
    r->m->facts |= FACT_TOPO;
    if (r->m->ir_version > NEWEST_IR)
        diag_note(r->d, DIAG_UNKNOWN_FIELDS, loc_file(r->source->path),
                  "the file is of IR version %lld; mfc knows %d, and keeps what it does not know",
                  (long long)r->m->ir_version, NEWEST_IR);
    if (r->n_disagreeing)
        diag_warning(r->d, DIAG_TWO_TYPES, loc_file(r->source->path),
                     "%zu values are declared twice with different types; the first counts",
                     r->n_disagreeing);
    return ST_OK;
}

// The model owns the files from now on.
static void adopt(struct reading *r, struct source *s) {
    if (!VEC_PUSH(r->a, &r->m->sources, s)) {
        source_close(s);
        reading_room(r, NULL);
    }
}

status onnx_read(struct source *s, struct arena *a, struct pool *names, struct diags *d,
                 struct model **out) {
    struct arena scratch = arena_make(a->mem);
    struct wire_scan scan;
    Onnx__ModelProto *p = NULL;
    bool has_folder = s->fd >= 0;
    struct reading r = {.m = model_new(a, names),
                        .a = a,
                        .scratch = &scratch,
                        .d = d,
                        .source = s,
                        .scan = &scan,
                        .external = external_make(a, has_folder ? file_folder(a, s->path) : NULL)};
    if (!r.m || (has_folder && !r.external.folder)) {
        source_close(s);
        arena_free(&scratch);
        return diag_out_of_memory(d);
    }
    adopt(&r, s);
    if (!r.st)
        r.st = unpack(s, &scratch, d, &scan, &p);
    if (!r.st)
        check_parts(&r, p);
    if (!r.st)
        read_model(&r, p);
    for (size_t i = 0; i < r.external.files.n; i++)
        if (r.external.files.at[i].source)
            adopt(&r, r.external.files.at[i].source);
    external_done(&r.external, d, s->path);
    arena_free(&scratch);
    if (!r.st)
        r.st = finish(&r);
    if (r.st) {
        model_close(r.m);
        return r.st;
    }
    *out = r.m;
    return ST_OK;
}
