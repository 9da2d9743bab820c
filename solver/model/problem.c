// Problems in memory: allocation, adjacency with all checks, and the facts that everything starts
// from. The edges are sorted once by (consumer, producer), which gives the inputs in order and puts
// duplicates side by side; one counting pass turns them round for the outputs.
#include "solver/model/problem.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/checked.h"
#include "ir/base/limits.h"

status problem_alloc(struct arena *a, struct diags *d, int64_t n, struct problem *out) {
    *out = (struct problem){0};
    if (n > LIMIT_SOLVER_NODES)
        return diag_error(d, DIAG_LIMIT, loc_none(), "%lld nodes; at most %d are taken",
                          (long long)n, LIMIT_SOLVER_NODES);
    out->n = (int32_t)n;
    out->name = ARENA_ARRAY(a, const char *, n);
    out->cost = ARENA_ARRAY(a, int64_t, n);
    out->bytes = ARENA_ARRAY(a, int64_t, n);
    out->workspace = ARENA_ARRAY(a, int64_t, n);
    out->keep = ARENA_ARRAY(a, bool, n);
    out->once = ARENA_ARRAY(a, bool, n);
    out->backward = ARENA_ARRAY(a, bool, n);
    if (!out->name || !out->cost || !out->bytes || !out->workspace || !out->keep || !out->once ||
        !out->backward)
        return diag_out_of_memory(d);
    return ST_OK;
}

static const char *node_path(struct arena *a, const struct problem *p, int64_t i) {
    const char *path = str_format(a, "node %lld (%s)", (long long)i, p->name[i]);
    return path ? path : "node";
}

static status fill_names(struct arena *a, struct diags *d, struct problem *p) {
    for (int32_t i = 0; i < p->n; i++)
        if (!p->name[i] && !(p->name[i] = str_format(a, "%d", i)))
            return diag_out_of_memory(d);
    return ST_OK;
}

// Signs and sums. Overflow is reported once, at the node where the sum leaves its range.
static status check_numbers(struct arena *a, struct diags *d, const char *file,
                            const struct problem *p) {
    status st = ST_OK;
    int64_t bytes = p->persistent_bytes, cost = 0;
    if (p->n == 0)
        st = diag_error(d, DIAG_MALFORMED, loc_file(file), "the problem has no nodes");
    if (p->persistent_bytes < 0 || p->persistent_bytes > PROBLEM_MAX_BYTES)
        return diag_error(d, DIAG_MALFORMED, loc_file(file), "fixed_bytes is %lld, not 0 .. 2^60",
                          (long long)p->persistent_bytes);
    for (int32_t i = 0; i < p->n; i++) {
        if (p->cost[i] < 0 || p->bytes[i] < 0 || p->workspace[i] < 0) {
            st = diag_error(d, DIAG_MALFORMED, loc_path(file, node_path(a, p, i)),
                            "cost, bytes and workspace must not be negative");
            continue;
        }
        if (!checked_add(bytes, p->bytes[i], &bytes) ||
            !checked_add(bytes, p->workspace[i], &bytes) || bytes > PROBLEM_MAX_BYTES)
            return diag_error(d, DIAG_MALFORMED, loc_path(file, node_path(a, p, i)),
                              "the sizes up to this node sum to more than 2^60 bytes");
        if (!checked_add(cost, p->cost[i], &cost) || cost > PROBLEM_MAX_COST)
            return diag_error(d, DIAG_MALFORMED, loc_path(file, node_path(a, p, i)),
                              "the costs up to this node sum to more than 2^53; use a larger unit");
    }
    return st;
}

static int compare_edges(const void *x, const void *y) {
    const struct problem_edge *a = x, *b = y;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return (a->from > b->from) - (a->from < b->from);
}

// Edges that point backwards are either a cycle or only a wrong order of the nodes. Peeling nodes
// without unread inputs tells: what remains contains a cycle, and walking from any remaining node
// to a remaining input, over and over, must come back to itself.
static status report_order(struct arena *a, struct diags *d, const char *file,
                           const struct problem *p, const struct problem_edge *e, int64_t n_edges,
                           const struct problem_edge *bad) {
    int32_t n = p->n;
    int32_t *start = ARENA_ARRAY(a, int32_t, n + 1), *waits = ARENA_ARRAY(a, int32_t, n);
    int32_t *ready = ARENA_ARRAY(a, int32_t, n), *heads = ARENA_ARRAY(a, int32_t, n_edges);
    int32_t *in = ARENA_ARRAY(a, int32_t, n);
    if (!start || !waits || !ready || !heads || !in)
        return diag_out_of_memory(d);
    for (int64_t k = 0; k < n_edges; k++) {
        start[e[k].from + 1]++;
        waits[e[k].to]++;
    }
    for (int32_t i = 0; i < n; i++)
        start[i + 1] += start[i];
    for (int64_t k = 0; k < n_edges; k++)
        heads[start[e[k].from] + in[e[k].from]++] = e[k].to;
    int32_t n_ready = 0;
    for (int32_t i = 0; i < n; i++)
        if (waits[i] == 0)
            ready[n_ready++] = i;
    for (int32_t k = 0; k < n_ready; k++) {
        int32_t v = ready[k];
        for (int32_t q = start[v]; q < start[v + 1]; q++)
            if (--waits[heads[q]] == 0)
                ready[n_ready++] = heads[q];
    }
    if (n_ready == n)
        return diag_error(d, DIAG_MALFORMED, loc_path(file, node_path(a, p, bad->to)),
                          "it reads node %d (%s), which is listed after it: list the nodes in a "
                          "topological order",
                          bad->from, p->name[bad->from]);
    for (int64_t k = 0; k < n_edges; k++)
        if (waits[e[k].to] > 0 && waits[e[k].from] > 0)
            in[e[k].to] = e[k].from + 1;
    int32_t v = 0;
    while (waits[v] == 0)
        v++;
    for (int32_t k = 0; k < n; k++) // now v is surely on the cycle
        v = in[v] - 1;
    struct str text = str_make(a);
    str_addf(&text, "%d (%s)", v, p->name[v]);
    int32_t w = v, n_shown = 0;
    do {
        w = in[w] - 1;
        if (n_shown++ < 8 || w == v)
            str_addf(&text, " reads %d (%s)", w, p->name[w]);
        else if (n_shown == 10)
            str_add(&text, " reads …");
    } while (w != v);
    return diag_error(d, DIAG_MALFORMED, loc_file(file), "the graph has a cycle: node %s",
                      str_text(&text));
}

static status check_edges(struct arena *a, struct diags *d, const char *file,
                          const struct problem *p, const struct problem_edge *e, int64_t n_edges) {
    const struct problem_edge *bad = NULL;
    for (int64_t k = 0; k < n_edges; k++) {
        if (e[k].from < 0 || e[k].from >= p->n || e[k].to < 0 || e[k].to >= p->n)
            return diag_error(d, DIAG_MALFORMED, loc_file(file),
                              "edge [%d, %d] names a node that is not there; there are %d",
                              e[k].from, e[k].to, p->n);
        if (!bad && e[k].from >= e[k].to)
            bad = &e[k];
    }
    return bad ? report_order(a, d, file, p, e, n_edges, bad) : ST_OK;
}

static int32_t merge_duplicates(struct diags *d, const char *file, struct problem_edge *e,
                                int64_t n_edges) {
    int32_t n = 0;
    int64_t n_twice = 0;
    struct problem_edge first = {0};
    for (int64_t k = 0; k < n_edges; k++) {
        if (n > 0 && e[n - 1].from == e[k].from && e[n - 1].to == e[k].to) {
            if (n_twice++ == 0)
                first = e[k];
        } else {
            e[n++] = e[k];
        }
    }
    if (n_twice > 0)
        diag_warning(d, DIAG_MALFORMED, loc_file(file),
                     "%lld edge%s given more than once, the first is [%d, %d]; counted once",
                     (long long)n_twice, n_twice == 1 ? " is" : "s are", first.from, first.to);
    return n;
}

status problem_link(struct arena *a, struct diags *d, struct problem_edge *edges, int64_t n_edges,
                    const char *file, struct problem *p) {
    status st = fill_names(a, d, p);
    if (st == ST_OK)
        st = check_numbers(a, d, file, p);
    if (st != ST_OK)
        return st;
    if (n_edges > INT32_MAX)
        return diag_error(d, DIAG_LIMIT, loc_file(file), "%lld edges; at most %d are taken",
                          (long long)n_edges, INT32_MAX);
    st = check_edges(a, d, file, p, edges, n_edges);
    if (st != ST_OK)
        return st;
    if (n_edges > 1)
        qsort(edges, (size_t)n_edges, sizeof *edges, compare_edges);
    p->n_edges = merge_duplicates(d, file, edges, n_edges);
    p->in_start = ARENA_ARRAY(a, int32_t, p->n + 1);
    p->out_start = ARENA_ARRAY(a, int32_t, p->n + 1);
    p->in_of = ARENA_ARRAY(a, int32_t, p->n_edges);
    p->out_of = ARENA_ARRAY(a, int32_t, p->n_edges);
    int32_t *next = ARENA_ARRAY(a, int32_t, p->n);
    if (!p->in_start || !p->out_start || !p->in_of || !p->out_of || !next)
        return diag_out_of_memory(d);
    for (int32_t k = 0; k < p->n_edges; k++) {
        p->in_start[edges[k].to + 1]++;
        p->out_start[edges[k].from + 1]++;
        p->in_of[k] = edges[k].from;
    }
    for (int32_t i = 0; i < p->n; i++) {
        p->in_start[i + 1] += p->in_start[i];
        p->out_start[i + 1] += p->out_start[i];
        next[i] = p->out_start[i];
    }
    for (int32_t k = 0; k < p->n_edges; k++)
        p->out_of[next[edges[k].from]++] = edges[k].to;
    return ST_OK;
}

status problem_read(struct arena *a, struct diags *d, const struct source *s, struct problem *out) {
    return str_ends_with(s->path, ".csv") ? problem_read_csv(a, d, s, out)
                                          : problem_read_json(a, d, s, out);
}

int64_t problem_base_cost(const struct problem *p) {
    int64_t sum = 0;
    for (int32_t i = 0; i < p->n; i++)
        sum += p->cost[i];
    return sum;
}

// A node's output leaves after its largest-numbered reader, or after itself when it has none.
int64_t problem_given_peak(const struct problem *p, struct arena *scratch) {
    int64_t *leaves = ARENA_ARRAY(scratch, int64_t, p->n); // bytes that leave after node i
    if (!leaves)
        return -1;
    int64_t held = p->persistent_bytes, peak = held;
    for (int32_t i = 0; i < p->n; i++) {
        int32_t last = i;
        if (p->out_start[i + 1] > p->out_start[i])
            last = p->out_of[p->out_start[i + 1] - 1];
        if (!p->keep[i])
            leaves[last] += p->bytes[i];
        held += p->bytes[i];
        if (held + p->workspace[i] > peak)
            peak = held + p->workspace[i];
        held -= leaves[i];
    }
    return peak;
}

int64_t problem_floor(const struct problem *p, int32_t *node) {
    int64_t most = 0;
    int32_t at = -1;
    for (int32_t i = 0; i < p->n; i++)
        if (p->keep[i])
            most += p->bytes[i];
    for (int32_t i = 0; i < p->n; i++) {
        int64_t need = p->bytes[i] + p->workspace[i];
        for (int32_t k = p->in_start[i]; k < p->in_start[i + 1]; k++)
            need += p->bytes[p->in_of[k]];
        if (need > most) {
            most = need;
            at = i;
        }
    }
    if (node)
        *node = at;
    return most + p->persistent_bytes;
}
