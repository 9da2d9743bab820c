// Priority orders of the items of a part: long-lived and large items, and those of the busiest
// section, are placed early. No single key is best for all parts, so the searches try several, and
// then perturbed ones.
#include <stdlib.h>

#include "ir/base/rng.h"
#include "solver/offsets/offsets_fit.h"

struct keyed {
    double key, second;
    int32_t item;
};

static int keyed_order(const void *x, const void *y) {
    const struct keyed *a = x, *b = y;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    if (a->second != b->second)
        return a->second > b->second ? -1 : 1;
    return a->item - b->item;
}

// The busiest section that an item covers, for all items at once: a sparse table of range maxima,
// one level in memory at a time. Items whose length lies in [2^k, 2^(k+1)) are answered at level k.
static bool busiest(const struct offsets_part *p, struct arena *a, int64_t *load) {
    int64_t *level = arena_copy(a, p->load, (size_t)p->n_sections * sizeof *level);
    if (!level)
        return false;
    for (int32_t width = 1; width <= p->n_sections; width *= 2) {
        for (int32_t i = 0; i < p->n; i++) {
            int32_t length = p->hi[i] - p->lo[i];
            if (length < width || length >= 2 * width)
                continue;
            int64_t left = level[p->lo[i]], right = level[p->hi[i] - width];
            load[i] = left > right ? left : right;
        }
        for (int32_t s = 0; s + 2 * width <= p->n_sections; s++)
            if (level[s + width] > level[s])
                level[s] = level[s + width];
    }
    return true;
}

static struct keyed key_of(const struct offsets_part *p, uint32_t kind, int32_t i, int64_t load) {
    double length = (double)(p->hi[i] - p->lo[i]), size = (double)p->size[i];
    switch (kind) {
    case 0:
        return (struct keyed){length, size, i};
    case 1:
        return (struct keyed){length * size, length, i};
    case 2:
        return (struct keyed){(double)load, length, i};
    case 3:
        return (struct keyed){size, length, i};
    case 4:
        return (struct keyed){(double)load, length * size, i};
    default:
        return (struct keyed){length * length * size, size, i};
    }
}

status offsets_order(const struct offsets_part *p, uint32_t kind, uint64_t seed, struct arena *a,
                     struct diags *d, int32_t *order) {
    struct arena scratch = arena_make(a->mem);
    struct keyed *keyed = ARENA_ARRAY(&scratch, struct keyed, p->n);
    int64_t *load = ARENA_ARRAY(&scratch, int64_t, p->n);
    if (!keyed || !load || !busiest(p, &scratch, load)) {
        arena_free(&scratch);
        return diag_out_of_memory(d);
    }
    struct rng rng = rng_make(seed, kind);
    static const double strength[3] = {0.1, 0.3, 0.6};
    double noise = kind < OFFSETS_ORDERS ? 0 : strength[kind / OFFSETS_ORDERS % 3];
    for (int32_t i = 0; i < p->n; i++) {
        keyed[i] = key_of(p, kind % OFFSETS_ORDERS, i, load[i]);
        keyed[i].key *= 1 + noise * (rng_unit(&rng) - 0.5);
    }
    qsort(keyed, (size_t)p->n, sizeof *keyed, keyed_order);
    for (int32_t i = 0; i < p->n; i++)
        order[i] = keyed[i].item;
    arena_free(&scratch);
    return ST_OK;
}
