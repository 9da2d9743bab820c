// A placement problem as JSON (docs/placement.md), as input for other placement tools.
// Every device is a kind of its own, because costs are stored per device.
#include "solver/model/placement.h"

static void print_place(struct json_writer *w, const char *key, const struct placement *p,
                        int32_t k) {
    const struct placement_place *at = &p->place[k];
    json_write_object(w, key);
    json_write_text(w, "name", at->name);
    if (k != p->host)
        json_write_text(w, "kind", at->name);
    if (at->memory_bytes != INT64_MAX)
        json_write_int(w, "memory", at->memory_bytes);
    if (at->power)
        json_write_int(w, "power", at->power);
    json_write_end(w);
}

static void print_link(struct json_writer *w, const struct placement *p, const struct link *l) {
    bool is_free = l->resource[0] < 0;
    json_write_object(w, NULL);
    json_write_array(w, "between");
    json_write_text(w, NULL, p->place[l->between[0]].name);
    json_write_text(w, NULL, p->place[l->between[1]].name);
    json_write_end(w);
    if (is_free)
        json_write_bool(w, "free", true);
    else if (l->by_node)
        json_write_bool(w, "by_node", true);
    else
        json_write_real(w, "bandwidth", 17, l->bandwidth);
    if (l->latency_cost)
        json_write_int(w, "latency", l->latency_cost);
    if (!is_free && l->resource[0] < p->n_devices)
        json_write_bool(w, "blocking", true);
    else if (!is_free && l->resource[0] == l->resource[1])
        json_write_text(w, "bus", p->resource_name[l->resource[0]]);
    json_write_end(w);
}

void placement_print_links(struct json_writer *w, const struct placement *p) {
    json_write_line(w);
    json_write_array(w, "links");
    for (int32_t i = 0; i < p->n_links; i++) {
        json_write_line(w);
        print_link(w, p, &p->link[i]);
    }
    json_write_end(w);
}

static void print_costs(struct json_writer *w, const struct placement *p, int32_t i) {
    bool same = true;
    for (int32_t d = 1; d < p->n_devices; d++)
        same = same && placement_cost(p, i, d) == placement_cost(p, i, 0);
    if (same) {
        json_write_int(w, "cost", placement_cost(p, i, 0));
        return;
    }
    json_write_object(w, "cost");
    for (int32_t d = 0; d < p->n_devices; d++)
        if (placement_runs_on(p, i, d))
            json_write_int(w, p->place[d].name, placement_cost(p, i, d));
    json_write_end(w);
}

static void print_node(struct json_writer *w, const struct placement *p, int32_t i) {
    const struct problem *g = &p->graph;
    json_write_object(w, NULL);
    json_write_text(w, "name", g->name[i]);
    print_costs(w, p, i);
    json_write_int(w, "bytes", g->bytes[i]);
    if (g->workspace[i])
        json_write_int(w, "workspace", g->workspace[i]);
    if (p->resident_bytes[i])
        json_write_int(w, "resident", p->resident_bytes[i]);
    if (p->move_cost[i])
        json_write_int(w, "move", p->move_cost[i]);
    if (p->group_start[p->group[i] + 1] - p->group_start[p->group[i]] > 1)
        json_write_textf(w, "group", "%d", p->group[i]);
    if (g->keep[i])
        json_write_bool(w, "keep", true);
    if (g->once[i])
        json_write_bool(w, "once", true);
    if (g->has_forward && g->backward[i])
        json_write_bool(w, "backward", true);
    json_write_end(w);
}

void placement_print(struct str *out, const struct placement *p) {
    const struct problem *g = &p->graph;
    struct json_writer w = json_write_document(out, JSON_WRITE_SPACED, "mfc-problem");
    json_write_line(&w);
    json_write_object(&w, "time");
    json_write_text(&w, "unit", p->time_unit);
    json_write_int(&w, "ticks", p->ticks);
    json_write_end(&w);
    json_write_line(&w);
    json_write_int(&w, "fixed_bytes", g->persistent_bytes);
    json_write_line(&w);
    json_write_array(&w, "devices");
    for (int32_t k = 0; k < p->n_devices; k++) {
        json_write_line(&w);
        print_place(&w, NULL, p, k);
    }
    json_write_end(&w);
    json_write_line(&w);
    print_place(&w, "host", p, p->host);
    placement_print_links(&w, p);
    json_write_line(&w);
    json_write_array(&w, "nodes");
    for (int32_t i = 0; i < g->n; i++) {
        json_write_line(&w);
        print_node(&w, p, i);
    }
    json_write_end(&w);
    json_write_line(&w);
    json_write_array(&w, "edges");
    for (int32_t i = 0; i < g->n; i++)
        for (int32_t e = g->in_start[i]; e < g->in_start[i + 1]; e++) {
            json_write_array(&w, NULL);
            json_write_int(&w, NULL, g->in_of[e]);
            json_write_int(&w, NULL, i);
            json_write_end(&w);
        }
    json_write_end(&w);
    json_write_finish(&w);
}
