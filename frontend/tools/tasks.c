// The task graph: see tasks.h. A task is a cluster of nodes (passes/remat/remat.h).
#include "frontend/tools/tasks.h"

#include "passes/plan/step.h"
#include "solver/model/strategy_report.h"

static void add_cell(struct str *out, int64_t n_bytes) {
    struct str text = str_make(out->arena);
    str_add_bytes(&text, n_bytes);
    str_addf(out, " %11s", str_text(&text));
}

static void add_time(struct str *out, const struct placement *p, int64_t time) {
    struct str text = str_make(out->arena);
    strategy_add_time(&text, p, time);
    str_addf(out, " %13s", str_text(&text));
}

static void print_links(struct str *out, const struct placement *p) {
    str_add(out, "transfer time of 1 MiB\n");
    for (int32_t from = 0; from < p->n_places; from++)
        for (int32_t to = 0; to < p->n_places; to++) {
            const struct route *r = placement_route(p, from, to);
            if (from == to || r->n_resources < 0)
                continue;
            str_addf(out, "  %-12s to %-12s", p->place[from].name, p->place[to].name);
            add_time(out, p, r->latency_cost + (int64_t)((double)(1 << 20) / r->bandwidth));
            str_add_char(out, '\n');
        }
}

void tasks_print(struct str *out, const struct plan_placement *k) {
    const struct placement *p = &k->problem;
    const struct remat_clusters *gs = &k->remat.clusters;
    str_addf(out, "%-40s %5s", "task", "nodes");
    for (int32_t d = 0; d < p->n_devices; d++)
        str_addf(out, " %13s", p->place[d].name);
    str_addf(out, " %11s %11s %11s\n", "output", "workspace", "persistent");
    for (int32_t i = 0; i < p->graph.n; i++) {
        str_addf(out, "%-40.40s %5u", p->graph.name[i], gs->start[i + 1] - gs->start[i]);
        for (int32_t d = 0; d < p->n_devices; d++)
            add_time(out, p, placement_cost(p, i, d));
        add_cell(out, p->graph.bytes[i]);
        add_cell(out, p->graph.workspace[i]);
        add_cell(out, p->resident_bytes[i]);
        str_add(out, p->graph.keep[i] ? "  kept\n" : "\n");
    }
    str_addf(out, "%d tasks, %d edges; constants on every device", p->graph.n, p->graph.n_edges);
    add_cell(out, p->graph.persistent_bytes);
    str_add_char(out, '\n');
    print_links(out, p);
}

status tasks_make(struct model *m, const struct rig *rig, struct pass_context *c,
                  struct plan_placement *out) {
    status st = step_make_costed(m, c);
    return st ? st : plan_placement_make(m, rig, c, out);
}
