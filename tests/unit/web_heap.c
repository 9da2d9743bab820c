// The rules of the heap of WebAssembly, one by one.
#include "ir/runtime/web_heap.h"
#include "ir/runtime/web_session.h"
#include "tests/unit/unit.h"

#define KIB 1024
#define MIB (1024 * 1024)

enum { START = 1 << 20, HEADER = 8 };

struct fixture {
    struct mem mem;
    struct arena a;
    struct web_heap h;
};

static void open(struct fixture *f) {
    *f = (struct fixture){.mem = mem_make(MEM_UNLIMITED)};
    f->a = arena_make(&f->mem);
    web_heap_reset(&f->h, &f->a, START);
}

// Where the memory of a chunk is, counted from the first that a heap can give.
static int64_t at(const struct fixture *f, uint32_t chunk) {
    return f->h.chunks.at[chunk].at - START;
}

static uint32_t get(struct fixture *f, int64_t n_bytes) {
    return web_heap_alloc(&f->h, n_bytes, false);
}

static void chunks_have_a_header_of_four_bytes(void **state) {
    struct fixture f;
    (void)state;
    open(&f);
    assert_int_equal(at(&f, get(&f, 100)), 0); // 104
    assert_int_equal(at(&f, get(&f, 101)), 104);
    assert_int_equal(at(&f, get(&f, 1)), 104 + 112);
    assert_int_equal(at(&f, get(&f, 1)), 104 + 112 + 16);
    arena_free(&f.a);
}

static void tensors_are_aligned_and_leave_nothing_behind(void **state) {
    struct fixture f;
    (void)state;
    open(&f);
    get(&f, 100);
    uint32_t tensor = web_heap_alloc(&f.h, 10 * KIB, true);
    assert_int_equal((f.h.chunks.at[tensor].at + HEADER) % 64, 0);
    assert_int_equal(f.h.chunks.at[tensor].n_bytes, 10 * KIB + HEADER);
    assert_int_equal(at(&f, get(&f, 64 * KIB)), at(&f, tensor) + 10 * KIB + HEADER);
    arena_free(&f.a);
}

static void smallest_chunk_is_split_and_the_oldest_of_equals_taken(void **state) {
    struct fixture f;
    uint32_t x[6];
    static const int64_t sizes[] = {64 * KIB, 256, 16 * KIB, 256, 16 * KIB, 256};
    (void)state;
    open(&f);
    for (int i = 0; i < 6; i++)
        x[i] = get(&f, sizes[i]);
    int64_t large = at(&f, x[0]), second = at(&f, x[4]), first = at(&f, x[2]);
    web_heap_free(&f.h, x[0]);
    web_heap_free(&f.h, x[4]);
    web_heap_free(&f.h, x[2]);
    assert_int_equal(at(&f, get(&f, 12 * KIB)), second);
    assert_int_equal(at(&f, get(&f, 15 * KIB)), first);
    assert_int_equal(at(&f, get(&f, 20 * KIB)), large);
    arena_free(&f.a);
}

static void small_requests_are_cut_from_the_last_rest(void **state) {
    struct fixture f;
    (void)state;
    open(&f);
    uint32_t wide = get(&f, 4 * KIB);
    get(&f, 256);
    uint32_t tight = get(&f, 400);
    get(&f, 256);
    int64_t wide_at = at(&f, wide), tight_at = at(&f, tight);
    web_heap_free(&f.h, wide);
    web_heap_free(&f.h, tight);
    assert_int_equal(at(&f, get(&f, 100)), tight_at);       // the smallest; 304 are left
    assert_int_equal(at(&f, get(&f, 100)), tight_at + 104); // of the rest
    assert_int_equal(at(&f, get(&f, 3 * KIB)), wide_at);    // large ones take the best fit
    assert_int_equal(at(&f, get(&f, 100)), tight_at + 208); // the rest is still the victim
    arena_free(&f.a);
}

static void neighbours_merge_and_the_end_moves_as_far_as_it_must(void **state) {
    struct fixture f;
    (void)state;
    open(&f);
    uint32_t a = get(&f, 1 * MIB), b = get(&f, 1 * MIB);
    int64_t end = f.h.end_at;
    web_heap_free(&f.h, a);
    web_heap_free(&f.h, b);
    assert_int_equal(at(&f, get(&f, 2 * MIB)), 0);
    assert_int_equal(f.h.end_at, end);
    get(&f, 1 * MIB);
    assert_int_equal(f.h.end_at, end + 1 * MIB);
    arena_free(&f.a);
}

static void memory_grows_by_a_fifth_or_96_mib(void **state) {
    (void)state;
    assert_int_equal(web_memory_bytes(1 * MIB), 16 * MIB);
    assert_int_equal(web_memory_bytes(100 * MIB), 132 * MIB);
    assert_int_equal(web_memory_bytes(1000 * (int64_t)MIB), 1196 * (int64_t)MIB);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_have_a_header_of_four_bytes),
        cmocka_unit_test(tensors_are_aligned_and_leave_nothing_behind),
        cmocka_unit_test(smallest_chunk_is_split_and_the_oldest_of_equals_taken),
        cmocka_unit_test(small_requests_are_cut_from_the_last_rest),
        cmocka_unit_test(neighbours_merge_and_the_end_moves_as_far_as_it_must),
        cmocka_unit_test(memory_grows_by_a_fifth_or_96_mib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
