// Measured times: see cost_source.h. Nodes are matched by name. A fused kernel runs under the name
// of its first node and as another operator; its time is divided among that node and the unmeasured
// chain of only readers after it, in proportion to their estimates. Remaining nodes keep their
// estimates, scaled by the ratio of measured to estimated time of their operator, or of all nodes
// if their operator was not measured.
#include <string.h>

#include "passes/cost/cost_source.h"

struct matching {
    const struct cost_profile *p;
    struct cost_list *list;
    struct uses uses;
    uint32_t *line_of; // node -> line of the list, from 1; 0: none
    bool *matched;     // line -> its time was measured
    double measured[OP_COUNT_], estimated[OP_COUNT_];
};

// The entry of a node, or of the node that it recomputes.
static bool find(const struct matching *m, const struct node *n, int64_t *entry) {
    if (n->name && map_get_text(&m->p->by_name, n->name, entry))
        return true;
    const struct node *first = n->again.i ? graph_node(m->list->g, n->again) : NULL;
    return first && first->name && map_get_text(&m->p->by_name, first->name, entry);
}

static bool is_missing(const struct matching *m, node_id id) {
    int64_t entry;
    uint32_t line = m->line_of[id.i] - 1;
    return !m->matched[line] && !m->list->at[line].estimate.is_free &&
           !find(m, graph_node(m->list->g, id), &entry);
}

// The only reader of the only output of this node, if it was not measured under its own name.
static node_id fused_with(const struct matching *m, node_id id) {
    const struct graph *g = m->list->g;
    const struct node *n = graph_node(g, id);
    if (n->n_out != 1 || !n->out[0].i || graph_value(g, n->out[0])->is_output)
        return NODE_NONE;
    uint32_t from = m->uses.start[n->out[0].i], to = m->uses.start[n->out[0].i + 1];
    return to - from == 1 && is_missing(m, m->uses.node[from]) ? m->uses.node[from] : NODE_NONE;
}

static void share_out(struct matching *m, node_id first, bool is_fused, double time) {
    double total = 0;
    struct cost_line *at = m->list->at;
    for (node_id id = first; id.i; id = is_fused ? fused_with(m, id) : NODE_NONE)
        total += (double)at[m->line_of[id.i] - 1].time;
    for (node_id id = first; id.i; id = is_fused ? fused_with(m, id) : NODE_NONE) {
        uint32_t i = m->line_of[id.i] - 1;
        enum op op = graph_node(m->list->g, id)->op;
        double part = total > 0 ? time * (double)at[i].time / total : time;
        m->matched[i] = true;
        m->measured[op] += part;
        m->estimated[op] += (double)at[i].time;
        at[i].time = cost_round(part);
    }
}

static void match(struct matching *m) {
    for (size_t i = 0; i < m->list->n; i++) {
        const struct cost_line *l = &m->list->at[i];
        const struct node *n = graph_node(m->list->g, l->node);
        int64_t entry;
        if (l->estimate.is_free || m->matched[i] || !find(m, n, &entry))
            continue;
        bool is_fused = m->p->types[entry] && strcmp(m->p->types[entry], n->type) != 0;
        share_out(m, l->node, is_fused, m->p->times[entry]);
    }
}

// Scales the estimates of unmeasured nodes, and reports how much was measured.
static void scale_rest(struct matching *m) {
    double measured = 0, estimated = 0, rest = 0, scaled = 0;
    size_t n_matched = 0, n_all = 0;
    for (int i = 0; i < OP_COUNT_; i++) {
        measured += m->measured[i];
        estimated += m->estimated[i];
    }
    for (size_t i = 0; i < m->list->n; i++) {
        struct cost_line *l = &m->list->at[i];
        enum op op = graph_node(m->list->g, l->node)->op;
        if (l->estimate.is_free)
            continue;
        n_all++;
        n_matched += m->matched[i];
        if (m->matched[i] || estimated <= 0)
            continue;
        bool own = m->estimated[op] > 0;
        double factor = own ? m->measured[op] / m->estimated[op] : measured / estimated;
        rest += (double)l->time;
        scaled += factor * (double)l->time;
        l->time = cost_round(factor * (double)l->time);
    }
    if (measured + scaled > 0)
        m->list->measured_share = measured / (measured + scaled);
    struct str more = str_make(m->list->a);
    if (rest > 0)
        str_addf(&more, "; the others scaled by %.2f", scaled / rest);
    if (n_all && !n_matched)
        diag_warning(m->list->d, DIAG_PROFILE, loc_file(m->p->path),
                     "none of the %zu nodes is in it: it is a profile of another model", n_all);
    else if (n_all)
        diag_note(m->list->d, DIAG_PROFILE, loc_file(m->p->path),
                  "%zu of %zu nodes matched (%.1f %%), %.1f %% of the time%s", n_matched, n_all,
                  100 * (double)n_matched / (double)n_all, 100 * m->list->measured_share,
                  str_text(&more));
}

status cost_profile_apply(const struct cost_profile *p, struct cost_list *list) {
    struct matching *m = ARENA_NEW(list->a, struct matching);
    if (!m)
        return diag_out_of_memory(list->d);
    m->p = p;
    m->list = list;
    m->line_of = ARENA_ARRAY(list->a, uint32_t, list->g->nodes.n);
    m->matched = ARENA_ARRAY(list->a, bool, list->n);
    if (!m->line_of || !m->matched || !graph_uses(list->g, list->a, &m->uses))
        return diag_out_of_memory(list->d);
    for (size_t i = 0; i < list->n; i++)
        m->line_of[list->at[i].node.i] = (uint32_t)i + 1;
    match(m);
    scale_rest(m);
    return ST_OK;
}
