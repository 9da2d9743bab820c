// The event-driven replay: see strategy_check.h. In stages:
//   1. rules: what may run where and how often;
//   2. binding: which instance each input of each task is, by walking the sequence once;
//   3. events: a clock. Each resource has its queue; a task starts when it is the head of all its
//      queues, what it reads is there, and its place has come to it. Heads move on at finishes;
//   4. memory: per place, the instances that are alive at each task of its queue.
#include "solver/check/strategy_check.h"

#include <string.h>

#include "ir/base/checked.h"

enum { NEVER = -1 };

struct replay {
    const struct placement *p;
    const struct strategy *s;
    struct arena *arena;
    struct diags *diags;
    int32_t *input_start, *input; // the instances that task k reads: input[input_start[k] ..]
    int32_t *last_reader;         // per task: the last one that reads its instance; itself if none
    int64_t *release;             // per task: when all that read its instance have finished
    int32_t **queue, *n_queue, *head; // per resource
    int32_t *host_queue, n_host_queue, n_host_started;
    int64_t *duration;
    struct strategy_facts *facts;
};

// A transfer takes the latency of its route, its bytes at the bandwidth of the route, and what the
// node says of its own on each of the links that ask for that. Written here once more, so that the
// simulator's arithmetic is checked by other code.
static int64_t transfer_duration(const struct placement *p, int32_t node, int32_t from,
                                 int32_t to) {
    const struct route *route = placement_route(p, from, to);
    int64_t duration = route->latency_cost + route->n_by_node * p->move_cost[node];
    double bytes_time = (double)p->graph.bytes[node] / route->bandwidth;
    if (bytes_time >= (double)PLACEMENT_MAX_TIME)
        return duration + PLACEMENT_MAX_TIME;
    int64_t whole = (int64_t)bytes_time;
    return duration + whole + ((double)whole < bytes_time);
}

static status wrong(const struct replay *r, int32_t k, const char *what) {
    const struct task *t = &r->s->at[k];
    return diag_error(r->diags, DIAG_VERIFY, loc_none(), "task %d, %s \"%s\" %s \"%s\": %s", k,
                      t->from == TASK_RUN ? "run" : "fetch", r->p->graph.name[t->node],
                      t->from == TASK_RUN ? "on" : "to", r->p->place[t->place].name, what);
}

static int32_t resources_of(const struct replay *r, int32_t k, const int32_t **out) {
    const struct task *t = &r->s->at[k];
    if (t->from == TASK_RUN) {
        *out = &t->place; // a device's compute has the device's number
        return 1;
    }
    const struct route *route = placement_route(r->p, t->from, t->place);
    *out = route->resource;
    return route->n_resources;
}

// ---- 1. Rules ----

static status check_task(const struct replay *r, int32_t k) {
    const struct placement *p = r->p;
    const struct task *t = &r->s->at[k];
    if (t->from == TASK_RUN) {
        if (t->place >= p->n_devices || !placement_runs_on(p, t->node, t->place))
            return wrong(r, k, "this device cannot run it");
    } else if (t->from == t->place) {
        return wrong(r, k, "it is fetched from where it goes");
    } else if (placement_route(p, t->from, t->place)->n_resources < 0) {
        return wrong(r, k, "there is no route that does not stop at the host");
    }
    return ST_OK;
}

static status check_rules(const struct replay *r) {
    const struct placement *p = r->p;
    int32_t *n_runs = ARENA_ARRAY(r->arena, int32_t, p->graph.n);
    int32_t *home = ARENA_ARRAY(r->arena, int32_t, p->n_groups); // device + 1 of the group
    if (!n_runs || !home)
        return diag_out_of_memory(r->diags);
    for (int32_t k = 0; k < r->s->n; k++) {
        const struct task *t = &r->s->at[k];
        status st = check_task(r, k);
        if (st != ST_OK)
            return st;
        if (t->from != TASK_RUN)
            continue;
        int32_t g = p->group[t->node];
        if (n_runs[t->node]++ > 0 && p->graph.once[t->node])
            return wrong(r, k, "it must run only once");
        bool shared = p->group_start[g + 1] - p->group_start[g] > 1;
        if (shared && home[g] > 0 && home[g] != t->place + 1)
            return wrong(r, k, "its group runs on another device");
        home[g] = t->place + 1;
    }
    for (int32_t i = 0; i < p->graph.n; i++)
        if (n_runs[i] == 0)
            return diag_error(r->diags, DIAG_VERIFY, loc_none(), "node \"%s\" never runs",
                              p->graph.name[i]);
    return ST_OK;
}

// ---- 2. Binding ----

static status bind(struct replay *r) {
    const struct placement *p = r->p;
    const struct problem *g = &p->graph;
    int32_t n = r->s->n, n_inputs = 0;
    int32_t *latest = ARENA_ARRAY(r->arena, int32_t, (size_t)g->n * (size_t)p->n_places);
    for (int32_t k = 0; k < n; k++) {
        int32_t v = r->s->at[k].node;
        n_inputs += r->s->at[k].from == TASK_RUN ? g->in_start[v + 1] - g->in_start[v] : 1;
    }
    r->input_start = ARENA_ARRAY(r->arena, int32_t, n + 1);
    r->input = ARENA_ARRAY(r->arena, int32_t, n_inputs);
    r->last_reader = ARENA_ARRAY(r->arena, int32_t, n);
    if (!latest || !r->input_start || !r->input || !r->last_reader)
        return diag_out_of_memory(r->diags);
    int32_t m = 0;
    for (int32_t k = 0; k < n; k++) {
        const struct task *t = &r->s->at[k];
        bool runs = t->from == TASK_RUN;
        int32_t at = runs ? t->place : t->from;
        const int32_t *reads = runs ? &g->in_of[g->in_start[t->node]] : &t->node;
        int32_t n_reads = runs ? g->in_start[t->node + 1] - g->in_start[t->node] : 1;
        r->input_start[k] = m;
        for (int32_t e = 0; e < n_reads; e++) {
            int32_t instance = latest[(int64_t)reads[e] * p->n_places + at] - 1;
            if (instance < 0)
                return wrong(r, k,
                             runs ? "one of its inputs is not on the device by then"
                                  : "it is not by then where it is fetched from");
            r->input[m++] = instance;
            r->last_reader[instance] = k;
        }
        latest[(int64_t)t->node * p->n_places + t->place] = k + 1;
        r->last_reader[k] = k;
    }
    r->input_start[n] = m;
    return ST_OK;
}

// ---- 3. Events ----

static bool make_queues(struct replay *r) {
    const struct placement *p = r->p;
    const int32_t *at;
    r->queue = ARENA_ARRAY(r->arena, int32_t *, p->n_resources);
    r->n_queue = ARENA_ARRAY(r->arena, int32_t, p->n_resources);
    r->head = ARENA_ARRAY(r->arena, int32_t, p->n_resources);
    r->host_queue = ARENA_ARRAY(r->arena, int32_t, r->s->n);
    r->duration = ARENA_ARRAY(r->arena, int64_t, r->s->n);
    if (!r->queue || !r->n_queue || !r->head || !r->host_queue || !r->duration)
        return false;
    for (int32_t k = 0; k < r->s->n; k++)
        for (int32_t e = resources_of(r, k, &at); e-- > 0;)
            r->n_queue[at[e]]++;
    for (int32_t q = 0; q < p->n_resources; q++) {
        r->queue[q] = ARENA_ARRAY(r->arena, int32_t, r->n_queue[q]);
        if (!r->queue[q])
            return false;
        r->n_queue[q] = 0;
    }
    for (int32_t k = 0; k < r->s->n; k++) {
        const struct task *t = &r->s->at[k];
        r->duration[k] = t->from == TASK_RUN ? placement_cost(p, t->node, t->place)
                                             : transfer_duration(p, t->node, t->from, t->place);
        if (t->place == p->host)
            r->host_queue[r->n_host_queue++] = k;
        for (int32_t e = resources_of(r, k, &at); e-- > 0;)
            r->queue[at[e]][r->n_queue[at[e]]++] = k;
    }
    return true;
}

static bool can_start(const struct replay *r, int32_t k, int64_t now) {
    const struct task *t = &r->s->at[k];
    const struct strategy_facts *f = r->facts;
    const int32_t *at;
    for (int32_t e = resources_of(r, k, &at); e-- > 0;)
        if (r->queue[at[e]][r->head[at[e]]] != k)
            return false;
    for (int32_t e = r->input_start[k]; e < r->input_start[k + 1]; e++)
        if (f->finish[r->input[e]] == NEVER || f->finish[r->input[e]] > now)
            return false;
    if (t->place == r->p->host)
        return r->host_queue[r->n_host_started] == k;
    // A fetch waits until its device has done all that comes before it in the sequence.
    return t->from == TASK_RUN || r->head[t->place] == r->n_queue[t->place] ||
           r->queue[t->place][r->head[t->place]] >= k;
}

// Ends what is over at `now`, so that heads move on; returns how many are still to come or run.
static void end_tasks(struct replay *r, int64_t now) {
    for (int32_t q = 0; q < r->p->n_resources; q++)
        while (r->head[q] < r->n_queue[q]) {
            int64_t finish = r->facts->finish[r->queue[q][r->head[q]]];
            if (finish == NEVER || finish > now)
                break;
            r->head[q]++;
        }
}

// Starts every waiting task that can; true: there was one. `waiting` loses those that have started.
static bool start_tasks(struct replay *r, int64_t now, int32_t *waiting, int32_t *n_waiting) {
    int32_t n = 0;
    bool some = false;
    for (int32_t w = 0; w < *n_waiting; w++) {
        int32_t k = waiting[w];
        if (!can_start(r, k, now)) {
            waiting[n++] = k;
            continue;
        }
        some = true;
        r->facts->start[k] = now;
        r->facts->finish[k] = now + r->duration[k];
        if (r->s->at[k].place == r->p->host)
            r->n_host_started++;
        end_tasks(r, now);
    }
    *n_waiting = n;
    return some;
}

static status run_events(struct replay *r) {
    struct strategy_facts *f = r->facts;
    int32_t n_waiting = r->s->n;
    int32_t *waiting = ARENA_ARRAY(r->arena, int32_t, n_waiting);
    if (!waiting)
        return diag_out_of_memory(r->diags);
    for (int32_t k = 0; k < r->s->n; k++) {
        waiting[k] = k;
        f->start[k] = f->finish[k] = NEVER;
    }
    int64_t now = 0;
    while (n_waiting > 0) {
        while (start_tasks(r, now, waiting, &n_waiting)) {
        }
        int64_t next = INT64_MAX;
        for (int32_t k = 0; k < r->s->n; k++)
            if (f->finish[k] > now && f->finish[k] < next)
                next = f->finish[k];
        if (next == INT64_MAX)
            return n_waiting == 0 ? ST_OK : wrong(r, waiting[0], "it can never start");
        now = next;
        end_tasks(r, now);
    }
    return ST_OK;
}

static status sum_up(struct replay *r) {
    struct strategy_facts *f = r->facts;
    const struct placement *p = r->p;
    const int32_t *at;
    bool fits = true;
    for (int32_t k = 0; k < r->s->n; k++) {
        f->makespan_cost = f->finish[k] > f->makespan_cost ? f->finish[k] : f->makespan_cost;
        for (int32_t e = resources_of(r, k, &at); e-- > 0;)
            f->busy_cost[at[e]] += r->duration[k];
        if (r->s->at[k].from != TASK_RUN)
            fits = fits &&
                   checked_add(f->moved_bytes, p->graph.bytes[r->s->at[k].node], &f->moved_bytes);
    }
    for (int32_t q = 0; q < p->n_resources; q++) {
        f->load_cost = f->busy_cost[q] > f->load_cost ? f->busy_cost[q] : f->load_cost;
        int64_t energy = 0;
        if (q < p->n_devices)
            fits = fits && checked_mul(f->busy_cost[q], p->place[q].power, &energy) &&
                   checked_add(f->energy, energy, &f->energy);
    }
    return fits ? ST_OK
                : diag_error(r->diags, DIAG_VERIFY, loc_none(),
                             "the sums of bytes or energy leave the range of 64 bits");
}

// ---- 4. Memory ----

static int64_t resident(const struct replay *r, int32_t place, bool *runs_here) {
    const struct problem *g = &r->p->graph;
    int64_t sum = place < r->p->n_devices ? g->persistent_bytes : 0;
    memset(runs_here, 0, (size_t)g->n * sizeof *runs_here);
    for (int32_t k = 0; k < r->s->n; k++) {
        const struct task *t = &r->s->at[k];
        if (t->from == TASK_RUN && t->place == place && !runs_here[t->node]) {
            runs_here[t->node] = true;
            sum += r->p->resident_bytes[t->node];
        }
    }
    return sum;
}

// An instance is released when all that read it have finished; the last run of a kept node never.
static bool find_releases(struct replay *r) {
    const struct problem *g = &r->p->graph;
    int32_t *last_run = ARENA_ARRAY(r->arena, int32_t, g->n);
    r->release = ARENA_ARRAY(r->arena, int64_t, r->s->n);
    if (!last_run || !r->release)
        return false;
    for (int32_t k = 0; k < r->s->n; k++) {
        r->release[k] = r->facts->finish[k];
        if (r->s->at[k].from == TASK_RUN)
            last_run[r->s->at[k].node] = k;
        for (int32_t e = r->input_start[k]; e < r->input_start[k + 1]; e++) {
            int32_t b = r->input[e];
            if (r->facts->finish[k] > r->release[b])
                r->release[b] = r->facts->finish[k];
        }
    }
    for (int32_t i = 0; i < g->n; i++)
        if (g->keep[i])
            r->release[last_run[i]] = INT64_MAX;
    return true;
}

static bool uses_resource(const struct replay *r, int32_t k, int32_t resource) {
    const int32_t *at;
    for (int32_t e = resources_of(r, k, &at); e-- > 0;)
        if (at[e] == resource)
            return true;
    return false;
}

static int64_t peak_of(const struct replay *r, int32_t place, int64_t base, int32_t *alive) {
    const struct problem *g = &r->p->graph;
    const struct strategy_facts *f = r->facts;
    int64_t peak = base, clock = 0; // clock: the device has done all of its own so far
    int32_t n_alive = 0;
    for (int32_t k = 0; k < r->s->n; k++) {
        const struct task *t = &r->s->at[k];
        bool runs = t->from == TASK_RUN;
        if (t->place == place) {
            int64_t moment = runs || place == r->p->host ? f->start[k] : clock;
            int64_t held = base + g->bytes[t->node] + (runs ? g->workspace[t->node] : 0);
            int32_t n = 0;
            for (int32_t w = 0; w < n_alive; w++) {
                int32_t b = alive[w];
                if (r->last_reader[b] < k && r->release[b] <= moment)
                    continue;
                alive[n++] = b;
                held += g->bytes[r->s->at[b].node];
            }
            n_alive = n;
            alive[n_alive++] = k;
            peak = held > peak ? held : peak;
        }
        if (place < r->p->n_devices && uses_resource(r, k, place) && f->finish[k] > clock)
            clock = f->finish[k];
    }
    return peak;
}

static status measure_memory(struct replay *r) {
    const struct placement *p = r->p;
    int32_t *alive = ARENA_ARRAY(r->arena, int32_t, r->s->n);
    bool *runs_here = ARENA_ARRAY(r->arena, bool, p->graph.n);
    if (!alive || !runs_here || !find_releases(r))
        return diag_out_of_memory(r->diags);
    for (int32_t place = 0; place < p->n_places; place++) {
        int64_t peak = peak_of(r, place, resident(r, place, runs_here), alive);
        r->facts->peak_bytes[place] = peak;
        if (peak > p->place[place].memory_bytes)
            r->facts->excess_bytes += peak - p->place[place].memory_bytes;
    }
    return ST_OK;
}

status strategy_replay(const struct placement *p, const struct strategy *s, struct arena *a,
                       struct diags *d, struct strategy_facts *out) {
    *out = (struct strategy_facts){.busy_cost = ARENA_ARRAY(a, int64_t, p->n_resources),
                                   .peak_bytes = ARENA_ARRAY(a, int64_t, p->n_places),
                                   .start = ARENA_ARRAY(a, int64_t, s->n),
                                   .finish = ARENA_ARRAY(a, int64_t, s->n)};
    if (!out->busy_cost || !out->peak_bytes || !out->start || !out->finish)
        return diag_out_of_memory(d);
    struct arena scratch = arena_make(a->mem);
    struct replay r = {.p = p, .s = s, .arena = &scratch, .diags = d, .facts = out};
    status st = check_rules(&r);
    if (st == ST_OK)
        st = bind(&r);
    if (st == ST_OK)
        st = make_queues(&r) ? run_events(&r) : diag_out_of_memory(d);
    if (st == ST_OK)
        st = sum_up(&r);
    if (st == ST_OK)
        st = measure_memory(&r);
    arena_free(&scratch);
    return st;
}

status strategy_check(const struct placement *p, const struct strategy *s, struct arena *a,
                      struct diags *d, struct strategy_facts *out) {
    status st = strategy_replay(p, s, a, d, out);
    for (int32_t k = 0; st == ST_OK && k < p->n_places; k++)
        if (out->peak_bytes[k] > p->place[k].memory_bytes)
            return diag_error(d, DIAG_VERIFY, loc_none(),
                              "\"%s\" needs %lld bytes at its peak, and has %lld", p->place[k].name,
                              (long long)out->peak_bytes[k], (long long)p->place[k].memory_bytes);
    return st;
}
