// Verification of a plan: see verify_plan.h. Stages: make the baseline step; prove by value
// numbering that the outputs are the same, which also gives types to all values of the plan;
// compute sizes, liveness and the peak on the runtime; compare them with the claims of the plan.
#include "frontend/tools/verify_plan.h"

#include <string.h>

#include "frontend/tools/verify_form.h"
#include "ir/base/quantity.h"
#include "ir/check/equivalence.h"
#include "ir/devices.h"
#include "ir/keys.h"
#include "ir/runtime/runtime.h"
#include "passes/layout/layout.h"
#include "passes/plan/plan.h"
#include "passes/plan/step.h"

// Nodes with small tensors may run in any order: they may change the peak by a hundredth, plus a
// constant for models whose tensors are as small as the shapes of control nodes.
#define LOOSE_SHARE 100
#define LOOSE_BYTES 65536

// By which the costs of a plan may exceed what it claims: copies that keep values for
// recomputation.
#define COST_SHARE 100

static status check_order(const struct model *plan, struct arena *a, struct diags *d,
                          struct verified *v) {
    struct storage s;
    const struct graph *g = plan->graph;
    const struct plan_facts *f = &v->facts;
    status st = storage_of(g, a, d, &s);
    if (!st)
        st = forced_order(g, &s, a, d, &v->forced);
    if (st)
        return st;
    int64_t allowed = (f->liveness_bytes - f->persistent_bytes) / LOOSE_SHARE + LOOSE_BYTES;
    enum runtime runtime; // plan_figures knows it
    if (!runtime_find(f->runtime, &runtime) || !runtime_is_ort(runtime) ||
        v->forced.loose_bytes <= allowed)
        return ST_OK;
    const char *before = node_path(g, v->forced.before, a);
    return diag_error(d, DIAG_VERIFY, loc_path(plan->path, node_path(g, v->forced.after, a)),
                      "no dependency makes this node run after %s, which matters for tensors of "
                      "%lld bytes: the order of the plan is not enforced",
                      before, (long long)v->forced.light_bytes);
}

static status check_budget(const struct model *plan, struct arena *a, struct diags *d,
                           const struct plan_facts *f) {
    if (!plan_facts_is_known(f->budget_bytes) || f->peak_bytes <= f->budget_bytes)
        return ST_OK;
    return diag_error(d, DIAG_VERIFY, loc_path(plan->path, node_path(plan->graph, f->peak_node, a)),
                      "the peak of %lld bytes exceeds the budget of %lld that the plan claims; "
                      "the largest tensors at the peak: %s",
                      (long long)f->peak_bytes, (long long)f->budget_bytes, f->top);
}

static status check_costs(const struct model *plan, struct diags *d, const struct plan_facts *f) {
    if (plan_facts_is_known(f->bound) && plan_facts_is_known(f->cost) && f->bound > f->cost)
        return diag_error(d, DIAG_VERIFY, loc_file(plan->path),
                          "the plan claims a cost of %lld, below its lower bound %lld",
                          (long long)f->cost, (long long)f->bound);
    return ST_OK;
}

// The loss of the step that the model gives. A plan of an older mfc does not record it.
static status check_loss(const struct model *model, const struct model *plan, struct diags *d,
                         struct verified *v) {
    const char *found = pairs_get(&model->metadata, KEY_LOSS),
               *claimed = pairs_get(&plan->metadata, KEY_LOSS);
    v->loss = claimed;
    if (!claimed || (found && strcmp(found, claimed) == 0))
        return ST_OK;
    return diag_error(d, DIAG_VERIFY, loc_file(plan->path),
                      "the plan claims the loss %s, but its step has %s", claimed,
                      found ? found : "none");
}

// Parses the addresses of a node's outputs, such as "0,,4096".
static bool read_offsets(const struct node *n, const char *text, int64_t *offset) {
    for (uint32_t k = 0; k < n->n_out; k++) {
        size_t length = strcspn(text, ",");
        char number[24] = {0};
        if (length >= sizeof number)
            return false;
        memcpy(number, text, length);
        if (length && !quantity_parse_bytes(number, &offset[n->out[k].i]))
            return false;
        text += length + (text[length] != 0);
    }
    return !*text;
}

// A plan with an arena has an address for every tensor that it computes.
static status check_layout(const struct model *plan, struct arena *a, struct diags *d,
                           const struct plan_facts *f) {
    const struct graph *g = plan->graph;
    if (!plan_facts_is_known(f->arena_bytes))
        return ST_OK;
    int64_t *offset = ARENA_ARRAY(a, int64_t, g->values.n);
    if (!offset)
        return diag_out_of_memory(d);
    for (size_t i = 0; i < g->values.n; i++)
        offset[i] = -1;
    for (size_t i = 0; i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        const char *text = pairs_get(&n->metadata, KEY_OFFSET);
        if (text && !read_offsets(n, text, offset))
            return diag_error(d, DIAG_MALFORMED,
                              loc_path(plan->path, node_path(g, g->order.at[i], a)),
                              "%s is \"%s\", not one number for each output", KEY_OFFSET, text);
    }
    offset[0] = -1;
    struct layout_claim claimed = {.offset = offset, .arena_bytes = f->arena_bytes, .alignment = 1};
    return layout_check(g, &claimed, d);
}

// A placed plan claims that each device's peak is within its memory.
static status check_devices(const struct model *plan, struct diags *d, const struct plan_facts *f) {
    status st = ST_OK;
    for (size_t i = 0; i < f->n_devices; i++)
        if (f->devices[i].peak_bytes > f->devices[i].memory_bytes)
            st = diag_error(d, DIAG_VERIFY, loc_file(plan->path),
                            "the peak of device %s is %lld bytes, but its memory is %lld",
                            f->devices[i].name, (long long)f->devices[i].peak_bytes,
                            (long long)f->devices[i].memory_bytes);
    return st;
}

// The plan has all types: every claim about it.
static status check_claims(struct verified *v, const struct plan_facts *claimed,
                           const struct model *plan, struct pass_context *c, struct arena *a) {
    const struct plan_facts *f = &v->facts;
    struct diags *d = c->diags;
    status st = check_order(plan, a, d, v);
    if (st && st != ST_VERIFY)
        return st;
    status more[] = {check_budget(plan, a, d, f), plan_facts_compare(plan, claimed, f, d),
                     check_costs(plan, d, f), check_layout(plan, a, d, f),
                     check_devices(plan, d, f)};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        st = st ? st : more[i];
    return st;
}

// The step, without notes: its maker has seen them.
static status make_step(struct model *model, struct pass_context *c) {
    struct diags quiet = diags_make(c->arena);
    struct pass_context one = *c;
    one.diags = &quiet;
    status st = step_make_costed(model, &one); // costs: for the workspace of kernels
    if (st)
        diags_take(c->diags, &quiet);
    return st;
}

// What only the maker of the plan can know: the bound needs a search, the makespan a simulation,
// and the costs may depend on files that are not at hand.
static void take_claims(struct verified *v, const struct plan_facts *claimed) {
    v->costs_are_found =
        v->cost_model && claimed->cost_model && strcmp(v->cost_model, claimed->cost_model) == 0;
    if (!v->costs_are_found)
        v->facts.base_cost = claimed->base_cost;
    // A plan loses dead outputs, such as the indices of MaxPool, and gains small copies.
    int64_t cost = claimed->cost, most = 0;
    if (cost >= 0 && cost < INT64_MAX / 2) // no claim is far below 0
        most = cost + cost / COST_SHARE;
    if (!v->costs_are_found || !plan_facts_is_known(cost) || most >= v->facts.cost)
        v->facts.cost = cost;
    v->facts.bound = claimed->bound;
    v->facts.makespan_cost = claimed->makespan_cost;
    v->facts.cost_model = claimed->cost_model;
}

status verify_plan(struct model *model, struct model *plan, struct pass_context *c,
                   struct verified *out) {
    struct arena scratch = arena_make(c->arena->mem);
    struct plan_facts claimed = plan_facts_none();
    *out = (struct verified){.division = pairs_get(&plan->metadata, KEY_DIVISION),
                             .cost_model = out->cost_model};
    status st = plan_facts_read(plan, &claimed, c->diags);
    out->facts = plan_facts_none();
    out->facts.planned = true;
    out->facts.runtime = claimed.runtime ? claimed.runtime : "file-order";
    out->facts.session_is_apart = claimed.session_is_apart;
    out->facts.budget_bytes = claimed.budget_bytes;
    if (!st)
        st = make_step(model, c);
    if (!st)
        st = check_loss(model, plan, c->diags, out);
    if (!st)
        st = verify_form(model, plan, c->diags);
    if (!st)
        st = equivalence_check_types(model, plan, c->diags, &out->outputs);
    if (!st) {
        plan->facts |= FACT_SHAPES;
        st = pass_run_all(PASS_PIPELINE(&pass_costs), plan, c);
    }
    if (!st)
        st = devices_from_metadata(plan, c->diags);
    if (!st)
        st = plan_figures(model, plan, c, &out->facts);
    take_claims(out, &claimed);
    if (!st)
        st = check_claims(out, &claimed, plan, c, &scratch);
    arena_free(&scratch);
    return st;
}
