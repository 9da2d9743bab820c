// A lower bound on the largest load, by packing: every group runs on some device at least once, and
// none of the devices has more to do than the bound. Transfers and memory are left out, so it holds
// for every strategy, with duplicates, recomputation and offload or without.
//
// To refute a load T, each group gets a price. A device whose load is at most T runs groups of at
// most the price that a knapsack of size T holds; if all devices together cannot hold the price of
// all groups, T is refuted (the dual of Gilmore and Gomory's relaxation of bin packing). Prices
// come from dual feasible functions and are improved by subgradients. Prices are integers, and
// times are rounded down to a grid, so that a refutation is exact.
#include <assert.h>
#include <string.h>

#include "ir/base/checked.h"
#include "solver/place/place_bound_parts.h"

enum {
    GRID_MIN = 1024, // steps of the grid of times
    GRID_MAX = 16384,
    GRID_PER_GROUP = 256, // for each group of a device
    MAX_GROUPS = 400,     // of more and smaller groups the mean load is as good
    MAX_FUNCTIONS = 12,   // dual feasible functions
    MAX_STEPS = 24,       // of subgradients
    MAX_HALVINGS = 12,
};

#define PRICE_UNIT 1000000
#define WORK       40000000 // cells of knapsack tables in all

struct pack {
    const struct placement *p;
    struct arena *arena;
    int32_t n_classes; // of devices that take the same time for every group
    int32_t *class_of, *n_devices;
    int64_t *cost;             // [class * n_groups + group]; -1: it cannot run there
    int64_t *fastest;          // per group
    int64_t *price;            // per group
    int32_t *weight, *covered; // per group: steps of the grid; how many knapsacks hold it
    int64_t *value;            // per size of a knapsack
    bool *taken;               // [group * (grid + 1) + size]
    int32_t grid;
    int64_t work_left;
};

static int64_t group_cost(const struct placement *p, int32_t g, int32_t device) {
    int64_t sum = 0;
    if (!placement_group_runs_on(p, g, device))
        return -1;
    for (int32_t k = p->group_start[g]; k < p->group_start[g + 1]; k++)
        sum += placement_cost(p, p->group_nodes[k], device);
    return sum;
}

static bool make_classes(struct pack *s) {
    const struct placement *p = s->p;
    size_t n = (size_t)p->n_groups;
    int64_t *own = ARENA_ARRAY(s->arena, int64_t, n);
    s->n_devices = ARENA_ARRAY(s->arena, int32_t, p->n_devices);
    s->cost = ARENA_ARRAY(s->arena, int64_t, n * (size_t)p->n_devices);
    s->fastest = ARENA_ARRAY(s->arena, int64_t, n);
    if (!own || !s->n_devices || !s->cost || !s->fastest)
        return false;
    for (int32_t d = 0; d < p->n_devices; d++) {
        for (int32_t g = 0; g < p->n_groups; g++) {
            own[g] = group_cost(p, g, d);
            if (own[g] >= 0 && (d == 0 || s->fastest[g] < 0 || own[g] < s->fastest[g]))
                s->fastest[g] = own[g];
            else if (d == 0)
                s->fastest[g] = -1;
        }
        int32_t c = 0;
        while (c < s->n_classes && memcmp(s->cost + (size_t)c * n, own, n * sizeof *own) != 0)
            c++;
        if (c == s->n_classes)
            memcpy(s->cost + (size_t)s->n_classes++ * n, own, n * sizeof *own);
        s->n_devices[c]++;
    }
    return true;
}

// The most price that a device of the class holds; counts its groups in `covered`.
static int64_t knapsack(struct pack *s, int32_t class, int64_t load) {
    int32_t n = s->p->n_groups, size = s->grid;
    const int64_t *cost = s->cost + (size_t) class * (size_t)n;
    memset(s->value, 0, (size_t)(size + 1) * sizeof *s->value);
    for (int32_t g = 0; g < n; g++) {
        bool *taken = s->taken + (size_t)g * (size_t)(GRID_MAX + 1);
        memset(taken, 0, (size_t)(size + 1));
        s->weight[g] = -1;
        if (cost[g] < 0 || cost[g] > load || s->price[g] == 0)
            continue;
        int32_t w = (int32_t)((__int128)cost[g] * size / (load > 0 ? load : 1));
        s->weight[g] = w;
        for (int32_t k = size; k >= w; k--)
            if (s->value[k - w] + s->price[g] > s->value[k]) {
                s->value[k] = s->value[k - w] + s->price[g];
                taken[k] = true;
            }
    }
    s->work_left -= (int64_t)n * size;
    for (int32_t g = n - 1, k = size; g >= 0; g--)
        if (s->weight[g] >= 0 && s->taken[(size_t)g * (size_t)(GRID_MAX + 1) + (size_t)k]) {
            s->covered[g] += s->n_devices[class];
            k -= s->weight[g];
        }
    return s->value[size];
}

// The price of all groups that the devices cannot hold; above 0 the load is refuted.
static int64_t surplus(struct pack *s, int64_t load) {
    int64_t sum = 0;
    memset(s->covered, 0, (size_t)s->p->n_groups * sizeof *s->covered);
    for (int32_t g = 0; g < s->p->n_groups; g++)
        sum += s->price[g];
    for (int32_t c = 0; c < s->n_classes; c++)
        sum -= s->n_devices[c] * knapsack(s, c, load);
    return sum;
}

// Prices by a dual feasible function of the time on the fastest device: the share of the load,
// rounded to multiples of 1 / k unless it is a multiple of 1 / (k + 1). With k = 0 the share
// itself.
static void set_prices(struct pack *s, int32_t k, int64_t load) {
    for (int32_t g = 0; g < s->p->n_groups; g++) {
        int64_t cost = s->fastest[g] < load ? s->fastest[g] : load;
        __int128 part = (__int128)cost * (k + 1);
        if (k == 0 || part % load == 0)
            s->price[g] = (int64_t)((__int128)cost * PRICE_UNIT / load);
        else
            s->price[g] = (int64_t)(part / load) * PRICE_UNIT / k;
    }
}

// Groups in too few knapsacks become more expensive, those in too many cheaper.
static void move_prices(struct pack *s, int64_t missing) {
    double norm = 0;
    for (int32_t g = 0; g < s->p->n_groups; g++)
        norm += (double)(1 - s->covered[g]) * (1 - s->covered[g]);
    for (int32_t g = 0; g < s->p->n_groups && norm > 0; g++) {
        double step = (double)missing / norm * (1 - s->covered[g]);
        double next = (double)s->price[g] + step;
        s->price[g] = next <= 0 ? 0 : next < 8.0 * PRICE_UNIT ? (int64_t)next : 8 * PRICE_UNIT;
    }
}

// Whether it is proven that no strategy has this load or less.
static bool is_refuted(struct pack *s, int64_t load) {
    int64_t best = INT64_MIN;
    int32_t best_k = 0;
    if (load <= 0)
        return false;
    for (int32_t k = 0; k <= MAX_FUNCTIONS && s->work_left > 0; k++) {
        set_prices(s, k, load);
        int64_t left = surplus(s, load);
        if (left > 0)
            return true;
        if (left > best) {
            best = left;
            best_k = k;
        }
    }
    set_prices(s, best_k, load);
    for (int32_t k = 0; k < MAX_STEPS && s->work_left > 0; k++) {
        int64_t left = surplus(s, load);
        if (left > 0)
            return true;
        move_prices(s, PRICE_UNIT / 20 - left);
    }
    return false;
}

static bool make(struct pack *s) {
    const struct placement *p = s->p;
    int32_t n = p->n_groups;
    s->grid = GRID_PER_GROUP * (n / p->n_devices + 1);
    s->grid = s->grid < GRID_MIN ? GRID_MIN : s->grid > GRID_MAX ? GRID_MAX : s->grid;
    s->work_left = WORK;
    s->price = ARENA_ARRAY(s->arena, int64_t, n);
    s->weight = ARENA_ARRAY(s->arena, int32_t, n);
    s->covered = ARENA_ARRAY(s->arena, int32_t, n);
    s->value = ARENA_ARRAY(s->arena, int64_t, GRID_MAX + 1);
    s->taken = ARENA_ARRAY(s->arena, bool, (size_t)n *(GRID_MAX + 1));
    return s->price && s->weight && s->covered && s->value && s->taken && make_classes(s);
}

bool place_bound_pack(const struct placement *p, struct mem *mem, int64_t *bound) {
    assert(p->n_devices > 0 && p->n_groups > 0);
    struct arena a = arena_make(mem);
    struct pack s = {.p = p, .arena = &a};
    if (p->n_groups > MAX_GROUPS || p->n_devices < 2)
        return true;
    bool ok = make(&s);
    // No load of `low` is refuted yet; of `high`, none will be.
    int64_t low = *bound, high = *bound * 2;
    for (int32_t k = 0; ok && k < MAX_HALVINGS && low < high && s.work_left > 0; k++) {
        // Small steps first: a bound far above the mean is rare.
        int64_t mid = k == 0 ? low : low + (high - low) / (k < 4 ? 8 : 2);
        int32_t small = s.grid;
        if (mid < s.grid)
            s.grid = mid > 0 ? (int32_t)mid : 1; // then the grid is exact
        if (is_refuted(&s, mid))
            low = mid + 1;
        else
            high = mid;
        s.grid = small;
    }
    *bound = low > *bound ? low : *bound;
    arena_free(&a);
    return ok;
}
