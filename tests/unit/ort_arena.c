// The rules of ONNX Runtime's arena, one by one. tests/runtime/arena.c compares the model with the
// arena itself.
#include "ir/runtime/ort_arena.h"

#include "tests/unit/unit.h"

#define KIB 1024
#define MIB (1024 * 1024)

struct fixture {
    struct mem mem;
    struct arena a;
    struct ort_arena o;
};

static void open(struct fixture *f) {
    *f = (struct fixture){.mem = mem_make(MEM_UNLIMITED)};
    f->a = arena_make(&f->mem);
    ort_arena_reset(&f->o, &f->a);
}

static int64_t at(const struct fixture *f, uint32_t chunk) {
    const struct ort_chunk *c = &f->o.chunks.at[chunk];
    return c->at - f->o.regions.at[c->region].at;
}

static uint32_t get(struct fixture *f, int64_t n_bytes) {
    return ort_arena_alloc(&f->o, n_bytes, true);
}

static void requests_are_rounded(void **state) {
    struct fixture f;
    (void)state;
    open(&f);
    assert_int_equal(at(&f, get(&f, 1)), 0);
    assert_int_equal(at(&f, get(&f, 257)), 256);
    assert_int_equal(at(&f, get(&f, 512)), 256 + 512);
    assert_int_equal(get(&f, 0), ORT_ARENA_NONE);
    arena_free(&f.a);
}

static void smallest_chunk_is_taken_whole_below_twice_the_size(void **state) {
    struct fixture f;
    (void)state;
    open(&f);
    uint32_t large = get(&f, 64 * KIB), wall = get(&f, 256), small = get(&f, 16 * KIB);
    get(&f, 256);
    int64_t small_at = at(&f, small), large_at = at(&f, large);
    ort_arena_free(&f.o, large);
    ort_arena_free(&f.o, small);
    uint32_t x = get(&f, 9 * KIB); // fits both; 16 < 2 * 9
    assert_int_equal(at(&f, x), small_at);
    assert_int_equal(f.o.chunks.at[x].n_bytes, 16 * KIB);
    uint32_t y = get(&f, 30 * KIB); // 64 >= 2 * 30: split
    assert_int_equal(at(&f, y), large_at);
    assert_int_equal(f.o.chunks.at[y].n_bytes, 30 * KIB);
    assert_int_equal(at(&f, get(&f, 34 * KIB)), 30 * KIB); // the rest, exactly
    ort_arena_free(&f.o, wall);
    arena_free(&f.a);
}

static void free_neighbours_merge(void **state) {
    struct fixture f;
    (void)state;
    open(&f);
    uint32_t a = get(&f, 64 * KIB), b = get(&f, 64 * KIB), c = get(&f, 64 * KIB);
    get(&f, 256);
    ort_arena_free(&f.o, a);
    ort_arena_free(&f.o, c);
    ort_arena_free(&f.o, b);
    assert_int_equal(at(&f, get(&f, 192 * KIB)), 0);
    arena_free(&f.a);
}

static void regions_double(void **state) {
    struct fixture f;
    (void)state;
    open(&f);
    get(&f, 256); // 1 MiB; the next one is 2
    assert_int_equal(f.o.region_bytes, MIB);
    get(&f, 3 * MIB); // doubled until it fits: 4; the next one is 4 too
    assert_int_equal(f.o.region_bytes, 5 * MIB);
    get(&f, 3 * MIB); // 4 without doubling; the next one is 8
    assert_int_equal(f.o.region_bytes, 9 * MIB);
    get(&f, 3 * MIB);
    assert_int_equal(f.o.region_bytes, 17 * MIB);
    arena_free(&f.a);
}

static void at_most_128_mib_are_given_too_much(void **state) {
    struct fixture f;
    (void)state;
    open(&f);
    uint32_t x = get(&f, 300 * MIB); // of 512: 212 MiB left
    assert_int_equal(f.o.chunks.at[x].n_bytes, 300 * MIB);
    ort_arena_free(&f.o, x);
    x = get(&f, 400 * MIB); // 112 MiB left
    assert_int_equal(f.o.chunks.at[x].n_bytes, 512 * MIB);
    arena_free(&f.a);
}

static void written_pages_and_tables_count(void **state) {
    struct fixture f;
    (void)state;
    open(&f);
    uint32_t x = ort_arena_alloc(&f.o, 512 * KIB, false);
    assert_int_equal(ort_arena_bytes(&f.o), MIB / 32);
    ort_arena_write(&f.o, x, 4000, 4097); // two pages
    assert_int_equal(ort_arena_bytes(&f.o), MIB / 32 + 2 * 4096);
    ort_arena_write(&f.o, x, 0, 512 * KIB);
    assert_int_equal(ort_arena_bytes(&f.o), MIB / 32 + 512 * KIB);
    ort_arena_free(&f.o, x);
    assert_int_equal(ort_arena_bytes(&f.o), MIB / 32 + 512 * KIB); // pages stay
    ort_arena_reset(&f.o, &f.a);
    assert_int_equal(ort_arena_bytes(&f.o), 0);
    get(&f, 256);
    assert_int_equal(ort_arena_bytes(&f.o), MIB / 32 + 4096);
    arena_free(&f.a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_rounded),
        cmocka_unit_test(smallest_chunk_is_taken_whole_below_twice_the_size),
        cmocka_unit_test(free_neighbours_merge),
        cmocka_unit_test(regions_double),
        cmocka_unit_test(at_most_128_mib_are_given_too_much),
        cmocka_unit_test(written_pages_and_tables_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
