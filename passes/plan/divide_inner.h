// What the files of the search for divisions share (plan_divide.h).
//
//   plan_divide.c      the candidates, and their evaluation
//   divide_products.c  tensor parallelism of products
//   divide_search.c    from the best candidate, runs of layers divided in another way
//   divide_place.c     devices for the parts
#pragma once

#include "passes/plan/plan_divide.h"

enum { DIVIDE_MAX_PRODUCTS = 64 };

struct divide_product { // with a large parameter
    node_id node;
    value_id weight;
    int64_t bytes;
};

struct divider {
    const struct model *m;
    const struct rig *rig;
    struct pass_context *c;
    const struct mcmc_objective *objective;
    struct divide_product product[DIVIDE_MAX_PRODUCTS];
    size_t n_products;
    int32_t ways;                         // parts of an operator, if it is divided over devices
    bool samples, attributes, parameters; // dimensions that may be divided
    struct plan_division *best;
    double best_value;
    struct str considered; // a list for the report
    struct stop stop;      // no more candidates
};

// plan_divide.c: the candidate becomes the best if it is. One that cannot be carried out is none.
// `lists`: it is named in the report.
status divide_consider(struct divider *x, struct plan_division d, bool lists);

// divide_products.c. Whether a pattern of --shard can be the name of a node.
bool divide_can_name(const char *name);
// A product is worth dividing by its parameter when that is larger than what goes in and out.
void divide_find_products(struct divider *x);
status divide_request_product(struct divider *x, struct str *out, const struct divide_product *l);

// divide_search.c
status divide_search(struct divider *x);

// divide_place.c. Of each cluster its part, from 0; -1: none.
int32_t *divide_parts_of(const struct remat *r, struct arena *a);
// on[cluster * devices + device].
void divide_place_parts(const struct placement *p, const int32_t *part, bool *on);
bool divide_place_stages(const struct placement *p, const int32_t *part, struct arena *scratch,
                         bool *on);
