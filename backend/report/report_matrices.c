// The matrices of Checkmate (Jain et al. 2020): R has the nodes that each stage computes, S the
// nodes whose results are in memory when a stage begins. Stage t ends with the first execution of
// the t-th node. R follows from the order of the graph, S from liveness. Views, constants,
// transfers and control nodes are left out. Large matrices are downsampled: a cell is filled when
// any of its elements is set.
#include <string.h>

#include "backend/report/markup.h"
#include "backend/report/report_parts.h"
#include "backend/report/svg.h"

#define MAX_CELLS   256 // per side
#define SIDE        420.0
#define LEFT        28.0
#define TOP         34.0
#define NAME_LENGTH 48

enum cell { CELL_EMPTY, CELL_FIRST, CELL_RECOMPUTED, CELL_HELD };

struct matrices {
    struct report_page *r;
    uint32_t n;             // rows and columns: nodes, and stages
    uint32_t *unit;         // per node of the graph: its column + 1; 0: left out
    uint32_t *begin;        // per stage: its first step; [n] is the end
    uint32_t n_cells;       // per side
    unsigned char *R, *S;   // n_cells x n_cells, row by row
    uint32_t *n_recomputed; // per row of cells
};

static bool has_column(const struct timeline *t, node_id id) {
    const struct node *n = graph_node(t->graph, id);
    bool is_view = op_info(n->op)->flags & OPF_VIEW;
    enum work w = t->work[t->step_of[id.i]];
    return !is_view && n->op != OP_Constant && w != WORK_CONTROL && w != WORK_TRANSFER;
}

static bool number_units(struct matrices *m) {
    const struct timeline *t = &m->r->after;
    const struct graph *g = t->graph;
    m->unit = ARENA_ARRAY(m->r->arena, uint32_t, g->nodes.n);
    m->begin = ARENA_ARRAY(m->r->arena, uint32_t, (size_t)t->n_steps + 1);
    if (!m->unit || !m->begin)
        return false;
    for (uint32_t i = 0; i < t->n_steps; i++)
        if (t->work[i] != WORK_RECOMPUTE && has_column(t, t->order[i])) {
            m->unit[timeline_origin(g, t->order[i]).i] = ++m->n;
            m->begin[m->n] = i + 1;
        }
    if (m->n)
        m->begin[m->n] = t->n_steps; // the last stage includes all remaining steps
    return true;
}

static uint32_t cell_of(const struct matrices *m, uint32_t unit) {
    return (uint32_t)((uint64_t)unit * m->n_cells / m->n);
}

// The number of stages that begin at or before a step.
static uint32_t stages_until(const struct matrices *m, uint32_t step) {
    uint32_t low = 0, high = m->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (m->begin[middle] <= step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void fill_computed(struct matrices *m) {
    const struct timeline *t = &m->r->after;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        node_id id = t->order[i];
        uint32_t unit = m->unit[timeline_origin(t->graph, id).i];
        if (!unit)
            continue;
        uint32_t row = cell_of(m, stages_until(m, i) - 1), column = cell_of(m, unit - 1);
        unsigned char *cell = &m->R[row * m->n_cells + column];
        bool recomputed = t->work[i] == WORK_RECOMPUTE;
        if (recomputed || *cell == CELL_EMPTY)
            *cell = recomputed ? CELL_RECOMPUTED : CELL_FIRST;
        m->n_recomputed[row] += recomputed;
    }
}

static void fill_held(struct matrices *m) {
    const struct timeline *t = &m->r->after;
    const struct liveness *l = &t->liveness;
    for (uint32_t s = 1; s < t->storage.n; s++) {
        node_id def = graph_value(t->graph, t->storage.first[s])->def;
        uint32_t unit = def.i ? m->unit[timeline_origin(t->graph, def).i] : 0;
        if (!unit || l->from[s] > l->to[s])
            continue;
        // Set for the stages that begin during its lifetime.
        uint32_t first = stages_until(m, l->from[s]), end = stages_until(m, l->to[s]);
        for (uint32_t row = 0; first < end && row < m->n_cells; row++)
            if (row >= cell_of(m, first) && row <= cell_of(m, end - 1))
                m->S[row * m->n_cells + cell_of(m, unit - 1)] = CELL_HELD;
    }
}

// Cells of one kind as one path; consecutive cells of a column form one rectangle.
static void draw_cells(const struct matrices *m, const unsigned char *cells, enum cell kind,
                       const char *class) {
    struct str *out = m->r->out;
    uint32_t n = m->n_cells;
    double side = SIDE / n;
    str_addf(out, "<path class=\"%s\" d=\"", class);
    for (uint32_t column = 0; column < n; column++)
        for (uint32_t row = 0; row < n; row++) {
            uint32_t first = row;
            while (row < n && cells[row * n + column] == kind)
                row++;
            if (row > first)
                str_addf(out, "M%.1f %.1fh%.1fv%.1fh-%.1fz", LEFT + column * side,
                         TOP + first * side, side, (row - first) * side, side);
        }
    str_add(out, "\"/>\n");
}

static void draw_frame(const struct matrices *m, const char *title) {
    struct str *out = m->r->out;
    svg_text(out, LEFT, TOP - 14, SVG_START, "mark", title);
    str_addf(out, "<path class=\"frame\" d=\"M%g %gh%gv%gh-%gz\"/>\n", LEFT, TOP, SIDE, SIDE, SIDE);
    svg_text(out, LEFT + SIDE / 2, TOP + SIDE + 18, SVG_MIDDLE, "tick", "operation →");
    str_addf(out,
             "<text class=\"tick\" x=\"%g\" y=\"%g\" text-anchor=\"middle\" "
             "transform=\"rotate(-90 %g %g)\">← stage</text>\n",
             LEFT - 10, TOP + SIDE / 2, LEFT - 10, TOP + SIDE / 2);
}

static int64_t held_in_row(const struct matrices *m, uint32_t row, uint32_t *first_stage) {
    const struct timeline *t = &m->r->after;
    uint32_t stage = 0;
    while (stage + 1 < m->n && cell_of(m, stage) < row)
        stage++;
    *first_stage = stage;
    return t->held_bytes[m->begin[stage]];
}

static void draw_rows(const struct matrices *m) {
    struct str *out = m->r->out;
    const struct timeline *t = &m->r->after;
    double side = SIDE / m->n_cells;
    for (uint32_t row = 0; row < m->n_cells; row++) {
        uint32_t stage;
        int64_t held = held_in_row(m, row, &stage);
        uint32_t last = stage + 1 < m->n ? m->begin[stage + 1] - 1 : t->n_steps - 1;
        str_addf(out,
                 "<rect class=\"hover\" x=\"%g\" y=\"%.1f\" width=\"%g\" height=\"%.1f\"><title>",
                 LEFT, TOP + row * side, SIDE, side);
        str_addf(out, "stage %u of %u · ", stage + 1, m->n);
        markup_add_short(out, node_called(t->graph, t->order[last]), NAME_LENGTH);
        str_addf(out, "\n%u recomputation%s", m->n_recomputed[row],
                 m->n_recomputed[row] == 1 ? "" : "s");
        if (m->n > m->n_cells)
            str_addf(out, " in about %u stages", (m->n + m->n_cells - 1) / m->n_cells);
        str_add(out, "\nin memory when it begins: ");
        report_add_bytes(out, held);
        str_add(out, "</title></rect>\n");
    }
}

static void draw(const struct matrices *m) {
    struct str *out = m->r->out;
    str_add(out, "<div class=\"pair\">\n");
    svg_begin(out, LEFT + SIDE + 2, TOP + SIDE + 30, "Checkmate's matrix R of this plan");
    draw_frame(m, "R: computed in each stage");
    draw_cells(m, m->R, CELL_FIRST, "first");
    draw_cells(m, m->R, CELL_RECOMPUTED, "recomputed");
    draw_rows(m);
    svg_end(out);
    svg_begin(out, LEFT + SIDE + 2, TOP + SIDE + 30, "Checkmate's matrix S of this plan");
    draw_frame(m, "S: in memory when the stage begins");
    draw_cells(m, m->S, CELL_HELD, "activation");
    draw_rows(m);
    svg_end(out);
    str_add(out, "</div>\n");
}

void report_matrices(struct report_page *r) {
    struct matrices m = {.r = r};
    if (!number_units(&m)) {
        r->out->failed = true;
        return;
    }
    if (!m.n)
        return;
    m.n_cells = m.n < MAX_CELLS ? m.n : MAX_CELLS;
    m.R = arena_alloc(r->arena, (size_t)m.n_cells * m.n_cells);
    m.S = arena_alloc(r->arena, (size_t)m.n_cells * m.n_cells);
    m.n_recomputed = ARENA_ARRAY(r->arena, uint32_t, m.n_cells);
    if (!m.R || !m.S || !m.n_recomputed) {
        r->out->failed = true;
        return;
    }
    fill_computed(&m);
    fill_held(&m);
    str_add(r->out, "<section id=\"matrices\">\n<h2>The schedule as matrices</h2>\n");
    str_addf(r->out,
             "<p>Each of the %u stages ends with the first execution of one operation. These first "
             "executions are the diagonal; <span class=\"recomputed-text\">left of it are the "
             "recomputations</span>.",
             m.n);
    if (m.n > m.n_cells)
        str_addf(r->out, " A cell covers up to %u by %u.", (m.n + m.n_cells - 1) / m.n_cells,
                 (m.n + m.n_cells - 1) / m.n_cells);
    str_add(r->out, "</p>\n");
    draw(&m);
    str_add(r->out, "</section>\n");
}
