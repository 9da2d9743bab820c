// The problem with the data that all cut models share (sink, capacity, scales), bounds from their
// objectives, and the memory profile of a sequence.
#include <assert.h>
#include <math.h>

#include "solver/mip/cut.h"

// The power of two that scales `largest` to about `target`; multiplying by it is exact.
static double scale_to(int64_t largest, double target) {
    if (largest <= 0)
        return 1;
    return exp2(-ceil(log2((double)largest / target)));
}

bool cut_view_make(const struct problem *p, int64_t budget_bytes, struct arena *a,
                   struct cut_view *out) {
    assert(p && a && out);
    *out = (struct cut_view){
        .p = p, .n_steps = p->n + 1, .capacity = budget_bytes - p->persistent_bytes};
    out->keep = ARENA_ARRAY(a, int32_t, p->n);
    out->zero_size = ARENA_ARRAY(a, bool, p->n);
    if (!out->keep || !out->zero_size)
        return false;
    int64_t total_cost = 0;
    for (int32_t i = 0; i < p->n; i++) {
        out->zero_size[i] = p->bytes[i] == 0;
        if (p->keep[i])
            out->keep[out->n_keep++] = i;
        total_cost += p->cost[i];
    }
    out->byte_scale = scale_to(out->capacity, 128);
    out->cost_scale = fmin(1, scale_to(total_cost, 1 << 20));
    return true;
}

int64_t cut_working_set(const struct cut_view *v, int32_t t) {
    assert(t >= 0 && t < v->n_steps);
    const int32_t *in;
    int32_t n_in = cut_inputs(v, t, &in);
    int64_t need = t < v->p->n ? v->p->bytes[t] + v->p->workspace[t] : 0;
    for (int32_t k = 0; k < n_in; k++)
        need += v->p->bytes[in[k]];
    return need;
}

// Costs and bytes are integers: a bound that exceeds an integer by more than the slack is at least
// the next one.
static int64_t round_up(double value, double scale, double slack) {
    value -= slack * fmax(1000, fabs(value));
    return value > 0 ? (int64_t)ceil(value / scale) : 0;
}

int64_t cut_cost_bound(const struct cut_view *v, double objective, double slack) {
    return problem_base_cost(v->p) + round_up(objective, v->cost_scale, slack);
}

int64_t cut_budget_bound(const struct cut_view *v, double objective, double slack) {
    return v->p->persistent_bytes + round_up(objective, v->byte_scale, slack);
}

bool cut_profile(const struct cut_view *v, struct sequence s, struct arena *a, int64_t **held,
                 int32_t **stage) {
    const struct problem *p = v->p;
    int32_t *last_use = ARENA_ARRAY(a, int32_t, s.n + 1); // per position: last use of its tensor
    int32_t *instance = ARENA_ARRAY(a, int32_t, p->n); // per node: 1 + position of its latest run
    int64_t *freed = ARENA_ARRAY(a, int64_t, s.n + 2); // bytes freed after a position
    *held = ARENA_ARRAY(a, int64_t, s.n + 1);
    *stage = ARENA_ARRAY(a, int32_t, s.n + 1);
    if (!last_use || !instance || !freed || !*held || !*stage)
        return false;
    int32_t n_first = 0;
    for (int32_t at = 0; at < s.n; at++) {
        int32_t i = s.at[at];
        for (int32_t k = p->in_start[i]; k < p->in_start[i + 1]; k++)
            last_use[instance[p->in_of[k]] - 1] = at;
        (*stage)[at] = n_first;
        if (!instance[i])
            n_first++;
        instance[i] = at + 1;
        last_use[at] = at;
    }
    for (int32_t k = 0; k < v->n_keep; k++)
        last_use[instance[v->keep[k]] - 1] = s.n;
    for (int32_t at = 0; at < s.n; at++)
        freed[last_use[at]] += p->bytes[s.at[at]];
    int64_t now = 0;
    for (int32_t at = 0; at < s.n; at++) {
        now += p->bytes[s.at[at]];
        (*held)[at] = now + p->workspace[s.at[at]];
        now -= freed[at];
    }
    return true;
}
