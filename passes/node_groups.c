// Nodes by operator: see node_groups.h.
#include "passes/node_groups.h"

#include <string.h>

enum { MAX_NAMES = 40 }; // in one message

struct node_groups node_groups_make(const struct graph *g, struct arena *a) {
    return (struct node_groups){.g = g, .arena = a};
}

bool node_groups_add(struct node_groups *s, node_id id) {
    const struct node *n = graph_node(s->g, id);
    struct node_group *one = NULL;
    for (size_t i = 0; i < s->groups.n && !one; i++)
        if (strcmp(s->groups.at[i].type, n->type) == 0 &&
            strcmp(s->groups.at[i].domain, n->domain) == 0)
            one = &s->groups.at[i];
    struct node_group fresh = {.domain = n->domain, .type = n->type};
    if (!one && VEC_PUSH(s->arena, &s->groups, fresh))
        one = &s->groups.at[s->groups.n - 1];
    return one && VEC_PUSH(s->arena, &one->nodes, id);
}

const char *node_groups_operator(const struct node_groups *s, const struct node_group *one) {
    const char *text =
        str_format(s->arena, "%s%s%s", one->domain, *one->domain ? "." : "", one->type);
    return text ? text : one->type;
}

const char *node_groups_names(const struct node_groups *s, const struct node_group *one) {
    struct str text = str_make(s->arena);
    for (size_t i = 0; i < one->nodes.n && i < MAX_NAMES; i++)
        str_addf(&text, "%s%s", i ? ", " : "", node_called(s->g, one->nodes.at[i]));
    if (one->nodes.n > MAX_NAMES)
        str_addf(&text, " and %zu more", one->nodes.n - MAX_NAMES);
    return str_text(&text);
}
