// solver/worker: CBC in another process, and everything that can go wrong there. This program is
// its own worker: started with WORKER_COMMAND it serves, or misbehaves as FAULT says.
#include "tests/unit/unit.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "solver/mip/worker.h"

#define FAULT "MFC_TEST_WORKER_FAULT"

// A knapsack; its best is found by counting.
static void knapsack(struct cbc_model *m, struct arena *a, double *best) {
    static const double worth[] = {15, 9, 11, 7, 13, 8, 6, 14}, weight[] = {7, 3, 5, 2, 6, 4, 3, 7};
    cbc_open(m, a);
    for (int j = 0; j < 8; j++)
        cbc_col(m, 0, 1, -worth[j], true);
    cbc_row(m, -CBC_INF, 17);
    for (int j = 0; j < 8; j++)
        cbc_term(m, j, weight[j]);
    *best = 0;
    for (int set = 0; set < 256; set++) {
        double w = 0, v = 0;
        for (int j = 0; j < 8; j++)
            if (set >> j & 1)
                w += weight[j], v += worth[j];
        if (w <= 17 && v > *best)
            *best = v;
    }
}

static struct cbc_limits with_worker(double seconds) {
    return (struct cbc_limits){.seconds = seconds, .worker_path = "/proc/self/exe"};
}

static void same_answer_as_here(void **state) {
    (void)state;
    struct scene s;
    struct cbc_model m;
    struct cbc_answer answer;
    double best;
    scene_open(&s);
    knapsack(&m, &s.arena, &best);
    struct cbc_limits limits = with_worker(60);
    double start[8] = {1};
    for (int with_start = 0; with_start < 2; with_start++) {
        assert_true(cbc_mip(&m, with_start ? start : NULL, &limits, &s.arena, &answer));
        assert_int_equal(answer.result, CBC_OPTIMAL);
        assert_true(fabs(answer.objective + best) < 1e-9);
    }
    cbc_row(&m, 100, CBC_INF);
    cbc_term(&m, 0, 1);
    assert_true(cbc_mip(&m, NULL, &limits, &s.arena, &answer));
    assert_int_equal(answer.result, CBC_INFEASIBLE);
    scene_close(&s);
}

// The worker gets what the gate has left, which CBC cannot do with. It says so, or, where the
// sanitizers' allocator ends it, its answer is missing.
static void a_limit_on_memory_holds_for_the_worker(void **state) {
    (void)state;
    struct scene s;
    struct cbc_model m;
    struct cbc_answer answer;
    double best;
    scene_open(&s);
    knapsack(&m, &s.arena, &best);
    struct cbc_limits limits = with_worker(60);
    s.mem.limit_bytes = s.mem.used_bytes + ((int64_t)80 << 10);
    assert_true(!cbc_mip(&m, NULL, &limits, &s.arena, &answer) || answer.result == CBC_UNKNOWN);
    s.mem.limit_bytes = s.mem.used_bytes + ((int64_t)1 << 30);
    assert_true(cbc_mip(&m, NULL, &limits, &s.arena, &answer));
    scene_close(&s);
}

// Every fault costs the answer and nothing else.
static void faults_cost_only_the_answer(void **state) {
    (void)state;
    static const char *const faults[] = {"die", "mute",  "hang",       "garbage", "short", "hash",
                                         "nan", "wrong", "infeasible", "length",  "bound", "flood"};
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        struct scene s;
        struct cbc_model m;
        struct cbc_answer answer;
        double best;
        scene_open(&s);
        knapsack(&m, &s.arena, &best);
        setenv(FAULT, faults[k], 1);
        struct cbc_limits limits = with_worker(0.01);
        assert_true(cbc_mip(&m, NULL, &limits, &s.arena, &answer));
        unsetenv(FAULT);
        if (answer.result != CBC_UNKNOWN)
            fail_msg("fault %s was believed", faults[k]);
        assert_null(answer.x);
        scene_close(&s);
    }
}

static void no_such_executable(void **state) {
    (void)state;
    struct scene s;
    struct cbc_model m;
    struct cbc_answer answer;
    double best;
    scene_open(&s);
    knapsack(&m, &s.arena, &best);
    struct cbc_limits limits = {.seconds = 5, .worker_path = "/nonexistent/mfc"};
    assert_true(cbc_mip(&m, NULL, &limits, &s.arena, &answer));
    assert_int_equal(answer.result, CBC_UNKNOWN);
    scene_close(&s);
}

static void *raise_soon(void *stop) {
    usleep(50000);
    stop_raise(stop, 1);
    return NULL;
}

// A raised stop ends the wait, though no deadline is near.
static void a_stop_ends_the_wait(void **state) {
    (void)state;
    struct scene s;
    struct cbc_model m;
    struct cbc_answer answer;
    struct stop stop = {.deadline_ns = STOP_NEVER};
    pthread_t thread;
    double best;
    scene_open(&s);
    knapsack(&m, &s.arena, &best);
    setenv(FAULT, "hang", 1);
    struct cbc_limits limits = with_worker(0);
    limits.stop = &stop;
    assert_int_equal(pthread_create(&thread, NULL, raise_soon, &stop), 0);
    assert_true(cbc_mip(&m, NULL, &limits, &s.arena, &answer));
    assert_int_equal(pthread_join(thread, NULL), 0);
    unsetenv(FAULT);
    assert_int_equal(answer.result, CBC_UNKNOWN);
    scene_close(&s);
}

// ---- The worker that misbehaves ----

static void send_answer(const char *fault) {
    double x[8] = {1};
    struct worker_answer_head h = {
        .magic = WORKER_ANSWER_MAGIC, .result = CBC_OPTIMAL, .bound = -15, .n_cols = 8};
    if (strcmp(fault, "nan") == 0)
        x[1] = NAN;
    if (strcmp(fault, "wrong") == 0)
        for (int j = 0; j < 8; j++)
            x[j] = 1;
    if (strcmp(fault, "infeasible") == 0)
        h.result = 17;
    if (strcmp(fault, "length") == 0)
        h.n_cols = 7;
    if (strcmp(fault, "bound") == 0)
        h.bound = -3;
    h.body_bytes = h.n_cols * (int64_t)sizeof(double);
    h.hash = worker_hash(&h, sizeof h, x, (size_t)h.body_bytes);
    if (strcmp(fault, "hash") == 0)
        h.hash++;
    size_t cut = strcmp(fault, "short") == 0 ? 8 : 0;
    if (write(0, &h, sizeof h) < 0 || write(0, x, (size_t)h.body_bytes - cut) < 0)
        _exit(1);
}

static int misbehave(const char *fault) {
    char buffer[4096];
    if (strcmp(fault, "die") == 0)
        raise(SIGKILL);
    if (strcmp(fault, "hang") == 0)
        for (;;)
            pause();
    if (read(0, buffer, sizeof buffer) < 0 || strcmp(fault, "mute") == 0)
        return 0;
    memset(buffer, 'x', sizeof buffer);
    if (strcmp(fault, "garbage") == 0)
        return write(0, buffer, 100) < 0;
    while (strcmp(fault, "flood") == 0)
        if (write(0, buffer, sizeof buffer) < 0)
            return 1;
    send_answer(fault);
    return 0;
}

int main(void) {
    if (unit_command && strcmp(unit_command, WORKER_COMMAND) == 0) {
        const char *fault = getenv(FAULT);
        struct mem mem = mem_make(MEM_UNLIMITED);
        return fault ? misbehave(fault) : worker_serve(0, &mem) != ST_OK;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_answer_as_here),
        cmocka_unit_test(a_limit_on_memory_holds_for_the_worker),
        cmocka_unit_test(faults_cost_only_the_answer),
        cmocka_unit_test(no_such_executable),
        cmocka_unit_test(a_stop_ends_the_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
