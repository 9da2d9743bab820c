// The user's own cost model: see cost_source.h. An entry for the name of a node has precedence over
// a pattern, and a pattern over an entry for its operator; each may give the time, the workspace,
// or both.
#include <math.h>
#include <string.h>

#include "passes/cost/cost_source.h"

const char *const cost_variables[] = {"flops", "bytes", "in_bytes", "out_bytes", "time", NULL};

struct lookup {
    const struct cost_model *m;
    struct cost_list *list;
    struct map by_key[COST_KINDS]; // of names and operators -> entry
    bool *used[COST_KINDS];
    struct str key; // of the operator that is looked up
};

static status index_entries(struct lookup *k) {
    struct cost_list *list = k->list;
    for (int kind = 0; kind < COST_KINDS; kind++) {
        k->by_key[kind] = map_make(list->a);
        if (!(k->used[kind] = ARENA_ARRAY(list->a, bool, k->m->n[kind])))
            return diag_out_of_memory(list->d);
        for (size_t i = 0; kind != COST_BY_PATTERN && i < k->m->n[kind]; i++)
            if (!map_put_text(&k->by_key[kind], k->m->at[kind][i].key, (int64_t)i))
                return diag_out_of_memory(list->d);
    }
    return ST_OK;
}

// The entry of this kind for a node, or NULL.
static const struct cost_entry *find(struct lookup *k, enum cost_kind kind, const struct node *n) {
    const struct cost_model *m = k->m;
    int64_t i = -1;
    if (kind == COST_BY_PATTERN) {
        for (size_t j = 0; n->name && i < 0 && j < m->n[kind]; j++)
            if (str_match(m->at[kind][j].key, n->name))
                i = (int64_t)j;
    } else {
        const char *key = n->name;
        if (kind == COST_BY_OPERATOR) {
            k->key.n = 0;
            str_addf(&k->key, "%s%s%s", n->domain, *n->domain ? ":" : "", n->type);
            key = str_text(&k->key);
        }
        if (!key || !map_get_text(&k->by_key[kind], key, &i))
            return NULL;
    }
    if (i < 0)
        return NULL;
    k->used[kind][i] = true;
    return &m->at[kind][i];
}

static status evaluate(const struct lookup *k, const struct cost_line *l, const struct formula *f,
                       const char *what, double *out) {
    const struct cost *c = &l->estimate;
    double values[COST_VARIABLES] = {[COST_FLOPS] = (double)c->flops,
                                     [COST_BYTES] = (double)c->bytes,
                                     [COST_IN_BYTES] = (double)c->in_bytes,
                                     [COST_OUT_BYTES] = (double)c->out_bytes,
                                     [COST_TIME] = (double)l->time};
    *out = formula_value(f, values);
    if (isfinite(*out) && *out >= 0)
        return ST_OK;
    return diag_error(
        k->list->d, DIAG_COSTS, loc_path(k->m->path, node_path(k->list->g, l->node, k->list->a)),
        "the formula for the %s of this node gives %g, not a number of 0 or more", what, *out);
}

static status apply_to(struct lookup *k, struct cost_line *l) {
    const struct node *n = graph_node(k->list->g, l->node);
    const struct formula *time = NULL, *workspace = NULL;
    for (enum cost_kind kind = 0; kind < COST_KINDS; kind++) {
        const struct cost_entry *e = find(k, kind, n);
        time = time || !e ? time : e->time;
        workspace = workspace || !e ? workspace : e->workspace;
    }
    double ns = (double)l->time, bytes = (double)l->estimate.workspace_bytes;
    status st = time ? evaluate(k, l, time, "cost", &ns) : ST_OK;
    if (!st && workspace)
        st = evaluate(k, l, workspace, "workspace", &bytes);
    if (st)
        return st;
    if (time)
        l->time = cost_round(ns);
    if (workspace)
        l->estimate.workspace_bytes = bytes < (double)COST_MAX ? (int64_t)ceil(bytes) : COST_MAX;
    return ST_OK;
}

static void warn_unused(const struct lookup *k) {
    static const char *const section[] = {"nodes", "patterns", "operators"};
    static const char *const problem[] = {"no node has this name", "it applies to no node",
                                          "no node has this operator"};
    for (int kind = 0; kind < COST_KINDS; kind++)
        for (size_t i = 0; i < k->m->n[kind]; i++)
            if (!k->used[kind][i])
                diag_warning(k->list->d, DIAG_COSTS, loc_file(k->m->path), "%s: \"%s\": %s",
                             section[kind], k->m->at[kind][i].key, problem[kind]);
}

status cost_model_apply(const struct cost_model *m, struct cost_list *list) {
    struct lookup k = {.m = m, .list = list, .key = str_make(list->a)};
    status worst = index_entries(&k);
    if (worst)
        return worst;
    for (size_t i = 0; i < list->n; i++) {
        status st = apply_to(&k, &list->at[i]);
        worst = worst ? worst : st;
    }
    if (!worst && k.key.failed)
        worst = diag_out_of_memory(list->d);
    if (!worst)
        warn_unused(&k);
    return worst;
}
