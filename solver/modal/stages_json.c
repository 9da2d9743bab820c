// Pipelines of stages to and from mfc-strategy JSON, and their table: see stages.h.
#include "solver/modal/stages.h"

#include <string.h>

#include "ir/base/map.h"
#include "ir/json/json.h"
#include "ir/json/json_write.h"
#include "solver/model/strategy_report.h"

struct reader {
    struct arena *arena;
    struct diags *diags;
    const char *file;
    const struct modal *p;
    struct map nodes, devices;
    struct stages *out;
    int32_t n_nodes; // read so far
};

// ---- Reading ----

static struct loc where(const struct reader *r, size_t k) {
    const char *path = str_format(r->arena, "stage %zu", k);
    return loc_path(r->file, path ? path : "stages");
}

static status read_node(struct reader *r, size_t k, const json_t *pair) {
    const char *node = json_string_value(json_array_get(pair, 0));
    const char *mode = json_string_value(json_array_get(pair, 1));
    const struct modal *p = r->p;
    int64_t v = -1;
    int32_t m = -1;
    if (node && mode && map_get_text(&r->nodes, node, &v))
        for (m = p->mode_start[v]; m < p->mode_start[v + 1]; m++)
            if (strcmp(p->mode[m].name, mode) == 0)
                break;
    if (v < 0 || m == p->mode_start[v + 1])
        return diag_error(r->diags, DIAG_MALFORMED, where(r, k),
                          "\"nodes\" is not a list of [node, mode]: there is no node \"%s\" with a "
                          "mode \"%s\"",
                          node ? node : "?", mode ? mode : "?");
    if (r->n_nodes == p->graph.n)
        return diag_error(r->diags, DIAG_MALFORMED, where(r, k), "a node is there twice");
    r->out->order[r->n_nodes++] = (int32_t)v;
    r->out->mode[v] = m;
    return ST_OK;
}

static status read_device(struct reader *r, size_t k, const json_t *value, int32_t *out) {
    const char *name = json_string_value(value);
    int64_t device;
    if (!name || !map_get_text(&r->devices, name, &device))
        return diag_error(r->diags, DIAG_MALFORMED, where(r, k),
                          "there is no device \"%s\" in the problem", name ? name : "?");
    *out = (int32_t)device;
    return ST_OK;
}

static status read_stage(struct reader *r, size_t k, const json_t *stage, struct stage *out) {
    const json_t *devices = json_object_get(stage, "devices");
    const json_t *nodes = json_object_get(stage, "nodes");
    size_t n = json_array_size(devices);
    int32_t *device = ARENA_ARRAY(r->arena, int32_t, n);
    int64_t replicas = 1;
    status st = device ? json_get_int(r->diags, where(r, k), stage, "replicas", &replicas)
                       : diag_out_of_memory(r->diags);
    if (st == ST_OK && (n < 1 || n > (size_t)r->p->places.n_devices || replicas < 1 ||
                        replicas > (int64_t)n || json_array_size(nodes) == 0))
        st = diag_error(r->diags, DIAG_MALFORMED, where(r, k),
                        "it needs \"devices\", \"nodes\" and 1 to %zu \"replicas\"", n);
    for (size_t i = 0; i < n && st == ST_OK; i++)
        st = read_device(r, k, json_array_get(devices, i), &device[i]);
    *out = (struct stage){(int32_t)n, (int32_t)replicas, device, r->n_nodes, 0};
    for (size_t i = 0; i < json_array_size(nodes) && st == ST_OK; i++)
        st = read_node(r, k, json_array_get(nodes, i));
    out->end = r->n_nodes;
    return st;
}

static status read_root(struct reader *r, const json_t *root) {
    status st = json_check_format(r->diags, r->file, root, "mfc-strategy");
    const json_t *list = json_object_get(root, "stages");
    size_t n = json_array_size(list);
    if (st == ST_OK && (n == 0 || n > (size_t)r->p->graph.n))
        st = diag_error(r->diags, DIAG_MALFORMED, loc_path(r->file, "stages"),
                        "it is not a list of 1 to %d stages", r->p->graph.n);
    if (st != ST_OK)
        return st;
    r->out->n = (int32_t)n;
    r->out->n_samples = r->p->n_samples < 0 ? 1 : r->p->n_samples;
    r->out->at = ARENA_ARRAY(r->arena, struct stage, n);
    r->out->order = ARENA_ARRAY(r->arena, int32_t, r->p->graph.n);
    r->out->mode = ARENA_ARRAY(r->arena, int32_t, r->p->graph.n);
    if (!r->out->at || !r->out->order || !r->out->mode)
        return diag_out_of_memory(r->diags);
    st = json_get_int(r->diags, loc_file(r->file), root, "samples", &r->out->n_samples);
    if (st == ST_OK && (r->out->n_samples < 0 || r->out->n_samples > MODAL_MAX_SAMPLES))
        st = diag_error(r->diags, DIAG_MALFORMED, loc_path(r->file, "samples"), "it is not 0 .. %d",
                        MODAL_MAX_SAMPLES);
    for (size_t k = 0; k < n && st == ST_OK; k++)
        st = read_stage(r, k, json_array_get(list, k), &r->out->at[k]);
    if (st == ST_OK && r->n_nodes < r->p->graph.n)
        st = diag_error(r->diags, DIAG_MALFORMED, loc_path(r->file, "stages"),
                        "they have %d of %d nodes", r->n_nodes, r->p->graph.n);
    return st;
}

status stages_read(struct arena *a, struct diags *d, const struct source *json,
                   const struct modal *p, struct stages *out) {
    *out = (struct stages){0};
    struct arena scratch = arena_make(a->mem);
    struct reader r = {a, d, json->path, p, map_make(&scratch), map_make(&scratch), out, 0};
    json_t *root = NULL;
    status st = json_read(&scratch, d, json, &root);
    bool ok = true;
    for (int32_t v = 0; v < p->graph.n; v++)
        ok = ok && map_put_text(&r.nodes, p->graph.name[v], v);
    for (int32_t k = 0; k < p->places.n_devices; k++)
        ok = ok && map_put_text(&r.devices, p->places.place[k].name, k);
    if (st == ST_OK)
        st = ok ? read_root(&r, root) : diag_out_of_memory(d);
    json_decref(root);
    arena_free(&scratch);
    return st;
}

// ---- Writing ----

static void add_stage(struct json_writer *w, const struct modal *p, const struct stages *s,
                      const struct stage *x) {
    json_write_line(w);
    json_write_object(w, NULL);
    json_write_array(w, "devices");
    for (int32_t k = 0; k < x->n_devices; k++)
        json_write_text(w, NULL, p->places.place[x->device[k]].name);
    json_write_end(w);
    json_write_int(w, "replicas", x->replicas);
    json_write_array(w, "nodes");
    for (int32_t i = x->start; i < x->end; i++) {
        json_write_array(w, NULL);
        json_write_text(w, NULL, p->graph.name[s->order[i]]);
        json_write_text(w, NULL, p->mode[s->mode[s->order[i]]].name);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_end(w);
}

status stages_write(const struct modal *p, const struct stages *s, const struct stages_facts *facts,
                    struct diags *d, const char *path) {
    struct arena scratch = arena_make(d->arena->mem);
    struct str text = str_make(&scratch);
    struct json_writer w = json_write_document(&text, JSON_WRITE_COMPACT, "mfc-strategy");
    json_write_int(&w, "makespan", facts->makespan_cost);
    json_write_int(&w, "load", facts->load_cost);
    json_write_int(&w, "moved_bytes", facts->moved_bytes);
    json_write_int(&w, "energy", facts->energy);
    json_write_line(&w);
    json_write_object(&w, "peak_bytes");
    for (int32_t k = 0; k < p->places.n_devices; k++)
        json_write_int(&w, p->places.place[k].name, facts->peak_bytes[k]);
    json_write_end(&w);
    json_write_int(&w, "samples", s->n_samples);
    json_write_line(&w);
    json_write_array(&w, "stages");
    for (int32_t k = 0; k < s->n; k++)
        add_stage(&w, p, s, &s->at[k]);
    json_write_end(&w);
    json_write_finish(&w);
    status st = output_text(&scratch, d, path, &text);
    arena_free(&scratch);
    return st;
}

// ---- The table ----

static void add_quantity(struct str *out, const struct placement *places, int64_t time) {
    struct str cell = str_make(out->arena);
    strategy_add_time(&cell, places, time);
    str_addf(out, "  %14s", str_text(&cell));
}

static void add_bytes(struct str *out, int64_t bytes) {
    struct str cell = str_make(out->arena);
    if (bytes == INT64_MAX)
        str_add(&cell, "-");
    else
        str_add_bytes(&cell, bytes);
    str_addf(out, "  %12s", str_text(&cell));
}

void stages_report(struct str *out, const struct modal *p, const struct stages *s,
                   const struct stages_facts *f) {
    const struct placement *places = &p->places;
    str_addf(out, "%-8s  %6s  %8s  %6s  %9s\n", "stage", "nodes", "replicas", "degree",
             "in flight");
    for (int32_t k = 0; k < s->n; k++) {
        const struct stage *x = &s->at[k];
        str_addf(out, "%-8d  %6d  %8d  %6d  %9lld  on", k, x->end - x->start, x->replicas,
                 x->n_devices / x->replicas, (long long)f->in_flight[k]);
        for (int32_t i = 0; i < x->n_devices; i++)
            str_addf(out, " %s", places->place[x->device[i]].name);
        str_add_char(out, '\n');
    }
    str_addf(out, "%-8s  %14s  %14s  %12s  %12s\n", "device", "computes", "moves", "peak",
             "memory");
    for (int32_t k = 0; k < places->n_devices; k++) {
        str_addf(out, "%-8s", places->place[k].name);
        add_quantity(out, places, f->busy_cost[k]);
        add_quantity(out, places, f->moving_cost[k]);
        add_bytes(out, f->peak_bytes[k]);
        add_bytes(out, places->place[k].memory_bytes);
        str_add(out, f->peak_bytes[k] > places->place[k].memory_bytes ? "  over\n" : "\n");
    }
    str_add(out, "makespan         ");
    strategy_add_time(out, places, f->makespan_cost);
    str_addf(out, s->n_samples > 1 ? " for %lld samples\n" : "\n", (long long)s->n_samples);
    str_add(out, "time per sample  ");
    strategy_add_time(out, places, f->load_cost);
    str_add(out, "\nmoved            ");
    str_add_bytes(out, f->moved_bytes);
    str_add(out, " per sample\n");
    if (f->energy > 0)
        str_addf(out, "energy           %lld\n", (long long)f->energy);
}
