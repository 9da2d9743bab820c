// libFuzzer's door to the ONNX reader. Whatever the bytes are, reading ends with a model that
// verifies or with an error that says why, gives all memory back, and takes memory in proportion.
#include <stdint.h>
#include <stdlib.h>

#include "frontend/onnx/onnx_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    struct mem mem = mem_make((int64_t)256 << 20);
    struct arena a = arena_make(&mem);
    struct diags d = diags_make(&a);
    struct pool pool = pool_make(&a);
    struct source *s;
    struct model *m;
    status st = source_memory(&a, &d, bytes, (int64_t)n, &s);
    if (!st)
        st = onnx_read(s, &a, &pool, &d, &m);
    if (st ? st == ST_INTERNAL || d.n_errors == 0 : d.n_errors > 0)
        abort();
    if (!st)
        model_close(m);
    arena_free(&a);
    if (mem.used_bytes != 0)
        abort();
    return 0;
}
