// A placement problem as JSON (docs/placement.md), for whoever wants to place it by other means.
// Every device is a kind of its own, as that is how costs are kept.
#include "ir/base/str.h"
#include "solver/model/placement.h"

static void print_place(struct str *out, const struct placement *p, int32_t k) {
    const struct place *at = &p->place[k];
    str_add(out, "{\"name\": ");
    str_add_json(out, at->name);
    if (k != p->host) {
        str_add(out, ", \"kind\": ");
        str_add_json(out, at->name);
    }
    if (at->memory_bytes != INT64_MAX)
        str_addf(out, ", \"memory\": %lld", (long long)at->memory_bytes);
    if (at->power)
        str_addf(out, ", \"power\": %lld", (long long)at->power);
    str_add_char(out, '}');
}

void placement_print_link(struct str *out, const struct placement *p, const struct link *l) {
    bool is_free = l->resource[0] < 0;
    str_add(out, "{\"between\": [");
    str_add_json(out, p->place[l->between[0]].name);
    str_add(out, ", ");
    str_add_json(out, p->place[l->between[1]].name);
    str_add_char(out, ']');
    if (is_free)
        str_add(out, ", \"free\": true");
    else if (l->by_node)
        str_add(out, ", \"by_node\": true");
    else
        str_addf(out, ", \"bandwidth\": %.17g", l->bandwidth);
    if (l->latency_cost)
        str_addf(out, ", \"latency\": %lld", (long long)l->latency_cost);
    if (!is_free && l->resource[0] < p->n_devices) {
        str_add(out, ", \"blocking\": true");
    } else if (!is_free && l->resource[0] == l->resource[1]) {
        str_add(out, ", \"bus\": ");
        str_add_json(out, p->resource_name[l->resource[0]]);
    }
    str_add_char(out, '}');
}

static void print_costs(struct str *out, const struct placement *p, int32_t i) {
    bool same = true;
    for (int32_t d = 1; d < p->n_devices; d++)
        same = same && placement_cost(p, i, d) == placement_cost(p, i, 0);
    if (same) {
        str_addf(out, "%lld", (long long)placement_cost(p, i, 0));
        return;
    }
    const char *before = "{";
    for (int32_t d = 0; d < p->n_devices; d++)
        if (placement_runs_on(p, i, d)) {
            str_add(out, before);
            str_add_json(out, p->place[d].name);
            str_addf(out, ": %lld", (long long)placement_cost(p, i, d));
            before = ", ";
        }
    str_add_char(out, '}');
}

static void print_node(struct str *out, const struct placement *p, int32_t i) {
    const struct problem *g = &p->graph;
    str_add(out, "{\"name\": ");
    str_add_json(out, g->name[i]);
    str_add(out, ", \"cost\": ");
    print_costs(out, p, i);
    str_addf(out, ", \"bytes\": %lld", (long long)g->bytes[i]);
    if (g->workspace[i])
        str_addf(out, ", \"workspace\": %lld", (long long)g->workspace[i]);
    if (p->resident_bytes[i])
        str_addf(out, ", \"resident\": %lld", (long long)p->resident_bytes[i]);
    if (p->move_cost[i])
        str_addf(out, ", \"move\": %lld", (long long)p->move_cost[i]);
    if (p->group_start[p->group[i] + 1] - p->group_start[p->group[i]] > 1)
        str_addf(out, ", \"group\": \"%d\"", p->group[i]);
    str_add(out, g->keep[i] ? ", \"keep\": true" : "");
    str_add(out, g->once[i] ? ", \"once\": true" : "");
    str_add(out, g->has_forward && g->backward[i] ? ", \"backward\": true" : "");
    str_add_char(out, '}');
}

void placement_print(struct str *out, const struct placement *p) {
    const struct problem *g = &p->graph;
    str_addf(
        out,
        "{\"format\": \"mfc-problem\", \"version\": 1,\n \"time\": {\"unit\": \"%s\", \"ticks\": "
        "%lld},\n \"fixed_bytes\": %lld,\n \"devices\": [",
        p->time_unit, (long long)p->ticks, (long long)g->persistent_bytes);
    for (int32_t k = 0; k < p->n_devices; k++) {
        str_add(out, k ? ",\n  " : "\n  ");
        print_place(out, p, k);
    }
    str_add(out, "],\n \"host\": ");
    print_place(out, p, p->host);
    str_add(out, ",\n \"links\": [");
    for (int32_t i = 0; i < p->n_links; i++) {
        str_add(out, i ? ",\n  " : "\n  ");
        placement_print_link(out, p, &p->link[i]);
    }
    str_add(out, "],\n \"nodes\": [");
    for (int32_t i = 0; i < g->n; i++) {
        str_add(out, i ? ",\n  " : "\n  ");
        print_node(out, p, i);
    }
    str_add(out, "],\n \"edges\": [");
    for (int32_t i = 0; i < g->n; i++)
        for (int32_t e = g->in_start[i]; e < g->in_start[i + 1]; e++)
            str_addf(out, "%s[%d, %d]", e ? ", " : "", g->in_of[e], i);
    str_add(out, "]}\n");
}
