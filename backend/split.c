// A placed plan as a folder: see split.h. Stages: partition the graph; make one sequence of events
// for all devices (run a part, send a result); the events of one device are its program; write
// everything into a temporary folder beside the target and rename it.
//
// A transfer is one event of the common sequence, so programs with blocking sends and receives
// cannot deadlock.
#include "backend/split.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/onnx/onnx_write.h"
#include "backend/parts.h"
#include "ir/base/file.h"
#include "ir/json/json_write.h"

enum event_kind { EVENT_RUN, EVENT_SEND };

struct event {
    enum event_kind kind;
    size_t part;    // RUN: the part; SEND: the part that computed the value
    value_id value; // SEND
    uint32_t to;    // SEND: the receiving device
};

struct split {
    const struct model *m;
    struct arena *arena;
    struct diags *diags;
    struct parts parts;
    VEC(struct event) events;
    bool *reads; // per device and value: a part on the device has the value as an input
    const struct split_how *how;
    size_t *last; // per device and value: the last event at which the device needs it
};

static bool *reads_of(struct split *s, uint32_t device) {
    return s->reads + (size_t)(device - 1) * s->m->graph->values.n;
}

static bool list_events(struct split *s) {
    uint32_t n_devices = (uint32_t)s->m->device_names.n;
    for (size_t i = 0; i < s->parts.n; i++)
        for (size_t k = 0; k < s->parts.at[i].in.n; k++)
            reads_of(s, s->parts.at[i].device)[s->parts.at[i].in.at[k].i] = true;
    bool ok = true;
    for (size_t i = 0; i < s->parts.n && ok; i++) {
        const struct part *p = &s->parts.at[i];
        ok = VEC_PUSH(s->arena, &s->events, (struct event){.kind = EVENT_RUN, .part = i});
        for (size_t k = 0; k < p->out.n && ok; k++)
            for (uint32_t to = 1; to <= n_devices && ok; to++)
                if (to != p->device && reads_of(s, to)[p->out.at[k].i])
                    ok = VEC_PUSH(s->arena, &s->events,
                                  (struct event){EVENT_SEND, i, p->out.at[k], to});
    }
    return ok;
}

static void add_names(const struct split *s, struct json_writer *w, const char *key,
                      const value_id *at, size_t n) {
    json_write_array(w, key);
    for (size_t i = 0; i < n; i++)
        json_write_text(w, NULL, graph_value(s->m->graph, at[i])->name);
    json_write_end(w);
}

// Sets the last event at which each device needs each value.
static void find_last(struct split *s) {
    size_t n = s->m->graph->values.n;
    for (size_t e = 0; e < s->events.n; e++) {
        const struct event *at = &s->events.at[e];
        const struct part *p = &s->parts.at[at->part];
        size_t *last = s->last + (p->device - 1) * n;
        if (at->kind == EVENT_SEND)
            last[at->value.i] = e;
        for (size_t k = 0; at->kind == EVENT_RUN && k < p->in.n; k++)
            last[p->in.at[k].i] = e;
        for (size_t k = 0; at->kind == EVENT_RUN && k < p->out.n; k++)
            last[p->out.at[k].i] = e;
    }
}

// The values that the device no longer needs after event `e`.
static void add_freed(struct split *s, struct json_writer *w, uint32_t device, size_t e) {
    const struct graph *g = s->m->graph;
    const struct event *at = &s->events.at[e];
    const struct part *p = &s->parts.at[at->part];
    const size_t *last = s->last + (device - 1) * g->values.n;
    bool sends = at->kind == EVENT_SEND;
    VEC(value_id) freed = {0};
    bool ok = true;
    if (sends && last[at->value.i] == e && !graph_value(g, at->value)->is_output)
        ok = VEC_PUSH(s->arena, &freed, at->value);
    for (size_t k = 0; !sends && k < p->in.n && ok; k++)
        if (last[p->in.at[k].i] == e && !graph_value(g, p->in.at[k])->is_output)
            ok = VEC_PUSH(s->arena, &freed, p->in.at[k]);
    w->out->failed |= !ok;
    if (freed.n)
        add_names(s, w, "free", freed.at, freed.n);
}

static void add_step(struct split *s, struct json_writer *w, uint32_t device, size_t e) {
    const struct event *at = &s->events.at[e];
    const struct part *p = &s->parts.at[at->part];
    const struct graph *g = s->m->graph;
    json_write_object(w, NULL);
    if (at->kind == EVENT_RUN) {
        json_write_textf(w, "run", "%u.%u.onnx", device - 1, p->round);
        add_names(s, w, "inputs", p->in.at, p->in.n);
        add_names(s, w, "outputs", p->out.at, p->out.n);
        add_freed(s, w, device, e);
    } else {
        bool sends = p->device == device;
        json_write_text(w, sends ? "send" : "receive", graph_value(g, at->value)->name);
        json_write_text(w, sends ? "to" : "from",
                        s->m->device_names.at[(sends ? at->to : p->device) - 1]);
        if (sends)
            add_freed(s, w, device, e);
    }
    json_write_end(w);
}

// The device runs, sends or receives in this event.
static bool is_involved(const struct split *s, const struct event *at, uint32_t device) {
    return s->parts.at[at->part].device == device || (at->kind == EVENT_SEND && at->to == device);
}

static void add_program(struct split *s, struct json_writer *w, uint32_t device) {
    json_write_object(w, NULL);
    json_write_text(w, "name", s->m->device_names.at[device - 1]);
    json_write_array(w, "steps");
    for (size_t e = 0; e < s->events.n; e++)
        if (is_involved(s, &s->events.at[e], device)) {
            json_write_line(w);
            add_step(s, w, device, e);
        }
    json_write_end(w);
    json_write_end(w);
}

// Devices without events are left out.
static void print_manifest(struct split *s, struct str *out) {
    const struct graph *g = s->m->graph;
    struct json_writer w = json_write_document(out, JSON_WRITE_SPACED, "mfc-split");
    json_write_line(&w);
    json_write_array(&w, "devices");
    for (uint32_t device = 1; device <= s->m->device_names.n; device++) {
        bool works = false;
        for (size_t e = 0; e < s->events.n && !works; e++)
            works = is_involved(s, &s->events.at[e], device);
        if (!works)
            continue;
        json_write_line(&w);
        add_program(s, &w, device);
    }
    json_write_end(&w);
    add_names(s, &w, "outputs", g->outputs.at, g->outputs.n);
    json_write_finish(&w);
}

static status write_files(struct split *s, const char *folder) {
    struct str manifest = str_make(s->arena);
    print_manifest(s, &manifest);
    const char *path = file_join(s->arena, folder, "manifest.json");
    if (manifest.failed || !path)
        return diag_out_of_memory(s->diags);
    status st = output_text(s->arena, s->diags, path, &manifest);
    for (size_t i = 0; i < s->parts.n && !st; i++) {
        struct arena scratch = arena_make(s->arena->mem);
        const struct part *p = &s->parts.at[i];
        const char *name = str_format(&scratch, "%u.%u.onnx", p->device - 1, p->round);
        path = name ? file_join(&scratch, folder, name) : NULL;
        struct model *part = path ? part_model(s->m, &s->parts, i, &scratch) : NULL;
        if (!part)
            st = diag_out_of_memory(s->diags);
        if (!st && s->how->prepare)
            st = s->how->prepare(s->how->to, part);
        if (!st)
            st = onnx_write(part, path, NULL, s->diags);
        arena_free(&scratch);
    }
    return st;
}

status split_write(const struct model *m, const char *folder, const struct split_how *how,
                   struct diags *d) {
    struct arena a = arena_make(m->arena->mem);
    struct split s = {.m = m, .arena = &a, .diags = d, .how = how};
    status st = parts_of(m->graph, &a, d, &s.parts);
    size_t n_pairs = m->graph->values.n * m->device_names.n;
    s.reads = ARENA_ARRAY(&a, bool, n_pairs);
    s.last = ARENA_ARRAY(&a, size_t, n_pairs);
    char *temporary = str_format(&a, "%s.XXXXXX", folder);
    if (!st && (!s.reads || !s.last || !temporary || !list_events(&s)))
        st = diag_out_of_memory(d);
    if (!st && !mkdtemp(temporary))
        st = diag_error(d, DIAG_IO, loc_file(folder), "cannot create a folder beside it: %s",
                        strerror(errno));
    if (!st) {
        find_last(&s);
        if (chmod(temporary, 0777 & ~S_IWOTH & ~S_IWGRP) != 0)
            st = diag_error(d, DIAG_IO, loc_file(folder), "cannot set its mode: %s",
                            strerror(errno));
        if (!st)
            st = write_files(&s, temporary);
        if (!st)
            st = outputs_folder(how->together, temporary, folder);
        if (st)
            file_remove_folder(temporary);
    }
    arena_free(&a);
    return st;
}
