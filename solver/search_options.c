// Settings of a search from options: see search_options.h.
#include "solver/search_options.h"

#include <string.h>

#include "ir/base/digest.h"
#include "ir/base/formula.h"
#include "ir/base/quantity.h"

static status bad_method(struct diags *d, const char *name) {
    struct arena scratch = arena_make(d->arena->mem);
    struct str known = str_make(&scratch);
    size_t n;
    const struct solve_method *m = solve_methods(&n);
    for (size_t i = 0; i < n; i++)
        str_addf(&known, "%s%s", i ? ", " : "", m[i].name);
    status st = diag_error(d, DIAG_USAGE, loc_none(), "there is no method \"%s\"; there are %s",
                           name, str_text(&known));
    arena_free(&scratch);
    return st;
}

double search_seconds(const struct options *o, double default_seconds) {
    if (options_given(o, "time"))
        return options_seconds(o, "time");
    // Work alone decides when it is given without a time: the result can then be repeated.
    return options_int(o, "work") > 0 ? 0 : default_seconds;
}

double search_default_seconds(int64_t n_nodes) {
    return 4 + (double)n_nodes / 250;
}

bool search_order_is_auto(const struct options *o) {
    return strcmp(options_text(o, "order"), "auto") == 0;
}

status search_options_read(const struct options *o, int64_t n_nodes, struct diags *d,
                           struct solve_options *out) {
    *out = solve_defaults();
    if (options_given(o, "method"))
        out->method = options_text(o, "method");
    if (!solve_method_find(out->method))
        return bad_method(d, out->method);
    if (!quantity_parse_share(options_text(o, "gap"), &out->gap))
        return diag_error(d, DIAG_USAGE, loc_none(), "--gap wants a share such as 0.1%%");
    out->free_order = strcmp(options_text(o, "order"), "free") == 0;
    out->work = options_int(o, "work");
    out->seconds = search_seconds(o, search_default_seconds(n_nodes));
    out->seed = (uint64_t)options_int(o, "seed");
    out->threads = (int32_t)options_int(o, "threads");
    return ST_OK;
}

static double formula_of(void *context, const struct mcmc_values *v) {
    return formula_value(
        context, (double[]){v->makespan, v->load, v->peak_bytes, v->moved_bytes, v->energy});
}

// "latency", "throughput", or a formula over what strategies are measured by.
static status read_objective(const struct options *o, struct arena *a, struct diags *d,
                             struct mcmc_objective *out) {
    static const char *const names[] = {"makespan", "load", "peak", "moved", "energy", NULL};
    const char *text = options_text(o, "objective");
    struct formula *f = NULL;
    *out = (struct mcmc_objective){.goal = MCMC_LATENCY};
    if (strcmp(text, "latency") == 0)
        return ST_OK;
    out->goal = MCMC_THROUGHPUT;
    if (strcmp(text, "throughput") == 0)
        return ST_OK;
    status st = formula_parse(
        (struct formula_text){text, names, DIAG_USAGE, loc_path(NULL, "--objective")}, a, d, &f);
    *out = (struct mcmc_objective){.goal = MCMC_CUSTOM,
                                   .value = formula_of,
                                   .context = f,
                                   .identity = digest_block(text, strlen(text), 0)};
    return st;
}

status search_options_read_place(const struct options *o, struct arena *a, struct diags *d,
                                 struct place_options *out) {
    *out = place_defaults();
    out->allowed.duplicates = !options_flag(o, "no-duplicates");
    out->allowed.recompute = !options_flag(o, "no-recompute");
    out->allowed.offload = !options_flag(o, "no-offload");
    out->work = options_int(o, "work");
    out->seconds = search_seconds(o, SEARCH_PLACEMENT_SECONDS);
    out->seed = (uint64_t)options_int(o, "seed");
    out->threads = (int32_t)options_int(o, "threads");
    return read_objective(o, a, d, &out->objective);
}
