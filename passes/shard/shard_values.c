// Values as pieces: see shard_inner.h. A value that is made in parts is concatenated only when
// someone needs it whole; a range of it is made of the pieces that it overlaps.
#include <string.h>

#include "passes/shard/shard_inner.h"

static void out_of_memory(struct sharding *s) {
    if (!s->b.failed)
        s->b.failed = diag_out_of_memory(s->d);
}

void shard_place(struct sharding *s, uint32_t group, uint32_t slot) {
    while (!s->b.failed && s->places.n < s->g->order.n) {
        node_id n = s->g->order.at[s->places.n];
        if (!VEC_PUSH(s->a, &s->places, (struct shard_place){group, slot, n}))
            out_of_memory(s);
    }
}

value_id shard_fresh(struct sharding *s, const char *stem, uint32_t part) {
    const char *like = str_format(s->g->model->arena, "%s/part%u", stem, part + 1);
    const char *name = like ? graph_fresh_name(s->g, like) : NULL;
    value_id v = name ? graph_add_value(s->g, name, NULL) : VALUE_NONE;
    if (!v.i)
        out_of_memory(s);
    return v;
}

node_id shard_add(struct sharding *s, const char *type, struct values in, struct values out) {
    node_id id = s->b.failed ? NODE_NONE : graph_add_node(s->g, "", type, in, out);
    if (!id.i)
        out_of_memory(s);
    else
        graph_node(s->g, id)->name = graph_value(s->g, out.at[0])->name;
    return id;
}

bool shard_set_pieces(struct sharding *s, value_id v, struct shard_pieces p) {
    assert(v.i < s->n_values);
    s->of[v.i] = p;
    s->of[v.i].group = s->group;
    return true;
}

void shard_open_group(struct sharding *s, uint32_t region) {
    s->group++;
    s->region = region;
}

static struct shard_pieces *pieces_of(const struct sharding *s, value_id v) {
    return v.i < s->n_values && s->of[v.i].n ? &s->of[v.i] : NULL;
}

value_id shard_whole(struct sharding *s, value_id v) {
    struct shard_pieces *p = pieces_of(s, v);
    if (!p || p->is_joined || s->b.failed)
        return v;
    node_id id = shard_add(s, "Concat", (struct values){p->part, p->n}, VALUES(v));
    if (id.i && !graph_set_attr(s->g, id, attr_int("axis", p->axis)))
        out_of_memory(s);
    shard_place(s, p->group, SHARD_TAIL);
    p->is_joined = true;
    s->made[v.i] = p->group;
    return v;
}

bool shard_may_use_whole(const struct sharding *s, value_id v) {
    const struct shard_pieces *p = pieces_of(s, v);
    if (p && !p->is_joined)
        return p->group != s->group;
    return v.i >= s->n_values || s->made[v.i] != s->group;
}

static bool is_all(const struct sharding *s, value_id v, struct shard_range x) {
    return x.lo == 0 && x.hi == graph_value(s->g, v)->type->dims[x.axis].size;
}

static bool is_piece(const struct shard_pieces *p, struct shard_range x, uint32_t k) {
    return p && p->axis == x.axis && k < p->n && p->bound[k] == x.lo && p->bound[k + 1] == x.hi;
}

bool shard_may_take(const struct sharding *s, value_id v, struct shard_range x, uint32_t k) {
    const struct shard_pieces *p = pieces_of(s, v);
    if (is_piece(p, x, k))
        return true;
    if (p && p->axis == x.axis && !is_all(s, v, x))
        return p->group != s->group;
    return shard_may_use_whole(s, v);
}

static value_id cut(struct sharding *s, value_id v, struct shard_range x) {
    int64_t axis = x.axis;
    return BUILD(&s->b, "Slice", v, build_ints(&s->b, &x.lo, 1), build_ints(&s->b, &x.hi, 1),
                 build_ints(&s->b, &axis, 1));
}

// The range from the pieces that it overlaps.
static value_id gather(struct sharding *s, const struct shard_pieces *p, struct shard_range x) {
    value_id *at = ARENA_ARRAY(s->a, value_id, p->n);
    uint32_t n = 0;
    if (!at) {
        out_of_memory(s);
        return VALUE_NONE;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        int64_t first = p->bound[i], lo = x.lo > first ? x.lo : first;
        int64_t end = p->bound[i + 1], hi = x.hi < end ? x.hi : end;
        if (lo >= hi)
            continue;
        bool whole = lo == first && hi == end;
        at[n++] = whole ? p->part[i]
                        : cut(s, p->part[i], (struct shard_range){x.axis, lo - first, hi - first});
    }
    return n == 1
               ? at[0]
               : build_op(&s->b, "Concat", (struct values){at, n}, ATTRS(attr_int("axis", x.axis)));
}

value_id shard_take(struct sharding *s, value_id v, struct shard_range x, uint32_t k) {
    const struct shard_pieces *p = pieces_of(s, v);
    int64_t key[] = {v.i, x.axis, x.lo, x.hi, s->group}, known;
    if (is_piece(p, x, k))
        return p->part[k];
    if (is_all(s, v, x))
        return shard_whole(s, v);
    if (map_get(&s->slices, key, sizeof key, &known))
        return (value_id){(uint32_t)known};
    value_id whole = p && p->axis == x.axis ? VALUE_NONE : shard_whole(s, v);
    value_id made = whole.i ? cut(s, whole, x) : gather(s, p, x);
    int64_t *own = arena_copy(s->a, key, sizeof key);
    if (!s->b.failed && (!own || !map_put(&s->slices, own, sizeof key, made.i)))
        out_of_memory(s);
    shard_place(s, s->group, k);
    return made;
}
