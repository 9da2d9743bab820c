// Verification of a plan, for `mfc verify MODEL PLAN`: every claim of the plan is derived again
// from the two files alone. Types, sizes and roles of nodes in the plan are not trusted.
#pragma once

#include "ir/check/equivalence.h"
#include "ir/check/forced_order.h"
#include "ir/json/json_write.h"
#include "ir/plan_facts.h"
#include "passes/pass.h"

struct verified {
    struct equivalence outputs;
    const char *division;    // dimension and number of parts; NULL: nothing is divided
    struct forced forced;    // how far dependencies enforce file order
    const char *loss;        // of the step; NULL: the plan does not say
    const char *cost_model;  // the estimates at hand, in words, or NULL; set by the caller
    bool costs_are_found;    // the plan names the same cost model: its costs are derived again
    struct plan_facts facts; // found; bound, makespan and other costs as the plan claims them
};

// Makes the baseline step of `model` with the options recorded in the plan (step_recall), which are
// in c->options, and checks the plan against it: same outputs, order enforced, peak as claimed and
// within the budget, no overlapping addresses, costs as claimed if the plan was made with
// out->cost_model. ST_VERIFY: diagnostics list all claims that do not
// hold. Changes both models: the model becomes its step, and the plan's values get their types.
status verify_plan(struct model *model, struct model *plan, struct pass_context *c,
                   struct verified *out);

// Prints the result as a table, or as JSON members.
void verify_plan_print(struct str *out, const struct verified *v);
void verify_plan_json(struct json_writer *w, const char *key, const struct verified *v);
