// Plans for several devices: see plan_place.h.
#include "frontend/plan_place.h"

#include "frontend/plan.h"
#include "frontend/step.h"
#include "ir/copy.h"
#include "ir/devices.h"
#include "ir/keys.h"
#include "ir/same.h"
#include "passes/place_problem.h"
#include "solver/settings.h"
#include "solver/strategy_report.h"

status plan_placement_make(struct model *m, const char *rig, struct pass_context *c,
                           struct plan_placement *out) {
    status st = rig_read(c->arena, c->diags, rig, &out->rig);
    if (!st)
        st = remat_make(m->graph, c, false, &out->remat);
    if (!st)
        st =
            place_problem(m->graph, &out->remat, &out->rig.places, out->rig.cost, c, &out->problem);
    return st;
}

static status no_plan(const struct plan_placed *p, struct pass_context *c) {
    struct str text = str_make(c->arena);
    str_add_bytes(&text, p->result.least_excess_bytes);
    return diag_error(c->diags, DIAG_NO_PLAN, loc_none(),
                      "found no plan that fits the memory of all devices: the nearest one was over "
                      "by %s in all; give them more memory, or the search more --time",
                      str_text(&text));
}

// In a file, what is computed again is known by its role.
static status label(struct model *m, struct diags *d) {
    struct graph *g = m->graph;
    for (size_t i = 0; i < g->order.n; i++) {
        struct node *n = graph_node(g, g->order.at[i]);
        if (n->again.i &&
            (!pairs_set(&n->metadata, m->arena, KEY_ROLE, "recomputed") ||
             !pairs_set(&n->metadata, m->arena, KEY_ORIGIN, node_called(g, n->again))))
            return diag_no_room(d);
    }
    return ST_OK;
}

static status apply(struct model *m, struct pass_context *c, struct plan_placed *p) {
    const struct placement *problem = &p->placement.problem;
    uint32_t *device = ARENA_ARRAY(c->arena, uint32_t, problem->n_places);
    struct remat_result result;
    status st = device ? ST_OK : diag_no_room(c->diags);
    m->device_names.n = 0;
    for (int32_t k = 0; k < problem->n_places && !st; k++)
        if (!(device[k] = devices_add(m, problem->place[k].name)))
            st = diag_no_room(c->diags);
    if (!st)
        st = remat_place(m->graph, &p->placement.remat, &p->result.best, device,
                         (size_t)problem->n_places, c->arena, c->diags, &result);
    p->n_again = st ? 0 : result.n_again;
    if (!st)
        st = label(m, c->diags);
    int64_t *memory = ARENA_ARRAY(c->arena, int64_t, problem->n_places);
    if (!st && !memory)
        st = diag_no_room(c->diags);
    for (int32_t k = 0; k < problem->n_places && !st; k++)
        memory[k] = problem->place[k].memory_bytes;
    if (!st)
        st = devices_to_metadata(m, c->diags);
    if (!st)
        st = devices_set_memory(m, memory, c->diags);
    return st ? st : place_times(m->graph, problem, p->placement.rig.cost, c);
}

// By code that shares nothing with the search: what is computed, and what each device holds.
static status check(struct model *m, struct pass_context *c, struct plan_placed *p) {
    const struct placement *problem = &p->placement.problem;
    status st = same_check(p->step, m, c->diags);
    p->peak_bytes = ARENA_ARRAY(c->arena, int64_t, problem->n_places);
    if (!st)
        st = p->peak_bytes ? devices_peaks(m->graph, c->arena, c->diags, p->peak_bytes)
                           : diag_no_room(c->diags);
    for (int32_t k = 0; k < problem->n_places && !st; k++)
        if (p->peak_bytes[k] > problem->place[k].memory_bytes)
            st = diag_error(c->diags, DIAG_VERIFY, loc_none(),
                            "the plan needs %lld bytes on %s, which has %lld: a defect of mfc",
                            (long long)p->peak_bytes[k], problem->place[k].name,
                            (long long)problem->place[k].memory_bytes);
    return st;
}

static status prepare(struct model *m, struct pass_context *c) {
    status st = plan_run(m, step_passes(), c);
    if (!st)
        st = plan_run(m, "names,costs", c);
    return st ? st : step_record(m, c->options, c->diags);
}

status plan_place(struct model *m, struct pass_context *c, const struct plan_place_how *how,
                  struct plan_placed *out) {
    struct place_options o;
    *out = (struct plan_placed){0};
    status st = settings_read_place(c->options, c->arena, c->diags, &o);
    o.team = how->team;
    o.worker_path = c->worker_path;
    if (how->objective)
        o.objective = *how->objective;
    if (!st)
        st = prepare(m, c);
    if (!st)
        st = plan_placement_make(m, options_text(c->options, "rig"), c, &out->placement);
    if (!st)
        st = place(&out->placement.problem, &o, &how->hooks, c->arena, c->diags, &out->result);
    if (st == ST_NO_PLAN)
        return no_plan(out, c);
    if (!st && !(out->step = model_copy(m, c->arena)))
        st = diag_no_room(c->diags);
    if (!st)
        st = apply(m, c, out);
    return st ? st : check(m, c, out);
}

void plan_placed_print(struct str *out, const struct plan_placed *p) {
    const struct placement *problem = &p->placement.problem;
    strategy_report(out, problem, &p->result.best, &p->result.facts);
    str_addf(out, "computed again   %lld nodes\n", (long long)p->n_again);
    str_addf(out, "search           %lld proposals\n", (long long)p->result.n_proposals);
}
