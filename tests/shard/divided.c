// The checker on divided steps.
//
//     divided check STEP DIVIDED                how many outputs are equal, and equal up to the
//     order of summation divided corrupt STEP DIVIDED N SEED       N copies of DIVIDED with one
//     corruption each: how many are refused
//
// A corruption is what a defect of the pass could make: a slice shifted by one element, a part that
// is missing, double, or in another place, a wrong axis, a sum that lacks a part or has one twice,
// an operand of another part, a wrong number of elements or attribute.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/load.h"
#include "ir/base/rng.h"
#include "ir/build.h"
#include "ir/check/equivalence.h"
#include "ir/copy.h"

struct play {
    struct arena arena, scratch;
    struct pool pool;
    struct diags d;
    struct model *step, *divided, *m; // m: the copy that is corrupted
    struct rng rng;
};

static uint64_t below(struct play *p, uint64_t n) {
    return rng_below(&p->rng, n);
}

static bool is_new(const struct play *p, const struct node *n) {
    const char *name = graph_value(p->m->graph, n->out[0])->name;
    return !graph_find(p->step->graph, name).i;
}

static value_id constant(struct play *p, const int64_t *x, int32_t n) {
    struct builder b = builder_make(p->m->graph, &p->d);
    return build_ints(&b, x, n);
}

static bool ints_of(struct play *p, value_id v, int64_t *out) {
    const struct tensor *t = v.i ? graph_value(p->m->graph, v)->init : NULL;
    int64_t *x, n;
    if (!t || !tensor_has_ints(t) || !tensor_elements(t, &n) || n != 1 ||
        tensor_ints(t, &p->scratch, &p->d, &x))
        return false;
    *out = x[0];
    return true;
}

static bool same_type(const struct play *p, value_id a, value_id b) {
    const struct type *x = graph_value(p->m->graph, a)->type,
                      *y = graph_value(p->m->graph, b)->type;
    return x && y && type_equal(x, y);
}

// ---- Corruptions: false if the node has nothing of the kind ----

static bool shift_slice(struct play *p, struct node *n) {
    int64_t lo, hi, by = below(p, 2) ? 1 : -1;
    if (n->op != OP_Slice || n->n_in < 3 || !is_new(p, n) || !ints_of(p, n->in[1], &lo) ||
        !ints_of(p, n->in[2], &hi) || lo + by < 0)
        return false;
    bool both = below(p, 2);
    lo += both || by > 0 ? by : 0;
    hi += both || by < 0 ? by : 0;
    value_id start = constant(p, &lo, 1), end = constant(p, &hi, 1);
    n->in[1] = start;
    n->in[2] = end;
    return lo < hi;
}

static bool change_slice_axis(struct play *p, struct node *n) {
    int64_t axis;
    const struct type *t = graph_value(p->m->graph, n->in[0])->type;
    if (n->op != OP_Slice || n->n_in < 4 || !is_new(p, n) || !ints_of(p, n->in[3], &axis) || !t ||
        t->rank < 2)
        return false;
    axis = (axis + 1) % t->rank;
    n->in[3] = constant(p, &axis, 1);
    return true;
}

static bool joins(const struct play *p, const struct node *n, enum op op) {
    if (n->op != op || n->n_in < 2)
        return false;
    for (uint32_t k = 0; k < n->n_in; k++) {
        const char *name = graph_value(p->m->graph, n->in[k])->name;
        if (!graph_find(p->step->graph, name).i)
            return true;
    }
    return false;
}

static bool drop_piece(struct play *p, struct node *n) {
    if (!joins(p, n, OP_Concat) && !joins(p, n, OP_Sum))
        return false;
    uint32_t at = (uint32_t)below(p, n->n_in);
    for (uint32_t k = at; k + 1 < n->n_in; k++)
        n->in[k] = n->in[k + 1];
    n->n_in--;
    return true;
}

static bool repeat_piece(struct play *p, struct node *n) {
    if (!joins(p, n, OP_Concat) && !joins(p, n, OP_Sum))
        return false;
    uint32_t at = (uint32_t)below(p, n->n_in - 1);
    n->in[at] = n->in[at + 1];
    return true;
}

static bool swap_pieces(struct play *p, struct node *n) {
    if (!joins(p, n, OP_Concat))
        return false;
    uint32_t at = (uint32_t)below(p, n->n_in - 1);
    value_id first = n->in[at];
    n->in[at] = n->in[at + 1];
    n->in[at + 1] = first;
    return true;
}

static bool change_axis(struct play *p, struct node *n) {
    const struct type *t = graph_value(p->m->graph, n->in[0])->type;
    if (!node_attr(n, "axis") || !t || t->rank < 2)
        return false;
    int64_t axis = (node_int(n, "axis", 0) + 1 + t->rank) % t->rank;
    node_id id = graph_value(p->m->graph, n->out[0])->def;
    return graph_set_attr(p->m->graph, id, attr_int("axis", axis));
}

static bool is_sum(const struct play *p, const struct node *n) {
    return n->op == OP_Add &&
           !graph_find(p->step->graph, graph_value(p->m->graph, n->in[1])->name).i &&
           !value_same(n->in[0], n->in[1]) && same_type(p, n->in[0], n->in[1]);
}

static bool sum_twice(struct play *p, struct node *n) {
    if (!is_sum(p, n))
        return false;
    uint32_t k = (uint32_t)below(p, 2);
    n->in[k] = n->in[1 - k];
    return true;
}

static bool miss_sum(struct play *p, struct node *n) {
    if (!is_sum(p, n))
        return false;
    value_id y = n->out[0], x = n->in[below(p, 2)];
    bool any = false;
    for (size_t i = 0; i < p->m->graph->order.n; i++) {
        struct node *user = graph_node(p->m->graph, p->m->graph->order.at[i]);
        for (uint32_t k = 0; k < user->n_in; k++)
            if (value_same(user->in[k], y)) {
                user->in[k] = x;
                any = true;
            }
    }
    return any;
}

// Two nodes that slice the same elements, for example.
static bool same_expression(struct play *p, const struct node *a, const struct node *b) {
    bool same = a->n_in == b->n_in;
    for (uint32_t k = 0; same && k < a->n_in; k++) {
        int64_t x, y;
        same = value_same(a->in[k], b->in[k]) ||
               (ints_of(p, a->in[k], &x) && ints_of(p, b->in[k], &y) && x == y);
    }
    return same;
}

// The operand of another part: of the same type, by a node of the same operator.
static bool take_other_operand(struct play *p, struct node *n) {
    struct graph *g = p->m->graph;
    uint32_t k = n->n_in ? (uint32_t)below(p, n->n_in) : 0;
    if (!n->n_in || !n->in[k].i || !is_new(p, n) || !graph_value(g, n->in[k])->def.i)
        return false;
    enum op op = graph_node(g, graph_value(g, n->in[k])->def)->op;
    if (op == OP_Expand || op == OP_ConstantOfShape)
        return false; // all parts are equal
    for (size_t i = 0; i < g->order.n; i++) {
        struct node *other = graph_node(g, g->order.at[i]);
        if (other == n)
            return false; // an operand has to be there before
        if (other->op == op &&
            !same_expression(p, other, graph_node(g, graph_value(g, n->in[k])->def)) &&
            same_type(p, other->out[0], n->in[k]) && below(p, 3) == 0) {
            n->in[k] = other->out[0];
            return true;
        }
    }
    return false;
}

static bool change_number(struct play *p, struct node *n) {
    struct graph *g = p->m->graph;
    for (uint32_t k = 0; k < n->n_in; k++) {
        const struct tensor *t = n->in[k].i ? graph_value(g, n->in[k])->init : NULL;
        int64_t size;
        double *x;
        if (!is_new(p, n) || !t || !elem_is_float(t->elem) || !tensor_elements(t, &size) ||
            size != 1 || t->rank != 0 || tensor_reals(t, &p->scratch, &p->d, &x))
            continue;
        struct builder b = builder_make(g, &p->d);
        value_id v = build_scalar(&b, t->elem, x[0] + 1);
        n->in[k] = v;
        return true;
    }
    return false;
}

static bool change_attribute(struct play *p, struct node *n) {
    struct graph *g = p->m->graph;
    node_id id = graph_value(g, n->out[0])->def;
    if (!is_new(p, n) || !n->n_attrs)
        return false;
    struct attr a = n->attrs[below(p, n->n_attrs)];
    bool is_window = strcmp(a.name, "pads") == 0 || strcmp(a.name, "strides") == 0 ||
                     strcmp(a.name, "dilations") == 0 || strcmp(a.name, "perm") == 0;
    if (a.kind == ATTR_FLOAT && strcmp(a.name, "epsilon") == 0)
        return graph_set_attr(g, id, attr_float("epsilon", 2 * a.f + 1e-3)); // it may be 0
    if (a.kind != ATTR_INTS || !is_window || a.n < 2)
        return false;
    int64_t *own = arena_copy(g->model->arena, a.ints, a.n * sizeof *own);
    size_t at = (size_t)below(p, a.n - 1);
    if (strcmp(a.name, "perm") == 0) {
        own[at] = a.ints[at + 1];
        own[at + 1] = a.ints[at];
    } else {
        own[at]++;
    }
    // A window of one element has no dilation.
    return strcmp(a.name, "dilations") != 0 && graph_set_attr(g, id, attr_ints(a.name, own, a.n));
}

typedef bool corruption(struct play *p, struct node *n);

static const struct {
    const char *name;
    corruption *run;
} kinds[] = {
    {"slice bound", shift_slice},          {"slice axis", change_slice_axis},
    {"missing piece", drop_piece},         {"piece twice", repeat_piece},
    {"pieces swapped", swap_pieces},       {"wrong axis", change_axis},
    {"part summed twice", sum_twice},      {"part not summed", miss_sum},
    {"other operand", take_other_operand}, {"wrong number", change_number},
    {"wrong attribute", change_attribute},
};

enum { N_KINDS = sizeof kinds / sizeof *kinds, MAX_TRIES = 2000 };

// One corruption of a random node. NULL: none was found.
static const struct node *corrupt(struct play *p, size_t kind) {
    struct graph *g = p->m->graph;
    for (int i = 0; i < MAX_TRIES; i++) {
        node_id id = g->order.at[below(p, g->order.n)];
        if (graph_node(g, id)->n_out && graph_node(g, id)->out[0].i && graph_node(g, id)->n_in &&
            kinds[kind].run(p, graph_node(g, id)))
            return graph_node(g, id);
    }
    return NULL;
}

static int corrupt_all(struct play *p, long n, uint64_t seed) {
    size_t refused[N_KINDS] = {0}, made[N_KINDS] = {0}, n_made = 0, n_accepted = 0;
    p->rng = rng_make(seed, 0);
    for (long i = 0; i < n; i++) {
        size_t kind = (size_t)i % N_KINDS;
        struct arena own = arena_make(p->arena.mem);
        p->m = model_copy(p->divided, &own);
        const struct node *at = p->m ? corrupt(p, kind) : NULL;
        struct diags said = diags_make(&own);
        if (at) {
            made[kind]++;
            n_made++;
            bool is_refused = equivalence_check(p->step, p->m, &said) != ST_OK;
            refused[kind] += is_refused;
            n_accepted += !is_refused;
            if (!is_refused)
                printf("accepted: %s, at %s (%s)\n", kinds[kind].name,
                       graph_value(p->m->graph, at->out[0])->name, at->type);
        }
        arena_free(&own);
    }
    for (size_t k = 0; k < N_KINDS; k++)
        if (made[k])
            printf("%-20s %4zu of %4zu refused\n", kinds[k].name, refused[k], made[k]);
    printf("%zu corruptions, %zu accepted\n", n_made, n_accepted);
    return n_accepted > 0;
}

static int check(struct play *p) {
    struct equivalence e;
    status st = equivalence_find(p->step, p->divided, &p->d, &e);
    if (!st)
        printf("%zu outputs, %zu up to the order of summation\n", e.n_outputs, e.n_reordered);
    for (size_t i = 0; i < p->d.list.n; i++)
        fprintf(stderr, "%s\n", p->d.list.at[i].text);
    return st != ST_OK;
}

int main(int argc, char **argv) {
    struct mem mem = mem_make(MEM_UNLIMITED);
    struct play p = {.arena = arena_make(&mem)};
    bool is_check = argc == 4 && strcmp(argv[1], "check") == 0;
    if (!is_check && (argc != 6 || strcmp(argv[1], "corrupt") != 0))
        return 2;
    p.scratch = arena_make(&mem);
    p.d = diags_make(&p.arena);
    p.pool = pool_make(&p.arena);
    status st = load_model(&p.arena, &p.pool, &p.d, argv[2], &p.step);
    if (!st)
        st = load_model(&p.arena, &p.pool, &p.d, argv[3], &p.divided);
    p.m = p.divided;
    int result = st         ? 2
                 : is_check ? check(&p)
                            : corrupt_all(&p, atol(argv[4]), strtoull(argv[5], NULL, 10));
    arena_free(&p.scratch);
    return result;
}
