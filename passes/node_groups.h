// Nodes by operator, for messages: one message for each operator, with all its nodes.
#pragma once

#include "ir/graph.h"

struct node_group {
    const char *domain, *type;
    VEC(node_id) nodes;
};

struct node_groups {
    const struct graph *g;
    struct arena *arena;
    VEC(struct node_group) groups; // in the order of their first nodes
};

struct node_groups node_groups_make(const struct graph *g, struct arena *a);
bool node_groups_add(struct node_groups *s, node_id id); // false: out of memory
// "com.example.Twirl", or "Conv".
const char *node_groups_operator(const struct node_groups *s, const struct node_group *one);
// The names of the nodes.
const char *node_groups_names(const struct node_groups *s, const struct node_group *one);
