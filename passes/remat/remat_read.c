// A schedule from a file: see remat.h. Stages: map names to units; then walk the order and check
// that everything a unit reads has run, that nothing runs twice that must not, and that every unit
// runs. Views and constants may be listed or not: they are added where they are needed.
#include "passes/remat/remat.h"

#include <assert.h>
#include <stdarg.h>

#include "ir/base/map.h"
#include "ir/json/json.h"

#define MAX_REPORTED 5

struct reading {
    const struct graph *g;
    const struct remat *r;
    const char *path;
    struct diags *d;
    struct arena *scratch;
    struct map by_name; // node name -> node
    uint32_t *unit_of;  // per node: its unit + 1; 0: it is none
    bool *ran;          // per unit
    size_t n_wrong;
};

static const char *name_of(const struct reading *x, uint32_t unit) {
    return node_called(x->g, x->r->units.unit[unit].node);
}

// Counts all defects, reports the first few.
__attribute__((format(printf, 2, 3))) static void wrong(struct reading *x, const char *format,
                                                        ...) {
    if (x->n_wrong++ >= MAX_REPORTED)
        return;
    va_list args;
    va_start(args, format);
    diag_errorv(x->d, DIAG_MALFORMED, loc_file(x->path), format, args);
    va_end(args);
}

static bool open_reading(struct reading *x) {
    struct arena *a = x->scratch;
    const struct graph *g = x->g;
    x->by_name = map_make(a);
    x->unit_of = ARENA_ARRAY(a, uint32_t, g->nodes.n);
    x->ran = ARENA_ARRAY(a, bool, x->r->units.n);
    bool ok = x->unit_of && x->ran;
    for (size_t i = 0; i < g->order.n && ok; i++)
        ok = map_put_text(&x->by_name, node_called(g, g->order.at[i]), g->order.at[i].i);
    for (uint32_t u = 0; u < x->r->units.n && ok; u++)
        x->unit_of[x->r->units.unit[u].node.i] = u + 1;
    return ok;
}

static void check_run(struct reading *x, size_t entry, uint32_t unit) {
    const struct remat_units *u = &x->r->units;
    if (u->unit[unit].once && x->ran[unit])
        wrong(x,
              "entry %zu: %s cannot be recomputed: its result is random, or it has subgraphs, or "
              "--keep names it",
              entry, name_of(x, unit));
    for (uint32_t k = 0; k < u->unit[unit].n_reads; k++) {
        uint32_t from = u->product.at[u->read.at[u->unit[unit].reads + k]].unit;
        if (!x->ran[from])
            wrong(x, "entry %zu: %s runs before %s, which it reads", entry, name_of(x, unit),
                  name_of(x, from));
    }
    x->ran[unit] = true;
}

// One step for each entry that is a unit.
static void read_order(struct reading *x, const json_t *order, struct steps *out) {
    for (size_t i = 0; i < json_array_size(order); i++) {
        const char *name = json_string_value(json_array_get(order, i));
        int64_t node;
        if (!name)
            wrong(x, "entry %zu of the order is not a name", i);
        else if (!map_get_text(&x->by_name, name, &node))
            wrong(x, "entry %zu: the step has no node \"%.100s\"", i, name);
        else if (x->unit_of[node]) {
            uint32_t unit = x->unit_of[node] - 1;
            check_run(x, i, unit);
            out->at[out->n++] =
                (struct step){STEP_COMPUTE, (int32_t)x->r->clusters.cluster_of[unit]};
        }
    }
    for (uint32_t u = 0; u < x->r->units.n; u++)
        if (!x->ran[u])
            wrong(x, "%s never runs", name_of(x, u));
    if (x->n_wrong > MAX_REPORTED)
        diag_error(x->d, DIAG_MALFORMED, loc_file(x->path), "and %zu more errors",
                   x->n_wrong - MAX_REPORTED);
}

static status read_plan(struct reading *x, const json_t *root, struct arena *a, struct steps *out) {
    const json_t *order = json_object_get(root, "order");
    status st = json_check_format(x->d, x->path, root, "mfc-plan");
    if (st)
        return st;
    size_t n = json_array_size(order);
    if (!json_is_array(order) || n > INT32_MAX)
        return diag_error(x->d, DIAG_MALFORMED, loc_file(x->path), "there is no list \"order\"");
    *out = (struct steps){ARENA_ARRAY(a, struct step, n), 0};
    if (!out->at || !open_reading(x))
        return diag_out_of_memory(x->d);
    read_order(x, order, out);
    return x->n_wrong ? ST_MALFORMED : ST_OK;
}

status remat_read(const struct graph *g, const struct remat *r, const char *path, struct arena *a,
                  struct diags *d, struct steps *out) {
    assert(r->clusters.n == r->units.n); // a fine problem
    struct arena scratch = arena_make(a->mem);
    struct reading x = {.g = g, .r = r, .path = path, .d = d, .scratch = &scratch};
    struct source *source = NULL;
    json_t *root = NULL;
    for (uint32_t u = 0; u < r->units.n; u++)
        if (r->units.unit[u].second)
            return diag_error(d, DIAG_USAGE, loc_none(),
                              "--plan-in and --recompute exclude each other");
    status st = source_open(&scratch, d, path, &source);
    if (!st)
        st = json_read(&scratch, d, source, &root);
    source_close(source);
    if (!st)
        st = read_plan(&x, root, a, out);
    json_decref(root);
    arena_free(&scratch);
    return st;
}
