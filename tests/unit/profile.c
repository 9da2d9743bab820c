// The memory profile of the annealing against a plain array, over many spans.
#include "tests/unit/unit.h"

#include "ir/base/rng.h"
#include "solver/anneal/state_profile.h"

enum { SLOTS = 5000, STEPS = 3000 };

struct naive {
    int64_t at[SLOTS];
    int64_t excess, peak;
    int32_t worst;
};

static void measure(struct naive *n, int64_t limit) {
    n->excess = n->peak = 0;
    n->worst = -1;
    for (int32_t s = 0; s < SLOTS; s++) {
        n->excess += n->at[s] > limit ? n->at[s] - limit : 0;
        n->worst = n->at[s] > limit && n->at[s] > n->peak ? s : n->worst;
        n->peak = n->at[s] > n->peak ? n->at[s] : n->peak;
    }
}

static void step(struct profile *f, struct naive *n, struct rng *rng) {
    int32_t from = (int32_t)rng_below(rng, SLOTS), to = (int32_t)rng_below(rng, SLOTS);
    uint64_t kind = rng_below(rng, 16);
    if (kind == 0) {
        profile_limit(f, (int64_t)rng_below(rng, 4000));
    } else if (kind == 1) {
        profile_put(f, from, n->at[from] = (int64_t)rng_below(rng, 2000));
        profile_refresh(f, from, from);
    } else {
        int64_t bytes = (int64_t)rng_below(rng, 401) - 200;
        to = kind < 6 && from + 40 < SLOTS ? from + 40 : to;
        profile_add(f, from, to, bytes);
        for (int32_t s = from; s <= to; s++)
            n->at[s] += bytes;
    }
}

static void additions_are_counted(void **state) {
    (void)state;
    struct scene s;
    struct profile f;
    struct rng rng = rng_make(3, 1);
    scene_open(&s);
    struct naive *n = ARENA_NEW(&s.arena, struct naive);
    assert_true(n && profile_make(&s.arena, SLOTS, 1000, &f));
    for (int32_t t = 0; t < SLOTS; t++) { // as if a run of 0 bytes sat in every slot
        profile_add(&f, t, t, -PROFILE_IDLE);
        n->at[t] = 0;
    }
    int n_over = 0;
    for (int k = 0; k < STEPS; k++) {
        step(&f, n, &rng);
        measure(n, f.limit);
        assert_int_equal(f.total_excess, n->excess);
        assert_int_equal(profile_peak(&f), n->peak);
        assert_int_equal(profile_worst(&f), n->worst);
        assert_int_equal(profile_at(&f, k % SLOTS), n->at[k % SLOTS]);
        n_over += n->excess > 0;
    }
    assert_true(n_over > STEPS / 10 && n_over < STEPS);
    scene_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(additions_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
