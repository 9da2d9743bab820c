// Takes models around: reads each ONNX file, prints it, parses the text, prints that again, which
// must give the same text, and writes the model both as it was read and as it was parsed.
//
//     roundtrip FOLDER [LIMIT] < LIST
//
// LIST has a path a line; the k-th file becomes FOLDER/k.direct.onnx and FOLDER/k.text.onnx. LIMIT
// is the size in bytes from which a model gets a data file.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/onnx/onnx_write.h"
#include "frontend/onnx/onnx_read.h"
#include "ir/text/text.h"

struct trip {
    struct arena arena;
    struct pool pool;
    struct diags d;
    struct model *read, *parsed;
    struct onnx_write_options options;
};

static void complain(struct trip *t, const char *path) {
    struct str s = str_make(&t->arena);
    for (size_t i = 0; i < t->d.list.n; i++) {
        if (t->d.list.at[i].severity != DIAG_ERROR)
            continue;
        diag_print(&s, &t->d.list.at[i]);
        str_add_char(&s, '\n');
    }
    fprintf(stderr, "%s: failed\n%s", path, str_text(&s));
}

static status put(struct trip *t, const struct model *m, const char *folder, int k,
                  const char *way) {
    const char *path = str_format(&t->arena, "%s/%d.%s.onnx", folder, k, way);
    return path ? onnx_write(m, path, &t->options, &t->d) : diag_out_of_memory(&t->d);
}

static status go(struct trip *t, const char *path, const char *folder, int k) {
    struct source *s;
    struct str once = str_make(&t->arena), twice = once;
    const char *beside = file_folder(&t->arena, path);
    status st = source_open(&t->arena, &t->d, path, &s);
    if (!st)
        st = onnx_read(s, &t->arena, &t->pool, &t->d, &t->read);
    if (!st)
        st = put(t, t->read, folder, k, "direct");
    if (!st)
        st = print_model(&once, t->read, beside, &t->d);
    if (!st)
        st = parse_text((struct model_text){once.at, once.n, path}, &t->arena, &t->pool, &t->d,
                        &t->parsed);
    if (!st)
        st = print_model(&twice, t->parsed, beside, &t->d);
    if (!st && (once.n != twice.n || memcmp(once.at, twice.at, once.n) != 0))
        st = diag_error(&t->d, DIAG_INTERNAL, loc_file(path), "the text changes when it is parsed");
    if (!st)
        st = put(t, t->parsed, folder, k, "text");
    return st;
}

int main(int argc, char **argv) {
    char path[4096];
    int n = 0, n_good = 0;
    if (argc < 2 || argc > 3)
        return 2;
    while (fgets(path, sizeof path, stdin)) {
        path[strcspn(path, "\n")] = 0;
        struct mem mem = mem_make(MEM_UNLIMITED);
        struct trip t = {.arena = arena_make(&mem),
                         .options.limit_bytes = argc == 3 ? atoll(argv[2]) : 0};
        t.pool = pool_make(&t.arena);
        t.d = diags_make(&t.arena);
        status st = go(&t, path, argv[1], n++);
        if (st)
            complain(&t, path);
        n_good += !st;
        model_close(t.read);
        model_close(t.parsed);
        arena_free(&t.arena);
        if (mem.used_bytes)
            abort(); // a leak
    }
    printf("%d of %d models were read, printed, parsed back and written\n", n_good, n);
    return n_good != n || n == 0;
}
