// Project selection by push-relabel (selection.h). A project pushes its excess to a tool one label
// lower, without limit; a tool absorbs up to its price and pushes the rest back to projects that
// sent it some. Labels are distances to a tool with residual capacity. Excess that cannot reach one
// stays, and marks the selected projects.
#include "solver/cuts/selection.h"

#include <assert.h>
#include <string.h>

struct flow {
    const struct selection *s;
    int32_t n, n_edges;            // projects first, then tools
    int32_t *from_start, *from_of; // edges of each tool
    int32_t *project_of;           // per edge
    int64_t *sent;                 // per edge
    int64_t *excess;               // per vertex
    int64_t *residual;             // per tool: residual capacity
    int32_t *label; // per vertex; `never`: cannot reach a tool with residual capacity
    int32_t never;  // above every label
    int32_t *queue, first, n_queued;
    bool *queued;
    int64_t work;
};

static bool make(struct flow *f, const struct selection *s, struct arena *a) {
    int32_t n = s->n_projects + s->n_tools, n_edges = s->need_start[s->n_projects];
    *f = (struct flow){.s = s,
                       .n = n,
                       .n_edges = n_edges,
                       .never = n + 1,
                       .from_start = ARENA_ARRAY(a, int32_t, s->n_tools + 1),
                       .from_of = ARENA_ARRAY(a, int32_t, n_edges),
                       .project_of = ARENA_ARRAY(a, int32_t, n_edges),
                       .sent = ARENA_ARRAY(a, int64_t, n_edges),
                       .excess = ARENA_ARRAY(a, int64_t, n),
                       .residual = ARENA_ARRAY(a, int64_t, s->n_tools),
                       .label = ARENA_ARRAY(a, int32_t, n),
                       .queue = ARENA_ARRAY(a, int32_t, n),
                       .queued = ARENA_ARRAY(a, bool, n)};
    if (!f->from_start || !f->from_of || !f->project_of || !f->sent || !f->excess || !f->residual ||
        !f->label || !f->queue || !f->queued)
        return false;
    for (int32_t e = 0; e < n_edges; e++)
        f->from_start[s->need_of[e] + 1]++;
    for (int32_t t = 0; t < s->n_tools; t++)
        f->from_start[t + 1] += f->from_start[t];
    int32_t *next = f->queue; // borrowed; n_tools <= n entries
    if (s->n_tools > 0)
        memcpy(next, f->from_start, (size_t)s->n_tools * sizeof *next);
    for (int32_t i = 0; i < s->n_projects; i++)
        for (int32_t e = s->need_start[i]; e < s->need_start[i + 1]; e++) {
            f->project_of[e] = i;
            f->from_of[next[s->need_of[e]]++] = e;
        }
    return true;
}

// Initial flow: each profit goes to tools with residual capacity. This places most of the flow.
static void place_profits(struct flow *f) {
    const struct selection *s = f->s;
    if (s->n_tools > 0)
        memcpy(f->residual, s->price, (size_t)s->n_tools * sizeof *f->residual);
    for (int32_t i = 0; i < s->n_projects; i++) {
        f->excess[i] = s->profit[i];
        for (int32_t e = s->need_start[i]; e < s->need_start[i + 1] && f->excess[i] > 0; e++) {
            int64_t *residual = &f->residual[s->need_of[e]];
            int64_t amount = f->excess[i] < *residual ? f->excess[i] : *residual;
            f->sent[e] += amount;
            f->excess[i] -= amount;
            *residual -= amount;
        }
    }
}

static void enqueue(struct flow *f, int32_t v) {
    if (f->queued[v] || f->excess[v] == 0 || f->label[v] >= f->never)
        return;
    f->queued[v] = true;
    int32_t at = f->first + f->n_queued;
    f->queue[at < f->n ? at : at - f->n] = v;
    f->n_queued++;
}

// Global relabeling: breadth first from the tools with residual capacity, against the flow.
static void relabel_all(struct flow *f) {
    const struct selection *s = f->s;
    int32_t n = 0, *order = f->queue;
    for (int32_t v = 0; v < f->n; v++)
        f->label[v] = f->never;
    for (int32_t t = 0; t < s->n_tools; t++)
        if (f->residual[t] > 0) {
            f->label[s->n_projects + t] = 1;
            order[n++] = s->n_projects + t;
        }
    for (int32_t k = 0; k < n; k++) {
        int32_t v = order[k], t = v - s->n_projects;
        if (t >= 0) {
            for (int32_t x = f->from_start[t]; x < f->from_start[t + 1]; x++) {
                int32_t i = f->project_of[f->from_of[x]];
                if (f->label[i] == f->never) {
                    f->label[i] = f->label[v] + 1;
                    order[n++] = i;
                }
            }
            continue;
        }
        for (int32_t e = s->need_start[v]; e < s->need_start[v + 1]; e++) {
            int32_t from = s->n_projects + s->need_of[e];
            if (f->sent[e] > 0 && f->label[from] == f->never) {
                f->label[from] = f->label[v] + 1;
                order[n++] = from;
            }
        }
    }
    f->first = f->n_queued = 0;
    memset(f->queued, 0, (size_t)f->n * sizeof *f->queued);
    for (int32_t v = 0; v < f->n; v++)
        enqueue(f, v);
    f->work = 0;
}

static void push(struct flow *f, int32_t from, int32_t to, int64_t amount) {
    f->excess[from] -= amount;
    f->excess[to] += amount;
    enqueue(f, to);
}

static void discharge_project(struct flow *f, int32_t i) {
    const struct selection *s = f->s;
    int32_t best = -1, min_label = f->never;
    for (int32_t e = s->need_start[i]; e < s->need_start[i + 1]; e++)
        if (f->label[s->n_projects + s->need_of[e]] < min_label) {
            min_label = f->label[s->n_projects + s->need_of[e]];
            best = e;
        }
    f->work += s->need_start[i + 1] - s->need_start[i] + 1;
    f->label[i] = min_label < f->never ? min_label + 1 : f->never;
    if (f->label[i] >= f->never)
        return;
    f->sent[best] += f->excess[i];
    push(f, i, s->n_projects + s->need_of[best], f->excess[i]);
}

static void discharge_tool(struct flow *f, int32_t t) {
    int32_t v = f->s->n_projects + t;
    int64_t amount = f->excess[v] < f->residual[t] ? f->excess[v] : f->residual[t];
    f->residual[t] -= amount;
    f->excess[v] -= amount;
    while (f->excess[v] > 0) {
        int32_t min_label = f->never;
        f->work += f->from_start[t + 1] - f->from_start[t] + 1;
        for (int32_t x = f->from_start[t]; x < f->from_start[t + 1] && f->excess[v] > 0; x++) {
            int32_t e = f->from_of[x], i = f->project_of[e];
            if (f->sent[e] > 0 && f->label[i] == f->label[v] - 1) {
                amount = f->sent[e] < f->excess[v] ? f->sent[e] : f->excess[v];
                f->sent[e] -= amount;
                push(f, v, i, amount);
            }
            if (f->sent[e] > 0 && f->label[i] < min_label)
                min_label = f->label[i];
        }
        if (f->excess[v] == 0)
            return;
        f->label[v] = min_label < f->never ? min_label + 1 : f->never;
        if (f->label[v] >= f->never)
            return;
    }
}

bool selection_solve(struct selection *s, struct mem *mem, const struct stop *stop) {
    assert(s->n_projects >= 0 && s->n_tools >= 0 && s->need_start[0] == 0);
    struct arena a = arena_make(mem);
    struct flow f;
    bool ok = make(&f, s, &a);
    s->value = 0;
    if (ok) {
        place_profits(&f);
        relabel_all(&f);
        bool over = false;
        while (f.n_queued > 0 && !over) {
            int32_t v = f.queue[f.first];
            f.first = f.first + 1 < f.n ? f.first + 1 : 0;
            f.n_queued--;
            f.queued[v] = false;
            if (v < s->n_projects)
                discharge_project(&f, v);
            else
                discharge_tool(&f, v - s->n_projects);
            if (f.work > 4 * (int64_t)f.n + f.n_edges) {
                relabel_all(&f);
                over = stop && stop_now(stop);
            }
        }
        relabel_all(&f);
    }
    for (int32_t i = 0; ok && i < s->n_projects; i++) {
        s->taken[i] = f.label[i] >= f.never && s->profit[i] > 0;
        s->value += s->profit[i];
    }
    for (int32_t t = 0; ok && t < s->n_tools; t++)
        s->value -= s->price[t] - f.residual[t];
    arena_free(&a);
    return ok;
}
