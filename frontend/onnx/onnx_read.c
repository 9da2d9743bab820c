// The ONNX reader: see onnx_read.h. Stages: the wire guard scans the file and makes a slim copy, in
// which references replace the weights (wire.h); protobuf-c unpacks the copy; the message becomes a
// model (reader.h); nodes are sorted topologically and the graph is verified.
#include "frontend/onnx/onnx_read.h"

#include <assert.h>
#include <string.h>

#include "frontend/onnx/reader.h"

enum { NEWEST_IR = 13, OLDEST_OPSET = 7 };

// The allocator for protobuf-c. The message lives as long as its arena.
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

// The scan and the slim copy, in the arena `brief`.
static status make_slim(const struct source *s, struct arena *brief, struct diags *d,
                        struct wire_scan *scan, uint8_t **slim) {
    const ProtobufCMessageDescriptor *top = &onnx__model_proto__descriptor;
    status st = wire_scan(s, top, brief, d, scan);
    if (!st)
        st = wire_slim(s, scan, brief, d, slim);
    if (!st && s->fd >= 0) {
        // The file may have changed between scan and copy: scan the very bytes that protobuf-c
        // unpacks.
        struct source copy = {
            .path = s->path, .fd = -1, .memory = *slim, .n_bytes = scan->slim_bytes};
        struct arena unread = arena_make(brief->mem);
        struct wire_scan again;
        st = wire_scan(&copy, top, &unread, d, &again);
        arena_free(&unread);
    }
    return st;
}

// What the model is made from outlives the arena of the scan.
static bool keep_lifts(struct wire_scan *scan, struct arena *a) {
    size_t size = sizeof(struct wire_lift);
    scan->payloads.at = arena_copy(a, scan->payloads.at, scan->payloads.n * size);
    scan->training.at = arena_copy(a, scan->training.at, scan->training.n * size);
    scan->payloads.cap = scan->payloads.n;
    scan->training.cap = scan->training.n;
    scan->edits.at = NULL;
    scan->edits.n = scan->edits.cap = 0;
    return scan->payloads.at && scan->training.at;
}

static status unpack(const struct source *s, struct arena *scratch, struct diags *d,
                     struct wire_scan *scan, Onnx__ModelProto **out) {
    struct arena brief = arena_make(scratch->mem);
    uint8_t *slim = NULL;
    status st = make_slim(s, &brief, d, scan, &slim);
    struct unpacking u = {.arena = scratch};
    ProtobufCAllocator allocator = {
        .alloc = unpack_alloc, .free = unpack_free, .allocator_data = &u};
    if (!st) {
        *out = (Onnx__ModelProto *)protobuf_c_message_unpack(
            &onnx__model_proto__descriptor, &allocator, (size_t)scan->slim_bytes, slim);
        u.out_of_memory |= !keep_lifts(scan, scratch);
    }
    arena_free(&brief);
    if (st)
        return st;
    if (u.out_of_memory)
        return diag_out_of_memory(d);
    return *out ? ST_OK
                : diag_error(d, DIAG_INTERNAL, loc_file(s->path),
                             "protobuf-c cannot unpack a message that the wire guard accepted; "
                             "please report this");
}

static struct opset *read_opsets(struct reader *r, Onnx__OperatorSetIdProto *const *at, size_t n) {
    struct opset *sets = reader_require(r, ARENA_ARRAY(r->a, struct opset, n));
    for (size_t i = 0; sets && i < n; i++)
        sets[i] = (struct opset){.domain = reader_name(r, at[i]->domain),
                                 .version = at[i]->version,
                                 .extra = reader_extra(r, &at[i]->base)};
    return sets;
}

// Nodes of the standard domain need an opset import.
static void check_opset(struct reader *r, const struct graph *g, int64_t version,
                        const char *what) {
    size_t n = 0;
    for (size_t i = 1; i < g->nodes.n; i++)
        n += !*g->nodes.at[i].domain || strcmp(g->nodes.at[i].domain, "ai.onnx") == 0;
    if (n && version <= 0)
        reader_error(r, DIAG_NOT_ONNX, NULL,
                     "%s has %zu nodes of the ONNX operator set, but does not declare which "
                     "version (opset_import)",
                     what, n);
    else if (n && version < OLDEST_OPSET)
        diag_warning(r->d, DIAG_OLD_OPSET, loc_file(r->source->path),
                     "%s uses opset %lld; mfc supports opset %d and later", what,
                     (long long)version, OLDEST_OPSET);
}

static void read_functions(struct reader *r, const Onnx__ModelProto *p) {
    for (size_t i = 0; i < p->n_functions; i++) {
        const Onnx__FunctionProto *fp = p->functions[i];
        struct function f = {.opsets = read_opsets(r, fp->opset_import, fp->n_opset_import)};
        f.n_opsets = f.opsets ? fp->n_opset_import : 0;
        reader_function(r, fp, &f);
        if (!f.body || !VEC_PUSH(r->a, &r->m->functions, f)) {
            reader_out_of_memory(r);
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

static void read_model(struct reader *r, const Onnx__ModelProto *p) {
    struct model *m = r->m;
    m->path = r->source->path;
    m->ir_version = p->ir_version;
    m->producer = reader_name(r, p->producer_name);
    m->producer_version = reader_name(r, p->producer_version);
    m->domain = reader_name(r, p->domain);
    m->doc = reader_name(r, p->doc_string);
    m->version = p->model_version;
    m->metadata = reader_pairs(r, p->metadata_props, p->n_metadata_props);
    m->extra = reader_extra(r, &p->base);
    m->opsets.at = read_opsets(r, p->opset_import, p->n_opset_import);
    m->opsets.n = m->opsets.cap = m->opsets.at ? p->n_opset_import : 0;
    for (size_t i = 0; i < r->scan->training.n; i++) {
        const struct wire_lift *l = &r->scan->training.at[i];
        struct span s = {.source = r->source, .offset = l->offset, .n_bytes = l->n_bytes};
        if (!VEC_PUSH(r->a, &m->training, s))
            reader_out_of_memory(r);
    }
    for (size_t i = 0; i < p->n_configuration; i++) {
        const ProtobufCMessage *c = &p->configuration[i]->base;
        if (!VEC_PUSH(r->a, &m->configurations, reader_packed(r, &c, 1, 0)))
            reader_out_of_memory(r);
    }
    reader_graph(r, NULL, m->graph, p->graph);
    check_opset(r, m->graph, model_opset(m, ""), "the model");
    read_functions(r, p);
}

// A model needs a graph and an IR version. Text or an image can pass as protobuf with unknown
// fields only.
static void check_required(struct reader *r, const Onnx__ModelProto *p) {
    const char *guess = wire_guess(r->source);
    const char *lacks = !p->graph ? "graph" : p->ir_version <= 0 ? "IR version" : NULL;
    if (lacks && guess)
        reader_error(r, DIAG_NOT_ONNX, NULL, "not an ONNX model: the file seems to be %s", guess);
    else if (lacks)
        reader_error(r, DIAG_NOT_ONNX, NULL, "not an ONNX model, or truncated: the file has no %s",
                     lacks);
}

static status finish(struct reader *r) {
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
                  "IR version %lld is newer than %d, the newest that mfc knows; fields that mfc "
                  "does not know are kept",
                  (long long)r->m->ir_version, NEWEST_IR);
    if (r->n_negative)
        diag_warning(r->d, DIAG_BAD_DIM, loc_file(r->source->path),
                     "%zu dimensions are -1; mfc takes them as unknown", r->n_negative);
    if (r->n_disagreeing)
        diag_warning(r->d, DIAG_TWO_TYPES, loc_file(r->source->path),
                     "%zu values are declared twice with different types; mfc uses the first",
                     r->n_disagreeing);
    return ST_OK;
}

// Hands an open file to the model, which closes it.
static void adopt(struct reader *r, struct source *s) {
    if (!VEC_PUSH(r->a, &r->m->sources, s)) {
        source_close(s);
        reader_out_of_memory(r);
    }
}

status onnx_read(struct source *s, struct arena *a, struct pool *names, struct diags *d,
                 struct model **out) {
    assert(s && a && names && d && out);
    struct arena scratch = arena_make(a->mem);
    struct wire_scan scan;
    Onnx__ModelProto *p = NULL;
    bool has_folder = s->fd >= 0;
    struct reader r = {.m = model_new(a, names),
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
        check_required(&r, p);
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
