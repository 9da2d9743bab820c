// The result of a verification, as a table and as JSON: see verify_plan.h.
#include "frontend/tools/verify_plan.h"

static void add_bytes(struct str *out, const char *what, int64_t n_bytes) {
    str_addf(out, "%-12s%lld bytes (", what, (long long)n_bytes);
    str_add_bytes(out, n_bytes);
    str_add_char(out, ')');
}

void verify_plan_print(struct str *out, const struct verified *v) {
    str_addf(out, "outputs     all %zu are the same expressions as in the baseline step\n",
             v->n_outputs);
    str_addf(out, "nodes       %zu; the baseline step has %zu\n", v->n_nodes, v->n_step);
    str_addf(out,
             "order       enforced for %zu nodes; the others change the peak by at most %lld "
             "bytes\n",
             v->forced.n_heavy, (long long)v->forced.loose_bytes);
    add_bytes(out, "persistent", v->persistent_bytes);
    str_add_char(out, '\n');
    add_bytes(out, "liveness", v->liveness_bytes);
    str_add_char(out, '\n');
    add_bytes(out, "peak", v->peak_bytes);
    str_addf(out, " on runtime %s\n", v->runtime);
    if (v->arena_bytes >= 0) {
        add_bytes(out, "arena", v->arena_bytes);
        str_add(out, ": no overlapping addresses\n");
    }
    if (v->budget_bytes >= 0) {
        add_bytes(out, "budget", v->budget_bytes);
        str_add(out, ": within budget\n");
    } else if (!v->n_devices) {
        str_add(out, "budget      none claimed\n");
    }
    for (size_t i = 0; i < v->n_devices; i++) {
        const struct verified_device *one = &v->devices[i];
        str_addf(out, "device      %s: peak %lld bytes", one->name, (long long)one->peak_bytes);
        if (one->memory_bytes != INT64_MAX)
            str_addf(out, " of %lld: within its memory", (long long)one->memory_bytes);
        str_add_char(out, '\n');
    }
}

static void add_number(struct json_writer *w, const char *key, int64_t x) {
    json_write_int_if(w, key, x >= 0 && x != INT64_MAX, x);
}

void verify_plan_json(struct json_writer *w, const char *key, const struct verified *v) {
    json_write_object(w, key);
    json_write_int(w, "outputs", (int64_t)v->n_outputs);
    json_write_int(w, "nodes", (int64_t)v->n_nodes);
    json_write_int(w, "step_nodes", (int64_t)v->n_step);
    json_write_int(w, "ordered_nodes", (int64_t)v->forced.n_heavy);
    json_write_int(w, "loose_bytes", v->forced.loose_bytes);
    json_write_text(w, "runtime", v->runtime);
    add_number(w, "fixed_bytes", v->persistent_bytes);
    add_number(w, "liveness_bytes", v->liveness_bytes);
    add_number(w, "peak_bytes", v->peak_bytes);
    add_number(w, "arena_bytes", v->arena_bytes);
    add_number(w, "budget_bytes", v->budget_bytes);
    json_write_array(w, "devices");
    for (size_t i = 0; i < v->n_devices; i++) {
        json_write_object(w, NULL);
        json_write_text(w, "name", v->devices[i].name);
        add_number(w, "peak_bytes", v->devices[i].peak_bytes);
        add_number(w, "memory_bytes", v->devices[i].memory_bytes);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_end(w);
}
