// A schedule as Checkmate's matrices. Stage t ends with the first execution of the t-th node (in
// the order of first executions). R[t][i]: how often node i is computed in stage t. S[t][i]:
// whether node i is held when stage t begins.
#pragma once

#include "solver/model/schedule.h"

struct matrices {
    int32_t n;
    int32_t *order; // order[t]: the node whose first execution ends stage t
    int32_t *R;     // n x n, row by row: R[t * n + i]
    bool *S;
};

#define MATRICES_NODES 4000 // at most: the matrices are square

// What runs after the last first execution (a kept node, once more) counts to the last stage. The
// steps must be valid. ST_LIMIT: too many nodes.
status matrices_make(const struct problem *p, struct steps s, struct arena *a, struct diags *d,
                     struct matrices *out);

// Rows of characters: '.' nothing, 'S' held, 'R' computed, 'B' held at the start and computed
// again.
void matrices_print(struct str *out, const struct matrices *m);
// {"format":"mfc-matrices","version":1,"order":[…],"R":[[…],…],"S":[[…],…]}
void matrices_print_json(struct str *out, const struct matrices *m);
