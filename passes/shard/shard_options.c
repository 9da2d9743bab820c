// The option --shard: PATTERN:DIMENSION:WAYS[:scatter], with the dimensions of shard_choose.c. The
// last one that matches a node counts.
#include <stdlib.h>
#include <string.h>

#include "passes/shard/shard_options.h"

static const char *const kind_names[] = {"sample", "parameter", "attribute", "sum"};

struct entry {
    const char *pattern, *text;
    struct shard_request ask;
    size_t n_named, n_matched, n_divided; // by name, and by no later pattern
    const char *refused;                  // the first node that could not be divided
};

struct entries {
    struct pass_context *c;
    struct entry *at;
    size_t n;
    struct shard_request *ask; // per node
};

static status bad_entry(struct entries *e, const char *text) {
    return diag_error(e->c->diags, DIAG_USAGE, loc_none(),
                      "--shard %s is not PATTERN:DIMENSION:WAYS[:scatter], with a dimension of "
                      "sample, parameter, attribute, sum, or a number, and ways from 1 to 1024",
                      text);
}

static bool read_number(const char *text, long max, uint32_t *out) {
    char *end;
    long x = strtol(text, &end, 10);
    *out = (uint32_t)x;
    return end != text && !*end && x >= 1 && x <= max;
}

static status read_entry(struct entries *all, const char *text, struct entry *e) {
    char *own = arena_copy(all->c->arena, text, strlen(text) + 1);
    if (!own)
        return diag_out_of_memory(all->c->diags);
    char *ways = strrchr(own, ':');
    if (ways && strcmp(ways, ":scatter") == 0) {
        e->ask.scatter = true;
        *ways = 0;
        ways = strrchr(own, ':');
    }
    if (ways)
        *ways++ = 0;
    char *dim = strrchr(own, ':');
    if (!ways || !dim || !read_number(ways, SHARD_MAX_WAYS, &e->ask.ways) || e->ask.ways < 1)
        return bad_entry(all, text);
    *dim++ = 0;
    e->pattern = own;
    e->text = text;
    e->ask.region = (uint32_t)(e - all->at) + 1;
    for (e->ask.kind = SHARD_BY_SAMPLE; e->ask.kind < SHARD_BY_NUMBER; e->ask.kind++)
        if (strcmp(dim, kind_names[e->ask.kind]) == 0)
            return ST_OK;
    return read_number(dim, SHARD_LABELS, &e->ask.number) ? ST_OK : bad_entry(all, text);
}

static void ask_for(struct entries *all, const struct graph *g, node_id id) {
    for (size_t i = 0; i < all->n; i++)
        if (str_match(all->at[i].pattern, node_called(g, id))) {
            all->at[i].n_named++;
            all->ask[id.i] = all->at[i].ask;
        }
    if (all->ask[id.i].region)
        all->at[all->ask[id.i].region - 1].n_matched++;
}

static void count(struct entries *all, const struct graph *g, node_id id,
                  const struct shard_choices *x) {
    if (!all->ask[id.i].region)
        return;
    struct entry *e = &all->at[all->ask[id.i].region - 1];
    if (!x->why[id.i])
        e->n_divided++;
    else if (!e->refused)
        e->refused = str_format(all->c->arena, "%s (%s): %s", node_called(g, id),
                                graph_node(g, id)->type, x->why[id.i]);
}

static status report(struct entries *all) {
    status st = ST_OK;
    struct diags *d = all->c->diags;
    for (size_t i = 0; i < all->n; i++) {
        const struct entry *e = &all->at[i];
        if (!e->n_named)
            st = diag_error(d, DIAG_USAGE, loc_none(), "--shard %s: no node has such a name",
                            e->text);
        else if (!e->n_matched)
            diag_note(d, DIAG_SHARD, loc_none(),
                      "--shard %s has no effect: a later one matches all of its nodes", e->text);
        else if (!e->n_divided)
            st = diag_error(d, DIAG_SHARD, loc_none(),
                            "--shard %s: none of %zu nodes can be divided so; %s", e->text,
                            e->n_matched, e->refused);
        else if (e->n_divided < e->n_matched)
            diag_note(d, DIAG_SHARD, loc_none(),
                      "--shard %s: %zu of %zu nodes are divided; the first of the others is %s",
                      e->text, e->n_divided, e->n_matched, e->refused);
    }
    return st;
}

status shard_options_choose(struct graph *g, struct pass_context *c, struct shard_choices *out) {
    const struct option_value *given = options_get(c->options, "shard");
    struct entries all = {.c = c,
                          .n = given->list.n,
                          .at = ARENA_ARRAY(c->arena, struct entry, given->list.n),
                          .ask = ARENA_ARRAY(c->arena, struct shard_request, g->nodes.n)};
    status st = all.at && all.ask ? ST_OK : diag_out_of_memory(c->diags);
    for (size_t i = 0; !st && i < all.n; i++)
        st = read_entry(&all, given->list.at[i], &all.at[i]);
    for (size_t i = 0; !st && i < g->order.n; i++)
        ask_for(&all, g, g->order.at[i]);
    if (!st)
        st = shard_choose(g, all.ask, c, out);
    for (size_t i = 0; !st && i < g->order.n; i++)
        count(&all, g, g->order.at[i], out);
    return st ? st : report(&all);
}

bool shard_dims_allow(const struct options *o, const char *dimension) {
    const struct option_value *given = options_get(o, "shard-dims");
    for (size_t i = 0; i < given->list.n; i++)
        if (strcmp(given->list.at[i], dimension) == 0)
            return true;
    return given->list.n == 0;
}

status shard_check_dims(const struct options *o, struct diags *d) {
    const struct option_value *given = options_get(o, "shard-dims");
    for (size_t i = 0; i < given->list.n; i++) {
        bool known = false;
        for (size_t k = 0; k <= SHARD_BY_ATTRIBUTE; k++)
            known |= strcmp(given->list.at[i], kind_names[k]) == 0;
        if (!known)
            return diag_error(d, DIAG_USAGE, loc_none(),
                              "--shard-dims %s: a dimension is sample, parameter or attribute",
                              given->list.at[i]);
    }
    return ST_OK;
}
