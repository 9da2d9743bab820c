// A plan as JSON: see plan_json.h. Nodes are identified by their names, which are unique in a
// training step.
#include "backend/plan_json.h"

#include "backend/timeline.h"
#include "ir/json/json_write.h"

#define PEAK_SHOWN 50

static void add_text(struct json_writer *w, const char *key, const char *text) {
    json_write_line(w);
    json_write_text(w, key, text);
}

static void add_number(struct json_writer *w, const char *key, int64_t x) {
    json_write_line(w);
    json_write_int_if(w, key, plan_facts_is_known(x), x);
}

static void add_facts(struct json_writer *w, const struct plan_facts *f) {
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
    add_number(w, "first_run_bytes", f->first_run_bytes);
    add_number(w, "later_runs_bytes", f->later_runs_bytes);
    add_number(w, "session_bytes", f->session_bytes);
    json_write_line(w);
    json_write_bool(w, "session_in_peak", !f->session_is_apart);
    add_number(w, "arena_bytes", f->arena_bytes);
    add_number(w, "liveness_bytes", f->liveness_bytes);
    add_number(w, "unplanned_peak_bytes", f->baseline_bytes);
    add_number(w, "unplanned_liveness_bytes", f->baseline_liveness_bytes);
    add_number(w, "fixed_bytes", f->persistent_bytes);
    add_number(w, "least_bytes", f->min_bytes);
    add_number(w, "cost", f->cost);
    add_number(w, "base_cost", f->base_cost);
    add_number(w, "bound", f->bound);
    add_number(w, "makespan", f->makespan_cost);
    add_text(w, "cost_model", f->cost_model);
    if (f->cost_match >= 0) {
        json_write_line(w);
        json_write_real(w, "cost_match", 6, f->cost_match);
    }
    add_number(w, "nodes", f->n_nodes);
    add_number(w, "step_nodes", f->n_step_nodes);
    add_number(w, "recomputations", f->n_recomputed);
    add_number(w, "control_nodes", f->n_control);
    add_number(w, "transfers", f->n_transfers);
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

static void add_devices(struct json_writer *w, const struct plan_facts *f) {
    json_write_line(w);
    json_write_array(w, "devices");
    for (size_t i = 0; i < f->n_devices; i++) {
        const struct plan_device *at = &f->devices[i];
        json_write_object(w, NULL);
        json_write_text(w, "name", at->name);
        json_write_int(w, "peak_bytes", at->peak_bytes);
        json_write_int_if(w, "busy", plan_facts_is_known(at->busy_cost), at->busy_cost);
        json_write_int_if(w, "memory_bytes", at->memory_bytes < INT64_MAX, at->memory_bytes);
        json_write_end(w);
    }
    json_write_end(w);
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

status plan_json_print(struct str *out, const struct model *plan, const struct plan_facts *facts,
                       struct diags *d) {
    struct arena scratch = arena_make(out->arena->mem);
    struct timeline t;
    status st = timeline_make(plan, &scratch, d, &t);
    if (st == ST_OK) {
        struct json_writer w = json_write_document(out, JSON_WRITE_COMPACT, "mfc-plan");
        add_facts(&w, facts);
        add_peak(&w, &t);
        add_devices(&w, facts);
        json_write_line(&w);
        json_write_int(&w, "span", t.span);
        add_order(&w, &t);
        json_write_finish(&w);
        st = out->failed ? diag_out_of_memory(d) : ST_OK;
    }
    arena_free(&scratch);
    return st;
}
