// Sets of nodes, and the lower bound of the exact search (exhaust.h).
#include <assert.h>

#include "solver/exhaust/exhaust_state.h"

static int64_t sum_of(const int64_t table[8][BYTES_SPREAD], node_set s) {
    int64_t sum = 0;
    for (int32_t k = 0; s != 0; k++, s >>= 8)
        sum += table[k][s & 255];
    return sum;
}

int64_t exhaust_bytes(const struct exhaust_model *m, node_set s) {
    return sum_of(m->bytes_sum, s);
}

int64_t exhaust_cost(const struct exhaust_model *m, node_set s) {
    return sum_of(m->cost_sum, s);
}

static void fill_sums(int64_t table[8][BYTES_SPREAD], const int64_t *value, int32_t n) {
    for (int32_t k = 0; k < 8; k++)
        for (int32_t s = 1; s < BYTES_SPREAD; s++) {
            int32_t low = node_lowest((node_set)s), v = 8 * k + low;
            table[k][s] = table[k][s & (s - 1)] + (v < n ? value[v] : 0);
        }
}

// Descendants first, so that `later` of the readers is complete.
static void fill_sides(struct exhaust_model *m) {
    const struct problem *p = m->p;
    node_set later[EXHAUST_MAX_NODES] = {0}; // descendants, or all that follow in the given order
    for (int32_t v = 0; v < p->n; v++) {
        m->before[v] = m->free_order ? m->in[v] : NODE(v) - 1;
        for (node_set s = m->in[v]; m->free_order && s != 0; s &= s - 1)
            m->before[v] |= m->before[node_lowest(s)];
    }
    for (int32_t v = p->n - 1; v >= 0; v--) {
        later[v] = m->free_order ? m->out[v] : m->all & ~(NODE(v) | (NODE(v) - 1));
        for (node_set s = m->out[v]; m->free_order && s != 0; s &= s - 1)
            later[v] |= later[node_lowest(s)];
        m->read_after[v] = m->keep;
        for (int32_t u = 0; u < p->n; u++)
            if (m->out[u] & later[v])
                m->read_after[v] |= NODE(u);
        m->read_after[v] &= ~(NODE(v) | m->in[v]);
    }
}

// Whether a costs less per byte than b. In 128 bits, since the bound relies on the order.
static bool is_worth_less(const struct problem *p, int32_t a, int32_t b) {
    return (__int128)p->cost[a] * p->bytes[b] < (__int128)p->cost[b] * p->bytes[a];
}

void exhaust_model_make(struct exhaust_model *m, const struct solve_run *r) {
    const struct problem *p = r->p;
    assert(p->n > 0 && p->n <= EXHAUST_MAX_NODES);
    *m = (struct exhaust_model){.p = p,
                                .free_order = r->options->free_order,
                                .capacity = r->options->budget_bytes - p->persistent_bytes,
                                .all = ~(node_set)0 >> (EXHAUST_MAX_NODES - p->n)};
    for (int32_t v = 0; v < p->n; v++) {
        m->keep |= p->keep[v] ? NODE(v) : 0;
        m->once |= p->once[v] ? NODE(v) : 0;
        m->room[v] = m->capacity - p->bytes[v] - p->workspace[v];
        for (int32_t e = p->in_start[v]; e < p->in_start[v + 1]; e++) {
            m->in[v] |= NODE(p->in_of[e]);
            m->out[p->in_of[e]] |= NODE(v);
            m->room[v] -= p->bytes[p->in_of[e]];
        }
        if (p->bytes[v] == 0)
            continue; // there is nothing to gain by evicting it
        int32_t k = m->n_by_worth++;
        for (; k > 0 && is_worth_less(p, v, m->by_worth[k - 1]); k--)
            m->by_worth[k] = m->by_worth[k - 1];
        m->by_worth[k] = v;
    }
    fill_sides(m);
    fill_sums(m->bytes_sum, p->bytes, p->n);
    fill_sums(m->cost_sum, p->cost, p->n);
}

node_set exhaust_useful(const struct exhaust_model *m, node_set done) {
    node_set useful = m->keep | (m->all & ~done);
    for (node_set s = done; s != 0; s &= ~NODE(node_highest(s))) {
        int32_t v = node_highest(s);
        if (m->out[v] & (~done | (useful & ~m->once)))
            useful |= NODE(v);
    }
    return useful;
}

bool exhaust_missing(const struct exhaust_model *m, node_set held, node_set done,
                     node_set *missing) {
    node_set gone = done & ~held, need = m->keep & gone;
    for (node_set s = gone; s != 0; s &= ~NODE(node_highest(s))) {
        int32_t v = node_highest(s);
        if (m->out[v] & (~done | need))
            need |= NODE(v);
    }
    *missing = need;
    return (need & m->once) == 0;
}

// The least cost of evicting `excess` bytes out of `from`, in fractions, and rounded up.
static int64_t evict(const struct exhaust_model *m, node_set from, int64_t excess) {
    const struct problem *p = m->p;
    int64_t cost = 0;
    from &= ~m->once;
    for (int32_t k = 0; k < m->n_by_worth; k++) {
        int32_t v = m->by_worth[k];
        if (!(from & NODE(v)))
            continue;
        if (p->bytes[v] >= excess) {
            __int128 part = (__int128)p->cost[v] * excess;
            return cost + (int64_t)((part + p->bytes[v] - 1) / p->bytes[v]);
        }
        cost += p->cost[v];
        excess -= p->bytes[v];
    }
    return NO_WAY;
}

// What is read after the first run of q and made before it is held then, or recomputed later. If it
// must be recomputed in any case, it is no loss to evict it.
int64_t exhaust_bound(const struct exhaust_model *m, node_set held, node_set done) {
    node_set missing;
    int64_t most = 0;
    if (!exhaust_missing(m, held, done, &missing))
        return NO_WAY;
    for (node_set s = m->all & ~done; s != 0; s &= s - 1) {
        int32_t q = node_lowest(s);
        node_set live = m->read_after[q] & (m->before[q] | done) & ~missing;
        int64_t excess = exhaust_bytes(m, live) - m->room[q];
        int64_t cost = excess > 0 ? evict(m, live, excess) : 0;
        if (cost == NO_WAY || m->room[q] < 0)
            return NO_WAY;
        most = cost > most ? cost : most;
    }
    return exhaust_cost(m, missing) + most;
}
