// Problems in memory: allocation, checks, adjacency lists, base cost, and two simple memory bounds.
// The edges are sorted once by (consumer, producer): this sorts the inputs of each node and makes
// duplicates adjacent. A counting sort of the result by producer gives the outputs.
#include "solver/model/problem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/checked.h"
#include "ir/base/limits.h"

status problem_alloc(struct arena *a, struct diags *d, int64_t n, struct problem *out) {
    assert(a && d && n >= 0 && out);
    *out = (struct problem){0};
    if (n > LIMIT_SOLVER_NODES)
        return diag_error(d, DIAG_LIMIT, loc_none(), "%lld nodes; the maximum is %d", (long long)n,
                          LIMIT_SOLVER_NODES);
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

// Signs and sums. An overflow is reported once, at the first node whose sum is out of range.
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

// The edges as the caller gave them, not yet sorted, and the context of messages about them.
struct edge_check {
    struct arena *arena;
    struct diags *diags;
    const char *file;
    const struct problem *p;
    const struct problem_edge *edge;
    int64_t n;
};

// Kahn's topological sort. Afterwards n_inputs[i] counts the inputs of node i that were not sorted;
// it is 0 for all nodes if and only if the graph is acyclic.
static bool count_unsorted_inputs(const struct edge_check *c, int32_t *n_inputs, bool *is_acyclic) {
    int32_t n = c->p->n;
    int32_t *start = ARENA_ARRAY(c->arena, int32_t, n + 1);
    int32_t *next = ARENA_ARRAY(c->arena, int32_t, n);
    int32_t *readers = ARENA_ARRAY(c->arena, int32_t, c->n);
    int32_t *ready = ARENA_ARRAY(c->arena, int32_t, n);
    if (!start || !next || !readers || !ready)
        return false;
    for (int64_t k = 0; k < c->n; k++) {
        start[c->edge[k].from + 1]++;
        n_inputs[c->edge[k].to]++;
    }
    for (int32_t i = 0; i < n; i++) {
        start[i + 1] += start[i];
        next[i] = start[i];
    }
    for (int64_t k = 0; k < c->n; k++)
        readers[next[c->edge[k].from]++] = c->edge[k].to;
    int32_t n_ready = 0;
    for (int32_t i = 0; i < n; i++)
        if (n_inputs[i] == 0)
            ready[n_ready++] = i;
    for (int32_t k = 0; k < n_ready; k++)
        for (int32_t q = start[ready[k]]; q < start[ready[k] + 1]; q++)
            if (--n_inputs[readers[q]] == 0)
                ready[n_ready++] = readers[q];
    *is_acyclic = n_ready == n;
    return true;
}

// Every unsorted node has an unsorted input. Following such inputs n times from any unsorted node
// therefore ends on a cycle.
static status report_cycle(const struct edge_check *c, const int32_t *n_inputs) {
    enum { MAX_SHOWN = 8 };
    const struct problem *p = c->p;
    int32_t *input = ARENA_ARRAY(c->arena, int32_t, p->n);
    if (!input)
        return diag_out_of_memory(c->diags);
    for (int64_t k = 0; k < c->n; k++)
        if (n_inputs[c->edge[k].to] > 0 && n_inputs[c->edge[k].from] > 0)
            input[c->edge[k].to] = c->edge[k].from;
    int32_t v = 0;
    while (n_inputs[v] == 0)
        v++;
    for (int32_t k = 0; k < p->n; k++)
        v = input[v];
    struct str text = str_make(c->arena);
    str_addf(&text, "%d (%s)", v, p->name[v]);
    int32_t w = v, n_shown = 0;
    do {
        w = input[w];
        if (n_shown++ < MAX_SHOWN || w == v)
            str_addf(&text, " reads %d (%s)", w, p->name[w]);
        else if (n_shown == MAX_SHOWN + 2)
            str_add(&text, " reads …");
    } while (w != v);
    return diag_error(c->diags, DIAG_MALFORMED, loc_file(c->file), "the graph has a cycle: node %s",
                      str_text(&text));
}

// Reports why an edge points backwards: a cycle, or nodes that are not listed in topological order.
static status report_order(const struct edge_check *c, const struct problem_edge *backward) {
    int32_t *n_inputs = ARENA_ARRAY(c->arena, int32_t, c->p->n);
    bool is_acyclic = false;
    if (!n_inputs || !count_unsorted_inputs(c, n_inputs, &is_acyclic))
        return diag_out_of_memory(c->diags);
    if (!is_acyclic)
        return report_cycle(c, n_inputs);
    return diag_error(c->diags, DIAG_MALFORMED,
                      loc_path(c->file, node_path(c->arena, c->p, backward->to)),
                      "it reads node %d (%s), which is listed after it: list the nodes in a "
                      "topological order",
                      backward->from, c->p->name[backward->from]);
}

static status check_edges(const struct edge_check *c) {
    const struct problem_edge *backward = NULL;
    for (int64_t k = 0; k < c->n; k++) {
        const struct problem_edge *e = &c->edge[k];
        if (e->from < 0 || e->from >= c->p->n || e->to < 0 || e->to >= c->p->n)
            return diag_error(c->diags, DIAG_MALFORMED, loc_file(c->file),
                              "edge [%d, %d]: node numbers are 0 .. %d", e->from, e->to,
                              c->p->n - 1);
        if (!backward && e->from >= e->to)
            backward = e;
    }
    return backward ? report_order(c, backward) : ST_OK;
}

static int32_t merge_duplicates(struct diags *d, const char *file, struct problem_edge *e,
                                int64_t n_edges) {
    int32_t n = 0;
    int64_t n_duplicates = 0;
    struct problem_edge first = {0};
    for (int64_t k = 0; k < n_edges; k++) {
        if (n > 0 && e[n - 1].from == e[k].from && e[n - 1].to == e[k].to) {
            if (n_duplicates++ == 0)
                first = e[k];
        } else {
            e[n++] = e[k];
        }
    }
    if (n_duplicates > 0)
        diag_warning(d, DIAG_MALFORMED, loc_file(file),
                     "%lld edge%s given more than once, the first is [%d, %d]; counted once",
                     (long long)n_duplicates, n_duplicates == 1 ? " is" : "s are", first.from,
                     first.to);
    return n;
}

status problem_link(struct arena *a, struct diags *d, struct problem_edge *edges, int64_t n_edges,
                    const char *file, struct problem *p) {
    assert(a && d && n_edges >= 0 && (edges || n_edges == 0) && !p->in_start);
    status st = fill_names(a, d, p);
    if (st == ST_OK)
        st = check_numbers(a, d, file, p);
    if (st != ST_OK)
        return st;
    if (n_edges > INT32_MAX)
        return diag_error(d, DIAG_LIMIT, loc_file(file), "%lld edges; the maximum is %d",
                          (long long)n_edges, INT32_MAX);
    st = check_edges(&(struct edge_check){a, d, file, p, edges, n_edges});
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

// A node's output is freed after its last reader, or after the node itself when it has none.
int64_t problem_given_peak(const struct problem *p, struct arena *scratch) {
    assert(p->in_start && scratch);
    int64_t *freed_bytes = ARENA_ARRAY(scratch, int64_t, p->n); // after node i
    if (!freed_bytes)
        return -1;
    int64_t live_bytes = p->persistent_bytes, peak = live_bytes;
    for (int32_t i = 0; i < p->n; i++) {
        int32_t last = i;
        if (p->out_start[i + 1] > p->out_start[i])
            last = p->out_of[p->out_start[i + 1] - 1];
        if (!p->keep[i])
            freed_bytes[last] += p->bytes[i];
        live_bytes += p->bytes[i];
        if (live_bytes + p->workspace[i] > peak)
            peak = live_bytes + p->workspace[i];
        live_bytes -= freed_bytes[i];
    }
    return peak;
}

int64_t problem_floor(const struct problem *p, int32_t *node) {
    assert(p->in_start);
    int64_t floor_bytes = 0;
    int32_t at = -1;
    for (int32_t i = 0; i < p->n; i++)
        if (p->keep[i])
            floor_bytes += p->bytes[i];
    for (int32_t i = 0; i < p->n; i++) {
        int64_t need = p->bytes[i] + p->workspace[i];
        for (int32_t k = p->in_start[i]; k < p->in_start[i + 1]; k++)
            need += p->bytes[p->in_of[k]];
        if (need > floor_bytes) {
            floor_bytes = need;
            at = i;
        }
    }
    if (node)
        *node = at;
    return floor_bytes + p->persistent_bytes;
}
