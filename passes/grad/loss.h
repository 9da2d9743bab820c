// The loss of a training step: which one, of which value, along which axes. loss_tail.c describes
// how a value is computed, loss_rules.c holds the rules, loss_choice.c decides, loss_build.c and
// loss_ctc.c make the nodes, loss.c is the pass.
#pragma once

#include "ir/build.h"
#include "passes/pass.h"

enum loss_kind {
    LOSS_AUTO, // not decided
    LOSS_BCE,
    LOSS_COSINE,
    LOSS_CROSS_ENTROPY,
    LOSS_CTC,
    LOSS_HUBER,
    LOSS_L1,
    LOSS_MSE,
    LOSS_OUTPUT, // the model has the loss
    LOSS_SUM,
    LOSS_VJP,
};

enum { NO_AXIS = -1 };

struct loss_choice {
    enum loss_kind kind;
    value_id named; // the value that is trained on, as the user knows it
    value_id of;    // what the loss is computed of: that value, or its logits
    int32_t class_axis, time_axis, batch_axis; // of `of`; NO_AXIS: none
    const char *why;                           // in words, for the note
    const char *others;                        // candidates that are not used; NULL: none
};

// ---- How a value is computed ----

enum loss_end {
    LOSS_END_SCORES,  // unbounded values of a layer with weights: class scores, or a regression
    LOSS_END_SOFTMAX, // also LogSoftmax
    LOSS_END_SIGMOID,
    LOSS_END_BOUNDED,    // Tanh, Clip, a scaled Sigmoid: no scores
    LOSS_END_NORMALIZED, // features
    LOSS_END_REDUCED,    // one number, reduced from many: a loss
    LOSS_END_OTHER,
};

struct loss_tail {
    enum loss_end end;
    value_id logits;    // operand of Softmax or Sigmoid, else the value
    int32_t class_axis; // of logits; NO_AXIS: not known
    const char *op;     // the operator that decides
    bool is_log_softmax;
};

struct loss_tail loss_tail_of(const struct graph *g, value_id v, struct arena *a);

// ---- Rules ----

// What the rules look at.
struct loss_candidate {
    value_id value;
    struct loss_tail tail;
    const struct type *type;  // of the logits
    int64_t n_classes;        // along the class axis; 0: no class axis
    const struct type *input; // of the first input, or NULL
};

struct loss_candidate loss_candidate_of(const struct graph *g, value_id v, struct arena *a);

struct loss_rule {
    bool (*fits)(const struct loss_candidate *k);
    enum loss_kind kind; // LOSS_AUTO: it is not clear, for the reason
    const char *why;     // in words that the deciding operator follows
};

// The first rule that fits.
const struct loss_rule *loss_rule_of(const struct loss_candidate *k);
// An output that is the model's own loss.
bool loss_is_own(const struct loss_candidate *k);

// ---- Deciding ----

const char *loss_kind_name(enum loss_kind k);
// By the options and the graph. Fails with all choices listed when it is not clear.
status loss_choose(struct graph *g, struct pass_context *c, struct loss_choice *out);
// "cross-entropy of logits, classes on axis 1": what the plan records.
const char *loss_describe(const struct graph *g, const struct loss_choice *k, struct arena *a);
// The last float values that the gradient can reach, for a model whose outputs it cannot:
// "--output NAME (f32[1,84,8400])".
const char *loss_proposals(const struct graph *g, struct arena *a);

// ---- Building ----

struct loss {
    struct graph *g;
    struct builder b;
    struct pass_context *c;
};

value_id loss_build(struct loss *l, const struct loss_choice *k);
value_id loss_build_ctc(struct loss *l, const struct loss_choice *k);
// A new graph input of the given type.
value_id loss_add_input(struct loss *l, const char *name, enum elem e, const struct dim *dims,
                        int32_t rank);
enum elem loss_label_elem(const struct loss *l);
