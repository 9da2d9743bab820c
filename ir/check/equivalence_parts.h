// Laws of division, for plans whose nodes are divided into parts (equivalence.h). A node of the
// plan may be part of a node of the step, the whole: the same operator over the same operands, some
// of which it reads in a range along dimensions that the law of the operator connects. Then its
// result is the same range of the whole's, or a partial sum. These laws are stated here once more,
// independently of what divides nodes.
//
//   equivalence_laws.c         which dimensions of operands and results an operator connects
//   equivalence_shapes.c       the same, where it depends on attributes and shapes
//   equivalence_parts.c        nodes that are parts of a whole
//   equivalence_attributes.c   in which attributes a part may differ
//   equivalence_windows.c      parts along space
//   equivalence_maxima.c       positions of maxima in parts of a pooling
//   equivalence_sums.c         concatenations, and sums of partial sums, that complete a whole
//   equivalence_moments.c      BatchNormalization in training mode, from sums over parts
#pragma once

#include "ir/check/equivalence_inner.h"

enum { LAW_NONE = 0, LAW_WINDOW = 240, LAW_LETTERS = 256, LAW_RANK = 16 };

// A dimension: its letter, and how many of its elements a unit of the letter is.
struct law_dim {
    uint8_t letter; // LAW_NONE: the part needs all of it
    int64_t unit;
};

// A node over whole operands, and what its operator connects. Dimensions of one letter are divided
// together. A letter that the first result lacks is reduced by `join`.
struct equiv_whole {
    const struct graph *g;
    node_id node;
    const uint32_t *in, *out; // classes
    uint32_t n_in, n_out;
    uint32_t next; // with the same operator and first operand: index + 1
    // Of equiv_law_of, which fills them once.
    bool is_ready, has_law;
    struct law_dim **x, **y; // per operand and result
    int64_t *extent;         // units of each of the LAW_LETTERS letters
    enum op join;            // OP_Add, OP_Max, OP_Min, OP_Mul; OP_UNKNOWN: there is none
    int64_t scale;           // partial sums are this many times as large
};

// What is being matched: node n of graph g, and the range of the letter.
struct equiv_match {
    const struct graph *g;
    const struct node *n;
    const uint32_t *in;
    uint32_t n_in;
    const struct equiv_whole *w;
    uint8_t letter;
    int64_t lo, hi; // units; hi < 0: not known yet
    int64_t length; // of uniform operands; < 0: there is none
    bool has_bias;
};

// The dimension with the letter; -1: none.
int32_t law_dim_of(const struct law_dim *at, const struct type *t, uint8_t letter);
// The result lacks the letter.
bool equiv_is_summed(struct numbering *s, const struct equiv_match *m);

// equivalence_attributes.c: the attributes are those of the part; sets group and range where they
// say it.
bool equiv_match_attrs(struct numbering *s, struct equiv_match *m);
// Two tensors filled with the same number. A part of one may be taken for one of the other.
bool equiv_same_filling(struct numbering *s, uint32_t a, uint32_t b);

// equivalence_maxima.c: operand k of a part holds positions in the part; the elements of the result
// before the part that the positions are of. Whether result k of a part that begins at `lo` holds
// positions in it, and the elements before it.
bool equiv_reads_positions(struct numbering *s, const struct equiv_match *m, uint32_t k);
int64_t equiv_positions_before(struct numbering *s, const struct equiv_match *m,
                               const struct equiv_part *p);
bool equiv_makes_positions(struct numbering *s, const struct equiv_match *m, uint32_t k, int64_t lo,
                           int64_t *before);

// equivalence_windows.c: the node computes windows of the whole; sets their range.
bool equiv_windows(struct numbering *s, struct equiv_match *m);

void equiv_law_of(struct numbering *s, struct equiv_whole *w);
const struct type *equiv_static_type(struct numbering *s, uint32_t class);

// The dimensions that a reduction removes; false: unknown.
bool equiv_reduced(struct numbering *s, const struct node *n, const uint32_t *in, uint32_t n_in,
                   const struct type *x, bool *reduced);

// equivalence_parts.c. The class of a part, or of the whole if it is all of it.
uint32_t equiv_part_class(struct numbering *s, struct equiv_part p);
const struct equiv_part *equiv_piece(struct numbering *s, uint32_t class,
                                     enum equiv_part_kind kind);
void equiv_push_whole(struct numbering *s, struct equiv_whole w);
// equivalence_moments.c: adds the node over the whole operands, which only its parts imply.
bool equiv_imply(struct numbering *s, const struct graph *g, node_id id, const uint32_t *in,
                 uint32_t n_in);
// The first whole with this operator and first operand, as index + 1; 0: there is none.
uint32_t equiv_first_whole(const struct numbering *s, enum op op, uint32_t class);

// equivalence_sums.c, equivalence_moments.c. Set the class of the node's result, if they know it.
bool equiv_joined(struct numbering *s, const struct node *n, const uint32_t *in, uint32_t n_in,
                  uint32_t *class);
bool equiv_moments(struct numbering *s, const struct node *n, const uint32_t *in, uint32_t n_in,
                   uint32_t *class);
// The axis and range of a Slice of step 1 along one axis.
bool equiv_slice_range(struct numbering *s, const uint32_t *in, uint32_t n_in,
                       struct equiv_part *out);

// ---- For laws ----

// Letters beside those of patterns: leading dimensions, and dimensions by themselves.
enum { LAW_LEADING = 128, LAW_OWN = 160, LAW_MAX_PATTERN = 256 };

struct law {
    struct numbering *s;
    struct equiv_whole *w;
    const struct node *n;
};

// Of an operand or result of the whole; NULL: not static.
const struct type *law_operand(const struct law *l, uint32_t k);
const struct type *law_result(const struct law *l, uint32_t k);
void law_set_x(struct law *l, uint32_t k, int32_t dim, uint8_t letter);
void law_set_y(struct law *l, uint32_t k, int32_t dim, uint8_t letter);
void law_pattern(struct law *l, const char *pattern);
// The equation of Einsum as a pattern of at most LAW_MAX_PATTERN characters. False: it is none.
bool law_of_einsum(const struct law *l, char *out);
// equivalence_maxima.c: ScatterElements at the positions of a pooling.
bool law_of_maxima(struct law *l);
// equivalence_shapes.c
bool law_by_shape(struct law *l);
