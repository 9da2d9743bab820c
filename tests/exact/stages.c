// The search for pipelines of stages against brute force: all orders, modes, devices and replicas
// of small problems with two devices, each evaluated by the exact checker. stages FIRST COUNT
#include <stdio.h>
#include <stdlib.h>

#include "ir/base/rng.h"
#include "solver/check/stages_check.h"
#include "solver/stages/stage_search.h"

enum { NODES_MAX = 5, DEVICES = 2, MODES_PER_NODE = 3 };

struct brute {
    const struct modal *p;
    const struct stage_options *o;
    struct arena *arena; // emptied after each evaluation
    int32_t order[NODES_MAX], mode[NODES_MAX], first[NODES_MAX], replicas[NODES_MAX];
    bool is_placed[NODES_MAX];
    int64_t best, n_states;
};

// Stages of the choice at hand: consecutive nodes on the same devices.
static void evaluate(struct brute *b) {
    static const int32_t device[DEVICES] = {0, 1};
    struct stage at[NODES_MAX];
    struct stages s = {0, at, b->order, b->mode, b->o->n_samples};
    struct stages_facts f;
    for (int32_t i = 0; i < b->p->graph.n; i++) {
        int32_t v = b->order[i], width = b->replicas[v] * b->p->mode[b->mode[v]].degree;
        struct stage here = {width, b->replicas[v], &device[b->first[v]], i, i + 1};
        struct stage *last = s.n ? &at[s.n - 1] : NULL;
        if (last && last->device == here.device && last->n_devices == here.n_devices &&
            last->replicas == here.replicas)
            last->end = i + 1;
        else
            at[s.n++] = here;
    }
    b->n_states++;
    struct diags refused = diags_make(b->arena);
    if (stages_check(b->p, &s, b->arena, &refused, &f) == ST_OK && f.excess_bytes == 0) {
        int64_t value = b->o->objective.goal == MCMC_LATENCY ? f.makespan_cost : f.load_cost;
        b->best = value < b->best ? value : b->best;
    }
    arena_free(b->arena);
}

static void choose_places(struct brute *b, int32_t v);

// The k-th node of the order.
static void choose_order(struct brute *b, int32_t k) {
    const struct problem *g = &b->p->graph;
    if (k == g->n) {
        choose_places(b, 0);
        return;
    }
    for (int32_t v = 0; v < g->n; v++) {
        bool is_ready = !b->is_placed[v];
        for (int32_t e = g->in_start[v]; e < g->in_start[v + 1]; e++)
            is_ready = is_ready && b->is_placed[g->in_of[e]];
        if (!is_ready)
            continue;
        b->is_placed[v] = true;
        b->order[k] = v;
        choose_order(b, k + 1);
        b->is_placed[v] = false;
    }
}

static void choose_places(struct brute *b, int32_t v) {
    if (v == b->p->graph.n) {
        evaluate(b);
        return;
    }
    for (b->mode[v] = b->p->mode_start[v]; b->mode[v] < b->p->mode_start[v + 1]; b->mode[v]++)
        for (b->replicas[v] = 1; b->replicas[v] <= DEVICES; b->replicas[v]++) {
            int32_t width = b->replicas[v] * b->p->mode[b->mode[v]].degree;
            for (b->first[v] = 0; b->first[v] + width <= DEVICES; b->first[v]++)
                choose_places(b, v + 1);
        }
}

// A random problem as the text of a file, so that the reader is tested, too.
static void write_problem(struct rng *r, struct str *out) {
    int32_t n = 2 + (int32_t)rng_below(r, 4), n_modes = n == NODES_MAX ? 2 : MODES_PER_NODE;
    str_addf(out,
             "{\"format\":\"mfc-problem\",\"version\":1,\"network\":{\"bandwidth\":%d,"
             "\"blocking\":%s},\"disjoint\":%s,\"devices\":[{\"name\":\"a\",\"memory\":%d},"
             "{\"name\":\"b\",\"memory\":%d,\"speed\":%s}],\"nodes\":[",
             1 + (int)rng_below(r, 4), rng_below(r, 2) ? "true" : "false",
             rng_below(r, 3) ? "false" : "true", 30 + (int)rng_below(r, 60),
             30 + (int)rng_below(r, 60), rng_below(r, 3) ? "1" : "0.5");
    for (int32_t v = 0; v < n; v++) {
        int32_t cost = 1 + (int32_t)rng_below(r, 30), resident = (int32_t)rng_below(r, 12);
        str_addf(out, "%s{\"name\":\"%d\",\"bytes\":%d,\"modes\":[", v ? "," : "", v,
                 (int)rng_below(r, 12));
        for (int32_t m = 0; m < n_modes; m++) {
            int32_t degree = m == 1 ? 2 : 1, slower = m == 2 ? cost / 3 : 0;
            str_addf(out,
                     "%s{\"name\":\"%d\",\"degree\":%d,\"cost\":%d,\"resident\":%d,\"stash\":%d,"
                     "\"workspace\":%d,\"exchange\":%d}",
                     m ? "," : "", m, degree, cost / degree + slower + (int)rng_below(r, 3),
                     resident / degree, (int)rng_below(r, m == 2 ? 2 : 8) / degree,
                     (int)rng_below(r, 5), (int)rng_below(r, 6));
        }
        str_add(out, "]}");
    }
    str_add(out, "],\"edges\":[");
    struct str reshard = str_make(out->arena);
    const char *comma = "";
    for (int32_t v = 1; v < n; v++)
        for (int32_t u = 0; u < v; u++)
            if (u == v - 1 ? rng_below(r, 4) > 0 : rng_below(r, 4) == 0) {
                str_addf(out, "%s[%d,%d]", comma, u, v);
                str_addf(&reshard, "%s[%d,%d,\"0\",\"1\",%d],[%d,%d,\"1\",\"0\",%d]", comma, u, v,
                         (int)rng_below(r, 9), u, v, (int)rng_below(r, 9));
                comma = ",";
            }
    str_addf(out, "],\"reshard\":[%s]}", str_text(&reshard));
}

// 0: the search finds the optimum of brute force, or both find nothing.
static int compare(uint64_t number, struct mem *mem, struct brute *b) {
    struct arena a = arena_make(mem), scratch = arena_make(mem), notes = arena_make(mem);
    struct diags d = diags_make(&notes);
    struct rng r = rng_make(number, 7);
    struct str text = str_make(&a);
    struct modal p;
    struct stage_result found = {0};
    write_problem(&r, &text);
    struct source source = {.path = "random", .fd = -1, .n_bytes = (int64_t)text.n};
    source.memory = (const uint8_t *)str_text(&text);
    if (modal_read(&a, &d, &source, &p) != ST_OK) {
        printf("%llu: cannot be read: %s\n%s\n", (unsigned long long)number,
               d.list.n ? d.list.at[0].text : "", str_text(&text));
        return 1;
    }
    struct stage_options o = {.work = 2500000, .seed = 1};
    o.objective.goal = number % 2 ? MCMC_THROUGHPUT : MCMC_LATENCY;
    o.n_samples = number % 2 ? (number % 4 == 1 ? 0 : 4) : (number % 4 == 0 ? 1 : 4);
    *b = (struct brute){.p = &p, .o = &o, .arena = &scratch, .best = INT64_MAX};
    choose_order(b, 0);
    status st = stage_search(&p, &o, NULL, &a, &d, &found);
    double best = b->best == INT64_MAX ? -1 : (double)b->best;
    double value = st == ST_OK ? found.value : -1;
    bool is_bound = st != ST_OK || found.bound <= best;
    if (value != best || !is_bound)
        printf("%llu: brute force %g, search %g, bound %g\n", (unsigned long long)number, best,
               value, found.bound);
    arena_free(&a);
    arena_free(&notes);
    return value != best || !is_bound;
}

int main(int argc, char **argv) {
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 300;
    struct mem mem = mem_make(MEM_UNLIMITED);
    int n_wrong = 0;
    int64_t n_states = 0;
    for (uint64_t k = first; k < first + count; k++) {
        struct brute b;
        n_wrong += compare(k, &mem, &b);
        n_states += b.n_states;
    }
    printf("%llu problems, %lld states by brute force, %d differ\n", (unsigned long long)count,
           (long long)n_states, n_wrong);
    return n_wrong != 0;
}
