// What the tests of the ONNX writer share: a model in a folder of its own, and reading back what
// was written with protobuf-c.
#pragma once
#include "tests/unit/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/onnx/onnx_write.h"
#include "third_party/onnx/onnx.pb-c.h"

// What every test of the writer starts from: an empty model, and a folder of its own to write into.
struct here {
    struct scene scene;
    struct pool pool;
    struct model *m;
    char folder[64];
};

static inline int set_up(void **state) {
    struct here *h = calloc(1, sizeof *h);
    scene_open(&h->scene);
    h->pool = pool_make(&h->scene.arena);
    h->m = model_new(&h->scene.arena, &h->pool);
    h->m->ir_version = 3;
    h->m->graph->name = "g";
    strcpy(h->folder, "mfc-write-XXXXXX");
    assert_non_null(mkdtemp(h->folder));
    assert_int_equal(chdir(h->folder), 0);
    *state = h;
    return 0;
}

static inline int n_entries(const char *path, char *last) {
    DIR *dir = opendir(path);
    int n = 0;
    for (struct dirent *e; (e = readdir(dir));)
        if (e->d_name[0] != '.' && ++n && last && strstr(e->d_name, ".data"))
            strcpy(last, e->d_name);
    closedir(dir);
    return n;
}

static inline int tear_down(void **state) {
    struct here *h = *state;
    assert_int_equal(chdir(".."), 0);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", h->folder);
    assert_int_equal(system(command), 0);
    scene_close(&h->scene);
    free(h);
    return 0;
}

static inline uint8_t *slurp(const char *path, size_t *n) {
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    struct stat st;
    fstat(fd, &st);
    *n = (size_t)st.st_size;
    uint8_t *bytes = malloc(*n + 1);
    assert_int_equal(read(fd, bytes, *n), *n);
    close(fd);
    return bytes;
}

// Decodes a file; protobuf-c's own encoding of what it read must be the same bytes, which says that
// the fields are in order and in canonical form.
static inline Onnx__ModelProto *decode(const char *path) {
    size_t n;
    uint8_t *bytes = slurp(path, &n);
    Onnx__ModelProto *p = onnx__model_proto__unpack(NULL, n, bytes);
    assert_non_null(p);
    assert_int_equal(onnx__model_proto__get_packed_size(p), n);
    uint8_t *again = malloc(n + 1);
    onnx__model_proto__pack(p, again);
    assert_memory_equal(bytes, again, n);
    free(again);
    free(bytes);
    return p;
}

static inline void drop(Onnx__ModelProto *p) {
    onnx__model_proto__free_unpacked(p, NULL);
}

static inline status write_to(struct here *h, const char *path, int64_t limit) {
    struct onnx_write_options o = {.limit_bytes = limit};
    return onnx_write(h->m, path, &o, &h->scene.diags);
}

static inline struct tensor *floats(struct here *h, int64_t n) {
    double *x = ARENA_ARRAY(&h->scene.arena, double, n);
    for (int64_t i = 0; i < n; i++)
        x[i] = (double)i;
    return tensor_from_reals(&h->scene.arena, ELEM_F32, x, &n, 1);
}

static inline value_id add_init(struct graph *g, const char *name, struct tensor *t) {
    value_id v = graph_add_value(g, name, NULL);
    assert_true(graph_add_init(g, v, t));
    return v;
}

// An external tensor of the floats 0 .. n-1, at offset 4 of "in/w.bin".
static inline struct tensor *external(struct here *h, int64_t n, bool there) {
    struct arena *a = &h->scene.arena;
    struct tensor *t = floats(h, n);
    mkdir("in", 0777);
    t->payload = PAYLOAD_EXTERNAL;
    struct pair pairs[] = {{.key = "location", .value = "w.bin"},
                           {.key = "offset", .value = "4"},
                           {.key = "checksum", .value = "x"}};
    t->external = (struct pairs){arena_copy(a, pairs, sizeof pairs), 3};
    h->m->path = "in/m.onnx";
    if (there) {
        FILE *f = fopen("in/w.bin", "w");
        fputs("head", f);
        fwrite(t->data.source->memory + t->data.offset, 4, (size_t)n, f);
        fclose(f);
        struct source *s;
        assert_int_equal(source_open(a, &h->scene.diags, "in/w.bin", &s), ST_OK);
        t->data = (struct span){s, 4, 4 * n};
    } else {
        t->data = (struct span){0};
    }
    return t;
}
