// Clusters become the solver's nodes: see remat.h. A node is charged with the results of its
// cluster that others read (`bytes`, held together), and while it runs with what the cluster needs
// beyond that (`workspace`).
//
// An output of the graph is held to the end. If it is made together with larger results that are
// not outputs (like the running statistics of a BatchNormalization), holding the whole node to the
// end would waste memory: then it is charged as persistent, from the start, and the first execution
// makes it.
#include "passes/remat/remat.h"

#define ASIDE_PART 16 // outputs up to this part of their cluster's results count as persistent

static void fill_node(const struct remat *r, uint32_t g, struct problem *p) {
    const struct remat_load *load = &r->clusters.load[g];
    bool aside = load->other_bytes > 0 && load->output_bytes <= load->other_bytes / ASIDE_PART;
    int64_t aside_bytes = aside ? load->output_bytes : 0;
    p->cost[g] = load->cost;
    p->once[g] = load->once;
    p->backward[g] = true;
    for (uint32_t i = r->clusters.start[g]; i < r->clusters.start[g + 1]; i++)
        p->backward[g] &= r->units.unit[r->clusters.member[i]].backward;
    p->keep[g] = load->output_bytes > aside_bytes;
    p->bytes[g] = load->other_bytes + load->output_bytes - aside_bytes;
    p->persistent_bytes += aside_bytes;
    int64_t inner = load->inner_bytes - aside_bytes;
    p->workspace[g] = inner > p->bytes[g] ? inner - p->bytes[g] : 0;
}

// A cluster is named after its last result.
static const char *name_of(const struct graph *g, const struct remat *r, uint32_t cluster,
                           struct arena *a) {
    node_id id = r->units.unit[r->clusters.member[r->clusters.start[cluster + 1] - 1]].node;
    const struct node *n = graph_node(g, id);
    for (uint32_t o = 0; o < n->n_out; o++)
        if (n->out[o].i)
            return graph_value(g, n->out[o])->name;
    return n->name ? n->name : str_format(a, "node %u", id.i);
}

// `seen`, per cluster: the last cluster found to read it, + 1; avoids duplicate edges.
static void add_edges(const struct remat *r, uint32_t g, uint32_t *seen, struct problem_edge *edge,
                      int64_t *n_edges) {
    for (uint32_t i = r->clusters.start[g]; i < r->clusters.start[g + 1]; i++) {
        const struct remat_unit *u = &r->units.unit[r->clusters.member[i]];
        for (uint32_t e = u->reads; e < u->reads + u->n_reads; e++) {
            uint32_t from = r->clusters.cluster_of[r->units.product.at[r->units.read.at[e]].unit];
            if (from == g || seen[from] == g + 1)
                continue;
            seen[from] = g + 1;
            edge[(*n_edges)++] = (struct problem_edge){(int32_t)from, (int32_t)g};
        }
    }
}

static status fill_problem(const struct graph *g, struct pass_context *c, struct arena *scratch,
                           struct remat *r) {
    struct problem *p = &r->problem;
    struct problem_edge *edge = ARENA_ARRAY(scratch, struct problem_edge, r->units.read.n);
    uint32_t *seen = ARENA_ARRAY(scratch, uint32_t, r->clusters.n);
    int64_t n_edges = 0;
    if (!edge || !seen)
        return diag_out_of_memory(c->diags);
    status st = problem_alloc(c->arena, c->diags, r->clusters.n, p);
    if (st)
        return st;
    p->persistent_bytes = r->units.storage.persistent_bytes;
    p->has_forward = r->units.has_forward;
    for (uint32_t i = 0; i < r->clusters.n; i++) {
        fill_node(r, i, p);
        add_edges(r, i, seen, edge, &n_edges);
        if (!(p->name[i] = name_of(g, r, i, c->arena)))
            return diag_out_of_memory(c->diags);
    }
    return problem_link(c->arena, c->diags, edge, n_edges, g->model->path, p);
}

status remat_make(const struct graph *g, struct pass_context *c, bool fine, struct remat *out) {
    *out = (struct remat){0};
    status st = remat_units_make(g, c, &out->units);
    if (!st)
        st = remat_clusters_make(&out->units, fine, c->arena, c->diags, &out->clusters);
    if (st)
        return st;
    struct arena scratch = arena_make(c->arena->mem);
    st = fill_problem(g, c, &scratch, out);
    arena_free(&scratch);
    return st;
}
