// Strategies to and from mfc-strategy JSON: see strategy.h and docs/placement.md.
#include <string.h>

#include "ir/base/map.h"
#include "ir/json/json.h"
#include "ir/json/json_write.h"
#include "solver/model/strategy.h"

struct reader {
    struct arena *arena; // for the result
    struct arena *scratch;
    struct diags *diags;
    const char *file;
    const struct placement *p;
    struct map nodes, places;
};

// ---- Reading ----

static status look_up(const struct reader *r, const struct map *names, const char *what,
                      const json_t *value, const char *member, int32_t *out) {
    const char *name = json_string_value(value);
    int64_t number;
    if (!name || !map_get_text(names, name, &number))
        return diag_error(r->diags, DIAG_MALFORMED, loc_path(r->file, member),
                          "there is no %s \"%s\" in the problem", what, name ? name : "?");
    *out = (int32_t)number;
    return ST_OK;
}

static status read_task(const struct reader *r, const json_t *value, size_t k, struct task *out) {
    char path[32];
    snprintf(path, sizeof path, "task %zu", k);
    const char *kind = json_string_value(json_array_get(value, 0));
    bool runs = kind && strcmp(kind, "run") == 0, fetches = kind && strcmp(kind, "fetch") == 0;
    if (!(runs && json_array_size(value) == 3) && !(fetches && json_array_size(value) == 4))
        return diag_error(r->diags, DIAG_MALFORMED, loc_path(r->file, path),
                          "it is not [\"run\", node, device] or [\"fetch\", node, to, from]");
    out->from = TASK_RUN;
    status st = look_up(r, &r->nodes, "node", json_array_get(value, 1), path, &out->node);
    if (st == ST_OK)
        st = look_up(r, &r->places, "place", json_array_get(value, 2), path, &out->place);
    if (st == ST_OK && fetches)
        st = look_up(r, &r->places, "place", json_array_get(value, 3), path, &out->from);
    return st;
}

static status read_tasks(const struct reader *r, const json_t *list, struct strategy *out) {
    size_t n = json_array_size(list);
    if (!json_is_array(list) || n > INT32_MAX / 2)
        return diag_error(r->diags, DIAG_MALFORMED, loc_path(r->file, "tasks"),
                          "it is not a list, or too long");
    *out = (struct strategy){ARENA_ARRAY(r->arena, struct task, n), (int32_t)n};
    if (!out->at)
        return diag_out_of_memory(r->diags);
    status worst = ST_OK;
    for (size_t k = 0; k < n; k++) {
        status st = read_task(r, json_array_get(list, k), k, &out->at[k]);
        worst = st == ST_OK ? worst : st;
    }
    return worst;
}

static status set_on(const struct reader *r, const char *node, const json_t *place, bool *on) {
    int32_t v, k = 0;
    json_t *name = json_string(node);
    status st = look_up(r, &r->nodes, "node", name, "device", &v);
    json_decref(name);
    if (st == ST_OK)
        st = look_up(r, &r->places, "device", place, "device", &k);
    if (st != ST_OK)
        return st;
    if (k == r->p->host || !placement_runs_on(r->p, v, k))
        return diag_error(r->diags, DIAG_MALFORMED, loc_path(r->file, "device"),
                          "node \"%s\" cannot run on \"%s\"", node, r->p->place[k].name);
    on[(int64_t)v * r->p->n_devices + k] = true;
    return ST_OK;
}

// "device" and "copies" into `on`; every node must have a device.
static status read_devices(const struct reader *r, const json_t *root, bool *on) {
    json_t *device = json_object_get(root, "device"), *copies = json_object_get(root, "copies");
    const char *node;
    json_t *value;
    size_t k;
    json_t *copy;
    status worst = ST_OK;
    if (!json_is_object(device) || json_object_size(device) != (size_t)r->p->graph.n)
        return diag_error(r->diags, DIAG_MALFORMED, loc_path(r->file, "device"),
                          "it must name the device of every node: {\"node\": \"device\", ...}");
    json_object_foreach(device, node, value) {
        status st = set_on(r, node, value, on);
        worst = st == ST_OK ? worst : st;
    }
    json_object_foreach(copies, node, value) {
        json_array_foreach(value, k, copy) {
            status st = set_on(r, node, copy, on);
            worst = st == ST_OK ? worst : st;
        }
    }
    return worst;
}

static status read_order(const struct reader *r, const json_t *list, int32_t *order) {
    const struct problem *g = &r->p->graph;
    int32_t *at = ARENA_ARRAY(r->scratch, int32_t, g->n);
    struct loc where = loc_path(r->file, "order");
    if (!at)
        return diag_out_of_memory(r->diags);
    if (json_array_size(list) != (size_t)g->n)
        return diag_error(r->diags, DIAG_MALFORMED, where, "it must name every node once");
    for (int32_t k = 0; k < g->n; k++) {
        status st =
            look_up(r, &r->nodes, "node", json_array_get(list, (size_t)k), "order", &order[k]);
        if (st != ST_OK)
            return st;
        if (at[order[k]]++ > 0)
            return diag_error(r->diags, DIAG_MALFORMED, where, "\"%s\" is there twice",
                              g->name[order[k]]);
    }
    for (int32_t k = 0; k < g->n; k++)
        at[order[k]] = k;
    for (int32_t v = 0; v < g->n; v++)
        for (int32_t e = g->in_start[v]; e < g->in_start[v + 1]; e++)
            if (at[g->in_of[e]] > at[v])
                return diag_error(r->diags, DIAG_MALFORMED, where,
                                  "\"%s\" comes before \"%s\", which it reads", g->name[v],
                                  g->name[g->in_of[e]]);
    return ST_OK;
}

static status assign(const struct reader *r, const json_t *root, struct strategy *out) {
    const struct placement *p = r->p;
    bool *on = ARENA_ARRAY(r->scratch, bool, (size_t)p->graph.n *(size_t)p->n_devices);
    int32_t *order = ARENA_ARRAY(r->scratch, int32_t, p->graph.n);
    const json_t *given = json_object_get(root, "order");
    if (!on || !order)
        return diag_out_of_memory(r->diags);
    status st = read_devices(r, root, on);
    if (st == ST_OK && given)
        st = read_order(r, given, order);
    if (st == ST_OK && !strategy_assign(p, given ? order : NULL, on, r->arena, out))
        st = diag_out_of_memory(r->diags);
    return st;
}

// Tasks that say something else than "device" are a file that was edited half.
static status compare_devices(const struct reader *r, const json_t *device,
                              const struct strategy *s) {
    const struct placement *p = r->p;
    bool *on = ARENA_ARRAY(r->scratch, bool, (size_t)p->graph.n *(size_t)p->n_places);
    if (!on)
        return diag_out_of_memory(r->diags);
    for (int32_t k = 0; k < s->n; k++)
        if (s->at[k].from == TASK_RUN)
            on[(int64_t)s->at[k].node * p->n_places + s->at[k].place] = true;
    for (int32_t v = 0; v < p->graph.n; v++) {
        const json_t *value = json_object_get(device, p->graph.name[v]);
        int32_t place = 0;
        status st = ST_OK;
        if (value)
            st = look_up(r, &r->places, "device", value, "device", &place);
        if (st != ST_OK)
            return st;
        if (value && !on[(int64_t)v * p->n_places + place])
            return diag_error(r->diags, DIAG_MALFORMED, loc_path(r->file, "device"),
                              "it has node \"%s\" on \"%s\", but \"tasks\" does not run it there; "
                              "take \"tasks\" away to have them made from \"device\"",
                              p->graph.name[v], p->place[place].name);
    }
    return ST_OK;
}

static status read_root(const struct reader *r, const json_t *root, struct strategy *out) {
    status st = json_check_format(r->diags, r->file, root, "mfc-strategy");
    if (st != ST_OK)
        return st;
    const json_t *tasks = json_object_get(root, "tasks");
    if (!tasks)
        return assign(r, root, out);
    st = read_tasks(r, tasks, out);
    return st == ST_OK ? compare_devices(r, json_object_get(root, "device"), out) : st;
}

status strategy_read(struct arena *a, struct diags *d, const struct source *json,
                     const struct placement *p, struct strategy *out) {
    *out = (struct strategy){0};
    struct arena scratch = arena_make(a->mem);
    struct reader r = {a, &scratch, d, json->path, p, map_make(&scratch), map_make(&scratch)};
    json_t *root = NULL;
    status st = json_read(&scratch, d, json, &root);
    bool ok = true;
    for (int32_t i = 0; i < p->graph.n; i++)
        ok = ok && map_put_text(&r.nodes, p->graph.name[i], i);
    for (int32_t k = 0; k < p->n_places; k++)
        ok = ok && map_put_text(&r.places, p->place[k].name, k);
    if (st == ST_OK)
        st = ok ? read_root(&r, root, out) : diag_out_of_memory(d);
    json_decref(root);
    arena_free(&scratch);
    return st;
}

// ---- Writing ----

static void add_facts(struct json_writer *w, const struct placement *p,
                      const struct strategy_facts *f) {
    json_write_int(w, "makespan", f->makespan_cost);
    json_write_int(w, "load", f->load_cost);
    json_write_int(w, "moved_bytes", f->moved_bytes);
    json_write_int(w, "energy", f->energy);
    if (f->makespan_bound > 0)
        json_write_int(w, "makespan_bound", f->makespan_bound);
    if (f->load_bound > 0)
        json_write_int(w, "load_bound", f->load_bound);
    json_write_line(w);
    json_write_object(w, "peak_bytes");
    for (int32_t k = 0; k < p->n_places; k++)
        json_write_int(w, p->place[k].name, f->peak_bytes[k]);
    json_write_end(w);
}

// "copies": the other devices of each node that runs on several.
static void add_duplicates(struct json_writer *w, const struct placement *p, const int32_t *first,
                           const bool *on) {
    json_write_line(w);
    json_write_object(w, "copies");
    for (int32_t v = 0; v < p->graph.n; v++) {
        bool is_listed = false;
        for (int32_t k = 0; k < p->n_devices; k++) {
            if (!on[(int64_t)v * p->n_devices + k] || k == first[v])
                continue;
            if (!is_listed) {
                json_write_line(w);
                json_write_array(w, p->graph.name[v]);
                is_listed = true;
            }
            json_write_text(w, NULL, p->place[k].name);
        }
        if (is_listed)
            json_write_end(w);
    }
    json_write_end(w);
}

// "device": where each node runs first.
static void add_devices(struct json_writer *w, const struct placement *p, const struct strategy *s,
                        struct arena *scratch) {
    int32_t *first = ARENA_ARRAY(scratch, int32_t, p->graph.n);
    bool *on = ARENA_ARRAY(scratch, bool, (size_t)p->graph.n *(size_t)p->n_devices);
    if (!first || !on) {
        w->out->failed = true;
        return;
    }
    for (int32_t k = s->n; k-- > 0;)
        if (s->at[k].from == TASK_RUN) {
            first[s->at[k].node] = s->at[k].place;
            on[(int64_t)s->at[k].node * p->n_devices + s->at[k].place] = true;
        }
    json_write_line(w);
    json_write_object(w, "device");
    for (int32_t v = 0; v < p->graph.n; v++) {
        json_write_line(w);
        json_write_text(w, p->graph.name[v], p->place[first[v]].name);
    }
    json_write_end(w);
    add_duplicates(w, p, first, on);
}

static void add_tasks(struct json_writer *w, const struct placement *p, const struct strategy *s) {
    json_write_line(w);
    json_write_array(w, "tasks");
    for (int32_t k = 0; k < s->n; k++) {
        const struct task *t = &s->at[k];
        json_write_line(w);
        json_write_array(w, NULL);
        json_write_text(w, NULL, t->from == TASK_RUN ? "run" : "fetch");
        json_write_text(w, NULL, p->graph.name[t->node]);
        json_write_text(w, NULL, p->place[t->place].name);
        if (t->from != TASK_RUN)
            json_write_text(w, NULL, p->place[t->from].name);
        json_write_end(w);
    }
    json_write_end(w);
}

static void print(struct str *out, const struct placement *p, const struct strategy *s,
                  const struct strategy_facts *facts, struct arena *scratch) {
    struct json_writer w = json_write_document(out, JSON_WRITE_COMPACT, "mfc-strategy");
    if (facts)
        add_facts(&w, p, facts);
    add_devices(&w, p, s, scratch);
    add_tasks(&w, p, s);
    json_write_finish(&w);
}

status strategy_write(const struct placement *p, const struct strategy *s,
                      const struct strategy_facts *facts, struct arena *a, struct diags *d,
                      const char *path) {
    struct arena scratch = arena_make(a->mem);
    struct str text = str_make(&scratch);
    print(&text, p, s, facts, &scratch);
    status st = output_text(&scratch, d, path, &text);
    arena_free(&scratch);
    return st;
}
