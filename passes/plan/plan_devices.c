// Plans for several devices: see plan_devices.h.
#include "passes/plan/plan_devices.h"

#include <math.h>

#include "ir/copy.h"
#include "ir/devices.h"
#include "ir/keys.h"
#include "passes/plan/plan_divide.h"
#include "passes/plan/step.h"
#include "solver/search_options.h"

#define WHOLE_SHARE 0.25 // of the search is for the step as it is
#define MIN_SECONDS 0.1  // for a search that begins after the end of --time

status plan_placement_make(struct model *m, const struct rig *rig, struct pass_context *c,
                           struct plan_placement *out) {
    out->rig = rig;
    status st = remat_make(m->graph, c, false, &out->remat);
    return st ? st : placement_problem_make(m->graph, &out->remat, rig, NULL, c, &out->problem);
}

static status no_plan(const struct plan_placed *p, struct pass_context *c) {
    struct str text = str_make(c->arena);
    str_add_bytes(&text, p->result.min_excess_bytes);
    return diag_error(c->diags, DIAG_NO_PLAN, loc_none(),
                      "found no plan that fits the memory of all devices: the nearest one was over "
                      "by %s in all; give them more memory, or the search more --time",
                      str_text(&text));
}

// Recomputing nodes carry their role as metadata.
static status label(struct model *m, struct diags *d) {
    struct graph *g = m->graph;
    for (size_t i = 0; i < g->order.n; i++) {
        struct node *n = graph_node(g, g->order.at[i]);
        if (n->again.i &&
            (!pairs_set(&n->metadata, m->arena, KEY_ROLE, "recomputed") ||
             !pairs_set(&n->metadata, m->arena, KEY_ORIGIN, node_called(g, n->again))))
            return diag_out_of_memory(d);
    }
    return ST_OK;
}

static status set_memory(struct model *m, const struct placement *problem, struct pass_context *c) {
    int64_t *memory = ARENA_ARRAY(c->arena, int64_t, problem->n_places);
    if (!memory)
        return diag_out_of_memory(c->diags);
    for (int32_t k = 0; k < problem->n_places; k++)
        memory[k] = problem->place[k].memory_bytes;
    return devices_set_memory(m, memory, c->diags);
}

// The share of a part, without overflow.
static int64_t share_of(int64_t whole, int64_t part, int64_t sum) {
    return sum > 0 ? (int64_t)((double)whole * ((double)part / (double)sum)) : 0;
}

static int64_t sent_bytes(const struct graph *g, const struct node *n) {
    int64_t n_bytes = 0;
    const struct type *type = graph_value(g, n->out[0])->type;
    return type && type_bytes(type, &n_bytes) ? n_bytes : 0;
}

// When each node executes, as the strategy was simulated. The nodes of a task follow each other;
// the transfers of a task, which moves the results of a cluster, share its time by their sizes.
static status set_times(struct model *m, struct pass_context *c, const struct plan_placed *p,
                        const int32_t *task, int64_t *makespan) {
    const struct graph *g = m->graph;
    const struct strategy *tasks = &p->result.best;
    const struct strategy_facts *f = &p->result.facts;
    int64_t *now = ARENA_ARRAY(c->arena, int64_t, tasks->n);
    int64_t *sum = ARENA_ARRAY(c->arena, int64_t, tasks->n);
    int64_t *sent = ARENA_ARRAY(c->arena, int64_t, tasks->n);
    struct storage s;
    status st =
        now && sum && sent ? storage_of(g, c->arena, c->diags, &s) : diag_out_of_memory(c->diags);
    if (st)
        return st;
    for (int32_t k = 0; k < tasks->n; k++)
        now[k] = f->start[k];
    for (size_t i = 0; i < g->order.n; i++)
        if (task[i] >= 0 && tasks->at[task[i]].from != TASK_RUN)
            sum[task[i]] += sent_bytes(g, graph_node(g, g->order.at[i]));
    for (size_t i = 0; i < g->order.n; i++) {
        int32_t k = task[i];
        struct node *n = graph_node(g, g->order.at[i]);
        if (k < 0)
            continue;
        int64_t start = now[k];
        if (tasks->at[k].from != TASK_RUN) {
            sent[k] += sent_bytes(g, n);
            now[k] = f->start[k] + share_of(f->finish[k] - f->start[k], sent[k], sum[k]);
            n->cost = now[k] - start;
        } else if (n->cost > 0 && storage_is_executed(&s, n)) {
            now[k] += n->cost;
        }
        *makespan = now[k] > *makespan ? now[k] : *makespan;
        char *text = str_format(m->arena, "%lld %lld", (long long)start, (long long)now[k]);
        if (!text || !pairs_set(&n->metadata, m->arena, KEY_TIME, text))
            return diag_out_of_memory(c->diags);
    }
    return ST_OK;
}

static status apply(struct model *m, struct pass_context *c, const struct plan_placed *p,
                    struct plan_facts *out) {
    const struct placement *problem = &p->placement.problem;
    uint32_t *device = ARENA_ARRAY(c->arena, uint32_t, problem->n_places);
    struct remat_result result = {0};
    status st = device ? ST_OK : diag_out_of_memory(c->diags);
    m->device_names.n = 0;
    for (int32_t k = 0; k < problem->n_places && !st; k++)
        if (!(device[k] = devices_add(m, problem->place[k].name)))
            st = diag_out_of_memory(c->diags);
    if (!st)
        st = remat_apply_strategy(m->graph, &p->placement.remat,
                                  &(struct remat_strategy){.tasks = &p->result.best,
                                                           .device = device,
                                                           .n_places = (size_t)problem->n_places},
                                  c->arena, c->diags, &result);
    if (!st)
        st = label(m, c->diags);
    if (!st)
        st = devices_to_metadata(m, c->diags);
    if (!st)
        st = set_memory(m, problem, c);
    if (!st)
        st = placement_problem_set_times(m->graph, problem, p->placement.rig->cost, c);
    out->makespan_cost = 0;
    return st ? st : set_times(m, c, p, result.task, &out->makespan_cost);
}

// The time of the baseline step on the device that executes it fastest.
static int64_t fastest_cost(const struct placement *p) {
    int64_t best = INT64_MAX;
    for (int32_t k = 0; k < p->n_devices; k++) {
        int64_t sum = 0;
        for (int32_t i = 0; i < p->graph.n; i++)
            sum += p->cost[(int64_t)i * p->n_devices + k]; // fits: at most 2^40 each
        best = sum < best ? sum : best;
    }
    return best;
}

// What of the time and work of a search is left for a part of it.
static struct place_options share_of_search(const struct place_options *o, double share,
                                            int64_t end_ns) {
    struct place_options part = *o;
    if (end_ns != STOP_NEVER) // what the command has left
        part.seconds = fmax((double)(end_ns - stop_clock_ns()) * 1e-9 * share, MIN_SECONDS);
    if (o->work > 0)
        part.work = (int64_t)fmax((double)o->work * share, 1);
    return part;
}

// The step itself is divided; the plan records how.
static status carry_out(struct model *m, struct pass_context *c, struct plan_division *d,
                        struct plan_placed *p) {
    p->placement = d->placement;
    if (!d->shard) {
        diag_note(c->diags, DIAG_SHARD, loc_none(),
                  "the given parts are placed %s; before the search, %s", d->summary, d->others);
        return ST_OK;
    }
    struct diags quiet = diags_make(c->arena); // what stays whole is no news
    struct pass_context own = *c;
    own.options = &d->options;
    own.diags = &quiet;
    status st = pass_run_all(PASS_PIPELINE(&pass_shard, &pass_names, &pass_costs), m, &own);
    if (st)
        return diag_out_of_memory(c->diags); // the copy of the step was divided so before
    diag_note(c->diags, DIAG_SHARD, loc_none(), "the step is divided: %s; before the search, %s",
              d->summary, d->others);
    const char *others = pool_intern(m->pool, d->others);
    if (!others || !pairs_set(&m->metadata, m->arena, KEY_DIVISIONS, others))
        return diag_out_of_memory(c->diags);
    return step_record(m, &d->options, c->diags);
}

// The step as it is, and divided in the best way known: the better of both is searched further.
static status search(struct model *m, const struct rig *rig, struct pass_context *c,
                     const struct plan_devices_how *how, struct place_options *o,
                     struct plan_placed *p) {
    struct plan_division d = {0};
    int64_t end_ns = plan_end_ns(c, o->seconds);
    status st = plan_placement_make(m, rig, c, &p->placement);
    if (!st && !how->team)
        st = plan_divide(m, rig, c, &o->objective, end_ns, &d);
    if (st)
        return st;
    struct place_options part = share_of_search(o, d.is_found ? WHOLE_SHARE : 1, end_ns);
    st = place(&p->placement.problem, &part, &how->hooks, c->arena, c->diags, &p->result);
    if (!d.is_found || (st && st != ST_NO_PLAN))
        return st;
    double value = mcmc_value_of_facts(&o->objective, &d.placement.problem, &d.facts);
    bool is_better = d.facts.excess_bytes > 0 ? st == ST_NO_PLAN : st || value < p->result.value;
    struct strategy start = is_better ? d.start : p->result.best;
    part = share_of_search(o, is_better && o->work > 0 ? 1 - WHOLE_SHARE : 1, end_ns);
    if (!is_better && (place_is_optimal(&p->result) || (c->stop && stop_raised(c->stop))))
        return st;
    st = is_better ? carry_out(m, c, &d, p) : ST_OK;
    part.initial = &start;
    part.n_initial = 1;
    return st ? st
              : place(&p->placement.problem, &part, &how->hooks, c->arena, c->diags, &p->result);
}

status plan_devices(struct model *m, const struct rig *rig, struct pass_context *c,
                    const struct plan_devices_how *how, struct plan_facts *out) {
    struct place_options o;
    struct plan_placed *p = ARENA_NEW(c->arena, struct plan_placed);
    out->placed = p;
    status st = p ? search_options_read_place(c->options, c->arena, c->diags, &o)
                  : diag_out_of_memory(c->diags);
    if (st)
        return st;
    o.team = how->team;
    o.worker_path = c->worker_path;
    if (how->objective)
        o.objective = *how->objective;
    st = search(m, rig, c, how, &o, p);
    if (st == ST_NO_PLAN)
        return no_plan(p, c);
    if (!st && !(out->step = model_copy(m, c->arena)))
        st = diag_out_of_memory(c->diags);
    if (!st)
        st = apply(m, c, p, out);
    if (st)
        return st;
    out->planned = true;
    out->runtime = "file-order";
    out->base_cost = fastest_cost(&p->placement.problem);
    out->load_cost = p->result.facts.load_cost;
    out->is_interrupted = c->stop && stop_raised(c->stop);
    return ST_OK;
}
