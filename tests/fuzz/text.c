// libFuzzer's door to the text form. Whatever the bytes are, parsing ends with a model or with an
// error that says why; a model prints, and its print parses and prints the same.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ir/text/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void use(const struct model *m, struct arena *a, struct pool *pool, struct diags *d) {
    struct str once = str_make(a), twice = str_make(a);
    struct model *again;
    status st = print_model(&once, m, ".", d);
    if (!st)
        st = parse_text((struct model_text){str_text(&once), once.n, "fuzz.mfc"}, a, pool, d,
                        &again);
    if (!st) {
        st = print_model(&twice, again, ".", d);
        model_close(again);
    }
    if (st ? st != ST_LIMIT : strcmp(str_text(&once), str_text(&twice)) != 0)
        abort();
    (void)model_verify(m, d);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    struct mem mem = mem_make((int64_t)256 << 20);
    struct arena a = arena_make(&mem);
    struct diags d = diags_make(&a);
    struct pool pool = pool_make(&a);
    struct model *m = NULL;
    char *text = malloc(n + 1); // of its own, so that reading past its end is seen
    if (!text)
        return 0;
    memcpy(text, bytes, n);
    text[n] = 0;
    status st = parse_text((struct model_text){text, n, "fuzz.mfc"}, &a, &pool, &d, &m);
    if (st ? st == ST_INTERNAL || d.n_errors == 0 : d.n_errors > 0)
        abort();
    if (!st)
        use(m, &a, &pool, &d);
    model_close(m);
    arena_free(&a);
    free(text);
    if (mem.used_bytes != 0)
        abort();
    return 0;
}
