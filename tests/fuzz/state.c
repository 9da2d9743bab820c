// libFuzzer's door to safetensors files. Whatever the bytes are, reading ends with tensors whose
// elements are inside the file, or with an error that says why, and gives all memory back.
#include <stdint.h>
#include <stdlib.h>

#include "ir/state/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void use(const struct tensors *t, struct arena *a, struct diags *d) {
    for (size_t i = 0; i < t->list.n; i++) {
        const struct tensor *x = t->list.at[i];
        struct tensor raw;
        uint8_t *copy = arena_alloc(a, (size_t)x->data.n_bytes);
        if (tensors_find(t, x->name) != x || tensor_as_raw(x, a, d, &raw) != ST_OK || !copy ||
            span_read(raw.data, d, copy) != ST_OK)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    struct mem mem = mem_make((int64_t)256 << 20);
    struct arena a = arena_make(&mem);
    struct diags d = diags_make(&a);
    struct source *s;
    struct tensors t;
    if (source_memory(&a, &d, bytes, (int64_t)n, &s) != ST_OK)
        return 0;
    status st = safetensors_read(s, &a, &d, &t);
    if (st ? st == ST_INTERNAL || d.n_errors == 0 : d.n_errors > 0)
        abort();
    if (!st)
        use(&t, &a, &d);
    arena_free(&a);
    if (mem.used_bytes != 0)
        abort();
    return 0;
}
