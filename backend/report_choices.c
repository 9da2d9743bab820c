// What the plan does with each tensor that the backward pass reads again, and why. A tensor is kept
// when its node runs once, and recomputed when other nodes repeat it. Reasons are told by numbers
// that anyone can check: what the peak would have been had it stayed, or what it would have saved
// at the peak had it gone.
#include <stdlib.h>
#include <string.h>

#include "backend/escape.h"
#include "backend/report_parts.h"
#include "backend/svg.h"
#include "ir/base/checked.h"

#define MOST_ROWS   120 // a table
#define NAME_LENGTH 44
#define LIFE_WIDTH  150.0

// A node of the forward pass whose results are read by the backward pass, or that runs again.
struct choice {
    node_id node;
    uint32_t storage; // its largest
    int64_t bytes;    // all that it makes
    int64_t cost;     // of one run
    uint32_t n_again;
    uint32_t next;    // repetition: place + 1 in `again`
    int64_t gap_peak; // recomputed: the most that is held while it is gone
};

struct again {
    uint32_t storage, next; // next: place + 1
};

struct choices {
    struct report *r;
    uint32_t *of; // per node: place + 1 in `at`
    VEC(struct choice) at;
    VEC(struct again) again;
};

static uint32_t largest_storage(const struct timeline *t, node_id id, int64_t *sum) {
    const struct node *n = graph_node(t->graph, id);
    uint32_t best = 0;
    *sum = 0;
    for (uint32_t k = 0; k < n->n_out; k++) {
        uint32_t s = t->storage.of[n->out[k].i];
        if (!s || t->storage.first[s].i != n->out[k].i)
            continue;
        *sum += t->storage.bytes[s];
        if (!best || t->storage.bytes[s] > t->storage.bytes[best])
            best = s;
    }
    return best;
}

static bool add_choice(struct choices *c, node_id id) {
    const struct timeline *t = &c->r->after;
    struct choice x = {.node = id};
    if (c->of[id.i])
        return true;
    x.storage = largest_storage(t, id, &x.bytes);
    uint32_t step = t->step_of[id.i];
    x.cost = t->end[step] - t->start[step];
    if (!x.storage || !VEC_PUSH(c->r->arena, &c->at, x))
        return !x.storage;
    c->of[id.i] = (uint32_t)c->at.n;
    return true;
}

// The forward tensors that backward nodes read, views seen through.
static bool find_read_again(struct choices *c) {
    const struct timeline *t = &c->r->after;
    const struct graph *g = t->graph;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        for (uint32_t k = 0; t->work[i] == WORK_BACKWARD && k < n->n_in; k++) {
            uint32_t s = t->storage.of[n->in[k].i];
            node_id def = s ? graph_value(g, t->storage.first[s])->def : NODE_NONE;
            if (def.i && t->holder[s] == HOLDER_ACTIVATION && !add_choice(c, def))
                return false;
        }
    }
    return true;
}

static bool find_repeated(struct choices *c) {
    const struct timeline *t = &c->r->after;
    const struct graph *g = t->graph;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        node_id id = g->order.at[i];
        node_id origin = timeline_origin(g, id);
        int64_t sum;
        uint32_t s = t->work[i] == WORK_AGAIN ? largest_storage(t, id, &sum) : 0;
        if (!s || graph_node(g, origin)->removed)
            continue; // a view, which costs nothing
        if (!add_choice(c, origin))
            return false;
        if (!c->of[origin.i])
            continue;
        struct choice *x = &c->at.at[c->of[origin.i] - 1];
        if (!VEC_PUSH(c->r->arena, &c->again, (struct again){s, x->next}))
            return false;
        x->next = (uint32_t)c->again.n;
        x->n_again++;
    }
    return true;
}

// The most that is held while a recomputed tensor is gone: between the end of one copy and the
// beginning of the next. Copies are linked from the last to the first.
static void measure_gaps(const struct choices *c, struct choice *x) {
    const struct timeline *t = &c->r->after;
    const struct liveness *l = &t->liveness;
    for (uint32_t k = x->next; k;) {
        const struct again *a = &c->again.at[k - 1];
        uint32_t earlier = a->next ? c->again.at[a->next - 1].storage : x->storage;
        for (uint32_t i = l->to[earlier] + 1; i < l->from[a->storage]; i++)
            if (t->held_bytes[i] > x->gap_peak)
                x->gap_peak = t->held_bytes[i];
        k = a->next;
    }
}

static int64_t extra_cost(const struct choice *x) {
    return x->cost * x->n_again; // fits: a part of the cost of all nodes
}

static int by_weight(const void *a, const void *b) {
    const struct choice *x = a, *y = b;
    if (!x->n_again != !y->n_again)
        return x->n_again ? -1 : 1;
    if (x->n_again && extra_cost(x) != extra_cost(y))
        return extra_cost(x) > extra_cost(y) ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->node.i < y->node.i ? -1 : x->node.i > y->node.i;
}

static void add_life(struct str *path, const struct timeline *t, uint32_t s, double scale,
                     double y) {
    const struct liveness *l = &t->liveness;
    uint32_t last = l->to[s] < t->n_steps ? l->to[s] : t->n_steps - 1;
    double from = (double)t->start[l->from[s]] * scale, to = (double)t->end[last] * scale;
    str_addf(path, "M%.1f %gh%.1f", from, y, to - from < 1 ? 1 : to - from);
}

// When it is held: the unplanned step as a thin line, the plan as bars.
static void draw_life(const struct choices *c, const struct choice *x) {
    const struct timeline *t = &c->r->after, *b = &c->r->before;
    struct str *out = c->r->out;
    int64_t span = t->span > b->span ? t->span : b->span;
    double scale = span > 0 ? LIFE_WIDTH / (double)span : 0;
    str_addf(out, "<svg class=\"life\" viewBox=\"0 0 %g 14\" aria-hidden=\"true\">", LIFE_WIDTH);
    value_id same = graph_find(b->graph, graph_value(t->graph, t->storage.first[x->storage])->name);
    uint32_t s = same.i ? b->storage.of[same.i] : 0;
    if (s && !b->storage.is_fixed[s] && b->liveness.from[s] <= b->liveness.to[s]) {
        str_add(out, "<path class=\"life-before\" d=\"");
        add_life(out, b, s, scale, 3);
        str_add(out, "\"/>");
    }
    str_add(out, "<path class=\"life-first\" d=\"");
    add_life(out, t, x->storage, scale, 9);
    str_add(out, "\"/>");
    if (x->next)
        str_add(out, "<path class=\"life-again\" d=\"");
    for (uint32_t k = x->next; k; k = c->again.at[k - 1].next)
        add_life(out, t, c->again.at[k - 1].storage, scale, 9);
    str_add(out, x->next ? "\"/></svg>" : "</svg>");
}

static void add_reason(const struct choices *c, const struct choice *x) {
    struct str *out = c->r->out;
    const struct timeline *t = &c->r->after;
    const struct liveness *l = &t->liveness;
    int64_t budget = c->r->facts->budget_bytes;
    if (x->n_again) {
        int64_t with;
        if (!checked_add(x->gap_peak, x->bytes, &with))
            with = INT64_MAX;
        str_add(out, "kept, the step would hold ");
        report_add_bytes(out, with);
        if (budget > 0 && with > budget) {
            str_add(out, ", ");
            report_add_bytes(out, with - budget);
            str_add(out, " over the budget");
        } else if (x->gap_peak == 0) {
            str_add(out, " at least");
        }
    } else if (op_info(graph_node(t->graph, x->node)->op)->flags & OPF_RANDOM) {
        str_add(out, "random: a second run would give other numbers");
    } else if (l->from[x->storage] > t->peak_step || l->to[x->storage] < t->peak_step) {
        str_add(out, "not held at the peak");
    } else {
        str_add(out, "held at the peak; without it, ");
        report_add_cost(out, t, x->cost);
        str_add(out, " more");
    }
}

static void add_row(const struct choices *c, const struct choice *x) {
    struct str *out = c->r->out;
    const struct timeline *t = &c->r->after;
    const struct node *n = graph_node(t->graph, x->node);
    const char *name = graph_value(t->graph, t->storage.first[x->storage])->name;
    str_add(out, "<tr><td class=\"name\">");
    escape_markup_short(out, name, NAME_LENGTH);
    str_add(out, "</td><td>");
    escape_markup_short(out, n->type, NAME_LENGTH);
    str_add(out, "</td><td class=\"number\">");
    report_add_bytes(out, x->bytes);
    str_add(out, "</td><td class=\"number\">");
    if (x->n_again > 1)
        str_addf(out, "%u\u00a0×\u00a0", x->n_again);
    report_add_cost(out, t, x->cost);
    str_add(out, "</td><td>");
    draw_life(c, x);
    str_add(out, "</td><td>");
    add_reason(c, x);
    str_add(out, "</td></tr>\n");
}

static void add_table(const struct choices *c, size_t first, size_t n, const char *cost) {
    struct str *out = c->r->out;
    size_t shown = n < MOST_ROWS ? n : MOST_ROWS;
    int64_t rest_bytes = 0, rest_cost = 0;
    str_addf(out,
             "<div class=\"wide\"><table>\n<thead><tr><th>tensor</th><th>made by</th>"
             "<th class=\"number\">size</th><th class=\"number\">%s</th><th>held</th>"
             "<th>why</th></tr></thead>\n<tbody>\n",
             cost);
    for (size_t i = 0; i < shown; i++)
        add_row(c, &c->at.at[first + i]);
    str_add(out, "</tbody></table></div>\n");
    if (shown == n)
        return;
    for (size_t i = shown; i < n; i++) {
        if (!checked_add(rest_bytes, c->at.at[first + i].bytes, &rest_bytes))
            rest_bytes = INT64_MAX;
        rest_cost += extra_cost(&c->at.at[first + i]);
    }
    str_addf(out, "<p class=\"soft\">and %zu more, ", n - shown);
    report_add_bytes(out, rest_bytes);
    if (rest_cost > 0) {
        str_add(out, ", ");
        report_add_cost(out, &c->r->after, rest_cost);
    }
    str_add(out, "</p>\n");
}

static void add_tables(const struct choices *c) {
    struct str *out = c->r->out;
    size_t n_again = 0;
    while (n_again < c->at.n && c->at.at[n_again].n_again)
        n_again++;
    str_add(out, "<section id=\"choices\">\n<h2>Kept and recomputed</h2>\n"
                 "<p>What is needed again later. <span class=\"soft\">In "
                 "the column <i>held</i>, the thin line is the unplanned step, the bars are the "
                 "plan.</span></p>\n");
    if (n_again) {
        str_addf(out, "<h3>Recomputed <span class=\"soft\">%zu</span></h3>\n", n_again);
        add_table(c, 0, n_again, "time");
    }
    if (c->at.n > n_again) {
        str_addf(out, "<details%s><summary>Kept <span class=\"soft\">%zu</span></summary>\n",
                 n_again ? "" : " open=\"open\"", c->at.n - n_again);
        add_table(c, n_again, c->at.n - n_again, "to make again");
        str_add(out, "</details>\n");
    }
    str_add(out, "</section>\n");
}

void report_choices(struct report *r) {
    struct choices c = {.r = r, .of = ARENA_ARRAY(r->arena, uint32_t, r->after.graph->nodes.n)};
    if (!c.of || !find_read_again(&c) || !find_repeated(&c)) {
        r->out->failed = true;
        return;
    }
    if (!c.at.n)
        return;
    for (size_t i = 0; i < c.at.n; i++)
        measure_gaps(&c, &c.at.at[i]);
    qsort(c.at.at, c.at.n, sizeof *c.at.at, by_weight);
    add_tables(&c);
}
