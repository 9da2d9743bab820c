// Reversals (reversal.h). A plan (which states are stored when) calls two operations: `advance`
// runs units without their backward part; `leaf` runs one unit and the backward nodes placed at it.
// The sequence alone determines what is in memory, so storing a state needs no step of its own: a
// stored tensor is one that is not recomputed before it is read.
#include "solver/baselines/reversal.h"

#include <assert.h>

// Maximum number of runs of the average node; longer schedules are useless.
#define MAX_RUNS 128

// ---- Units and backward nodes ----

static bool find_units(struct reversal *r, const bool *ends) {
    int32_t n = 0;
    for (int32_t i = 0; i < r->n_forward; i++)
        if (ends[i] || i == r->n_forward - 1)
            r->unit_start[++n] = i + 1;
    r->n_units = n;
    return true;
}

// at[b]: the unit at which backward node number b runs. Units are reached from last to first, so
// at[] must not increase.
static void place_backward(struct reversal *r, enum reversal_place place, const int32_t *unit_of,
                           int32_t *at) {
    const struct problem *p = r->p;
    int32_t n_back = p->n - r->n_forward;
    for (int32_t b = 0; b < n_back; b++) {
        int32_t v = r->n_forward + b;
        at[b] = -1;
        for (int32_t k = p->in_start[v]; k < p->in_start[v + 1]; k++)
            if (p->in_of[k] < r->n_forward && unit_of[p->in_of[k]] > at[b])
                at[b] = unit_of[p->in_of[k]];
    }
    int32_t bound = r->n_units - 1;
    if (place == REVERSAL_LATE) {
        for (int32_t b = 0; b < n_back; b++)
            at[b] = bound = at[b] >= 0 && at[b] < bound ? at[b] : bound;
    } else {
        bound = 0;
        for (int32_t b = n_back; b-- > 0;)
            at[b] = bound = at[b] > bound ? at[b] : bound;
    }
}

static bool sort_backward(struct reversal *r, enum reversal_place place) {
    int32_t n_back = r->p->n - r->n_forward;
    int32_t *unit_of = ARENA_ARRAY(r->arena, int32_t, r->n_forward);
    int32_t *at = ARENA_ARRAY(r->arena, int32_t, n_back);
    int32_t *next = ARENA_ARRAY(r->arena, int32_t, r->n_units + 1);
    if (!unit_of || !at || !next)
        return false;
    for (int32_t u = 0; u < r->n_units; u++)
        for (int32_t i = r->unit_start[u]; i < r->unit_start[u + 1]; i++)
            unit_of[i] = u;
    place_backward(r, place, unit_of, at);
    for (int32_t b = 0; b < n_back; b++)
        r->back_start[at[b] + 1]++;
    for (int32_t u = 0; u < r->n_units; u++) {
        r->back_start[u + 1] += r->back_start[u];
        next[u] = r->back_start[u];
    }
    for (int32_t b = 0; b < n_back; b++)
        r->back[next[at[b]]++] = r->n_forward + b;
    return true;
}

bool reversal_make(const struct problem *p, struct arena *a, int32_t n_forward, const bool *ends,
                   struct reversal_style style, struct reversal *out) {
    assert(n_forward > 0 && n_forward <= p->n && ends);
    *out = (struct reversal){.p = p,
                             .arena = a,
                             .n_forward = n_forward,
                             .strict = style.strict,
                             .unit_start = ARENA_ARRAY(a, int32_t, n_forward + 1),
                             .back_start = ARENA_ARRAY(a, int32_t, n_forward + 1),
                             .back = ARENA_ARRAY(a, int32_t, p->n - n_forward),
                             .ran = ARENA_ARRAY(a, bool, p->n),
                             .stored = ARENA_ARRAY(a, bool, p->n),
                             .fresh = ARENA_ARRAY(a, bool, n_forward),
                             .episode_of = ARENA_ARRAY(a, int32_t, p->n)};
    return out->unit_start && out->back_start && out->back && out->ran && out->stored &&
           out->fresh && out->episode_of && find_units(out, ends) &&
           sort_backward(out, style.place);
}

// ---- Running nodes ----

static void append(struct reversal *r, int32_t v) {
    if ((int64_t)r->out.n > (int64_t)MAX_RUNS * r->p->n || r->out.n > INT32_MAX / 4)
        r->too_long = true;
    else if (!VEC_PUSH(r->arena, &r->out, v))
        r->out_of_memory = true;
    r->ran[v] = true;
    r->episode_of[v] = r->episode;
}

// Must v run before it can be read now? A node that must run once, or is kept to the end, is never
// recomputed. If strict, any other forward tensor is available only in the episode of its last run
// or while it is stored.
static bool is_missing(const struct reversal *r, int32_t v) {
    if (!r->ran[v])
        return true;
    if (!r->strict || v >= r->n_forward || r->p->once[v] || r->p->keep[v])
        return false;
    return !r->stored[v] && r->episode_of[v] != r->episode;
}

// Runs v after its missing ancestors, deepest first.
static void materialize(struct reversal *r, int32_t v) {
    const struct problem *p = r->p;
    r->stack.n = 0;
    if (!VEC_PUSH(r->arena, &r->stack, v))
        r->out_of_memory = true;
    while (r->stack.n > 0 && !r->out_of_memory && !r->too_long) {
        int32_t top = r->stack.at[r->stack.n - 1];
        size_t before = r->stack.n;
        for (int32_t k = p->in_start[top]; k < p->in_start[top + 1]; k++)
            if (is_missing(r, p->in_of[k]) && !VEC_PUSH(r->arena, &r->stack, p->in_of[k]))
                r->out_of_memory = true;
        if (r->stack.n > before)
            continue;
        r->stack.n--;
        if (r->stack.n == 0 || is_missing(r, top))
            append(r, top);
    }
}

static void run_unit(struct reversal *r, int32_t u, bool but_last) {
    for (int32_t v = r->unit_start[u]; v < r->unit_start[u + 1] - but_last; v++) {
        bool again = r->ran[v];
        if (again && (r->p->once[v] || r->p->keep[v]))
            continue;
        if (again && r->strict && r->episode_of[v] == r->episode)
            continue;
        if (again)
            materialize(r, v);
        else
            append(r, v); // on the first run all inputs have just run, in order
    }
}

static void advance(struct reversal *r, int32_t from, int32_t to) {
    r->episode++;
    for (int32_t u = from; u < to; u++)
        run_unit(r, u, false);
    if (to > from)
        r->fresh[to - 1] = true;
}

static void leaf(struct reversal *r, int32_t u) {
    r->episode++;
    run_unit(r, u, r->fresh[u]);
    for (int32_t k = r->back_start[u]; k < r->back_start[u + 1]; k++)
        materialize(r, r->back[k]);
}

static void store(struct reversal *r, int32_t u, bool stored) {
    r->stored[r->unit_start[u + 1] - 1] = stored;
}

// ---- Plans ----

static void multilevel(struct reversal *r, int32_t from, int32_t to, int32_t k) {
    int32_t n = to - from, n_parts = k < n - 1 ? k + 1 : n;
    if (n == 1) {
        leaf(r, from);
        return;
    }
    int32_t at = from;
    for (int32_t part = 0; part < n_parts - 1; part++) {
        int32_t next = from + (int32_t)((int64_t)n * (part + 1) / n_parts);
        advance(r, at, next);
        store(r, next - 1, true);
        at = next;
    }
    for (int32_t part = n_parts; part-- > 0 && !r->out_of_memory && !r->too_long;) {
        int32_t begin = from + (int32_t)((int64_t)n * part / n_parts);
        int32_t end = from + (int32_t)((int64_t)n * (part + 1) / n_parts);
        multilevel(r, begin, end, k);
        if (part > 0)
            store(r, begin - 1, false);
    }
}

void reversal_multilevel(struct reversal *r, int32_t k) {
    assert(k > 0);
    multilevel(r, 0, r->n_units, k);
}

// The number of steps that `slots` states and `reruns` recomputations per step can reverse:
// binomial(slots + reruns, slots), at most INT32_MAX.
static int32_t reach(int32_t slots, int32_t reruns) {
    int64_t x = 1;
    for (int32_t k = 1; k <= slots && reruns >= 0; k++) {
        x = x * (reruns + k) / k;
        if (x > INT32_MAX)
            return INT32_MAX;
    }
    return reruns < 0 ? 0 : (int32_t)x;
}

// Where to store the next state (Griewank and Walther, Algorithm 799): any split between two limits
// gives the fewest recomputations; this takes the smallest.
static int32_t split(int32_t n, int32_t slots) {
    int32_t reruns = 0;
    while (reach(slots, reruns) < n)
        reruns++;
    int32_t min_split = reach(slots, reruns - 2), other = n - reach(slots - 1, reruns);
    int32_t m = min_split > other ? min_split : other;
    return m < 1 ? 1 : m > n - 1 ? n - 1 : m;
}

// The recursion depth is at most the number of slots.
static void binomial(struct reversal *r, int32_t from, int32_t to, int32_t slots) {
    while (to - from > 1 && !r->out_of_memory && !r->too_long) {
        int32_t middle = slots > 1 ? from + split(to - from, slots) : to - 1;
        advance(r, from, middle);
        store(r, middle - 1, true);
        binomial(r, middle, to, slots > 1 ? slots - 1 : 1);
        store(r, middle - 1, false);
        to = middle;
    }
    leaf(r, from);
}

void reversal_binomial(struct reversal *r, int32_t slots) {
    assert(slots > 0);
    binomial(r, 0, r->n_units, slots);
}

bool reversal_finish(struct reversal *r, struct sequence *out) {
    *out = (struct sequence){r->out.at, (int32_t)r->out.n};
    return !r->out_of_memory && !r->too_long && sequence_prune(r->p, out, r->arena);
}
