// Are two models the same function? The check that every plan passes before it is written, and
// again in `mfc verify`: each output of the plan must be the same expression as in the unplanned
// step, whatever was computed twice, reordered, or tied together by control nodes.
//
// It is a value numbering: every value gets a class, such that values of one class are equal
// whenever the graph runs. The class of a node's output follows from operator, attributes, operand
// classes and slot, compared in full and never by a digest. Control nodes vanish by laws that hold
// for any graph, not by their names (equiv_rules.c): all empty tensors of a type are one; Concat
// does not need its empty operands; Reshape to the shape that a tensor has is that tensor.
//
// What it takes for granted: the step's own types (its shapes were inferred by mfc), and that an
// operator without OPF_RANDOM gives equal results for equal operands. Types that the plan declares
// are never believed. An answer of ST_OK is a proof; a refusal can be of two expressions that are
// equal by a law that is not known here.
#pragma once

#include "ir/graph.h"

// ST_OK: every output of `plan` is that of `step`; the inputs agree in name and type, parameters in
// their first values (a plan may leave those out); every node that is said to repeat another one
// does. ST_VERIFY: a diagnostic names the first node of the plan that differs. Both models must
// have passed model_verify.
status equivalence_check(const struct model *step, const struct model *plan, struct diags *d);

// The same, and gives every value of the plan's graph (not of its subgraphs) the type that its
// class has in the step, for plans that declare none. What has no known type keeps what it had.
status equivalence_check_types(const struct model *step, struct model *plan, struct diags *d);

// Whether two runs of this node may differ: a random operator without an explicit seed, an operator
// that mfc does not know, or one that has such a node in its subgraphs or its function.
bool equivalence_is_random(const struct graph *g, node_id n);
