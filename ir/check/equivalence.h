// Proves that a plan computes the same function as the baseline step. Every plan passes this check
// before it is written, and again in `mfc verify`: each output of the plan must be the same
// expression as in the step, after recomputation, reordering and control dependencies.
//
// Algorithm: value numbering over both models with one table. Every value gets a class; values of
// one class are equal in every execution. The class of a node's output is determined by operator,
// attributes, operand classes and output slot. Keys are compared in full, not by hash. Control
// nodes simplify to their operands by algebraic identities that hold in any graph, independent of
// names (equivalence_rules.c).
//
// A node of the plan may be divided into parts. Laws of division (equivalence_parts.h), stated
// independently of what divides, prove that a part is a range of what the step computes, that the
// concatenation of all ranges is the whole, and that the sum of all partial sums is, up to the
// order of summation. Elements of one part may still differ in the last bit where a runtime
// computes a smaller operator by other instructions.
//
// Assumptions: the types of the step (mfc inferred its shapes), and that an operator without
// OPF_RANDOM is deterministic. Types that the plan declares are not used. The check is sound and
// incomplete: ST_OK is a proof, but it may reject equal expressions that need another identity.
#pragma once

#include "ir/graph.h"

// ST_OK: every output of `plan` equals that of `step`; the inputs agree in name and type, and
// parameters in their initial values (a plan may omit those); every node marked as a recomputation
// computes the same values as its original. ST_VERIFY: a diagnostic names the first node of the
// plan that differs. Both models must have passed model_verify.
status equivalence_check(const struct model *step, const struct model *plan, struct diags *d);

// How the outputs are equal.
struct equivalence {
    size_t n_outputs;
    size_t n_reordered; // of these, equal up to the order in which parts are summed
};

// The same check, and how.
status equivalence_find(const struct model *step, const struct model *plan, struct diags *d,
                        struct equivalence *out);

// The same; then sets the type of every value of the plan's graph (not of its subgraphs) to
// that of its class in the step, for plans that declare no types. A value whose class has no static
// type keeps its own.
status equivalence_check_types(const struct model *step, struct model *plan, struct diags *d,
                               struct equivalence *out);

// Whether two executions of this node may differ: a random operator without an explicit seed, an
// unknown operator, or a node with one of these in its subgraphs or its function.
bool equivalence_is_random(const struct graph *g, node_id n);
