// Which part of a divided step (passes/shard) a unit belongs to. Parts are named "X/part1",
// "X/part2", …; their helpers are not, but read nothing of the other parts.
#include <stdlib.h>
#include <string.h>

#include "passes/remat/remat.h"

#define PART_NAME "/part"

// From 1; 0: the name is of no part.
static int32_t part_of_name(const char *name) {
    const char *found = NULL;
    for (const char *at = name; (at = strstr(at, PART_NAME)); at += strlen(PART_NAME))
        found = at;
    long part = found ? strtol(found + strlen(PART_NAME), NULL, 10) : 0;
    return part >= 1 && part < REMAT_MAX_PARTS ? (int32_t)part : 0;
}

// The part that all operands belong to, apart from those that belong to none; 0: there is none, or
// several.
static int32_t common_part(const struct remat_units *u, const struct remat_unit *x) {
    int32_t found = 0;
    for (uint32_t k = x->reads; k < x->reads + x->n_reads; k++) {
        int32_t here = u->unit[u->product.at[u->read.at[k]].unit].part;
        if (here && found && here != found)
            return 0;
        found = here ? here : found;
    }
    return found;
}

void remat_find_parts(const struct graph *g, struct remat_units *u) {
    bool is_divided = false;
    for (uint32_t i = 0; i < u->n; i++) {
        u->unit[i].part = part_of_name(node_called(g, u->unit[i].node));
        is_divided |= u->unit[i].part > 0;
    }
    for (uint32_t i = 0; is_divided && i < u->n; i++)
        if (!u->unit[i].part)
            u->unit[i].part = common_part(u, &u->unit[i]);
}
