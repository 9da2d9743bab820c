// Every allocation of the solver's core fails once: each run ends with a status and a diagnostic,
// or with the right answer, and gives all memory back.
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "solver/check/schedule_check.h"
#include "solver/curve.h"
#include "solver/model/matrices.h"
#include "solver/model/schedule_report.h"
#include "solver/solve.h"

static const char *const json =
    "{\"format\":\"mfc-problem\",\"version\":1,\"forward\":3,\"nodes\":["
    "{\"name\":\"a\",\"cost\":1,\"bytes\":10},{\"cost\":1,\"bytes\":10},"
    "{\"cost\":1,\"bytes\":10},{\"cost\":1,\"bytes\":10},{\"cost\":1,\"bytes\":10},"
    "{\"name\":\"f\",\"cost\":1,\"bytes\":10,\"keep\":true}],"
    "\"edges\":[[0,1],[1,2],[2,3],[2,3],[1,4],[3,4],[0,5],[4,5]]}";

static const char *const csv = "name,cost,bytes,backward\na,1,10,0\nb,1,10,0\nc,1,10,0\nd,1,10,1\n"
                               "e,1,10,1\nf,1,10,1\nfrom,to\na,b\nb,c\nc,d\nb,e\nd,e\na,f\ne,f\n";

static const char *const cyclic =
    "{\"format\":\"mfc-problem\",\"version\":1,\"nodes\":[{\"cost\":1,\"bytes\":1},"
    "{\"cost\":1,\"bytes\":1}],\"edges\":[[0,1],[1,0]]}";

struct job {
    const char *text, *method, *path;
    bool is_csv;
};

// All that `mfc solve` does, with what little memory there is.
static status work(struct arena *a, struct diags *d, const struct job *job) {
    struct source *source;
    struct problem p;
    struct schedule s, again, curve[3];
    status st = source_memory(a, d, job->text, (int64_t)strlen(job->text), &source);
    if (st == ST_OK)
        st = job->is_csv ? problem_read_csv(a, d, source, &p) : problem_read_json(a, d, source, &p);
    if (st != ST_OK)
        return st;
    struct solve_options o = solve_defaults();
    struct solve_hooks hooks = {0};
    o.method = job->method;
    o.budget_bytes = 30;
    if ((st = solve(&p, &o, &hooks, a, d, &s)) == ST_INFEASIBLE || st == ST_NO_PLAN)
        return schedule_report_failure(&p, &s, a, d);
    assert_int_equal(s.n_refused, 0);
    if (st != ST_OK || (st = schedule_write(&s, 1, a, d, job->path)) != ST_OK)
        return st;
    if ((st = source_open(a, d, job->path, &source)) != ST_OK)
        return st;
    st = schedule_read(a, d, source, &p, &again);
    source_close(source);
    if (st != ST_OK || (st = schedule_check(&p, &again, a, d)) != ST_OK)
        return st;
    assert_int_equal(again.cost, s.cost);
    struct matrices m;
    struct str text = str_make(a);
    if ((st = matrices_make(&p, s.steps, a, d, &m)) != ST_OK)
        return st;
    matrices_print(&text, &m);
    if (text.failed || !schedule_report(&text, &p, &s, a))
        return diag_out_of_memory(d);
    int64_t budgets[] = {60, 40, 30};
    if ((st = curve_sweep(&(struct curve_search){&p, &o, &hooks, NULL, a, d}, budgets, 3, curve)) !=
        ST_OK)
        return st;
    st = curve_min_memory(&(struct curve_search){&p, &o, &hooks, NULL, a, d}, 9, &s);
    // With less memory a baseline may have found nothing; that is an answer too.
    return st == ST_NO_PLAN ? ST_OK : st;
}

static void sweep(const struct job *job, status in_the_end) {
    status st = ST_LIMIT;
    int64_t k = 0;
    for (; k < 100000; k++) {
        struct mem mem = mem_make(MEM_UNLIMITED), talk = mem_make(MEM_UNLIMITED);
        struct arena a = arena_make(&mem), notes = arena_make(&talk);
        struct diags d = diags_make(&notes);
        mem.fail_after = k;
        st = work(&a, &d, job);
        bool failed = mem.fail_after < 0;
        // A failure is told, or was survived (a search may go on without one of its tries).
        if (st != ST_OK)
            assert_true(d.n_errors > 0);
        arena_free(&a);
        arena_free(&notes);
        assert_int_equal(mem.used_bytes, 0);
        if (!failed)
            break;
    }
    assert_true(k > 1 && k < 100000);
    assert_int_equal(st, in_the_end);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    char path[] = "/tmp/mfc-faults-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    static const struct {
        const char *method;
        status st;
    } methods[] = {{"keep-all", ST_NO_PLAN},  {"keep-articulation", ST_NO_PLAN},
                   {"chen-sqrt", ST_NO_PLAN}, {"chen-sqrt-linear", ST_OK},
                   {"griewank", ST_OK},       {"recursive", ST_OK},
                   {"last-node", ST_OK}};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        sweep(&(struct job){json, methods[m].method, path, false}, methods[m].st);
    sweep(&(struct job){csv, "recursive", path, true}, ST_OK);
    sweep(&(struct job){cyclic, "recursive", path, false}, ST_MALFORMED);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
