// What a state of the search is worth: the rules of docs/placement.md in floating point, on ranges
// of devices. The checker (solver/check/stages_check.h) decides in exact integers.
#include <math.h>
#include <string.h>

#include "solver/stages/stage_state.h"

bool stage_state_make(const struct modal *p, struct arena *a, struct stage_state *out) {
    *out = (struct stage_state){ARENA_ARRAY(a, int32_t, p->graph.n),
                                ARENA_ARRAY(a, int32_t, p->graph.n),
                                ARENA_ARRAY(a, struct stage_choice, p->graph.n)};
    return out->order && out->at && out->choice;
}

void stage_state_copy(const struct modal *p, const struct stage_state *from,
                      struct stage_state *to) {
    size_t n = (size_t)p->graph.n;
    memcpy(to->order, from->order, n * sizeof *to->order);
    memcpy(to->at, from->at, n * sizeof *to->at);
    memcpy(to->choice, from->choice, n * sizeof *to->choice);
}

void stage_state_index(const struct modal *p, struct stage_state *s) {
    for (int32_t i = 0; i < p->graph.n; i++)
        s->at[s->order[i]] = i;
}

bool stage_can_run(const struct modal *p, int32_t mode, int32_t first, int32_t width) {
    for (int32_t d = first; d < first + width; d++)
        if (p->mode[mode].cost[d] < 0)
            return false;
    return true;
}

static bool is_uniform(const struct modal *p) {
    for (int32_t m = 0; m < p->mode_start[p->graph.n]; m++)
        for (int32_t d = 1; p->mode[m].cost && d < p->places.n_devices; d++)
            if (p->mode[m].cost[d] != p->mode[m].cost[0])
                return false;
    return true;
}

bool stage_meter_make(const struct modal *p, const struct stage_options *o, struct arena *a,
                      struct stage_meter *out) {
    int32_t n = p->graph.n, n_devices = p->places.n_devices;
    *out = (struct stage_meter){.p = p,
                                .n_samples = o->n_samples,
                                .needs_first = o->objective.goal != MCMC_THROUGHPUT,
                                .is_uniform = is_uniform(p),
                                .run_of = ARENA_ARRAY(a, int32_t, n),
                                .run_end = ARENA_ARRAY(a, int32_t, n),
                                .bytes = ARENA_ARRAY(a, int64_t, n),
                                .exchange = ARENA_ARRAY(a, int64_t, n),
                                .busy = ARENA_ARRAY(a, double, n_devices),
                                .moving = ARENA_ARRAY(a, double, n_devices),
                                .held = ARENA_ARRAY(a, double, n_devices),
                                .workspace = ARENA_ARRAY(a, double, n_devices),
                                .clock = ARENA_ARRAY(a, double, n_devices),
                                .finish = ARENA_ARRAY(a, double, n),
                                .seen = ARENA_ARRAY(a, bool, n_devices)};
    out->port = p->blocks ? out->clock : ARENA_ARRAY(a, double, n_devices);
    return out->run_of && out->run_end && out->bytes && out->exchange && out->busy && out->moving &&
           out->held && out->workspace && out->clock && out->port && out->finish && out->seen;
}

static const struct stage_choice *choice_of_run(const struct stage_meter *m,
                                                const struct stage_state *s, int32_t run) {
    return &s->choice[s->order[m->run_end[run] - 1]];
}

static void find_runs(struct stage_meter *m, const struct stage_state *s) {
    const struct modal *p = m->p;
    m->n_runs = 0;
    for (int32_t i = 0; i < p->graph.n; i++) {
        const struct stage_choice *c = &s->choice[s->order[i]];
        if (i == 0 || !stage_joins(p, &s->choice[s->order[i - 1]], c)) {
            m->bytes[m->n_runs] = m->exchange[m->n_runs] = 0;
            m->n_runs++;
        }
        m->run_of[s->order[i]] = m->n_runs - 1;
        m->run_end[m->n_runs - 1] = i + 1;
        m->exchange[m->n_runs - 1] += p->mode[c->mode].exchange_bytes;
    }
}

// The bytes of an edge at both ends; e: its number, k: its place among the inputs of v.
struct ends {
    int64_t sent, received;
};

static struct ends ends_of(const struct modal *p, const struct stage_state *s, int32_t v, int32_t k,
                           int32_t send_at) {
    int32_t e = p->graph.in_start[v] + k, u = p->graph.in_of[e];
    const struct mode *a = &p->mode[s->choice[u].mode], *b = &p->mode[s->choice[v].mode];
    int64_t both = 0;
    if (p->reshard[e])
        both = p->reshard[e][(s->choice[u].mode - p->mode_start[u]) * modal_n_modes(p, v) +
                             s->choice[v].mode - p->mode_start[v]];
    if (stage_joins(p, &s->choice[u], &s->choice[v]))
        return (struct ends){both, both};
    both += p->edge_bytes[e];
    return (struct ends){both + (a->send ? a->send[send_at] : 0),
                         both + (b->receive ? b->receive[k] : 0)};
}

// The first sample, and bytes, edge by edge.
static double run_edges(struct stage_meter *m, const struct stage_state *s,
                        struct stage_worth *out) {
    const struct modal *p = m->p;
    double makespan = 0;
    memset(m->clock, 0, (size_t)p->places.n_devices * sizeof *m->clock);
    memset(m->port, 0, (size_t)p->places.n_devices * sizeof *m->port);
    for (int32_t i = 0; i < p->graph.n; i++) {
        int32_t v = s->order[i], first = s->choice[v].first, in = p->graph.in_start[v];
        int32_t end = first + p->mode[s->choice[v].mode].degree;
        double start = 0, cost = 0;
        for (int32_t k = 0; in + k < p->graph.in_start[v + 1]; k++) {
            int32_t u = p->graph.in_of[in + k], from = s->choice[u].first, out_at = 0;
            if (p->mode[s->choice[u].mode].send)
                while (p->out_edge[p->graph.out_start[u] + out_at] != in + k)
                    out_at++;
            struct ends b = ends_of(p, s, v, k, out_at);
            m->bytes[m->run_of[u]] += b.sent;
            if (!stage_joins(p, &s->choice[u], &s->choice[v]))
                m->bytes[m->run_of[v]] += b.received;
            out->moved_bytes += (double)b.received;
            int64_t bytes = b.sent > b.received ? b.sent : b.received;
            double at = m->finish[u];
            if (m->needs_first && bytes > 0) {
                int32_t from_end = from + p->mode[s->choice[u].mode].degree;
                for (int32_t d = from; d < from_end; d++)
                    at = fmax(at, m->port[d]);
                for (int32_t d = first; d < end; d++)
                    at = fmax(at, m->port[d]);
                at += ceil((double)bytes / p->bandwidth);
                for (int32_t d = from; d < from_end; d++)
                    m->port[d] = at;
                for (int32_t d = first; d < end; d++)
                    m->port[d] = at;
            }
            start = fmax(start, at);
        }
        if (!m->needs_first)
            continue;
        for (int32_t d = first; d < end; d++) {
            start = fmax(start, m->clock[d]);
            cost = fmax(cost, (double)p->mode[s->choice[v].mode].cost[d]);
        }
        m->finish[v] = start + cost;
        for (int32_t d = first; d < end; d++)
            m->clock[d] = m->finish[v];
        makespan = fmax(makespan, m->finish[v]);
    }
    return makespan;
}

static double in_flight(struct stage_meter *m, const struct stage_choice *c, double *sum,
                        bool *is_wrong) {
    int32_t width = stage_width(m->p, c);
    bool is_new = true;
    for (int32_t d = c->first; d < c->first + width; d++) {
        is_new = is_new && !m->seen[d];
        m->seen[d] = true;
    }
    *is_wrong = *is_wrong || (m->p->is_disjoint && !is_new);
    *sum = fmax(is_new ? *sum + c->replicas : *sum, c->replicas);
    double n = ceil(*sum / c->replicas);
    return m->n_samples > 0 ? fmin(n, floor((double)m->n_samples / c->replicas)) : n;
}

static void add_run(struct stage_meter *m, const struct stage_state *s, int32_t run, double held) {
    const struct modal *p = m->p;
    const struct stage_choice *c = choice_of_run(m, s, run);
    int32_t start = run ? m->run_end[run - 1] : 0, width = stage_width(p, c);
    double r = c->replicas, samples = m->n_samples > 0 ? (double)m->n_samples : 1;
    double moving = ceil((double)m->bytes[run] / (r * p->bandwidth)) +
                    ceil(2 * (double)m->exchange[run] * (r - 1) / (r * samples * p->bandwidth));
    double resident = 0, cost = 0, workspace = 0;
    for (int32_t i = start; i < m->run_end[run]; i++) {
        const struct mode *x = &p->mode[s->choice[s->order[i]].mode];
        resident += (double)x->resident_bytes + (double)x->stash_bytes * held;
        workspace = fmax(workspace, (double)x->workspace_bytes);
        cost += m->is_uniform ? (double)x->cost[0] : 0;
    }
    for (int32_t d = c->first; d < c->first + width; d++) {
        for (int32_t i = start; !m->is_uniform && i < m->run_end[run]; i++)
            cost += (double)p->mode[s->choice[s->order[i]].mode].cost[d];
        m->busy[d] += ceil(cost / r);
        m->moving[d] += moving;
        m->held[d] += resident;
        m->workspace[d] = fmax(m->workspace[d], workspace);
        cost = m->is_uniform ? cost : 0;
    }
}

struct stage_worth stage_measure(struct stage_meter *m, const struct stage_state *s) {
    const struct modal *p = m->p;
    size_t n = (size_t)p->places.n_devices;
    struct stage_worth out = {0};
    memset(m->busy, 0, n * sizeof *m->busy);
    memset(m->moving, 0, n * sizeof *m->moving);
    memset(m->held, 0, n * sizeof *m->held);
    memset(m->workspace, 0, n * sizeof *m->workspace);
    memset(m->seen, 0, n * sizeof *m->seen);
    find_runs(m, s);
    out.makespan = run_edges(m, s, &out);
    double sum = 0;
    for (int32_t run = m->n_runs; run-- > 0;) {
        const struct stage_choice *c = choice_of_run(m, s, run);
        add_run(m, s, run, in_flight(m, c, &sum, &out.is_wrong));
    }
    for (int32_t d = 0; d < p->places.n_devices; d++) {
        double load = p->blocks ? m->busy[d] + m->moving[d] : fmax(m->busy[d], m->moving[d]);
        double peak = m->held[d] + m->workspace[d] + (double)p->graph.persistent_bytes;
        double memory = (double)p->places.place[d].memory_bytes;
        out.load = fmax(out.load, load);
        out.evenness += load * load;
        out.peak_bytes = fmax(out.peak_bytes, peak);
        out.excess_bytes += fmax(0, peak - memory);
        out.energy += m->busy[d] * (double)p->places.place[d].power;
    }
    out.evenness = sqrt(out.evenness / (double)n);
    if (m->n_samples > 1)
        out.makespan += (double)(m->n_samples - 1) * out.load;
    return out;
}
