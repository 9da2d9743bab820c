// Starting values of new parameters: see start_values.h. Normal numbers by the method of Box and
// Muller.
#include "passes/param/start_values.h"

#include <math.h>
#include <string.h>

#include "ir/base/digest.h"
#include "ir/base/limits.h"
#include "ir/base/rng.h"

struct start_values start_linear(int64_t n_inputs) {
    return (struct start_values){START_UNIFORM, 1 / sqrt((double)(n_inputs > 0 ? n_inputs : 1))};
}

static double draw(struct rng *r, struct start_values how) {
    if (how.kind == START_ZEROS)
        return 0;
    if (how.kind == START_UNIFORM)
        return (2 * rng_unit(r) - 1) * how.scale;
    double u = 1 - rng_unit(r), v = rng_unit(r);
    return sqrt(-2 * log(u)) * cos(2 * acos(-1.0) * v) * how.scale;
}

struct tensor *start_tensor(struct arena *a, const struct type *t, struct start_values how,
                            const char *name) {
    struct arena scratch = arena_make(a->mem);
    int64_t n, dims[LIMIT_RANK];
    double *x = type_elements(t, &n) ? ARENA_ARRAY(&scratch, double, n) : NULL;
    struct rng r = rng_make(digest_block(name, strlen(name), 0), 0);
    for (int64_t i = 0; x && i < n; i++)
        x[i] = draw(&r, how);
    for (int32_t i = 0; i < t->rank; i++)
        dims[i] = t->dims[i].size;
    struct tensor *out = x ? tensor_from_reals(a, t->elem, x, dims, t->rank) : NULL;
    arena_free(&scratch);
    return out;
}
