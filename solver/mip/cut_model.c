// Builds the integer program of a set of cuts: columns per cut, rows per segment, then the lazy
// rows of stages (cut.h).
#include "solver/mip/cut.h"

#include <assert.h>
#include <string.h>

struct build {
    const struct cut_view *v;
    struct cut_model *m;
    struct arena *scratch;
    int flags;
    bool *live; // per node: live across the current cut
};

// First and last node that run for the first time in the segment after cut k.
static int32_t seg_first(const struct build *b, int32_t k) {
    return b->m->cuts.at[k] + 1;
}
static int32_t seg_last(const struct build *b, int32_t k) {
    return k + 1 < b->m->cuts.n ? b->m->cuts.at[k + 1] : b->v->n_steps - 1;
}

// Liveness across cut k: inputs of later first runs, and inputs of live nodes that may be
// recomputed. Consumers have larger numbers, so one backward pass suffices.
static void find_live(struct build *b, int32_t k) {
    const struct problem *p = b->v->p;
    int32_t q = b->m->cuts.at[k];
    for (int32_t i = q < p->n ? q : p->n - 1; i >= 0; i--) {
        bool live = p->keep[i];
        for (int32_t e = p->out_start[i]; e < p->out_start[i + 1] && !live; e++) {
            int32_t j = p->out_of[e];
            live = j > q || (b->live[j] && !p->once[j] && !b->v->zero_size[j]);
        }
        b->live[i] = live;
    }
}

// keep[k,j] + other[k,j] >= 1, or >= demand_col if that is not negative. `other` holds run or later
// columns; a node that must run once has none. A node without a keep column is always available.
static void add_supply(struct build *b, int32_t *other, int32_t k, int32_t j, int32_t demand_col) {
    int32_t keep = *cut_column(&b->m->cols, b->m->cols.keep, k, j);
    int32_t run = *cut_column(&b->m->cols, other, k, j);
    if (keep < 0)
        return;
    cbc_row(&b->m->program, demand_col < 0 ? 1 : 0, CBC_INF);
    cbc_term(&b->m->program, keep, 1);
    if (run >= 0)
        cbc_term(&b->m->program, run, 1);
    if (demand_col >= 0)
        cbc_term(&b->m->program, demand_col, -1);
}

// Rows "needed": the inputs of first runs up to `last`; `seen` marks inputs that have their row.
static void add_needed(struct build *b, int32_t *other, int32_t k, int32_t last, bool *seen) {
    int32_t q = b->m->cuts.at[k];
    for (int32_t t = seg_first(b, k); t <= last; t++) {
        const int32_t *in;
        int32_t n_in = cut_inputs(b->v, t, &in);
        for (int32_t e = 0; e < n_in; e++)
            if (in[e] <= q && !seen[in[e]]) {
                seen[in[e]] = true;
                add_supply(b, other, k, in[e], -1);
            }
    }
}

static void add_inputs(struct build *b, int32_t *other, int32_t k) {
    const struct problem *p = b->v->p;
    for (int32_t i = 0; i <= b->m->cuts.at[k] && i < p->n; i++) {
        int32_t demand = *cut_column(&b->m->cols, other, k, i);
        for (int32_t e = p->in_start[i]; demand >= 0 && e < p->in_start[i + 1]; e++)
            add_supply(b, other, k, p->in_of[e], demand);
    }
}

static void add_carry(struct build *b, int32_t k) {
    for (int32_t i = 0; i <= b->m->cuts.at[k] && i < b->v->p->n; i++) {
        int32_t next = *cut_column(&b->m->cols, b->m->cols.keep, k + 1, i);
        if (next >= 0)
            add_supply(b, b->m->cols.run, k, i, next);
    }
}

// Opens the row "terms <= capacity + extra".
static void add_capacity_row(struct build *b, int64_t extra) {
    bool column = b->m->capacity_col >= 0;
    int64_t upper = extra + (column ? 0 : b->v->capacity);
    cbc_row(&b->m->program, -CBC_INF, (double)upper * b->v->byte_scale);
    if (column)
        cbc_term(&b->m->program, b->m->capacity_col, -1);
}

static void add_memory(struct build *b, int32_t k) {
    int32_t q = b->m->cuts.at[k];
    add_capacity_row(b, -cut_working_set(b->v, q));
    cut_columns_add_kept(&b->m->cols, b->v, k, q, &b->m->program);
}

static bool add_segment(struct build *b, int32_t k) {
    bool *seen = ARENA_ARRAY(b->scratch, bool, b->v->p->n);
    if (!seen)
        return false;
    add_memory(b, k);
    add_needed(b, b->m->cols.run, k, seg_last(b, k), seen);
    add_inputs(b, b->m->cols.run, k);
    if (k + 1 < b->m->cuts.n)
        add_carry(b, k);
    if (b->flags & CUT_LATER) {
        memset(seen, 0, (size_t)b->v->p->n * sizeof *seen);
        for (int32_t i = 0; i < b->v->p->n; i++)
            cut_columns_add_later(&b->m->cols, k, i, &b->m->program);
        add_needed(b, b->m->cols.later, k, b->v->n_steps - 1, seen);
        add_inputs(b, b->m->cols.later, k);
    }
    return !b->m->program.out_of_memory;
}

int32_t cut_model_find(const struct cut_model *m, int32_t q) {
    int32_t low = 0, high = m->cuts.n - 1;
    while (low <= high) {
        int32_t mid = low + (high - low) / 2;
        if (m->cuts.at[mid] == q)
            return mid;
        if (m->cuts.at[mid] < q)
            low = mid + 1;
        else
            high = mid - 1;
    }
    return -1;
}

int32_t cut_model_column(const struct cut_view *v, const struct cut_model *m, int32_t stage,
                         enum cut_kind kind, int32_t node) {
    int32_t k = cut_model_find(m, kind == CUT_NEXT ? stage : stage - 1);
    if (kind == CUT_TWICE || kind == CUT_THRICE) {
        for (size_t e = 0; e < m->repeats.n; e++)
            if (m->repeats.at[e].kind == kind && m->repeats.at[e].stage == stage &&
                m->repeats.at[e].node == node)
                return m->repeats.at[e].col;
        return -1;
    }
    if (k < 0)
        return -1;
    return (kind == CUT_RUN ? m->cols.run
                            : m->cols.keep)[(size_t)k * (size_t)v->p->n + (size_t)node];
}

// Adds the column of a second or third run in a stage, at the cost of the run before, which it
// requires.
static void add_repeat(struct build *b, int32_t stage, enum cut_kind kind, int32_t node,
                       struct arena *a) {
    int32_t before =
        cut_model_column(b->v, b->m, stage, kind == CUT_THRICE ? CUT_TWICE : CUT_RUN, node);
    if (before < 0 || cut_model_column(b->v, b->m, stage, kind, node) >= 0)
        return;
    struct cbc_model *c = &b->m->program;
    int32_t col = cbc_col(c, 0, 1, c->col_cost.at[before], !(b->flags & CUT_CONTINUOUS));
    struct cut_repeat repeat = {.kind = kind, .stage = stage, .node = node, .col = col};
    if (!VEC_PUSH(a, &b->m->repeats, repeat))
        c->out_of_memory = true;
    cbc_row(c, 0, CBC_INF);
    cbc_term(c, before, 1);
    cbc_term(c, col, -1);
}

static void add_stage_row(struct build *b, const struct cut_row *row, struct arena *a) {
    if (cut_model_find(b->m, row->stage - 1) < 0 || cut_model_find(b->m, row->stage) < 0)
        return;
    for (size_t e = 0; e < row->terms.n; e++) {
        enum cut_kind kind = row->terms.at[e].kind;
        if (kind == CUT_TWICE || kind == CUT_THRICE)
            add_repeat(b, row->stage, CUT_TWICE, row->terms.at[e].node, a);
        if (kind == CUT_THRICE)
            add_repeat(b, row->stage, CUT_THRICE, row->terms.at[e].node, a);
    }
    double scale = row->bytes ? b->v->byte_scale : 1;
    if (row->bytes)
        add_capacity_row(b, row->upper);
    else
        cbc_row(&b->m->program, -CBC_INF, (double)row->upper);
    for (size_t e = 0; e < row->terms.n; e++) {
        const struct cut_term *t = &row->terms.at[e];
        int32_t col = cut_model_column(b->v, b->m, row->stage, t->kind, t->node);
        if (col >= 0 && t->weight)
            cbc_term(&b->m->program, col, (double)t->weight * scale);
    }
}

bool cut_model_build(const struct cut_view *v, struct cuts cuts, const struct cut_rows *rows,
                     int flags, struct arena *a, struct cut_model *out) {
    assert(cuts.n >= 0 && (cuts.n == 0 || (cuts.at[0] >= 0 && cuts.at[cuts.n - 1] < v->n_steps)));
    *out = (struct cut_model){.cuts = cuts, .capacity_col = -1};
    cbc_open(&out->program, a);
    if (flags & CUT_MIN_BUDGET)
        out->capacity_col =
            cbc_col(&out->program, 0, (double)v->capacity * v->byte_scale, 1, false);
    struct arena scratch = arena_make(a->mem);
    struct build b = {.v = v, .m = out, .scratch = &scratch, .flags = flags};
    b.live = ARENA_ARRAY(&scratch, bool, v->p->n);
    bool ok = cut_columns_make(&out->cols, cuts.n, v->p->n, a) && b.live;
    for (int32_t k = 0; ok && k < cuts.n; k++) {
        memset(b.live, 0, (size_t)v->p->n * sizeof(bool));
        find_live(&b, k);
        cut_columns_add(&out->cols, v, k, b.live, flags, &out->program);
    }
    for (int32_t k = 0; ok && k < cuts.n; k++)
        ok = add_segment(&b, k);
    for (size_t e = 0; ok && rows && e < rows->n; e++)
        add_stage_row(&b, &rows->at[e], a);
    arena_free(&scratch);
    return ok && !out->program.out_of_memory;
}
