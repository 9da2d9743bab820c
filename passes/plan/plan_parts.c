// One device, when no plan without division fits the budget: the largest nodes of the step are
// divided into parts, which the plan executes one after the other (passes/shard). Along the batch
// these are micro-batches. The number of parts is halved until there is a plan. Each division is a
// step of its own, which is planned as any other; the check compares the plan with the undivided
// step (plan_check.c).
//
// Nodes whose operands and results are small stay whole, and so do sums over the batch whose result
// is larger than what is summed, such as the gradients of large fully connected layers: their parts
// would each be as large as the whole.
#include "passes/plan/plan_parts.h"

#include <string.h>

#include "ir/base/quantity.h"
#include "ir/copy.h"
#include "ir/keys.h"
#include "passes/shard/shard_options.h"

#define SMALL_PART 128 // a node below this part of the budget stays whole
#define TIME_SHARE 2   // of --time, for each division, after the end of the time too

static const struct {
    const char *name;
    enum shard_kind kind;
} dimensions[] = {{"sample", SHARD_BY_SAMPLE},
                  {"attribute", SHARD_BY_ATTRIBUTE},
                  {"parameter", SHARD_BY_PARAMETER}};

enum { N_DIMENSIONS = sizeof dimensions / sizeof *dimensions };

struct dividing {
    struct model *m;
    struct pass_context *c;
    const struct plan_watch *watch;
    struct plan_facts *out;
    int64_t budget_bytes;
    struct shard_samples samples;
    struct str tried; // for the message
    bool all_proven;
};

bool plan_parts_are_allowed(const struct options *o) {
    return options_given(o, "budget") && !options_flag(o, "no-shard") &&
           !options_given(o, "plan-in");
}

static int64_t bytes_of(const struct graph *g, const value_id *at, uint32_t n) {
    int64_t sum = 0, one;
    for (uint32_t k = 0; k < n; k++)
        if (at[k].i && type_bytes(graph_value(g, at[k])->type, &one) && sum < INT64_MAX / 4 &&
            one < INT64_MAX / 4)
            sum += one;
    return sum;
}

// How many parts a node may have; 0: it stays whole.
static int64_t extent_of(struct dividing *x, node_id id, enum shard_kind kind, struct arena *a,
                         status *st) {
    const struct graph *g = x->m->graph;
    const struct node *n = graph_node(g, id);
    struct shard_rule r;
    int64_t operands = bytes_of(g, n->in, n->n_in), results = bytes_of(g, n->out, n->n_out), per;
    if (operands + results + n->workspace_bytes < x->budget_bytes / SMALL_PART)
        return 0;
    *st = shard_rule_of(x->m->graph, id, a, x->c->diags, &r);
    int64_t extent = *st ? 0 : shard_extent(&x->samples, &r, kind);
    uint32_t label =
        kind == SHARD_BY_SAMPLE && extent ? shard_sample_label(&x->samples, &r, &per) : 0;
    bool is_sum =
        label && r.label[label].join != SHARD_CONCAT && r.label[label].join != SHARD_MOMENTS;
    return is_sum && results >= operands ? 0 : extent;
}

// One request for each node that is divided; *n_divided of them. *max_extent: the most parts that
// one of them can have.
static status ask(struct dividing *x, enum shard_kind kind, uint32_t ways,
                  struct shard_request *request, int64_t *max_extent) {
    struct graph *g = x->m->graph;
    status st = ST_OK;
    *max_extent = 0;
    for (size_t i = 0; i < g->order.n && !st; i++) {
        struct arena scratch = arena_make(x->c->arena->mem);
        int64_t extent = extent_of(x, g->order.at[i], kind, &scratch, &st);
        arena_free(&scratch);
        *max_extent = extent > *max_extent ? extent : *max_extent;
        request[g->order.at[i].i] =
            (struct shard_request){.kind = kind, .ways = extent >= ways ? ways : 0, .region = 1};
    }
    return st;
}

static status record(struct model *m, struct dividing *x, const char *dimension, uint32_t ways) {
    struct str text = str_make(x->c->arena);
    str_addf(&text, "%s in %u", dimension, ways);
    const char *kept = text.failed ? NULL : pool_intern(m->pool, str_text(&text));
    return kept && pairs_set(&m->metadata, m->arena, KEY_DIVISION, kept)
               ? ST_OK
               : diag_out_of_memory(x->c->diags);
}

// What came of one division without a plan.
static void note(struct dividing *x, const char *dimension, uint32_t ways,
                 const struct planning *k) {
    str_addf(&x->tried, "%s%u parts along %s ", x->tried.n ? ", " : "", ways, dimension);
    if (k->floor_bytes > x->budget_bytes)
        str_add(&x->tried, "need at least ");
    else
        str_add(&x->tried, "have no plan that was found, lower bound ");
    str_add_bytes(&x->tried, k->floor_bytes);
    x->all_proven &= k->floor_bytes > x->budget_bytes;
}

// Plans the step in one division. ST_OK: m is the plan. ST_NO_PLAN, ST_INFEASIBLE: it is unchanged.
static status try_division(struct dividing *x, const char *dimension, uint32_t ways,
                           const struct shard_request *request) {
    struct diags said = diags_make(x->c->arena);
    struct pass_context own = *x->c;
    struct plan_facts facts = *x->out;
    struct model *m = model_copy(x->m, x->m->arena);
    own.diags = &said;
    if (!m)
        return diag_out_of_memory(x->c->diags);
    pass_progress(x->c, "divide: %u parts along %s", ways, dimension);
    struct planning k = {.m = m,
                         .c = &own,
                         .watch = x->watch,
                         .out = &facts,
                         .budget_bytes = x->budget_bytes,
                         .counts_session = !x->out->session_is_apart,
                         .is_divided = true,
                         .is_hasty = true,
                         .time_share = 1.0 / TIME_SHARE};
    status st = shard_divide(m, request, &own);
    if (!st)
        st = pass_run_all(PASS_PIPELINE(&pass_names, &pass_costs), m, &own);
    if (!st)
        st = plan_one_device(&k);
    if (st == ST_NO_PLAN || st == ST_INFEASIBLE) {
        note(x, dimension, ways, &k);
        return st;
    }
    if (!st)
        st = record(m, x, dimension, ways);
    diags_take(x->c->diags, &said);
    if (!st) {
        *x->out = facts;
        model_replace(x->m, m);
    }
    return st;
}

static bool is_refused(status st) {
    return st == ST_NO_PLAN || st == ST_INFEASIBLE;
}

// In as many parts as there may be, then in half as many, and so on: smaller parts cost a little
// more, and recomputation that they save costs much more.
static status try_dimension(struct dividing *x, size_t dimension, struct shard_request *request) {
    int64_t extent, max_ways = options_int(x->c->options, "max-ways");
    enum shard_kind kind = dimensions[dimension].kind;
    status st = ask(x, kind, 2, request, &extent), tried = ST_NO_PLAN;
    for (int64_t ways = extent < max_ways ? extent : max_ways;
         !st && ways >= 2 && is_refused(tried); ways /= 2) {
        st = ask(x, kind, (uint32_t)ways, request, &extent);
        if (!st)
            tried = try_division(x, dimensions[dimension].name, (uint32_t)ways, request);
    }
    return st ? st : tried;
}

// The message about the undivided step, which the full search completes, and what the divisions
// need.
static status refuse(struct dividing *x, struct planning *k, const struct diags *undivided) {
    struct diags *d = x->c->diags, full = diags_make(x->c->arena);
    struct pass_context own = *x->c;
    if (k->floor_bytes > k->budget_bytes) {
        struct planning again = {.m = k->m, .c = &own, .watch = k->watch, .out = k->out};
        own.diags = &full;
        status searched = plan_one_device(&again);
        undivided = &full;
        if (!is_refused(searched)) {
            diags_take(d, &full);
            return searched;
        }
    }
    bool is_proven = undivided->worst == ST_INFEASIBLE && x->all_proven;
    status st = undivided->worst;
    if (!x->tried.n) {
        diags_take(d, undivided);
        return st;
    }
    for (size_t i = 0; i < undivided->list.n; i++) {
        const struct diag *one = &undivided->list.at[i];
        if (one->severity == DIAG_ERROR)
            st = diag_error(d, is_proven ? DIAG_INFEASIBLE : DIAG_NO_PLAN, loc_none(),
                            "%s; this is without division: %s", one->text, str_text(&x->tried));
        else
            diag_note(d, one->code, loc_none(), "%s", one->text);
    }
    return st;
}

status plan_parts(struct planning *k, const struct diags *undivided, struct pass_context *c) {
    struct dividing x = {.m = k->m,
                         .c = c,
                         .watch = k->watch,
                         .out = k->out,
                         .budget_bytes = k->budget_bytes,
                         .tried = str_make(c->arena),
                         .all_proven = true};
    int64_t base_cost = k->out->base_cost, baseline_bytes = k->out->baseline_bytes;
    struct model *step = model_copy(k->m, c->arena);
    struct shard_request *request =
        ARENA_ARRAY(c->arena, struct shard_request, k->m->graph->nodes.n);
    status st =
        step && request ? shard_check_dims(c->options, c->diags) : diag_out_of_memory(c->diags);
    if (!st)
        st = shard_samples_of(x.m->graph, c->arena, c->diags, &x.samples);
    if (st)
        return st;
    st = ST_NO_PLAN;
    for (size_t i = 0; i < N_DIMENSIONS && is_refused(st); i++)
        if (shard_dims_allow(c->options, dimensions[i].name))
            st = try_dimension(&x, i, request);
    if (is_refused(st))
        return refuse(&x, k, undivided);
    if (!st) { // what the plan is compared with
        k->out->step = step;
        k->out->base_cost = base_cost;
        k->out->baseline_bytes = baseline_bytes;
        k->out->bound = k->out->min_bytes = PLAN_FACTS_UNKNOWN;
        k->out->outcome = "feasible";
    }
    return st;
}
