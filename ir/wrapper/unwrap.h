// A plan for ONNX Runtime may be written as the then-branch of one If (passes/rewrite/wrap.c):
//
//     none  = Compress(x, [false])          x: an input
//     seq   = SequenceConstruct(none)
//     true  = Equal(SequenceLength(seq), 1)
//     outputs = If(true, then_branch = the plan, else_branch = numbers made from seq and its
//     length)
//
// Here it is taken out again, so that every command sees the plan. A sequence of one element has
// the length 1, whatever the inputs are: the then-branch is what runs, and nothing else in the file
// computes an output. Only this structure is taken apart, node by node; any other model stays as it
// is.
#pragma once

#include "ir/graph.h"

// Whether a model may hold a plan in an If: nothing else of it refers to names of the graph or
// gives operators a meaning.
bool unwrap_is_plain(const struct model *m);

// Takes a plan out of its If and sets m->is_wrapped. Error: the table of node metadata does not
// fit the plan, or out of memory.
status unwrap_model(struct model *m, struct diags *d);
