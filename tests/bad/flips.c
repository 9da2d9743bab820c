// flips COUNT FILE...: reads models with one to four random bytes changed, COUNT times in total.
// There must be no crash, no leak and no hang, and every error must be reported. Runs in the
// sanitizer builds too.
#include <stdio.h>
#include <stdlib.h>

#include "frontend/onnx/onnx_read.h"
#include "ir/base/rng.h"
#include "tests/sample.h"

static struct msg load(const char *path) {
    struct msg m = {0};
    char block[4096];
    FILE *f = fopen(path, "rb");
    for (size_t n; f && (n = fread(block, 1, sizeof block, f)) > 0;)
        msg_raw(&m, block, n);
    if (f)
        fclose(f);
    return m;
}

// False: an error without a diagnostic, or a leak.
static bool try_once(const struct msg *m, size_t *n_read) {
    struct mem mem = mem_make((int64_t)1 << 30);
    struct arena a = arena_make(&mem);
    struct diags d = diags_make(&a);
    struct pool pool = pool_make(&a);
    struct source *s;
    struct model *model;
    status st = source_memory(&a, &d, m->at, (int64_t)m->n, &s);
    if (!st)
        st = onnx_read(s, &a, &pool, &d, &model);
    if (!st)
        model_close(model);
    bool reported = st == ST_OK || (d.n_errors > 0 &&
                                    (st == ST_MALFORMED || st == ST_UNSUPPORTED || st == ST_LIMIT));
    *n_read += st == ST_OK;
    arena_free(&a);
    return reported && mem.used_bytes == 0;
}

int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    long count = atol(argv[1]);
    size_t n_samples = (size_t)argc - 2 + 3, n_read = 0;
    struct msg *samples = calloc(n_samples, sizeof *samples);
    if (!samples)
        return 1;
    samples[0] = sample_small();
    samples[1] = sample_nested();
    samples[2] = sample_everything();
    for (size_t i = 3; i < n_samples; i++)
        if ((samples[i] = load(argv[i - 1])).n == 0) {
            fprintf(stderr, "%s: cannot read\n", argv[i - 1]);
            return 1;
        }
    for (long k = 0; k < count; k++) {
        struct rng rng = rng_make(2, (uint64_t)k);
        struct msg m = {0};
        msg_raw(&m, samples[(size_t)k % n_samples].at, samples[(size_t)k % n_samples].n);
        for (uint64_t n = 1 + rng_below(&rng, 4); n > 0; n--)
            m.at[rng_below(&rng, m.n)] ^= (uint8_t)(1 + rng_below(&rng, 255));
        if (!try_once(&m, &n_read)) {
            fprintf(stderr, "change %ld: no proper end\n", k);
            return 1;
        }
        msg_free(&m);
    }
    printf("%ld changed models, of which %zu were still readable\n", count, n_read);
    for (size_t i = 0; i < n_samples; i++)
        msg_free(&samples[i]);
    free(samples);
    return 0;
}
