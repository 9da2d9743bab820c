// The independent check of addresses: see layout.h. It replays the graph and tracks the content of
// every byte of the arena. Contents are numbered: every value is a new content, except the result
// of a view that stays at the address of its source. The check shares no code with the producer of
// the layout except the list of owners and the clocks, and uses neither storages nor live ranges.
#include "passes/layout/layout.h"

#include "ir/base/checked.h"

struct replay {
    const struct graph *g;
    const struct layout_claim *claim;
    struct arena *a;
    struct diags *d;
    uint32_t *content; // per value; 0: not in the arena
    int64_t *bytes;    // per value
    bool *is_product;  // per value: of no elements, or a view of it; no byte of it is stored
    struct layout_owners owners;
    struct layout_clock clock;
    node_id *touched; // [content * n_streams + stream]: the last node there that reads or makes it;
                      // contents of workspaces are numbered after those of all values
    node_id *previous; // per stream
    size_t next_wait;
    status st;
};

static bool overlap(int64_t a, int64_t n_a, int64_t b, int64_t n_b) {
    return n_a > 0 && n_b > 0 && a < b + n_b && b < a + n_a;
}

__attribute__((format(printf, 3, 4))) static void fail(struct replay *r, node_id n,
                                                       const char *format, ...) {
    if (r->st)
        return;
    struct loc where = loc_path(r->g->model->path, n.i ? node_path(r->g, n, r->a) : NULL);
    va_list args;
    va_start(args, format);
    r->st = diag_errorv(r->d, DIAG_VERIFY, where, format, args);
    va_end(args);
}

static const char *name_of(const struct replay *r, value_id v) {
    return graph_value(r->g, v)->name;
}

static bool in_arena(const struct replay *r, int64_t offset, int64_t n_bytes) {
    int64_t end;
    return offset >= 0 && offset % r->claim->alignment == 0 && checked_add(offset, n_bytes, &end) &&
           end <= r->claim->arena_bytes;
}

// Whether a node reads no element of its operands.
static bool reads_nothing(const struct replay *r, node_id user) {
    enum op op = user.i ? graph_node(r->g, user)->op : OP_UNKNOWN;
    return op == OP_Shape || op_info(op)->flags & OPF_VIEW;
}

// A value that is in the arena must still be there.
static void read_value(void *to, value_id v, node_id user) {
    struct replay *r = to;
    if (v.i && r->is_product[v.i] && !reads_nothing(r, user))
        fail(r, user, "reads elements of \"%s\", which are not stored", name_of(r, v));
    if (!v.i || r->st || !r->content[v.i])
        return;
    int64_t at = r->claim->offset[v.i];
    if (!layout_owners_has(&r->owners, at, at + r->bytes[v.i], r->content[v.i]))
        fail(r, user, "reads \"%s\" after it was overwritten", name_of(r, v));
    if (user.i && r->claim->stream)
        r->touched[(size_t)r->content[v.i] * r->claim->n_streams + r->claim->stream[user.i]] = user;
}

// With several streams: all nodes that read or made the overwritten content are done.
static void check_streams(struct replay *r, node_id n) {
    for (size_t i = 0; i < r->owners.lost.n && r->claim->stream; i++)
        for (uint32_t k = 0; k < r->claim->n_streams; k++) {
            node_id by = r->touched[(size_t)r->owners.lost.at[i] * r->claim->n_streams + k];
            if (by.i && by.i != n.i && !layout_clock_done(&r->clock, by, n))
                fail(r, n, "overwrites a value that %s, on another stream, may still need",
                     node_path(r->g, by, r->a));
        }
}

static void write_bytes(struct replay *r, node_id n, int64_t at, int64_t n_bytes,
                        uint32_t content) {
    if (!layout_owners_take(&r->owners, at, at + n_bytes, content))
        r->st = diag_out_of_memory(r->d);
    else
        check_streams(r, n);
    if (!r->st && r->claim->stream)
        r->touched[(size_t)content * r->claim->n_streams + r->claim->stream[n.i]] = n;
}

// Equal dimensions, and elements of equal size.
static bool is_same_grid(const struct type *x, const struct type *y) {
    bool same = type_is_static(x) && type_is_static(y) && x->rank == y->rank &&
                elem_bits(x->elem) > 0 && elem_bits(x->elem) == elem_bits(y->elem);
    for (int32_t i = 0; same && i < x->rank; i++)
        same = x->dims[i].size == y->dims[i].size;
    return same;
}

// May the first output be written over this operand? Elementwise operators read the elements of all
// operands at a position before they write that position; other operators that work in place do so
// on their first operand only. The check states this rule independently of the producer.
static bool may_write_over(const struct replay *r, const struct node *n, uint32_t operand) {
    unsigned flags = op_info(n->op)->flags;
    value_id x = n->in[operand], y = n->n_out ? n->out[0] : VALUE_NONE;
    if (!x.i || !y.i || !is_same_grid(graph_value(r->g, x)->type, graph_value(r->g, y)->type))
        return false;
    return flags & OPF_ELEMENTWISE || (flags & OPF_INPLACE && operand == 0);
}

static void check_against_operands(struct replay *r, node_id id, uint32_t out) {
    const struct node *n = graph_node(r->g, id);
    value_id v = n->out[out];
    int64_t at = r->claim->offset[v.i];
    for (uint32_t k = 0; k < n->n_in && !r->st; k++) {
        value_id x = n->in[k];
        if (!x.i || !r->content[x.i] ||
            !overlap(at, r->bytes[v.i], r->claim->offset[x.i], r->bytes[x.i]))
            continue;
        bool exact = out == 0 && at == r->claim->offset[x.i] && r->bytes[v.i] == r->bytes[x.i];
        bool other = false; // another operand with the same content that may be overwritten
        for (uint32_t j = 0; j < n->n_in && exact && !other; j++)
            other =
                may_write_over(r, n, j) && n->in[j].i && r->content[n->in[j].i] == r->content[x.i];
        bool elementwise = op_info(n->op)->flags & OPF_ELEMENTWISE;
        if (!exact || !(may_write_over(r, n, k) || (elementwise && other)))
            fail(r, id, "overwrites its operand \"%s\" with \"%s\"", name_of(r, x), name_of(r, v));
    }
}

static bool is_view(const struct replay *r, const struct node *n, uint32_t out) {
    return out == 0 && op_info(n->op)->flags & OPF_VIEW && n->n_in && n->in[0].i &&
           r->content[n->in[0].i] &&
           r->claim->offset[n->in[0].i] == r->claim->offset[n->out[0].i] &&
           r->bytes[n->in[0].i] == r->bytes[n->out[0].i];
}

// A matrix product without elements to multiply, or a view of one. Control nodes make them, and
// read nothing but their shape (passes/steer).
static bool is_product(const struct replay *r, const struct node *n) {
    if (op_info(n->op)->flags & OPF_VIEW)
        return n->n_in && r->is_product[n->in[0].i];
    const struct type *x =
        n->op == OP_MatMulInteger && n->in[0].i ? graph_value(r->g, n->in[0])->type : NULL;
    return type_is_static(x) && x->rank == 2 && x->dims[1].size == 0;
}

static void make_value(struct replay *r, node_id id, uint32_t out) {
    const struct node *n = graph_node(r->g, id);
    value_id v = n->out[out];
    r->is_product[v.i] = out == 0 && is_product(r, n);
    if (r->is_product[v.i])
        return;
    int64_t at = r->claim->offset[v.i];
    bool is_persistent = n->op == OP_Constant || (op_info(n->op)->flags & OPF_VIEW && out == 0 &&
                                                  n->n_in && n->in[0].i && !r->content[n->in[0].i]);
    bool is_sized = type_bytes(graph_value(r->g, v)->type, &r->bytes[v.i]);
    if (at < 0 && is_sized &&
        ((is_persistent && !graph_value(r->g, v)->is_output) || !r->bytes[v.i]))
        return; // a constant, a view of a persistent value, or no bytes
    if (!is_sized || !in_arena(r, at, r->bytes[v.i])) {
        fail(r, id, "the address of \"%s\" is missing, misaligned or outside of the arena",
             name_of(r, v));
        return;
    }
    if (is_view(r, n, out)) {
        r->content[v.i] = r->content[n->in[0].i];
        return;
    }
    check_against_operands(r, id, out);
    for (uint32_t k = 0; k < out; k++)
        if (n->out[k].i && r->claim->offset[n->out[k].i] >= 0 &&
            overlap(at, r->bytes[v.i], r->claim->offset[n->out[k].i], r->bytes[n->out[k].i]))
            fail(r, id, "writes \"%s\" and \"%s\" to overlapping addresses", name_of(r, n->out[k]),
                 name_of(r, v));
    r->content[v.i] = v.i;
    if (!r->st)
        write_bytes(r, id, at, r->bytes[v.i], v.i);
}

// The workspace must not overlap what the node reads and makes.
static void use_workspace(struct replay *r, node_id id) {
    const struct node *n = graph_node(r->g, id);
    int64_t size = n->workspace_bytes;
    if (!r->claim->workspace_offset || size == 0)
        return;
    int64_t at = r->claim->workspace_offset[id.i];
    if (!in_arena(r, at, size))
        fail(r, id, "the address of its workspace is missing, misaligned or outside of the arena");
    for (int side = 0; side < 2; side++)
        for (uint32_t k = 0; k < (side ? n->n_out : n->n_in) && !r->st; k++) {
            value_id v = side ? n->out[k] : n->in[k];
            if (v.i && r->content[v.i] && overlap(at, size, r->claim->offset[v.i], r->bytes[v.i]))
                fail(r, id, "its workspace overlaps \"%s\"", name_of(r, v));
        }
    if (!r->st)
        write_bytes(r, id, at, size, (uint32_t)r->g->values.n + id.i);
}

// The waits are in the order of the waiting nodes.
static void start(struct replay *r, node_id id) {
    uint32_t stream = r->claim->stream[id.i];
    layout_clock_start(&r->clock, r->g, id, r->previous[stream]);
    r->previous[stream] = id;
    for (; r->next_wait < r->claim->n_waits && r->claim->waits[r->next_wait].after.i == id.i;
         r->next_wait++)
        layout_clock_wait(&r->clock, id, r->claim->waits[r->next_wait].before);
}

static status prepare(struct replay *r) {
    const struct graph *g = r->g;
    size_t n_streams = r->claim->stream ? r->claim->n_streams : 1;
    r->content = ARENA_ARRAY(r->a, uint32_t, g->values.n);
    r->bytes = ARENA_ARRAY(r->a, int64_t, g->values.n);
    r->is_product = ARENA_ARRAY(r->a, bool, g->values.n);
    r->touched = arena_array(r->a, g->values.n + g->nodes.n, n_streams * sizeof(node_id));
    r->previous = ARENA_ARRAY(r->a, node_id, n_streams);
    if (!r->content || !r->bytes || !r->is_product || !r->touched || !r->previous)
        return diag_out_of_memory(r->d);
    return r->claim->stream
               ? layout_clock_make(g, r->claim->stream, r->claim->n_streams, r->a, r->d, &r->clock)
               : ST_OK;
}

status layout_check(const struct graph *g, const struct layout_claim *claim, struct diags *d) {
    struct arena scratch = arena_make(d->arena->mem);
    struct replay r = {.g = g, .claim = claim, .a = &scratch, .d = d, .owners = {.a = &scratch}};
    r.st = prepare(&r);
    for (size_t i = 0; i < g->order.n && !r.st; i++) {
        node_id id = g->order.at[i];
        const struct node *n = graph_node(g, id);
        if (claim->stream)
            start(&r, id);
        for (uint32_t k = 0; k < n->n_in; k++)
            read_value(&r, n->in[k], id);
        node_captured(g, id, read_value, &r);
        for (uint32_t k = 0; k < n->n_out && !r.st; k++)
            if (n->out[k].i)
                make_value(&r, id, k);
        if (!r.st)
            use_workspace(&r, id);
    }
    for (size_t i = 0; i < g->outputs.n && !r.st; i++)
        read_value(&r, g->outputs.at[i], NODE_NONE);
    arena_free(&scratch);
    return r.st;
}
