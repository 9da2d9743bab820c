// The greedy start: see start.h. Stages: the peak of the given order; the tensors that wait across
// it, by cost per byte; bisection on how many of them to let go.
#include "solver/start.h"

#include <stdlib.h>

struct waiting {
    double price; // cost per byte
    int32_t node;
};

struct start {
    const struct problem *p;
    int32_t peak;            // the node that runs at the peak
    struct waiting *waiting; // across the peak, cheapest first
    int32_t n_waiting;
    bool *gone; // per node: not held across the peak
    bool *back; // per node: has run again
    int32_t *stack;
    struct sequence out;
};

static int by_price(const void *left, const void *right) {
    const struct waiting *a = left, *b = right;
    if (a->price != b->price)
        return a->price < b->price ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

// The last node that reads each; n for what is kept, the node itself when nobody reads it.
static int32_t last_use(const struct problem *p, int32_t node) {
    if (p->keep[node])
        return p->n;
    int32_t end = p->out_start[node + 1];
    return end > p->out_start[node] ? p->out_of[end - 1] : node;
}

static bool make(struct start *s, const struct problem *p, struct arena *a) {
    struct sequence_facts facts;
    *s = (struct start){.p = p,
                        .waiting = ARENA_ARRAY(a, struct waiting, p->n),
                        .gone = ARENA_ARRAY(a, bool, p->n),
                        .back = ARENA_ARRAY(a, bool, p->n),
                        .stack = ARENA_ARRAY(a, int32_t, (size_t)p->n + (size_t)p->n_edges + 1),
                        .out = {ARENA_ARRAY(a, int32_t, 2 * (size_t)p->n), 0}};
    struct sequence given;
    if (!s->waiting || !s->gone || !s->back || !s->stack || !s->out.at ||
        !sequence_given(p, a, &given) || !sequence_measure(p, given, a, &facts))
        return false;
    s->peak = facts.peak_at;
    for (int32_t i = 0; i < s->peak; i++)
        if (last_use(p, i) > s->peak && p->bytes[i] > 0 && !p->once[i] && !p->keep[i])
            s->waiting[s->n_waiting++] =
                (struct waiting){(double)p->cost[i] / (double)p->bytes[i], i};
    qsort(s->waiting, (size_t)s->n_waiting, sizeof *s->waiting, by_price);
    return true;
}

static bool is_needed(const struct start *s, int32_t node) {
    return node < s->peak && s->gone[node] && !s->back[node];
}

// Runs the node again, after all that it reads and that is gone. A stack, not recursion: chains of
// tensors that are gone may be as long as the graph.
static void run_again(struct start *s, int32_t node) {
    const struct problem *p = s->p;
    int32_t n = 0;
    s->stack[n++] = node;
    while (n > 0) {
        int32_t top = s->stack[n - 1], before = n;
        if (s->back[top]) {
            n--;
            continue;
        }
        for (int32_t e = p->in_start[top]; e < p->in_start[top + 1]; e++)
            if (is_needed(s, p->in_of[e]))
                s->stack[n++] = p->in_of[e];
        if (n > before)
            continue;
        n--;
        s->back[top] = true;
        s->out.at[s->out.n++] = top;
    }
}

// The sequence when the n_gone cheapest waiting tensors are let go.
static void lay_out(struct start *s, int32_t n_gone) {
    const struct problem *p = s->p;
    for (int32_t i = 0; i < p->n; i++) {
        s->gone[i] = i < s->peak && last_use(p, i) < s->peak && !p->once[i];
        s->back[i] = false;
    }
    for (int32_t k = 0; k < n_gone; k++)
        s->gone[s->waiting[k].node] = true;
    s->out.n = 0;
    for (int32_t i = 0; i < p->n; i++) {
        if (i > s->peak)
            for (int32_t e = p->in_start[i]; e < p->in_start[i + 1]; e++)
                if (is_needed(s, p->in_of[e]))
                    run_again(s, p->in_of[e]);
        s->out.at[s->out.n++] = i;
    }
}

static bool peak_with(struct start *s, int32_t n_gone, struct mem *mem, int64_t *peak_bytes) {
    struct arena scratch = arena_make(mem);
    struct sequence_facts facts;
    lay_out(s, n_gone);
    bool ok = sequence_measure(s->p, s->out, &scratch, &facts);
    *peak_bytes = facts.peak_bytes;
    arena_free(&scratch);
    return ok;
}

bool start_greedy(const struct problem *p, int64_t budget_bytes, struct arena *a,
                  struct sequence *out) {
    struct start s;
    if (!make(&s, p, a))
        return false;
    int32_t low = 0, high = s.n_waiting, best = 0;
    int64_t best_peak = INT64_MAX;
    while (low <= high) {
        int32_t middle = low + (high - low) / 2;
        int64_t peak;
        if (!peak_with(&s, middle, a->mem, &peak))
            return false;
        bool fits = peak <= budget_bytes;
        if (fits || peak < best_peak) {
            best = middle;
            best_peak = peak;
        }
        if (fits)
            high = middle - 1;
        else
            low = middle + 1;
    }
    lay_out(&s, best);
    *out = s.out;
    return true;
}
