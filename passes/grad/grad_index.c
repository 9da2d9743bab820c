// Gradients of operators that select or place elements by index: gradients of selected elements are
// added at their positions.
#include "passes/grad/grad.h"

#include <string.h>

#include "ir/base/limits.h"

static int64_t axis_of(const struct grad *r) {
    int64_t axis = node_int(r->n, "axis", 0);
    return axis < 0 ? axis + grad_rank(r, r->x[0]) : axis;
}

static int32_t shape_of(const struct grad *r, value_id v, int64_t *dims) {
    for (int32_t i = 0; i < grad_rank(r, v); i++)
        dims[i] = grad_dim(r, v, i);
    return grad_rank(r, v);
}

// A constant scalar index is a slice, so its gradient is a pad. Otherwise ScatterND adds rows; an
// axis other than the first (embeddings) is moved to the front and back.
void back_gather(struct grad *r) {
    value_id x = r->x[0], ix = r->x[1], dy = r->dy[0];
    int64_t axis = axis_of(r), size = grad_dim(r, x, (int32_t)axis), *at, n;
    int32_t rank = grad_rank(r, x), n_ix = grad_rank(r, ix);
    if (grad_ints(r, 1, &at, &n) && n == 1) {
        int64_t dims[LIMIT_RANK], begin[LIMIT_RANK] = {0}, end[LIMIT_RANK] = {0};
        for (int32_t i = 0; i < rank; i++)
            dims[i] = i == axis ? 1 : grad_dim(r, x, i);
        begin[axis] = at[0] < 0 ? at[0] + size : at[0];
        end[axis] = size - 1 - begin[axis];
        r->dx[0] = grad_pad(r, grad_reshape(r, dy, dims, rank), begin, end);
        return;
    }
    // dY is [before…, index dims…, behind…]: as [index count, before…, behind…].
    int64_t perm[LIMIT_RANK], dims[LIMIT_RANK], front[LIMIT_RANK], inverse[LIMIT_RANK];
    int32_t k = 0, n_dims = 0;
    for (int32_t i = 0; i < n_ix; i++)
        perm[k++] = axis + i;
    for (int32_t i = 0; i < rank - 1; i++)
        perm[k++] = i < axis ? i : i + n_ix;
    int64_t count = grad_elements(r, ix);
    dims[n_dims++] = count;
    front[0] = size;
    for (int32_t i = 0; i < rank; i++)
        if (i != axis) {
            front[n_dims] = grad_dim(r, x, i);
            dims[n_dims++] = grad_dim(r, x, i);
        }
    value_id rows = grad_reshape(r, grad_transpose(r, dy, perm), dims, rank);
    value_id where = grad_reshape(r, grad_cast(r, ix, ELEM_I64), (int64_t[]){count, 1}, 2);
    value_id sum = grad_scatter_nd(r, front, rank, where, rows);
    for (int32_t i = 0; i < rank; i++)
        inverse[i] = i == axis ? 0 : i < axis ? i + 1 : i;
    r->dx[0] = grad_transpose(r, sum, inverse);
}

void back_gather_elements(struct grad *r) {
    int64_t dims[LIMIT_RANK];
    int32_t rank = shape_of(r, r->x[0], dims);
    r->dx[0] = grad_scatter_elements(r, dims, rank, axis_of(r), r->x[1], r->dy[0]);
}

// With batch dimensions the indices are extended by the position in the batch, which is known.
void back_gather_nd(struct grad *r) {
    int64_t batch = node_int(r->n, "batch_dims", 0), depth = grad_dim(r, r->x[1], -1);
    value_id ix = r->x[1];
    if (batch > 0) {
        int64_t n = 1, dims[LIMIT_RANK], count = grad_elements(r, ix) / (depth ? depth : 1);
        for (int32_t i = 0; i < batch; i++)
            n *= grad_dim(r, ix, i);
        int64_t each = n ? count / n : 0,
                *where = ARENA_ARRAY(r->a, int64_t, (size_t)(count * batch));
        for (int64_t k = 0; where && k < count; k++)
            for (int64_t b = batch, at = each ? k / each : 0; b-- > 0;
                 at /= grad_dim(r, ix, (int32_t)b))
                where[k * batch + b] = at % grad_dim(r, ix, (int32_t)b);
        for (int32_t i = 0; i < grad_rank(r, ix); i++)
            dims[i] = grad_dim(r, ix, i);
        dims[grad_rank(r, ix) - 1] = batch;
        struct tensor *t =
            where ? tensor_from_ints(r->g->model->arena, ELEM_I64, where, dims, grad_rank(r, ix))
                  : NULL;
        ix = build_op(r->b, "Concat", VALUES(build_tensor(r->b, t), ix),
                      ATTRS(attr_int("axis", -1)));
    }
    int64_t into[LIMIT_RANK];
    int32_t rank = shape_of(r, r->x[0], into);
    r->dx[0] = grad_scatter_nd(r, into, rank, ix, r->dy[0]);
}

static const char *reduction(const struct grad *r) {
    return node_text(r->g, r->n, "reduction", "none");
}

// y = x with updates written to it or added to it. The gradient of an overwritten element is zero.
void back_scatter_elements(struct grad *r) {
    struct attr axis = attr_int("axis", axis_of(r));
    bool adds = strcmp(reduction(r), "add") == 0;
    if (!adds && strcmp(reduction(r), "none") != 0) {
        grad_refuse(r, "reduction \"%s\" has no gradient rule", reduction(r));
        return;
    }
    if (r->want[0])
        r->dx[0] = adds ? r->dy[0]
                        : build_op(r->b, "ScatterElements",
                                   VALUES(r->dy[0], r->x[1], grad_zeros(r, r->x[2])), ATTRS(axis));
    if (r->want[2])
        r->dx[2] = build_op(r->b, "GatherElements", VALUES(r->dy[0], r->x[1]), ATTRS(axis));
}

void back_scatter_nd(struct grad *r) {
    bool adds = strcmp(reduction(r), "add") == 0;
    if (!adds && strcmp(reduction(r), "none") != 0) {
        grad_refuse(r, "reduction \"%s\" has no gradient rule", reduction(r));
        return;
    }
    if (r->want[0])
        r->dx[0] =
            adds ? r->dy[0] : BUILD(r->b, "ScatterND", r->dy[0], r->x[1], grad_zeros(r, r->x[2]));
    if (r->want[2])
        r->dx[2] = BUILD(r->b, "GatherND", r->dy[0], r->x[1]);
}
