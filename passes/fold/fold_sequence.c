// Operators on sequences and optional values fold away where the tensors of a sequence are known:
// the walk keeps the list of tensors of each value, operators that change a sequence change the
// list, and operators that read one are replaced by a tensor of the list, by its length, or by
// Concat. Loops that collect tensors in a sequence are unrolled before (fold_loop.c). The operators
// that make the list are dead afterwards.
#include <string.h>

#include "ir/build.h"
#include "passes/fold/fold.h"
#include "passes/shape/shape.h"

enum { MAX_PARTS = 10000 };

struct edit {
    struct fold *f;
    node_id id;
    const struct node *n;
    struct shape s;
    bool *done;
};

static const struct fold_sequence *list_of(const struct fold *f, value_id v) {
    return v.i && v.i < f->n_values ? f->sequences[v.i] : NULL;
}

// A new list for the output: those before `at` and behind at + gone, with n new ones in between.
static status set_list(struct edit *e, const struct fold_sequence *old, size_t at, size_t gone,
                       struct values new) {
    struct fold *f = e->f;
    size_t n = old ? old->n : 0;
    value_id *all = ARENA_ARRAY(f->c->arena, value_id, n - gone + new.n + 1);
    struct fold_sequence *list = ARENA_ARRAY(f->c->arena, struct fold_sequence, 1);
    if (!all || !list)
        return diag_out_of_memory(f->c->diags);
    for (size_t i = 0; i < n - gone + new.n; i++)
        all[i] = i < at ? old->at[i] : i < at + new.n ? new.at[i - at] : old->at[i - new.n + gone];
    *list = (struct fold_sequence){all, n - gone + new.n};
    if (e->n->out[0].i < f->n_values)
        f->sequences[e->n->out[0].i] = list;
    return ST_OK;
}

// The position that input k gives, from the end if it is negative; otherwise `otherwise`.
static bool read_position(struct edit *e, uint32_t k, size_t n, size_t otherwise, size_t *at) {
    int64_t *x, count;
    *at = otherwise;
    if (k >= e->n->n_in || !e->n->in[k].i)
        return true;
    if (!shape_numbers(&e->s, k, &x, &count) || count != 1)
        return false;
    int64_t i = x[0] < 0 ? x[0] + (int64_t)n : x[0];
    *at = (size_t)i;
    return i >= 0 && (size_t)i <= n;
}

// The node is replaced by a tensor that exists.
static status replace_by(struct edit *e, value_id v) {
    struct node n = *e->n;
    graph_remove_node(e->f->g, e->id);
    e->f->n_folded++;
    *e->done = e->f->again = true;
    return fold_set_output(e->f, &n, 0, v);
}

static status replace_by_number(struct edit *e, enum elem elem, int64_t x) {
    value_id out = e->n->out[0];
    graph_remove_node(e->f->g, e->id);
    e->f->n_folded++;
    *e->done = e->f->again = true;
    return fold_make_init(e->f, out, tensor_from_ints(e->f->m->arena, elem, &x, NULL, 0), true);
}

static status concat(struct edit *e, const struct fold_sequence *list) {
    struct builder b = fold_builder(e->f, node_called(e->f->g, e->id));
    int64_t axis = node_int(e->n, "axis", 0);
    bool is_new = node_int(e->n, "new_axis", 0) != 0;
    value_id *parts = ARENA_ARRAY(e->f->c->arena, value_id, list->n);
    if (!parts)
        return diag_out_of_memory(e->f->c->diags);
    for (size_t i = 0; i < list->n; i++)
        parts[i] =
            is_new ? BUILD(&b, "Unsqueeze", list->at[i], build_ints(&b, &axis, 1)) : list->at[i];
    struct values all = {parts, (uint32_t)list->n};
    value_id y = build_op(&b, "Concat", all, ATTRS(attr_int("axis", axis)));
    return b.failed ? b.failed : replace_by(e, y);
}

// The sizes of the parts; false: unknown.
static bool read_parts(struct edit *e, int64_t size, int64_t **sizes, int64_t *n) {
    int64_t *given = NULL, n_given = 0;
    bool has_sizes = e->n->n_in > 1 && e->n->in[1].i;
    if (has_sizes && !shape_numbers(&e->s, 1, &given, &n_given))
        return false;
    const struct type *t = has_sizes ? graph_value(e->f->g, e->n->in[1])->type : NULL;
    if (has_sizes && t && t->rank == 1) {
        *sizes = given;
        *n = n_given;
        return n_given > 0;
    }
    int64_t each = has_sizes ? given[0] : 1;
    if ((has_sizes && n_given < 1) || each < 1 || size < 1)
        return false;
    *n = (size - 1) / each + 1;
    if (*n > MAX_PARTS)
        return false;
    *sizes = ARENA_ARRAY(e->f->c->arena, int64_t, *n);
    for (int64_t i = 0; *sizes && i < *n; i++)
        (*sizes)[i] = i < *n - 1 ? each : size - each * (*n - 1);
    return *sizes != NULL;
}

static status split(struct edit *e) {
    struct fold *f = e->f;
    const struct type *t = graph_value(f->g, e->n->in[0])->type;
    int32_t axis;
    int64_t *sizes, n;
    if (!t || !type_is_static(t) || shape_axis(&e->s, node_int(e->n, "axis", 0), t->rank, &axis) ||
        !read_parts(e, t->dims[axis].size, &sizes, &n))
        return ST_OK;
    struct builder b = fold_builder(f, node_called(f->g, e->id));
    bool drops = (e->n->n_in < 2 || !e->n->in[1].i) && node_int(e->n, "keepdims", 1) == 0;
    value_id x = e->n->in[0], *parts = ARENA_ARRAY(f->c->arena, value_id, n);
    if (!parts)
        return diag_out_of_memory(f->c->diags);
    parts[0] = x;
    if (n > 1)
        build_outputs(&b, "Split", VALUES(x, build_ints(&b, sizes, n)),
                      ATTRS(attr_int("axis", axis)), parts, (uint32_t)n);
    for (int64_t i = 0; i < n && drops; i++)
        parts[i] = BUILD(&b, "Squeeze", parts[i], build_ints(&b, &(int64_t){axis}, 1));
    // The next walk meets the sequence as one of tensors that exist.
    struct node old = *graph_node(f->g, e->id);
    graph_remove_node(f->g, e->id);
    value_id y = build_op(&b, "SequenceConstruct", (struct values){parts, (uint32_t)n}, NO_ATTRS);
    *e->done = f->again = true;
    return b.failed ? b.failed : fold_set_output(f, &old, 0, y);
}

static status change(struct edit *e, const struct fold_sequence *list) {
    size_t at;
    bool inserts = e->n->op == OP_SequenceInsert;
    if (!list || (!inserts && !list->n) ||
        !read_position(e, inserts ? 2 : 1, list->n, inserts ? list->n : list->n - 1, &at) ||
        (!inserts && at >= list->n))
        return ST_OK;
    value_id new = inserts ? e->n->in[1] : VALUE_NONE;
    return set_list(e, list, at, !inserts, (struct values){&new, inserts});
}

status fold_on_list(struct fold *f, node_id id, bool *done) {
    const struct node *n = graph_node(f->g, id);
    const struct fold_sequence *list = n->n_in ? list_of(f, n->in[0]) : NULL;
    struct edit e = {f, id, n, {f->g, id, n, f->c->arena, f->c->diags, 0}, done};
    size_t at;
    switch (n->op) {
    case OP_SequenceEmpty:
        return set_list(&e, NULL, 0, 0, (struct values){0});
    case OP_SequenceConstruct:
        return set_list(&e, NULL, 0, 0, (struct values){n->in, n->n_in});
    case OP_Optional:
        return set_list(&e, NULL, 0, 0, (struct values){n->in, n->n_in});
    case OP_SplitToSequence:
        return split(&e);
    case OP_SequenceInsert:
    case OP_SequenceErase:
        return change(&e, list);
    case OP_Identity:
        return list ? set_list(&e, list, 0, 0, (struct values){0}) : ST_OK;
    case OP_SequenceAt:
        return list && read_position(&e, 1, list->n, 0, &at) && at < list->n
                   ? replace_by(&e, list->at[at])
                   : ST_OK;
    case OP_OptionalGetElement:
        return list && list->n ? replace_by(&e, list->at[0]) : ST_OK;
    case OP_OptionalHasElement:
        return list ? replace_by_number(&e, ELEM_BOOL, list->n > 0) : ST_OK;
    case OP_SequenceLength:
        return list ? replace_by_number(&e, ELEM_I64, (int64_t)list->n) : ST_OK;
    case OP_ConcatFromSequence:
        return list && list->n ? concat(&e, list) : ST_OK;
    default:
        return ST_OK;
    }
}
