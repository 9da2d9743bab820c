// Rotary embeddings of positions: of ai.onnx, and of com.microsoft.
#include "passes/decompose/decompose.h"

// The two parts of each pair of elements: [B,N,S,R/2] each.
static void pairs_of(struct decompose *d, value_id x, bool interleaved, value_id *parts) {
    struct grad *r = &d->tools;
    int64_t dims[5], half = grad_dim(r, x, 3) / 2;
    for (int32_t i = 0; i < 3; i++)
        dims[i] = grad_dim(r, x, i);
    if (!interleaved) {
        decompose_split(d, x, 3, 2, parts);
        return;
    }
    dims[3] = half;
    dims[4] = 2;
    decompose_split(d, grad_reshape(r, x, dims, 5), 4, 2, parts);
    for (int k = 0; k < 2; k++)
        parts[k] = grad_reshape(r, parts[k], dims, 4);
}

value_id decompose_rotate(struct decompose *d, value_id x, value_id cos, value_id sin,
                          bool interleaved) {
    struct grad *r = &d->tools;
    int64_t turned = 2 * grad_dim(r, cos, -1), size = grad_dim(r, x, 3);
    value_id part[2], rest = turned < size ? grad_slice(r, x, 3, turned, size) : VALUE_NONE;
    value_id front = grad_slice(r, x, 3, 0, turned);
    pairs_of(d, front, interleaved, part);
    value_id out[2] = {grad_sub(r, grad_mul(r, part[0], cos), grad_mul(r, part[1], sin)),
                       grad_add(r, grad_mul(r, part[0], sin), grad_mul(r, part[1], cos))};
    if (interleaved) {
        int64_t dims[5] = {0, 0, 0, turned / 2, 1};
        for (int32_t i = 0; i < 3; i++)
            dims[i] = grad_dim(r, x, i);
        for (int k = 0; k < 2; k++)
            out[k] = grad_reshape(r, out[k], dims, 5);
    }
    value_id y = decompose_concat(d, out, 2, interleaved ? 4 : 3);
    y = grad_reshape_like(r, y, front);
    return rest.i ? decompose_concat(d, (value_id[]){y, rest}, 2, 3) : y;
}

// Rows of a table of angles [positions, R/2], as [B or 1,1,S,R/2].
static value_id angles(struct decompose *d, value_id table, value_id positions, int64_t n) {
    struct grad *r = &d->tools;
    value_id rows = positions.i ? BUILD(r->b, "Gather", table, positions) : table;
    int64_t half = grad_dim(r, rows, -1);
    int64_t batch = grad_elements(r, rows) / (n * half > 0 ? n * half : 1);
    return grad_reshape(r, rows, (int64_t[]){batch, 1, n, half}, 4);
}

struct rotary {
    value_id x, cos, sin, positions;
    int64_t heads;
    bool interleaved;
};

static value_id rotary(struct decompose *d, const struct rotary *e) {
    struct grad *r = &d->tools;
    bool flat = grad_rank(r, e->x) == 3;
    int64_t length = grad_dim(r, e->x, flat ? 1 : 2);
    value_id x = flat ? decompose_split_heads(d, e->x, e->heads) : e->x;
    value_id y = decompose_rotate(d, x, angles(d, e->cos, e->positions, length),
                                  angles(d, e->sin, e->positions, length), e->interleaved);
    return flat ? decompose_join_heads(d, y) : y;
}

void decompose_onnx_rotary(struct decompose *d) {
    struct grad *r = &d->tools;
    if (!decompose_has_shapes(d, 4))
        return;
    int64_t size = node_int(r->n, "rotary_embedding_dim", 0);
    struct rotary e = {r->x[0],
                       r->x[1],
                       r->x[2],
                       grad_has(r, 3) ? r->x[3] : VALUE_NONE,
                       node_int(r->n, "num_heads", 0),
                       node_int(r->n, "interleaved", 0) != 0};
    if (grad_rank(r, e.x) == 3 && e.heads < 1)
        decompose_refuse(d, "an input of rank 3 needs num_heads");
    else if (size && size != 2 * grad_dim(r, e.cos, -1))
        decompose_refuse(d, "its table is not of rotary_embedding_dim / 2 columns");
    else
        d->y[0] = rotary(d, &e);
}

// Positions [1]: the first one, and the others follow.
static value_id positions_from(struct decompose *d, value_id first, int64_t n) {
    struct grad *r = &d->tools;
    int64_t *x = ARENA_ARRAY(r->a, int64_t, n);
    for (int64_t i = 0; x && i < n; i++)
        x[i] = i;
    value_id steps = build_ints(r->b, x ? x : &n, x ? n : 1);
    return first.i ? grad_add(r, grad_cast(r, first, ELEM_I64), steps) : steps;
}

void decompose_rotary(struct decompose *d) {
    struct grad *r = &d->tools;
    if (!decompose_has_shapes(d, 4))
        return;
    int64_t heads = node_int(r->n, "num_heads", 0), turned = 2 * grad_dim(r, r->x[2], -1);
    bool flat = grad_rank(r, r->x[0]) == 3;
    int64_t n = grad_dim(r, r->x[0], flat ? 1 : 2);
    struct rotary e = {r->x[0], r->x[2], r->x[3],
                       r->x[1], heads,   node_int(r->n, "interleaved", 0) != 0};
    if (flat && heads < 1)
        e.heads = grad_dim(r, e.x, 2) / (turned > 0 ? turned : 1);
    if (node_int(r->n, "is_packed_batching", 0) || (flat && e.heads < 1)) {
        decompose_refuse(d, "packed batches have no formula");
        return;
    }
    if (grad_rank(r, r->x[1]) == 1)
        e.positions = positions_from(d, r->x[1], n);
    d->y[0] = grad_scale(r, rotary(d, &e), node_real(r->n, "scale", 1));
}
