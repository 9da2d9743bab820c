// A plan for machines: see plan_json.h. Nodes go by their names, which are unique in a step that
// mfc has made.
#include "backend/plan_json.h"

#include "backend/timeline.h"

#define PEAK_SHOWN 50

static void add_text(struct str *out, const char *key, const char *text) {
    str_addf(out, ",\n\"%s\":", key);
    if (text)
        str_add_json(out, text);
    else
        str_add(out, "null");
}

static void add_number(struct str *out, const char *key, int64_t x) {
    if (x == FACTS_UNKNOWN)
        str_addf(out, ",\n\"%s\":null", key);
    else
        str_addf(out, ",\n\"%s\":%lld", key, (long long)x);
}

static void add_facts(struct str *out, const struct facts *f, const struct timeline *before,
                      const struct timeline *after) {
    add_text(out, "model", f->title);
    add_text(out, "command", f->command);
    add_text(out, "mfc", f->version);
    add_text(out, "runtime", f->runtime);
    add_text(out, "outcome", f->outcome);
    str_addf(out, ",\n\"interrupted\":%s", f->is_interrupted ? "true" : "false");
    add_number(out, "budget_bytes", f->budget_bytes);
    add_number(out, "peak_bytes", f->peak_bytes);
    add_number(out, "plain_peak_bytes", f->plain_peak_bytes);
    add_number(out, "fused_peak_bytes", f->fused_peak_bytes);
    add_number(out, "arena_bytes", f->arena_bytes);
    add_number(out, "liveness_bytes", after->liveness.peak_bytes);
    add_number(out, "unplanned_peak_bytes", f->unplanned_peak_bytes);
    add_number(out, "unplanned_liveness_bytes", before->liveness.peak_bytes);
    add_number(out, "fixed_bytes", after->storage.persistent_bytes);
    add_number(out, "least_bytes", f->min_bytes);
    bool known = f->cost != FACTS_UNKNOWN || !after->has_costs;
    add_number(out, "cost", known ? f->cost : after->cost);
    known = f->base_cost != FACTS_UNKNOWN || !after->has_costs;
    add_number(out, "base_cost", known ? f->base_cost : after->cost - after->recompute_cost);
    add_number(out, "bound", f->bound);
    add_number(out, "makespan", f->makespan);
    add_text(out, "cost_model", f->cost_model);
    if (f->cost_match >= 0)
        str_addf(out, ",\n\"cost_match\":%.6g", f->cost_match);
    add_number(out, "nodes", after->n_steps);
    add_number(out, "recomputations", after->n_recomputed);
    add_number(out, "control_nodes", after->n_control);
}

// What is held at the peak, largest first.
static void add_peak(struct str *out, const struct timeline *t) {
    uint32_t held[PEAK_SHOWN];
    if (!t->n_steps)
        return;
    size_t n = timeline_held(t, t->peak_step, held, PEAK_SHOWN);
    str_add(out, ",\n\"peak\":{\"node\":");
    str_add_json(out, node_called(t->graph, t->order[t->peak_step]));
    str_addf(out, ",\"step\":%u,\"bytes\":%lld,\"tensors\":%zu,\"largest\":[", t->peak_step + 1,
             (long long)t->held_bytes[t->peak_step], n);
    for (size_t k = 0; k < n && k < PEAK_SHOWN; k++) {
        str_addf(out, "%s\n{\"name\":", k ? "," : "");
        str_add_json(out, graph_value(t->graph, t->storage.first[held[k]])->name);
        str_addf(out, ",\"bytes\":%lld,\"holder\":\"%s\"}", (long long)t->storage.bytes[held[k]],
                 holder_name(t->holder[held[k]]));
    }
    str_add(out, "]}");
}

static void add_devices(struct str *out, const struct timeline *t) {
    str_add(out, ",\n\"devices\":[");
    for (uint32_t device = 0; device < t->n_devices; device++) {
        int64_t peak = 0, busy = 0;
        for (uint32_t i = 0; i < t->n_steps; i++)
            if (t->device[i] == device) {
                peak = t->held_bytes[i] > peak ? t->held_bytes[i] : peak;
                if (t->work[i] != WORK_TRANSFER)
                    busy += t->end[i] - t->start[i]; // fits: a part of t->cost
            }
        str_addf(out, "%s{\"name\":", device ? "," : "");
        str_add_json(out, t->device_name[device]);
        str_addf(out, ",\"peak_bytes\":%lld,\"busy\":%lld,\"memory_bytes\":", (long long)peak,
                 (long long)busy);
        if (t->device_bytes[device] < INT64_MAX)
            str_addf(out, "%lld}", (long long)t->device_bytes[device]);
        else
            str_add(out, "null}");
    }
    str_addf(out, "],\n\"span\":%lld", (long long)t->span);
}

// Control nodes are not part of the order: they are made again from it.
static void add_order(struct str *out, const struct timeline *t) {
    str_add(out, ",\n\"order\":[");
    const char *before = "";
    for (uint32_t i = 0; i < t->n_steps; i++) {
        if (t->work[i] == WORK_CONTROL)
            continue;
        str_add(out, before);
        str_add_json(out, node_called(t->graph, timeline_origin(t->graph, t->order[i])));
        before = ",\n";
    }
    str_add(out, "]");
}

status plan_json_print(struct str *out, const struct model *unplanned, const struct model *plan,
                       const struct facts *facts, struct diags *d) {
    struct arena scratch = arena_make(out->arena->mem);
    struct timeline before, after;
    status st = timeline_make(plan, &scratch, d, &after);
    if (st == ST_OK)
        st = timeline_make(unplanned, &scratch, d, &before);
    if (st == ST_OK) {
        str_add(out, "{\"format\":\"mfc-plan\",\"version\":1");
        add_facts(out, facts, &before, &after);
        add_peak(out, &after);
        add_devices(out, &after);
        add_order(out, &after);
        str_add(out, "}\n");
        st = out->failed ? diag_out_of_memory(d) : ST_OK;
    }
    arena_free(&scratch);
    return st;
}
