// Random placement problems for tests: a function of the seed, with a little of everything that a
// problem can hold. They go through the reader, as a user's would.
#pragma once

#include <string.h>

#include "ir/base/rng.h"
#include "solver/model/placement.h"
#include "tests/unit/unit.h"

struct random_shape {
    int32_t max_nodes, n_devices;
    bool groups, once, sizes, odd_links;
    int64_t memory; // of a device; 0: plenty
};

static inline int32_t random_to(struct rng *r, int32_t n) {
    return (int32_t)rng_below(r, (uint64_t)n);
}

static inline void random_nodes(struct str *s, struct rng *r, const struct random_shape *shape,
                                int32_t n) {
    str_add(s, ",\"nodes\":[");
    for (int32_t i = 0; i < n; i++) {
        str_addf(s, "%s{\"name\":\"n%d\",\"bytes\":%d,\"workspace\":%d,\"resident\":%d",
                 i ? "," : "", i, shape->sizes ? random_to(r, 20) : 0,
                 shape->sizes && random_to(r, 3) == 0 ? random_to(r, 10) : 0,
                 random_to(r, 2) * random_to(r, 10));
        str_addf(s, ",\"cost\":{\"a\":%d,\"b\":%d},\"move\":%d", random_to(r, 10), random_to(r, 30),
                 random_to(r, 5));
        if (shape->sizes && random_to(r, 5) == 0)
            str_add(s, ",\"keep\":true");
        if (shape->once && random_to(r, 5) == 0)
            str_add(s, ",\"once\":true");
        if (shape->groups && random_to(r, 3) == 0)
            str_addf(s, ",\"group\":\"g%d\"", random_to(r, 3));
        str_add(s, "}");
    }
    str_add(s, "],\"edges\":[");
    bool some = false;
    for (int32_t i = 1; i < n; i++)
        for (int32_t k = random_to(r, 4), from = i; k > 0 && from > 0; k--) {
            from = random_to(r, from); // downwards, so that no edge is there twice
            str_addf(s, "%s[%d,%d]", some ? "," : "", from, i);
            some = true;
        }
    str_add(s, "]");
}

static inline void random_links(struct str *s, struct rng *r, const struct random_shape *shape) {
    str_add(s, ",\"links\":[");
    for (int32_t k = 0; k < shape->n_devices; k++) {
        str_addf(s, "%s{\"between\":[\"d%d\",\"host\"]", k ? "," : "", k);
        switch (shape->odd_links ? random_to(r, 5) : 0) {
        case 0:
            str_addf(s, ",\"bandwidth\":%d,\"latency\":%d}", 1 + random_to(r, 4), random_to(r, 3));
            break;
        case 1:
            str_add(s, ",\"by_node\":true,\"blocking\":true}");
            break;
        case 2:
            str_add(s, ",\"free\":true}");
            break;
        case 3:
            str_add(s, ",\"bandwidth\":2.5,\"bus\":\"pci\"}");
            break;
        default:
            str_add(s, ",\"bandwidth\":3,\"duplex\":false,\"latency\":1}");
        }
        if (k > 0 && random_to(r, 2))
            str_addf(s, ",{\"between\":[\"d%d\",\"d%d\"],\"bandwidth\":%d}", k - 1, k,
                     1 + random_to(r, 9));
    }
    str_add(s, "]");
}

static inline void random_placement(struct scene *sc, uint64_t seed,
                                    const struct random_shape *shape, struct placement *out) {
    struct rng r = rng_make(seed, 77);
    struct str s = str_make(&sc->arena);
    str_add(&s, "{\"format\":\"mfc-problem\",\"version\":1,\"devices\":[");
    for (int32_t k = 0; k < shape->n_devices; k++)
        str_addf(&s, "%s{\"name\":\"d%d\",\"kind\":\"%s\",\"power\":%d,\"memory\":%lld}",
                 k ? "," : "", k, random_to(&r, 3) ? "a" : "b", random_to(&r, 3),
                 (long long)(shape->memory > 0 ? shape->memory : 1000000));
    str_add(&s, "]");
    random_links(&s, &r, shape);
    random_nodes(&s, &r, shape, 1 + random_to(&r, shape->max_nodes));
    str_add(&s, "}");
    struct source *source;
    assert_int_equal(source_memory(&sc->arena, &sc->diags, s.at, (int64_t)s.n, &source), ST_OK);
    status st = placement_read(&sc->arena, &sc->diags, source, out);
    if (st != ST_OK)
        fail_msg("%s\n%s", sc->diags.list.at[0].text, s.at);
    source_close(source);
}
