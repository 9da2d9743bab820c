// libFuzzer's door to the solver's files. The first byte says which reader gets the rest. Whatever
// the bytes are, reading ends with a problem that can be solved, or with an error that says why,
// and gives all memory back.
#include <stdint.h>
#include <stdlib.h>

#include "solver/check/schedule_check.h"
#include "solver/solve.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void use(const struct problem *p, struct arena *a, struct diags *d) {
    struct solve_options o = solve_defaults();
    struct schedule s;
    o.method = "recursive";
    o.budget_bytes = problem_floor(p, NULL);
    status st = p->n > 200 ? ST_OK : solve(p, &o, &(struct solve_hooks){0}, a, d, &s);
    if (st == ST_INTERNAL || st == ST_VERIFY)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    struct mem mem = mem_make((int64_t)256 << 20);
    struct arena a = arena_make(&mem);
    struct diags d = diags_make(&a);
    struct source *s;
    struct problem p;
    if (n == 0 || source_memory(&a, &d, bytes + 1, (int64_t)n - 1, &s) != ST_OK)
        return 0;
    status st = bytes[0] % 2 ? problem_read_csv(&a, &d, s, &p) : problem_read_json(&a, &d, s, &p);
    if (st ? st == ST_INTERNAL || d.n_errors == 0 : d.n_errors > 0)
        abort();
    if (!st)
        use(&p, &a, &d);
    arena_free(&a);
    if (mem.used_bytes != 0)
        abort();
    return 0;
}
