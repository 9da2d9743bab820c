// Verification of a plan: see verify_plan.h. Stages: make the baseline step; prove by value
// numbering that the outputs are the same, which also gives types to all values of the plan;
// compute sizes, liveness and the peak on the runtime; compare them with the claims of the plan.
#include "frontend/tools/verify_plan.h"

#include <string.h>

#include "ir/base/quantity.h"
#include "ir/check/device_peaks.h"
#include "ir/check/equivalence.h"
#include "ir/devices.h"
#include "ir/keys.h"
#include "ir/runtime/runtime.h"
#include "passes/layout/layout.h"
#include "passes/plan/step.h"

// Nodes with small tensors may run in any order: they may change the peak by a hundredth, plus a
// constant for models whose tensors are as small as the shapes of control nodes.
#define LOOSE_SHARE 100
#define LOOSE_BYTES 65536

// A claim of the plan, a number in its metadata; -1: none.
static status read_claim(const struct model *plan, const char *key, struct diags *d, int64_t *out) {
    const char *text = pairs_get(&plan->metadata, key);
    *out = -1;
    if (!text || quantity_parse_bytes(text, out))
        return ST_OK;
    return diag_error(d, DIAG_MALFORMED, loc_file(plan->path), "%s is \"%s\", not a number", key,
                      text);
}

static status compare(const struct model *plan, const char *key, int64_t found, struct diags *d) {
    int64_t claimed;
    status st = read_claim(plan, key, d, &claimed);
    if (st || claimed < 0 || claimed == found)
        return st;
    return diag_error(d, DIAG_VERIFY, loc_file(plan->path),
                      "the plan claims %s = %lld, but it is %lld", key, (long long)claimed,
                      (long long)found);
}

static status check_order(const struct model *plan, struct arena *a, struct diags *d,
                          struct verified *v) {
    struct storage s;
    struct liveness l;
    const struct graph *g = plan->graph;
    status st = storage_of(g, a, d, &s);
    if (!st)
        st = liveness_of(g, &s, (struct node_list){g->order.at, g->order.n}, a, d, &l);
    if (!st)
        st = forced_order(g, &s, a, d, &v->forced);
    if (st)
        return st;
    v->persistent_bytes = s.persistent_bytes;
    v->liveness_bytes = l.peak_bytes;
    int64_t allowed = (l.peak_bytes - s.persistent_bytes) / LOOSE_SHARE + LOOSE_BYTES;
    if (strcmp(v->runtime, "ort") != 0 || v->forced.loose_bytes <= allowed)
        return ST_OK;
    const char *before = node_path(g, v->forced.before, a);
    return diag_error(d, DIAG_VERIFY, loc_path(plan->path, node_path(g, v->forced.after, a)),
                      "no dependency makes this node run after %s, which matters for tensors of "
                      "%lld bytes: the order of the plan is not enforced",
                      before, (long long)v->forced.light_bytes);
}

static status check_peak(const struct model *plan, struct arena *a, struct diags *d,
                         struct verified *v) {
    struct runtime_report r;
    enum runtime how;
    if (!runtime_find(v->runtime, &how))
        return diag_error(d, DIAG_MALFORMED, loc_file(plan->path),
                          "the plan is for runtime \"%s\", which mfc does not know", v->runtime);
    status st = runtime_peak(plan, how, a, d, &r);
    if (!st)
        st = read_claim(plan, KEY_BUDGET, d, &v->budget_bytes);
    if (st)
        return st;
    v->peak_bytes = r.peak_bytes;
    if (v->budget_bytes >= 0 && v->peak_bytes > v->budget_bytes) {
        struct str top = str_make(a);
        runtime_print_top(&top, plan, &r);
        st =
            diag_error(d, DIAG_VERIFY, loc_path(plan->path, node_path(plan->graph, r.peak_node, a)),
                       "the peak of %lld bytes exceeds the budget of %lld that the plan claims; "
                       "the largest tensors at the peak: %s",
                       (long long)v->peak_bytes, (long long)v->budget_bytes, str_text(&top));
    }
    status first = compare(plan, KEY_PEAK, v->peak_bytes, d);
    const struct {
        const char *key;
        int64_t found;
    } more[] = {{KEY_PLAIN_PEAK, r.plain_peak_bytes},
                {KEY_FUSED_PEAK, r.fused_peak_bytes},
                {KEY_LIVENESS, v->liveness_bytes}};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        status also = compare(plan, more[i].key, more[i].found, d);
        first = first ? first : also;
    }
    return st ? st : first;
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
                           struct verified *v) {
    const struct graph *g = plan->graph;
    int64_t *offset = ARENA_ARRAY(a, int64_t, g->values.n);
    status st = read_claim(plan, KEY_ARENA, d, &v->arena_bytes);
    if (st || v->arena_bytes < 0)
        return st;
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
    struct layout_claim claimed = {.offset = offset, .arena_bytes = v->arena_bytes, .alignment = 1};
    return layout_check(g, &claimed, d);
}

// A placed plan claims that each device's peak is within its memory.
static status check_devices(struct model *plan, struct arena *a, struct arena *kept,
                            struct diags *d, struct verified *v) {
    if (!pairs_get(&plan->metadata, KEY_DEVICE_MEMORY))
        return ST_OK;
    size_t n = plan->device_names.n;
    int64_t *has = ARENA_ARRAY(a, int64_t, n), *holds = ARENA_ARRAY(a, int64_t, n);
    v->devices = ARENA_ARRAY(kept, struct verified_device, n);
    if (!has || !holds || !v->devices)
        return diag_out_of_memory(d);
    if (!devices_memory(plan, has))
        return diag_error(d, DIAG_MALFORMED, loc_file(plan->path),
                          "%s is not one number for each device", KEY_DEVICE_MEMORY);
    status st = device_peaks(plan->graph, a, d, holds);
    for (size_t i = 0; i < n && (!st || st == ST_VERIFY); i++) {
        const char *name = plan->device_names.at[i];
        v->devices[v->n_devices++] = (struct verified_device){name, holds[i], has[i]};
        if (holds[i] > has[i])
            st = diag_error(d, DIAG_VERIFY, loc_file(plan->path),
                            "the peak of device %s is %lld bytes, but its memory is %lld", name,
                            (long long)holds[i], (long long)has[i]);
    }
    return st;
}

status verify_plan(struct model *model, struct model *plan, struct pass_context *c,
                   struct verified *out) {
    struct arena scratch = arena_make(c->arena->mem);
    const char *runtime = pairs_get(&plan->metadata, KEY_RUNTIME);
    *out = (struct verified){.n_nodes = plan->graph->order.n,
                             .n_outputs = plan->graph->outputs.n,
                             .runtime = runtime ? runtime : "file-order",
                             .budget_bytes = -1,
                             .arena_bytes = -1};
    status st = step_make(model, c);
    if (!st) {
        out->n_step = model->graph->order.n;
        st = equivalence_check_types(model, plan, c->diags);
    }
    if (!st) {
        plan->facts |= FACT_SHAPES;
        st = pass_run_all(PASS_PIPELINE(&pass_costs), plan, c); // for the workspace of kernels
    }
    if (!st)
        st = devices_from_metadata(plan, c->diags);
    if (!st) {
        st = check_order(plan, &scratch, c->diags, out);
        status peak = st && st != ST_VERIFY ? st : check_peak(plan, &scratch, c->diags, out);
        st = st ? st : peak;
        status places = st && st != ST_VERIFY ? st : check_layout(plan, &scratch, c->diags, out);
        st = st ? st : places;
        status devices =
            st && st != ST_VERIFY ? st : check_devices(plan, &scratch, c->arena, c->diags, out);
        st = st ? st : devices;
    }
    arena_free(&scratch);
    return st;
}
