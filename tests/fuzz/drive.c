// drive RUNS SEED...: a door without libFuzzer, in builds of any kind. Every seed goes in as it is;
// then changed ones do: bytes replaced, removed, doubled, numbers exchanged for hostile ones, and
// the ends of two seeds joined. The changes follow from the number of the run.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/rng.h"
#include "tests/fuzz/door.h"

enum { MAX_BYTES = 1 << 16, MAX_CHANGES = 4 };

struct seed {
    uint8_t at[MAX_BYTES];
    size_t n;
};

static const char *const hostile[] = {
    "-1", "0", "9223372036854775807", "9223372036854775808", "1e308", "4294967296", "null", "\"\"",
    "[",  "}"};

static void replace(struct seed *s, size_t at, size_t n_old, const void *with, size_t n_new) {
    if (at + n_old > s->n || s->n - n_old + n_new > MAX_BYTES)
        return;
    memmove(s->at + at + n_new, s->at + at + n_old, s->n - at - n_old);
    memcpy(s->at + at, with, n_new);
    s->n += n_new - n_old;
}

static void replace_number(struct seed *s, struct rng *r, size_t at) {
    size_t n = 0;
    while (at < s->n && (s->at[at] < '0' || s->at[at] > '9'))
        at++;
    while (at + n < s->n && s->at[at + n] >= '0' && s->at[at + n] <= '9')
        n++;
    const char *text = hostile[rng_below(r, sizeof hostile / sizeof *hostile)];
    replace(s, at, n, text, strlen(text));
}

static void change(struct seed *s, const struct seed *other, struct rng *r) {
    size_t at = rng_below(r, s->n + 1), n = 1 + rng_below(r, 16);
    uint8_t byte = (uint8_t)rng_below(r, 256), part[16];
    switch (rng_below(r, 6)) {
    case 0:
        replace(s, at, 1, &byte, 1);
        break;
    case 1:
        replace(s, at, n, "", 0);
        break;
    case 2:
        memcpy(part, s->at + (s->n < sizeof part ? 0 : rng_below(r, s->n - sizeof part + 1)),
               sizeof part);
        replace(s, at, 0, part, n);
        break;
    case 3:
        replace_number(s, r, at);
        break;
    case 4:
        if (at < s->n)
            s->at[at] ^= (uint8_t)(1 << rng_below(r, 8));
        break;
    default:
        s->n = at;
        if (at < other->n)
            replace(s, at, 0, other->at + at, other->n - at);
    }
}

static bool load(const char *path, struct seed *s) {
    FILE *f = fopen(path, "rb");
    s->n = f ? fread(s->at, 1, MAX_BYTES, f) : 0;
    if (f)
        fclose(f);
    return f != NULL;
}

int main(int argc, char **argv) {
    size_t n_seeds = argc > 2 ? (size_t)argc - 2 : 0;
    long n_runs = argc > 1 ? atol(argv[1]) : 0;
    struct seed *seeds = calloc(n_seeds + 1, sizeof *seeds), *s = &seeds[n_seeds];
    if (!seeds || n_seeds == 0)
        return 2;
    for (size_t i = 0; i < n_seeds; i++) {
        if (!load(argv[i + 2], &seeds[i])) {
            fprintf(stderr, "%s: cannot read\n", argv[i + 2]);
            return 1;
        }
        LLVMFuzzerTestOneInput(seeds[i].at, seeds[i].n);
    }
    for (long k = 0; k < n_runs; k++) {
        struct rng r = rng_make(1, (uint64_t)k);
        *s = seeds[(size_t)k % n_seeds];
        for (uint64_t n = 1 + rng_below(&r, MAX_CHANGES); n > 0; n--)
            change(s, &seeds[rng_below(&r, n_seeds)], &r);
        uint8_t *own = malloc(s->n + 1); // of its own, so that reading past its end is seen
        if (!own)
            return 1;
        memcpy(own, s->at, s->n);
        LLVMFuzzerTestOneInput(own, s->n);
        free(own);
    }
    printf("%zu seeds, %ld changed ones\n", n_seeds, n_runs);
    free(seeds);
    return 0;
}
