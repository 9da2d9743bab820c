// The table of rules for the loss that is meant: see loss.h. A rule looks at how a value is
// computed (loss_tail.c), at its shape, and at the first input of the model.
#include "passes/grad/loss.h"

struct loss_candidate loss_candidate_of(const struct graph *g, value_id v, struct arena *a) {
    struct loss_candidate k = {.value = v, .tail = loss_tail_of(g, v, a)};
    k.type = graph_value(g, k.tail.logits)->type;
    if (k.tail.class_axis != NO_AXIS && k.tail.class_axis < k.type->rank)
        k.n_classes = k.type->dims[k.tail.class_axis].size;
    for (size_t i = 0; i < g->inputs.n && !k.input; i++)
        if (!graph_value(g, g->inputs.at[i])->init)
            k.input = graph_value(g, g->inputs.at[i])->type;
    return k;
}

static bool reads_floats(const struct loss_candidate *k, int32_t rank) {
    return k->input && k->input->kind == TYPE_TENSOR && elem_is_float(k->input->elem) &&
           k->input->rank == rank;
}

// An output that is the model's own loss.
bool loss_is_own(const struct loss_candidate *k) {
    bool is_score = k->tail.end == LOSS_END_SIGMOID || k->tail.end == LOSS_END_SOFTMAX;
    return k->tail.end == LOSS_END_REDUCED || (k->type->rank == 0 && !is_score);
}

static bool is_probability(const struct loss_candidate *k) {
    return k->tail.end == LOSS_END_SIGMOID;
}

// Softmax over one class is always 1.
static bool is_degenerate(const struct loss_candidate *k) {
    return k->tail.end == LOSS_END_SOFTMAX && k->n_classes == 1;
}

// A sequence of class scores for an image or for sound: one label sequence per sample.
static bool is_recognition(const struct loss_candidate *k) {
    bool scores = k->tail.end == LOSS_END_SCORES || k->tail.end == LOSS_END_SOFTMAX;
    return scores && k->type->rank == 3 && k->n_classes >= 10 &&
           (reads_floats(k, 4) || reads_floats(k, 2) ||
            (reads_floats(k, 3) && k->tail.is_log_softmax));
}

static bool is_classes(const struct loss_candidate *k) {
    return k->tail.end == LOSS_END_SOFTMAX && k->n_classes > 1;
}

static bool is_bounded(const struct loss_candidate *k) {
    return k->tail.end == LOSS_END_BOUNDED;
}

static bool is_one_channel(const struct loss_candidate *k) {
    return k->tail.end == LOSS_END_SCORES && (k->n_classes == 1 || k->type->rank < 2);
}

static bool has_image_channels(const struct loss_candidate *k) {
    return k->tail.end == LOSS_END_SCORES && k->type->rank == 4 && reads_floats(k, 4) &&
           k->tail.class_axis == 1 && k->n_classes <= 4 && k->input->dims[1].size == k->n_classes;
}

static bool is_larger_image(const struct loss_candidate *k) {
    return has_image_channels(k) && k->input->dims[3].size != k->type->dims[3].size;
}

// Such an output may be an image, or the scores of as many classes as the image has channels.
static bool is_same_image(const struct loss_candidate *k) {
    return has_image_channels(k) && k->n_classes > 1;
}

// One vector for each sample, of a width that embeddings have and numbers of classes rarely: a
// power of two from 64 on, or three times one, as 384 and 768.
static bool is_embedding(const struct loss_candidate *k) {
    int64_t n = k->n_classes, odd = n;
    bool one_vector = k->tail.end == LOSS_END_SCORES && k->type->rank >= 2;
    for (int32_t i = 1; one_vector && i < k->type->rank; i++)
        one_vector = i == k->tail.class_axis || k->type->dims[i].size == 1;
    while (odd > 0 && odd % 2 == 0)
        odd /= 2;
    return one_vector && n >= 64 && n <= 4096 && (odd == 1 || odd == 3);
}

static bool is_scores(const struct loss_candidate *k) {
    return k->tail.end == LOSS_END_SCORES && k->n_classes > 1;
}

static bool is_features(const struct loss_candidate *k) {
    return k->tail.end == LOSS_END_NORMALIZED;
}

static bool is_anything(const struct loss_candidate *k) {
    (void)k;
    return true;
}

// The first row that fits decides; LOSS_AUTO: it is not clear, for that reason.
static const struct loss_rule rules[] = {
    {loss_is_own, LOSS_OUTPUT, "is one number, reduced by"},
    {is_probability, LOSS_BCE, "ends in"},
    {is_degenerate, LOSS_AUTO, "is Softmax over a single class, which is always 1; it ends in"},
    {is_recognition, LOSS_CTC, "is a sequence of class scores of a signal; it ends in"},
    {is_classes, LOSS_CROSS_ENTROPY, "ends in"},
    {is_bounded, LOSS_MSE, "has bounded values; it ends in"},
    {is_one_channel, LOSS_MSE, "has one channel; it ends in"},
    {is_larger_image, LOSS_MSE, "is an image as the input is; it ends in"},
    {is_same_image, LOSS_AUTO,
     "may be an image (mse, l1) or class scores (cross-entropy); it ends in"},
    {is_embedding, LOSS_AUTO,
     "may be an embedding (cosine, mse) or class scores (cross-entropy); it ends in"},
    {is_scores, LOSS_CROSS_ENTROPY, "holds class scores; it ends in"},
    {is_features, LOSS_AUTO, "holds features (cosine, mse); it ends in"},
    {is_anything, LOSS_AUTO, "has no clear meaning (mse, cross-entropy, …); it ends in"},
};

const struct loss_rule *loss_rule_of(const struct loss_candidate *k) {
    size_t i = 0;
    while (!rules[i].fits(k))
        i++;
    return &rules[i];
}
