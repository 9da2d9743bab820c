// Damaged problem and schedule files: bytes flipped, cut, doubled and swapped for others. Each ends
// with a status and a diagnostic or is still a file of its kind, and all memory comes back. (In the
// sanitizer builds this also looks for reads and writes out of place.)
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "ir/base/rng.h"
#include "solver/check/schedule_check.h"
#include "solver/solve.h"

static const char *const seeds[] = {
    "{\"format\":\"mfc-problem\",\"version\":1,\"fixed_bytes\":7,\"forward\":2,\"nodes\":["
    "{\"name\":\"a\",\"cost\":1,\"bytes\":10},{\"cost\":2,\"bytes\":20,\"workspace\":3},"
    "{\"cost\":4,\"bytes\":30,\"once\":true},{\"cost\":8,\"bytes\":1.0e1,\"backward\":true}],"
    "\"edges\":[[0,1],[1,2],[2,3],[0,3]],\"keep\":[3]}",
    "fixed_bytes,12\nname,cost,bytes,keep\na,1,10,0\nb,2,20,0\nc,3,30,1\n\nfrom,to\na,b\nb,c\n",
    "{\"format\":\"mfc-schedule\",\"version\":1,\"status\":\"feasible\",\"order\":\"given\","
    "\"budget_bytes\":80,\"peak_bytes\":67,\"cost\":15,\"base_cost\":15,\"bound\":null,"
    "\"bound_any\":15,\"steps\":[[\"compute\",0],[\"compute\",1],[\"compute\",2],[\"free\",1],"
    "[\"compute\",3]]}",
};

static size_t damage(char *text, size_t n, struct rng *r) {
    static const char useful[] = "{}[],:\"0123456789-.eE \n#\\truefalsenull";
    for (uint64_t k = 1 + rng_below(r, 3); k > 0 && n > 4; k--) {
        size_t at = rng_below(r, n), m = 1 + rng_below(r, 8);
        m = at + m > n ? n - at : m;
        switch (rng_below(r, 4)) {
        case 0:
            text[at] = (char)rng_below(r, 256);
            break;
        case 1:
            text[at] = useful[rng_below(r, sizeof useful - 1)];
            break;
        case 2: // cut out
            memmove(text + at, text + at + m, n - at - m);
            n -= m;
            break;
        default: // doubled
            memmove(text + at + m, text + at, n - at);
            n += m;
        }
    }
    return n;
}

static void damaged_files_are_refused_or_read(void **state) {
    (void)state;
    int n_read = 0, n_refused = 0;
    for (uint64_t index = 0; index < 30000; index++) {
        struct scene s;
        struct rng r = rng_make(41, index);
        struct source *source;
        struct problem p;
        char text[1024];
        size_t kind = index % 3, n = strlen(seeds[kind]);
        scene_open(&s);
        memcpy(text, seeds[kind], n);
        n = damage(text, n, &r);
        assert_int_equal(source_memory(&s.arena, &s.diags, text, (int64_t)n, &source), ST_OK);
        status st;
        if (kind == 2) {
            struct source *whole;
            struct schedule x;
            assert_int_equal(
                source_memory(&s.arena, &s.diags, seeds[0], (int64_t)strlen(seeds[0]), &whole),
                ST_OK);
            assert_int_equal(problem_read_json(&s.arena, &s.diags, whole, &p), ST_OK);
            st = schedule_read(&s.arena, &s.diags, source, &p, &x);
            if (st == ST_OK) {
                status checked = schedule_check(&p, &x, &s.arena, &s.diags);
                assert_true(checked == ST_OK || checked == ST_VERIFY);
            }
        } else {
            st = kind ? problem_read_csv(&s.arena, &s.diags, source, &p)
                      : problem_read_json(&s.arena, &s.diags, source, &p);
            if (st == ST_OK) {
                struct solve_options o = solve_defaults();
                struct schedule x;
                o.method = "recursive";
                status solved = solve(&p, &o, &(struct solve_hooks){0}, &s.arena, &s.diags, &x);
                assert_int_equal(x.n_refused, 0);
                assert_true(solved == ST_OK || solved == ST_NO_PLAN || solved == ST_UNSUPPORTED);
            }
        }
        assert_true(st == ST_OK || st == ST_MALFORMED || st == ST_LIMIT);
        assert_true(st == ST_OK || s.diags.n_errors > 0);
        n_read += st == ST_OK;
        n_refused += st != ST_OK;
        scene_close(&s);
    }
    assert_true(n_read > 1000 && n_refused > 10000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_files_are_refused_or_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
