// Kept and recomputed tensors, with reasons: the section on the tensors of the forward pass that
// the backward pass reads. A tensor is kept when its node runs once, and recomputed when its node
// runs several times. A reason is a number that can be checked: the liveness peak of the same plan
// in which only this tensor is kept, or the time to recompute it.
#include <stdlib.h>
#include <string.h>

#include "backend/report/markup.h"
#include "backend/report/report_parts.h"
#include "backend/report/svg.h"
#include "ir/base/checked.h"

#define MAX_ROWS    120 // a table
#define NAME_LENGTH 44
#define LIFE_WIDTH  150.0

// A node that is recomputed or whose results the backward pass reads. Its executions form a linked
// list, from the last to the first.
struct choice {
    node_id node;
    value_id value;        // its largest result
    int64_t bytes;         // of all results
    int64_t cost;          // of one execution
    uint32_t n_recomputed; // executions after the first
    uint32_t last;         // execution: index + 1 in `runs`
    uint32_t first;        // storage of the first execution
    bool is_duplicated;    // it runs on several devices
    int64_t gap_peak;      // recomputed: peak memory in use while it is evicted; 0: it never is
};

struct run {
    uint32_t storage, earlier; // earlier: index + 1
};

struct choices {
    struct report_page *r;
    bool *wanted; // per node: has a row
    uint32_t *of; // per node: index + 1 in `at`
    VEC(struct choice) at;
    VEC(struct run) runs;
};

// The largest storage that a node allocates; 0: none, as for a view. *sum: bytes of all of them.
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

// Marks recomputed nodes, and forward nodes whose results backward nodes read, possibly through
// views.
static void find_wanted(struct choices *c) {
    const struct timeline *t = &c->r->after;
    const struct graph *g = t->graph;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        const struct node *n = graph_node(g, t->order[i]);
        if (t->work[i] == WORK_RECOMPUTE)
            c->wanted[timeline_origin(g, t->order[i]).i] = true;
        for (uint32_t k = 0; t->work[i] == WORK_BACKWARD && k < n->n_in; k++) {
            uint32_t s = t->storage.of[n->in[k].i];
            node_id def = s ? graph_value(g, t->storage.first[s])->def : NODE_NONE;
            if (def.i && t->work[t->step_of[def.i]] == WORK_FORWARD)
                c->wanted[timeline_origin(g, def).i] = true;
        }
    }
}

static bool add_choice(struct choices *c, node_id origin, uint32_t step) {
    const struct timeline *t = &c->r->after;
    struct choice x = {.node = origin, .cost = t->end[step] - t->start[step]};
    x.first = largest_storage(t, t->order[step], &x.bytes);
    const struct value *v = graph_value(t->graph, t->storage.first[x.first]);
    const struct node *n = graph_node(t->graph, origin);
    x.value = v->def_slot < n->n_out && n->out[v->def_slot].i ? n->out[v->def_slot]
                                                              : t->storage.first[x.first];
    if (!VEC_PUSH(c->r->arena, &c->at, x))
        return false;
    c->of[origin.i] = (uint32_t)c->at.n;
    return true;
}

static bool collect_choices(struct choices *c) {
    const struct timeline *t = &c->r->after;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        node_id origin = timeline_origin(t->graph, t->order[i]);
        int64_t sum;
        uint32_t s = c->wanted[origin.i] ? largest_storage(t, t->order[i], &sum) : 0;
        if (!s)
            continue;
        if (!c->of[origin.i] && !add_choice(c, origin, i))
            return false;
        struct choice *x = &c->at.at[c->of[origin.i] - 1];
        x->n_recomputed += x->last != 0;
        if (!VEC_PUSH(c->r->arena, &c->runs, (struct run){s, x->last}))
            return false;
        x->last = (uint32_t)c->runs.n;
    }
    return true;
}

static uint32_t device_of(const struct timeline *t, uint32_t storage) {
    return t->device[t->liveness.from[storage]];
}

// The peak memory in use while a recomputed tensor is evicted: between the last use of one
// execution's result and the next execution, on the same device.
static void measure_gaps(const struct choices *c, struct choice *x) {
    const struct timeline *t = &c->r->after;
    const struct liveness *l = &t->liveness;
    for (uint32_t k = x->last; c->runs.at[k - 1].earlier; k = c->runs.at[k - 1].earlier) {
        const struct run *later = &c->runs.at[k - 1], *run = &c->runs.at[later->earlier - 1];
        uint32_t device = device_of(t, run->storage);
        if (device != device_of(t, later->storage)) {
            x->is_duplicated = true;
            continue;
        }
        for (uint32_t i = l->to[run->storage] + 1; i < l->from[later->storage]; i++)
            if (t->device[i] == device && t->held_bytes[i] > x->gap_peak)
                x->gap_peak = t->held_bytes[i];
    }
}

static int64_t extra_cost(const struct choice *x) {
    return x->cost * x->n_recomputed; // fits: a part of the cost of all nodes
}

static int by_weight(const void *a, const void *b) {
    const struct choice *x = a, *y = b;
    if (!x->n_recomputed != !y->n_recomputed)
        return x->n_recomputed ? -1 : 1;
    if (x->n_recomputed && extra_cost(x) != extra_cost(y))
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

// The lifetime of a tensor: in the baseline step as a thin line, in the plan as bars.
static void draw_life(const struct choices *c, const struct choice *x) {
    const struct timeline *t = &c->r->after, *b = &c->r->before;
    struct str *out = c->r->out;
    int64_t span = t->span > b->span ? t->span : b->span;
    double scale = span > 0 ? LIFE_WIDTH / (double)span : 0;
    str_addf(out, "<svg class=\"life\" viewBox=\"0 0 %g 14\" aria-hidden=\"true\">", LIFE_WIDTH);
    value_id same = graph_find(b->graph, graph_value(t->graph, x->value)->name);
    uint32_t s = same.i ? b->storage.of[same.i] : 0;
    if (s && !b->storage.is_persistent[s] && b->liveness.from[s] <= b->liveness.to[s]) {
        str_add(out, "<path class=\"life-before\" d=\"");
        add_life(out, b, s, scale, 3);
        str_add(out, "\"/>");
    }
    str_add(out, "<path class=\"life-first\" d=\"");
    add_life(out, t, x->first, scale, 9);
    str_add(out, x->n_recomputed ? "\"/><path class=\"life-recomputed\" d=\"" : "");
    for (uint32_t k = x->last; c->runs.at[k - 1].earlier; k = c->runs.at[k - 1].earlier)
        add_life(out, t, c->runs.at[k - 1].storage, scale, 9);
    str_add(out, "\"/></svg>");
}

// The step with the most memory in use on a device.
static uint32_t peak_step(const struct timeline *t, uint32_t device) {
    uint32_t best = t->peak_step;
    if (t->device[best] == device)
        return best;
    bool found = false;
    for (uint32_t i = 0; i < t->n_steps; i++)
        if (t->device[i] == device && (!found || t->held_bytes[i] > t->held_bytes[best])) {
            best = i;
            found = true;
        }
    return best;
}

// What live tensors would need on the device if a recomputed tensor were kept.
static int64_t need_if_kept(const struct choice *x) {
    int64_t with;
    return checked_add(x->gap_peak, x->bytes, &with) ? with : INT64_MAX;
}

// The budget of the plan, or the memory of the device; INT64_MAX: none.
static int64_t limit_of(const struct choices *c, const struct choice *x) {
    const struct timeline *t = &c->r->after;
    int64_t n_bytes =
        t->n_devices > 1 ? t->device_bytes[device_of(t, x->first)] : c->r->facts->budget_bytes;
    return plan_facts_is_known(n_bytes) ? n_bytes : INT64_MAX;
}

static void add_recompute_reason(const struct choices *c, const struct choice *x) {
    struct str *out = c->r->out;
    const struct timeline *t = &c->r->after;
    int64_t peak = t->held_bytes[peak_step(t, device_of(t, x->first))];
    int64_t with = need_if_kept(x), limit = limit_of(c, x);
    if (x->gap_peak == 0) {
        str_add(out, x->is_duplicated ? "on another device, without a transfer"
                                      : "its executions follow each other");
        return;
    }
    str_add(out, "if kept, the peak would be ");
    report_add_bytes(out, with > peak ? with : peak);
    if (with > limit) {
        str_add(out, ", ");
        report_add_bytes(out, with - limit);
        str_add(out, t->n_devices > 1 ? " over the memory" : " over the budget");
    } else if (with > peak) {
        str_add(out, ", ");
        report_add_bytes(out, with - peak);
        str_add(out, " more");
    } else {
        str_add(out, ", as it is");
    }
}

// Recomputed tensors with which, if kept, the liveness peak would be within the limit.
static void add_fitting(const struct choices *c, size_t n_recomputed) {
    size_t n = 0;
    for (size_t i = 0; i < n_recomputed; i++) {
        const struct choice *x = &c->at.at[i];
        int64_t limit = limit_of(c, x);
        n += x->gap_peak > 0 && limit < INT64_MAX && need_if_kept(x) <= limit;
    }
    if (n)
        str_addf(
            c->r->out,
            "<p class=\"soft\">For %zu of these, the liveness peak would stay within the limit. %s"
            "</p>\n",
            n,
            c->r->after.n_devices > 1
                ? "The search found no faster plan."
                : "The peak on the runtime can be higher than that of live tensors, and the "
                  "search may not have found the best plan.");
}

static void add_reason(const struct choices *c, const struct choice *x) {
    struct str *out = c->r->out;
    const struct timeline *t = &c->r->after;
    const struct liveness *l = &t->liveness;
    uint32_t peak = peak_step(t, device_of(t, x->first));
    if (x->n_recomputed) {
        add_recompute_reason(c, x);
    } else if (op_info(graph_node(t->graph, x->node)->op)->flags & OPF_RANDOM) {
        str_add(out, "random: recomputation would give other values");
    } else if (l->from[x->first] > peak || l->to[x->first] < peak) {
        str_add(out, "not in memory at the peak");
    } else {
        str_add(out, "in memory at the peak; recomputation would take ");
        report_add_cost(out, t, x->cost);
        str_add(out, " or more");
    }
}

static void add_row(const struct choices *c, const struct choice *x) {
    struct str *out = c->r->out;
    const struct timeline *t = &c->r->after;
    const struct node *n = graph_node(t->graph, x->node);
    const char *name = graph_value(t->graph, x->value)->name;
    str_add(out, "<tr><td class=\"name\">");
    markup_add_short(out, name, NAME_LENGTH);
    str_add(out, "</td><td>");
    markup_add_short(out, n->type, NAME_LENGTH);
    str_add(out, "</td><td class=\"number\">");
    report_add_bytes(out, x->bytes);
    str_add(out, "</td><td class=\"number\">");
    if (x->n_recomputed > 1)
        str_addf(out, "%u\u00a0×\u00a0", x->n_recomputed);
    report_add_cost(out, t, x->cost);
    str_add(out, "</td><td>");
    draw_life(c, x);
    str_add(out, "</td><td>");
    add_reason(c, x);
    str_add(out, "</td></tr>\n");
}

static void add_table(const struct choices *c, size_t first, size_t n, const char *cost) {
    struct str *out = c->r->out;
    size_t shown = n < MAX_ROWS ? n : MAX_ROWS;
    int64_t rest_bytes = 0, rest_cost = 0;
    str_addf(out,
             "<div class=\"wide\"><table>\n<thead><tr><th>tensor</th><th>operator</th>"
             "<th class=\"number\">size</th><th class=\"number\">%s</th><th>lifetime</th>"
             "<th>reason</th></tr></thead>\n<tbody>\n",
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
    size_t n_recomputed = 0;
    while (n_recomputed < c->at.n && c->at.at[n_recomputed].n_recomputed)
        n_recomputed++;
    str_add(
        out,
        "<section id=\"choices\">\n<h2>Kept and recomputed</h2>\n"
        "<p>Tensors of the forward pass that the backward pass reads. Reasons are about the same "
        "plan with the other choice for one tensor; their peaks are liveness peaks. "
        "<span class=\"soft\">In the column <i>lifetime</i>, the thin line is the baseline "
        "step, the bars are the plan.</span></p>\n");
    if (n_recomputed) {
        str_addf(out, "<h3>Recomputed%s <span class=\"soft\">%zu</span></h3>\n",
                 c->r->after.n_devices > 1 ? " or duplicated" : "", n_recomputed);
        add_table(c, 0, n_recomputed, "time");
        add_fitting(c, n_recomputed);
    }
    if (c->at.n > n_recomputed) {
        str_addf(out, "<details%s><summary>Kept <span class=\"soft\">%zu</span></summary>\n",
                 n_recomputed ? "" : " open=\"open\"", c->at.n - n_recomputed);
        add_table(c, n_recomputed, c->at.n - n_recomputed, "time to recompute");
        str_add(out, "</details>\n");
    }
    str_add(out, "</section>\n");
}

void report_choices(struct report_page *r) {
    size_t n = r->after.graph->nodes.n;
    struct choices c = {
        .r = r, .wanted = ARENA_ARRAY(r->arena, bool, n), .of = ARENA_ARRAY(r->arena, uint32_t, n)};
    if (!c.wanted || !c.of) {
        r->out->failed = true;
        return;
    }
    find_wanted(&c);
    if (!collect_choices(&c)) {
        r->out->failed = true;
        return;
    }
    for (size_t i = 0; i < c.at.n; i++)
        measure_gaps(&c, &c.at.at[i]);
    if (!c.at.n)
        return;
    qsort(c.at.at, c.at.n, sizeof *c.at.at, by_weight);
    add_tables(&c);
}
