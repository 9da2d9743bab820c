// Selections of parameters: see param_select.h. The position of a parameter is that of the last
// node that reads it; through what is computed of constants alone, such as the Transpose of a
// weight, it is that of the node which reads the result. Layers are the positions of weights.
#include "passes/param/param_select.h"

#include <stdlib.h>
#include <string.h>

static const char last_prefix[] = "last:";

static bool is_last(const char *word) {
    return strncmp(word, last_prefix, strlen(last_prefix)) == 0;
}

bool param_select_is(const struct graph *g, const char *word) {
    bool is_word = strcmp(word, "bias") == 0 || is_last(word);
    return is_word && !graph_find(g, word).i;
}

static bool starts(const struct param_role *role, const char *with) {
    return role->kind == PARAM_PARAMETER && role->what &&
           strncmp(role->what, with, strlen(with)) == 0;
}

// Adapters stand beside a layer and are none.
static bool is_layer(const struct graph *g, const struct param_role *roles, uint32_t v) {
    bool is_weight = starts(&roles[v], "weight of") || starts(&roles[v], "table of") ||
                     starts(&roles[v], "recurrent weight of");
    return is_weight && strncmp(g->values.at[v].name, "lora.", 5) != 0;
}

// Per value, one more than the number of the last node that reads it; 0: none does.
static size_t *find_positions(const struct graph *g, struct arena *a) {
    bool *derived = ARENA_ARRAY(a, bool, g->values.n); // computed from constants alone
    size_t *position = ARENA_ARRAY(a, size_t, g->values.n);
    if (!derived || !position)
        return NULL;
    for (size_t v = 0; v < g->values.n; v++)
        derived[v] = v == 0 || g->values.at[v].init;
    for (size_t i = 0; i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        bool all = true;
        for (uint32_t k = 0; k < n->n_in; k++)
            all &= derived[n->in[k].i];
        for (uint32_t k = 0; k < n->n_out; k++)
            derived[n->out[k].i] = all;
    }
    for (size_t i = g->order.n; i-- > 0;) {
        const struct node *n = graph_node(g, g->order.at[i]);
        size_t at = i + 1;
        for (uint32_t k = 0; k < n->n_out; k++)
            if (derived[n->out[k].i] && position[n->out[k].i] > at)
                at = position[n->out[k].i];
        for (uint32_t k = 0; k < n->n_in; k++)
            if (position[n->in[k].i] < at)
                position[n->in[k].i] = at;
    }
    return position;
}

static int descending(const void *a, const void *b) {
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

// The position of the first of the last `n_layers` layers; of the first one if there are fewer.
static size_t first_position(const struct graph *g, const struct param_role *roles,
                             const size_t *position, int64_t n_layers, size_t *list) {
    size_t n = 0, n_distinct = 0;
    for (uint32_t v = 1; v < g->values.n; v++)
        if (is_layer(g, roles, v))
            list[n++] = position[v];
    if (!n)
        return SIZE_MAX;
    qsort(list, n, sizeof *list, descending);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || list[i] != list[n_distinct - 1])
            list[n_distinct++] = list[i];
    return list[(size_t)n_layers < n_distinct ? (size_t)n_layers - 1 : n_distinct - 1];
}

static status select_last(const struct graph *g, const struct param_role *roles, const char *word,
                          struct diags *d, bool *chosen) {
    char *end;
    const char *number = word + strlen(last_prefix);
    long long n = strtoll(number, &end, 10);
    if (end == number || *end || n < 1)
        return diag_error(d, DIAG_USAGE, loc_none(),
                          "--train %s: must be last:K, with the number of layers, such as last:2",
                          word);
    struct arena scratch = arena_make(d->arena->mem);
    size_t *position = find_positions(g, &scratch);
    size_t *list = ARENA_ARRAY(&scratch, size_t, g->values.n);
    bool ok = position && list;
    size_t first = ok ? first_position(g, roles, position, n, list) : 0;
    for (uint32_t v = 1; ok && v < g->values.n; v++)
        chosen[v] |= roles[v].kind == PARAM_PARAMETER && roles[v].what && position[v] >= first;
    arena_free(&scratch);
    return ok ? ST_OK : diag_out_of_memory(d);
}

status param_select(const struct graph *g, const struct param_role *roles,
                    const struct option_value *words, struct diags *d, bool *chosen) {
    status st = ST_OK;
    for (size_t i = 0; i < words->list.n && !st; i++) {
        const char *word = words->list.at[i];
        if (!param_select_is(g, word))
            continue;
        if (is_last(word))
            st = select_last(g, roles, word, d, chosen);
        for (uint32_t v = 1; v < g->values.n && !is_last(word); v++)
            chosen[v] |= starts(&roles[v], "bias");
    }
    return st;
}
