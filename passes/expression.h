// What a node computes, as a key: operator, attributes and operands, with small constants by
// content. Two nodes with one key compute the same.
#pragma once

#include "ir/graph.h"

// Appends the key of the node. False: the node is not equal to any other: it is random, has
// subgraphs, or has an attribute that is not compared.
bool expression_add(const struct graph *g, const struct node *n, struct str *key);
