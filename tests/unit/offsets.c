// Offset allocation: exact search against brute force, the check against corruptions, edge cases,
// repeatability, failing memory, and the CSV door.
#include <stdlib.h>
#include <string.h>

#include "ir/base/file.h"
#include "ir/base/rng.h"
#include "solver/check/offsets_check.h"
#include "solver/model/buffers.h"
#include "solver/offsets.h"
#include "tests/unit/unit.h"

#define MOST 400

struct answer {
    int64_t offset[MOST], arena_bytes, bound;
};

static status answer_of(status st, const struct offsets_result *r, struct answer *out) {
    out->arena_bytes = r->arena_bytes;
    out->bound = r->bound;
    return st;
}

static status assign_with(struct scene *s, const struct buffer *b, size_t n,
                          const struct offsets_options *options, struct answer *out) {
    struct offsets_result r = {.offset = out->offset};
    return answer_of(offsets_assign(b, n, options, &s->arena, &s->diags, &r), &r, out);
}

static status race_with(struct scene *s, const struct buffer *b, size_t n,
                        const struct offsets_options *options, struct answer *out) {
    struct offsets_result r = {.offset = out->offset};
    return answer_of(offsets_race(b, n, options, &s->arena, &s->diags, &r), &r, out);
}

static status assign(struct scene *s, const struct buffer *b, size_t n, int64_t capacity,
                     int64_t work, struct answer *out) {
    struct offsets_options options = {.capacity_bytes = capacity, .work = work, .seed = 1};
    return assign_with(s, b, n, &options, out);
}

static struct buffer random_buffer(struct rng *r, int64_t times, int64_t sizes) {
    struct buffer b = {.lower = (int64_t)rng_below(r, (uint64_t)times)};
    b.upper = b.lower + 1 + (int64_t)rng_below(r, (uint64_t)(times - b.lower));
    b.size = 1 + (int64_t)rng_below(r, (uint64_t)sizes);
    return b;
}

static bool clash(const struct buffer *a, int64_t x, const struct buffer *b, int64_t y) {
    return a->lower < b->upper && b->lower < a->upper && a->size > 0 && b->size > 0 &&
           a->lower < a->upper && b->lower < b->upper && x < y + b->size && y < x + a->size;
}

// Brute force: every buffer at every offset below the limit.
static bool fits(const struct buffer *b, size_t n, size_t i, int64_t limit, int64_t *offset) {
    if (i == n)
        return true;
    int64_t step = b[i].alignment > 1 ? b[i].alignment : 1;
    for (offset[i] = b[i].is_fixed ? b[i].fixed : 0; offset[i] + b[i].size <= limit;
         offset[i] += step) {
        bool free = !b[i].is_fixed || offset[i] == b[i].fixed;
        for (size_t j = 0; j < i && free; j++)
            free = !clash(&b[i], offset[i], &b[j], offset[j]);
        if (free && fits(b, n, i + 1, limit, offset))
            return true;
    }
    return false;
}

static int64_t min_arena(const struct buffer *b, size_t n) {
    int64_t offset[10], load = 0;
    for (size_t i = 0; i < n; i++) { // some buffer starts at the busiest time
        int64_t sum = 0;
        for (size_t j = 0; j < n; j++)
            sum += b[j].lower <= b[i].lower && b[i].lower < b[j].upper ? b[j].size : 0;
        load = sum > load ? sum : load;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (b[i].is_fixed && b[j].is_fixed && clash(&b[i], b[i].fixed, &b[j], b[j].fixed))
                return -1;
    for (int64_t limit = load;; limit++)
        if (fits(b, n, 0, limit, offset))
            return limit;
}

// `odd`: with alignments and fixed offsets. Returns how many cases had an optimum above the load:
// without those, none has with so few buffers.
static int compare_with_brute_force(uint64_t seed, int n_cases, bool odd) {
    int n_above = 0;
    for (int k = 0; k < n_cases; k++) {
        struct scene s;
        struct buffer b[7];
        struct answer x;
        struct rng r = rng_make(seed, (uint64_t)k);
        size_t n = 1 + rng_below(&r, 7);
        int64_t max_live, least;
        scene_open(&s);
        for (size_t i = 0; i < n; i++) {
            b[i] = random_buffer(&r, 6, 5);
            if (odd && rng_below(&r, 3) == 0)
                b[i].alignment = 1 + (int64_t)rng_below(&r, 4);
            if (odd && rng_below(&r, 6) == 0) {
                b[i].is_fixed = true;
                b[i].fixed = (int64_t)rng_below(&r, 3) * (b[i].alignment > 1 ? b[i].alignment : 1);
            }
        }
        least = min_arena(b, n);
        status st = assign(&s, b, n, 0, 0, &x);
        if (least < 0) {
            assert_int_equal(st, ST_INFEASIBLE); // fixed where they overlap
            scene_close(&s);
            continue;
        }
        assert_int_equal(st, ST_OK);
        assert_int_equal(x.arena_bytes, least);
        assert_int_equal(x.bound, least);
        assert_int_equal(offsets_max_live(b, n, &s.arena, &s.diags, &max_live), ST_OK);
        n_above += least > max_live;
        if (least > 1)
            assert_int_equal(assign(&s, b, n, least - 1, 0, &x), ST_INFEASIBLE);
        assert_int_equal(assign(&s, b, n, least, 0, &x), ST_OK);
        scene_close(&s);
    }
    return n_above;
}

static void exact_equals_brute_force(void **state) {
    (void)state;
    compare_with_brute_force(1, 3000, false);
    assert_true(compare_with_brute_force(2, 2000, true) > 100);
}

// Larger ones, checked pair by pair.
static void answers_are_valid(void **state) {
    (void)state;
    for (uint64_t k = 0; k < 60; k++) {
        struct scene s;
        struct buffer b[MOST];
        struct answer x, y;
        struct rng r = rng_make(3, k);
        size_t n = 20 + rng_below(&r, MOST - 20);
        scene_open(&s);
        for (size_t i = 0; i < n; i++) {
            b[i] = random_buffer(&r, k % 2 ? 40 : 1000, 1000);
            b[i].alignment = k % 3 == 0 ? 16 : 0;
            if (k % 5 == 0 && i < 2) { // fixed one above the other
                b[i].is_fixed = true;
                b[i].fixed = 4096 * (int64_t)i;
            }
        }
        assert_int_equal(assign(&s, b, n, 0, 20000, &x), ST_OK);
        for (size_t i = 0; i < n; i++) {
            assert_true(x.offset[i] >= 0 && x.offset[i] + b[i].size <= x.arena_bytes);
            assert_true(b[i].alignment == 0 || x.offset[i] % b[i].alignment == 0);
            assert_true(!b[i].is_fixed || x.offset[i] == b[i].fixed);
            for (size_t j = 0; j < i; j++)
                assert_false(clash(&b[i], x.offset[i], &b[j], x.offset[j]));
        }
        assert_true(x.bound <= x.arena_bytes);
        assert_int_equal(assign(&s, b, n, 0, 20000, &y), ST_OK); // and again, the same bytes
        assert_memory_equal(x.offset, y.offset, n * sizeof *x.offset);
        assert_int_equal(x.arena_bytes, y.arena_bytes);
        scene_close(&s);
    }
}

// Large ones where they are best by themselves, and small ones around them. At these seeds chains
// once moved what is fixed.
static void the_rest_goes_around_what_is_fixed(void **state) {
    (void)state;
    static const uint64_t seeds[] = {3, 10};
    for (size_t k = 0; k < 2; k++) {
        struct scene s;
        struct buffer b[MOST];
        struct answer x;
        struct rng r = rng_make(5, seeds[k]);
        size_t n_large = MOST / 4;
        scene_open(&s);
        for (size_t i = 0; i < MOST; i++)
            b[i] = random_buffer(&r, 60, i < n_large ? 1000 : 100);
        assert_int_equal(assign(&s, b, n_large, 0, 2000, &x), ST_OK);
        for (size_t i = 0; i < n_large; i++) {
            b[i].is_fixed = true;
            b[i].fixed = x.offset[i];
        }
        assert_int_equal(assign(&s, b, MOST, 0, 100000, &x), ST_OK);
        for (size_t i = 0; i < MOST; i++)
            for (size_t j = 0; j < i; j++)
                assert_false(clash(&b[i], x.offset[i], &b[j], x.offset[j]));
        scene_close(&s);
    }
}

// Every single change of a tight answer is judged as a naive comparison of all pairs judges it.
static void check_rejects_corruptions(void **state) {
    (void)state;
    int n_wrong = 0, n_right = 0;
    for (uint64_t k = 0; k < 4000; k++) {
        struct scene s;
        struct buffer b[24];
        struct answer x;
        struct rng r = rng_make(4, k);
        size_t n = 4 + rng_below(&r, 20);
        bool good = true;
        scene_open(&s);
        for (size_t i = 0; i < n; i++)
            b[i] = random_buffer(&r, 12, 9);
        assert_int_equal(assign(&s, b, n, 0, 300, &x), ST_OK);
        size_t i = rng_below(&r, n);
        x.offset[i] += (int64_t)rng_below(&r, 9) - 4;
        for (size_t j = 0; j < n; j++) {
            good = good && x.offset[j] >= 0 && x.offset[j] + b[j].size <= x.arena_bytes;
            good = good && (j == i || !clash(&b[i], x.offset[i], &b[j], x.offset[j]));
        }
        status st = offsets_check(b, n, x.offset, x.arena_bytes, &s.arena, &s.diags);
        assert_int_equal(st, good ? ST_OK : ST_VERIFY);
        n_wrong += !good;
        n_right += good;
        scene_close(&s);
    }
    assert_true(n_wrong > 1500 && n_right > 500);
}

static void check_knows_alignment_and_fixed(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct buffer b[2] = {{.lower = 0, .upper = 2, .size = 8, .alignment = 8},
                          {.lower = 1, .upper = 3, .size = 8, .is_fixed = true, .fixed = 8}};
    int64_t good[2] = {0, 8}, skew[2] = {17, 8}, moved[2] = {0, 16};
    assert_int_equal(offsets_check(b, 2, good, 16, &s.arena, &s.diags), ST_OK);
    assert_int_equal(offsets_check(b, 2, good, 15, &s.arena, &s.diags), ST_VERIFY);
    assert_int_equal(offsets_check(b, 2, skew, 99, &s.arena, &s.diags), ST_VERIFY);
    assert_int_equal(offsets_check(b, 2, moved, 99, &s.arena, &s.diags), ST_VERIFY);
    scene_close(&s);
}

static void edge_cases(void **state) {
    (void)state;
    struct scene s;
    struct answer x;
    scene_open(&s);
    assert_int_equal(assign(&s, NULL, 0, 0, 0, &x), ST_OK);
    assert_int_equal(x.arena_bytes, 0);

    // No bytes; no life, yet within the arena; equal ranges; touching ranges share.
    struct buffer b[6] = {{0, 5, 0, 0, false, 0},  {3, 3, 50, 0, false, 0},
                          {0, 4, 10, 0, false, 0}, {0, 4, 10, 0, false, 0},
                          {4, 8, 20, 0, false, 0}, {INT64_MIN, INT64_MAX, 1, 0, false, 0}};
    assert_int_equal(assign(&s, b, 6, 0, 0, &x), ST_OK);
    assert_int_equal(x.arena_bytes, 50);
    assert_int_equal(x.bound, 50);
    assert_int_equal(x.offset[0], 0);
    assert_int_equal(x.offset[1], 0);
    scene_close(&s);
}

static void bad_buffers_are_refused(void **state) {
    (void)state;
    const struct {
        struct buffer b[2];
        status st;
    } bad[] = {
        {{{.lower = 0, .upper = 1, .size = -1}}, ST_MALFORMED},
        {{{.lower = 2, .upper = 1, .size = 1}}, ST_MALFORMED},
        {{{.lower = 0, .upper = 1, .size = 1, .alignment = -8}}, ST_MALFORMED},
        {{{.lower = 0, .upper = 1, .size = 1, .is_fixed = true, .fixed = -1}}, ST_MALFORMED},
        {{{.lower = 0, .upper = 1, .size = 1, .alignment = 4, .is_fixed = true, .fixed = 6}},
         ST_MALFORMED},
        {{{.lower = 0, .upper = 1, .size = INT64_MAX}, {.lower = 0, .upper = 1, .size = 1}},
         ST_LIMIT},
        {{{.lower = 0, .upper = 1, .size = 8, .is_fixed = true, .fixed = INT64_MAX - 4}}, ST_LIMIT},
        {{{.lower = 0, .upper = 2, .size = 8, .is_fixed = true, .fixed = 0},
          {.lower = 1, .upper = 3, .size = 8, .is_fixed = true, .fixed = 7}},
         ST_INFEASIBLE},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        struct scene s;
        struct answer x;
        scene_open(&s);
        assert_int_equal(assign(&s, bad[k].b, 2, 0, 0, &x), bad[k].st);
        assert_int_equal(s.diags.n_errors, 1);
        scene_close(&s);
    }
}

// Whichever allocation fails: a clean refusal, nothing leaked.
static void memory_may_fail(void **state) {
    (void)state;
    struct buffer b[30];
    struct rng r = rng_make(5, 0);
    status st = ST_LIMIT;
    for (size_t i = 0; i < 30; i++)
        b[i] = random_buffer(&r, 20, 100);
    for (int64_t k = 0; st != ST_OK; k++) {
        struct scene s;
        struct answer x;
        scene_open(&s);
        s.mem.fail_after = k;
        st = assign(&s, b, 30, 0, 3000, &x);
        assert_true(st == ST_OK || st == ST_LIMIT);
        s.mem.fail_after = -1;
        scene_close(&s);
        assert_true(k < 100000);
    }
}

static status read_text(struct scene *s, const char *text, struct buffers *out) {
    struct source *csv;
    assert_int_equal(source_memory(&s->arena, &s->diags, text, (int64_t)strlen(text), &csv), ST_OK);
    return buffers_read(&s->arena, &s->diags, csv, out);
}

static void csv_is_read(void **state) {
    (void)state;
    struct scene s;
    struct buffers b;
    scene_open(&s);
    assert_int_equal(read_text(&s,
                               "size,note,id,upper,lower,fixed,alignment\r\n"
                               "4,hello,b1, 3 ,-1,,\r\n\r\n5,,b2,9,3,16,8",
                               &b),
                     ST_OK);
    assert_int_equal(b.n, 2);
    assert_string_equal(b.id[1], "b2");
    assert_int_equal(b.buffer[0].lower, -1);
    assert_int_equal(b.buffer[0].upper, 3);
    assert_false(b.buffer[0].is_fixed);
    assert_true(b.buffer[1].is_fixed);
    assert_int_equal(b.buffer[1].fixed, 16);
    assert_int_equal(b.buffer[1].alignment, 8);
    assert_int_equal(b.row[1].line, 4);
    scene_close(&s);
}

static void csv_errors_have_places(void **state) {
    (void)state;
    const struct {
        const char *text;
        int64_t line, col;
    } bad[] = {
        {"", 1, 1},
        {"id,lower,upper\na,1,2\n", 1, 1},
        {"id,lower,upper,size,size\na,1,2,3,4\n", 1, 21},
        {"id,lower,upper,size\na,1,2\n", 2, 6},
        {"id,lower,upper,size\na,1,2,3,4\n", 2, 10},
        {"id,lower,upper,size\na,1,2,3\na,1,2,3\n", 3, 1},
        {"id,lower,upper,size\na,1,2,x\n", 2, 7},
        {"id,lower,upper,size\na,1,,3\n", 2, 5},
        {"id,lower,upper,size\na,1,2,-3\n", 2, 7},
        {"id,lower,upper,size\na,3,2,3\n", 2, 5},
        {"id,lower,upper,size\na,1,2,99999999999999999999\n", 2, 7},
        {"id,lower,upper,size\n\"a\",1,2,3\n", 2, 1},
        {"id,lower,upper,size\n,1,2,3\n", 2, 1},
        {"id,lower,upper,size,alignment,fixed\na,1,2,3,4,6\n", 2, 11},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        struct scene s;
        struct buffers b;
        scene_open(&s);
        assert_int_equal(read_text(&s, bad[k].text, &b), ST_MALFORMED);
        assert_int_equal(s.diags.n_errors, 1);
        assert_int_equal(s.diags.list.at[0].where.line, bad[k].line);
        assert_int_equal(s.diags.list.at[0].where.col, bad[k].col);
        scene_close(&s);
    }
}

// The answer of a race is the first of the best single searches, however the threads run; a bad
// buffer is told once; a stop reaches every search.
static void races_give_the_best_of_their_searches(void **state) {
    (void)state;
    enum { N = 120, SEARCHES = 4 };
    struct scene s;
    scene_open(&s);
    struct buffer b[N];
    struct rng r = rng_make(11, 0);
    for (size_t i = 0; i < N; i++)
        b[i] = random_buffer(&r, 60, 1000);
    struct offsets_options options = {.work = 3000, .seed = 5, .n_searches = SEARCHES};
    struct answer best = {.arena_bytes = INT64_MAX}, one, race;
    for (int k = 0; k < SEARCHES; k++) {
        struct offsets_options own = {.work = 3000, .seed = 5 + (uint64_t)k};
        assert_int_equal(assign_with(&s, b, N, &own, &one), ST_OK);
        if (one.arena_bytes < best.arena_bytes)
            best = one;
    }
    for (int again = 0; again < 5; again++) {
        assert_int_equal(race_with(&s, b, N, &options, &race), ST_OK);
        assert_int_equal(race.arena_bytes, best.arena_bytes);
        assert_memory_equal(race.offset, best.offset, N * sizeof *best.offset);
        assert_true(race.bound >= best.bound && race.bound <= race.arena_bytes);
    }
    struct stop stop = {.raised = 1, .deadline_ns = STOP_NEVER};
    options.work = 0;
    options.stop = &stop;
    assert_int_equal(race_with(&s, b, N, &options, &race), ST_OK);
    assert_int_equal(s.diags.n_errors, 0);
    b[3].size = -1;
    options.stop = NULL;
    assert_int_not_equal(race_with(&s, b, N, &options, &race), ST_OK);
    assert_int_equal(s.diags.n_errors, 1);
    scene_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_equals_brute_force),
        cmocka_unit_test(answers_are_valid),
        cmocka_unit_test(the_rest_goes_around_what_is_fixed),
        cmocka_unit_test(check_rejects_corruptions),
        cmocka_unit_test(check_knows_alignment_and_fixed),
        cmocka_unit_test(edge_cases),
        cmocka_unit_test(bad_buffers_are_refused),
        cmocka_unit_test(memory_may_fail),
        cmocka_unit_test(races_give_the_best_of_their_searches),
        cmocka_unit_test(csv_is_read),
        cmocka_unit_test(csv_errors_have_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
