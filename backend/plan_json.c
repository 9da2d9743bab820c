// A plan as JSON: see plan_json.h. Nodes are identified by their names, which are unique in a
// training step.
#include "backend/plan_json.h"

#include "backend/timeline.h"
#include "ir/base/json_write.h"

#define PEAK_SHOWN 50

static void add_text(struct json_writer *w, const char *key, const char *text) {
    json_write_line(w);
    json_write_text(w, key, text);
}

static void add_number(struct json_writer *w, const char *key, int64_t x) {
    json_write_line(w);
    json_write_int_if(w, key, x != PLAN_FACTS_UNKNOWN, x);
}

static void add_facts(struct json_writer *w, const struct plan_facts *f,
                      const struct timeline *before, const struct timeline *after) {
    add_text(w, "model", f->title);
    add_text(w, "command", f->command);
    add_text(w, "mfc", f->version);
    add_text(w, "runtime", f->runtime);
    add_text(w, "outcome", f->outcome);
    json_write_line(w);
    json_write_bool(w, "interrupted", f->is_interrupted);
    add_number(w, "budget_bytes", f->budget_bytes);
    add_number(w, "peak_bytes", f->peak_bytes);
    add_number(w, "plain_peak_bytes", f->plain_peak_bytes);
    add_number(w, "fused_peak_bytes", f->fused_peak_bytes);
    add_number(w, "arena_bytes", f->arena_bytes);
    add_number(w, "liveness_bytes", after->liveness.peak_bytes);
    add_number(w, "unplanned_peak_bytes", f->baseline_peak_bytes);
    add_number(w, "unplanned_liveness_bytes", before->liveness.peak_bytes);
    add_number(w, "fixed_bytes", after->storage.persistent_bytes);
    add_number(w, "least_bytes", f->min_bytes);
    bool known = f->cost != PLAN_FACTS_UNKNOWN || !after->has_costs;
    add_number(w, "cost", known ? f->cost : after->cost);
    known = f->base_cost != PLAN_FACTS_UNKNOWN || !after->has_costs;
    add_number(w, "base_cost", known ? f->base_cost : after->cost - after->recompute_cost);
    add_number(w, "bound", f->bound);
    add_number(w, "makespan", f->makespan);
    add_text(w, "cost_model", f->cost_model);
    if (f->cost_match >= 0) {
        json_write_line(w);
        json_write_real(w, "cost_match", 6, f->cost_match);
    }
    add_number(w, "nodes", after->n_steps);
    add_number(w, "recomputations", after->n_recomputed);
    add_number(w, "control_nodes", after->n_control);
}

// The tensors in memory at the peak, largest first.
static void add_peak(struct json_writer *w, const struct timeline *t) {
    uint32_t held[PEAK_SHOWN];
    if (!t->n_steps)
        return;
    size_t n = timeline_held(t, t->peak_step, held, PEAK_SHOWN);
    json_write_line(w);
    json_write_object(w, "peak");
    json_write_text(w, "node", node_called(t->graph, t->order[t->peak_step]));
    json_write_int(w, "step", (int64_t)t->peak_step + 1);
    json_write_int(w, "bytes", t->held_bytes[t->peak_step]);
    json_write_int(w, "tensors", (int64_t)n);
    json_write_array(w, "largest");
    for (size_t k = 0; k < n && k < PEAK_SHOWN; k++) {
        json_write_line(w);
        json_write_object(w, NULL);
        json_write_text(w, "name", graph_value(t->graph, t->storage.first[held[k]])->name);
        json_write_int(w, "bytes", t->storage.bytes[held[k]]);
        json_write_text(w, "holder", timeline_holder_name(t->holder[held[k]]));
        json_write_end(w);
    }
    json_write_end(w);
    json_write_end(w);
}

static void add_devices(struct json_writer *w, const struct timeline *t) {
    json_write_line(w);
    json_write_array(w, "devices");
    for (uint32_t device = 0; device < t->n_devices; device++) {
        int64_t peak = 0, busy = 0;
        for (uint32_t i = 0; i < t->n_steps; i++)
            if (t->device[i] == device) {
                peak = t->held_bytes[i] > peak ? t->held_bytes[i] : peak;
                if (t->work[i] != WORK_TRANSFER)
                    busy += t->end[i] - t->start[i]; // fits: a part of t->cost
            }
        int64_t memory = t->device_bytes[device];
        json_write_object(w, NULL);
        json_write_text(w, "name", t->device_name[device]);
        json_write_int(w, "peak_bytes", peak);
        json_write_int(w, "busy", busy);
        json_write_int_if(w, "memory_bytes", memory < INT64_MAX, memory);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_line(w);
    json_write_int(w, "span", t->span);
}

// Control nodes are left out: reading the order back makes them anew.
static void add_order(struct json_writer *w, const struct timeline *t) {
    bool is_first = true;
    json_write_line(w);
    json_write_array(w, "order");
    for (uint32_t i = 0; i < t->n_steps; i++) {
        if (t->work[i] == WORK_CONTROL)
            continue;
        if (!is_first)
            json_write_line(w);
        json_write_text(w, NULL, node_called(t->graph, timeline_origin(t->graph, t->order[i])));
        is_first = false;
    }
    json_write_end(w);
}

status plan_json_print(struct str *out, const struct model *baseline, const struct model *plan,
                       const struct plan_facts *facts, struct diags *d) {
    struct arena scratch = arena_make(out->arena->mem);
    struct timeline before, after;
    status st = timeline_make(plan, &scratch, d, &after);
    if (st == ST_OK)
        st = timeline_make(baseline, &scratch, d, &before);
    if (st == ST_OK) {
        struct json_writer w = json_write_document(out, JSON_WRITE_COMPACT, "mfc-plan");
        add_facts(&w, facts, &before, &after);
        add_peak(&w, &after);
        add_devices(&w, &after);
        add_order(&w, &after);
        json_write_finish(&w);
        st = out->failed ? diag_out_of_memory(d) : ST_OK;
    }
    arena_free(&scratch);
    return st;
}
