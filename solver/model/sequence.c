// Sequences: see sequence.h. One walk finds for every instance its last use; the instances that end
// at the same position form a list, so that a second walk knows what to free after each position.
#include "solver/model/sequence.h"

#include "ir/base/checked.h"

#define NONE (-1)

// Per position: `ends_at` of the instance computed there (its last use; n: held to the end), and
// lists of instances by their end: first[t], then next[] of each.
struct lives {
    int32_t *ends_at, *first, *next;
    int32_t *latest; // per node: position of its latest instance, or NONE
    int32_t wrong_at;
};

static bool find_lives(const struct problem *p, struct sequence s, struct arena *a,
                       struct lives *l) {
    *l = (struct lives){.ends_at = ARENA_ARRAY(a, int32_t, s.n),
                        .first = ARENA_ARRAY(a, int32_t, s.n + 1),
                        .next = ARENA_ARRAY(a, int32_t, s.n),
                        .latest = ARENA_ARRAY(a, int32_t, p->n),
                        .wrong_at = NONE};
    if (!l->ends_at || !l->first || !l->next || !l->latest)
        return false;
    for (int32_t i = 0; i < p->n; i++)
        l->latest[i] = NONE;
    for (int32_t t = 0; t < s.n; t++) {
        int32_t v = s.at[t];
        for (int32_t k = p->in_start[v]; k < p->in_start[v + 1]; k++) {
            int32_t from = l->latest[p->in_of[k]];
            if (from == NONE && l->wrong_at == NONE)
                l->wrong_at = t;
            if (from != NONE)
                l->ends_at[from] = t;
        }
        if (l->latest[v] != NONE && p->once[v] && l->wrong_at == NONE)
            l->wrong_at = t;
        l->latest[v] = t;
        l->ends_at[t] = t;
    }
    for (int32_t i = 0; i < p->n; i++) {
        if (l->latest[i] == NONE && l->wrong_at == NONE)
            l->wrong_at = s.n;
        if (l->latest[i] != NONE && p->keep[i])
            l->ends_at[l->latest[i]] = s.n;
    }
    for (int32_t t = 0; t <= s.n; t++)
        l->first[t] = NONE;
    for (int32_t t = s.n; t-- > 0;) { // backwards, so that each list is in order
        l->next[t] = l->first[l->ends_at[t]];
        l->first[l->ends_at[t]] = t;
    }
    return true;
}

// One walk for both questions: the facts, and by how much all steps together exceed a budget.
static bool walk(const struct problem *p, struct sequence s, int64_t budget_bytes,
                 struct arena *scratch, struct sequence_facts *out, int64_t *excess_bytes) {
    struct arena a = arena_make(scratch->mem);
    struct lives l;
    bool ok = find_lives(p, s, &a, &l);
    *out =
        (struct sequence_facts){.peak_bytes = p->persistent_bytes, .wrong_at = ok ? l.wrong_at : 0};
    *excess_bytes = 0;
    int64_t held = p->persistent_bytes;
    for (int32_t t = 0; ok && t < s.n; t++) {
        int32_t v = s.at[t];
        held += p->bytes[v];
        int64_t now = held + p->workspace[v];
        if (now > out->peak_bytes) {
            out->peak_bytes = now;
            out->peak_at = t;
        }
        if (now > budget_bytes && !checked_add(*excess_bytes, now - budget_bytes, excess_bytes))
            *excess_bytes = INT64_MAX;
        if (!checked_add(out->cost, p->cost[v], &out->cost))
            out->cost = INT64_MAX;
        for (int32_t k = l.first[t]; k != NONE; k = l.next[k])
            held -= p->bytes[s.at[k]];
    }
    arena_free(&a);
    return ok;
}

bool sequence_measure(const struct problem *p, struct sequence s, struct arena *scratch,
                      struct sequence_facts *out) {
    int64_t excess_bytes;
    return walk(p, s, INT64_MAX, scratch, out, &excess_bytes);
}

bool sequence_excess(const struct problem *p, struct sequence s, int64_t budget_bytes,
                     struct arena *scratch, int64_t *excess_bytes) {
    struct sequence_facts facts;
    return walk(p, s, budget_bytes, scratch, &facts, excess_bytes);
}

bool sequence_to_steps(const struct problem *p, struct sequence s, struct arena *a,
                       struct steps *out) {
    struct arena scratch = arena_make(a->mem);
    struct lives l;
    bool ok = find_lives(p, s, &scratch, &l);
    *out = (struct steps){0};
    if (ok && (out->at = arena_array(a, 2 * (size_t)s.n, sizeof *out->at)) == NULL)
        ok = false;
    for (int32_t t = 0; ok && t < s.n; t++) {
        out->at[out->n++] = (struct step){STEP_COMPUTE, s.at[t]};
        for (int32_t k = l.first[t]; k != NONE; k = l.next[k])
            out->at[out->n++] = (struct step){STEP_FREE, s.at[k]};
    }
    arena_free(&scratch);
    return ok;
}

bool sequence_of_steps(struct steps s, struct arena *a, struct sequence *out) {
    *out = (struct sequence){.at = ARENA_ARRAY(a, int32_t, s.n)};
    if (!out->at)
        return false;
    for (int32_t k = 0; k < s.n; k++)
        if (s.at[k].kind == STEP_COMPUTE)
            out->at[out->n++] = s.at[k].node;
    return true;
}

// Backwards: an instance stays when somebody after it reads it, or when it is the first of its node
// or the last of a kept one. Since readers come later, their own fate is known by then.
bool sequence_prune(const struct problem *p, struct sequence *s, struct arena *scratch) {
    struct arena a = arena_make(scratch->mem);
    bool *wanted = ARENA_ARRAY(&a, bool, p->n), *stays = ARENA_ARRAY(&a, bool, s->n);
    int32_t *first = ARENA_ARRAY(&a, int32_t, p->n);
    bool ok = wanted && stays && first;
    for (int32_t t = s->n; ok && t-- > 0;)
        first[s->at[t]] = t;
    for (int32_t i = 0; ok && i < p->n; i++)
        wanted[i] = p->keep[i];
    for (int32_t t = s->n; ok && t-- > 0;) {
        int32_t v = s->at[t];
        stays[t] = wanted[v] || first[v] == t;
        wanted[v] = false;
        if (!stays[t])
            continue;
        for (int32_t k = p->in_start[v]; k < p->in_start[v + 1]; k++)
            wanted[p->in_of[k]] = true;
    }
    int32_t n = 0;
    for (int32_t t = 0; ok && t < s->n; t++)
        if (stays[t])
            s->at[n++] = s->at[t];
    if (ok)
        s->n = n;
    arena_free(&a);
    return ok;
}

bool sequence_given(const struct problem *p, struct arena *a, struct sequence *out) {
    *out = (struct sequence){.at = ARENA_ARRAY(a, int32_t, p->n), .n = p->n};
    if (!out->at)
        return false;
    for (int32_t i = 0; i < p->n; i++)
        out->at[i] = i;
    return true;
}

bool sequence_is_given_order(struct sequence s) {
    int32_t next = 0;
    for (int32_t t = 0; t < s.n; t++) {
        if (s.at[t] > next)
            return false;
        if (s.at[t] == next)
            next++;
    }
    return true;
}
