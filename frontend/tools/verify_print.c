// What was found of a plan, as a table and as JSON: see verify_plan.h.
#include "frontend/tools/verify_plan.h"

static void add_bytes(struct str *out, const char *what, int64_t n_bytes) {
    str_addf(out, "%-10s%lld bytes (", what, (long long)n_bytes);
    str_add_bytes(out, n_bytes);
    str_add_char(out, ')');
}

void verify_plan_print(struct str *out, const struct verified *v) {
    str_addf(out, "outputs   all %zu are the same expressions as in the unplanned step\n",
             v->n_outputs);
    str_addf(out, "nodes     %zu, the unplanned step has %zu\n", v->n_nodes, v->n_step);
    str_addf(out,
             "order     %zu nodes are forced to run in the order of the file; the others move ",
             v->forced.n_heavy);
    str_addf(out, "at most %lld bytes\n", (long long)v->forced.loose_bytes);
    add_bytes(out, "fixed", v->persistent_bytes);
    str_add_char(out, '\n');
    add_bytes(out, "liveness", v->liveness_bytes);
    str_add_char(out, '\n');
    add_bytes(out, "peak", v->peak_bytes);
    str_addf(out, " on runtime %s\n", v->runtime);
    if (v->arena_bytes >= 0) {
        add_bytes(out, "arena", v->arena_bytes);
        str_add(out, ": every tensor has its place\n");
    }
    if (v->budget_bytes >= 0) {
        add_bytes(out, "budget", v->budget_bytes);
        str_add(out, ": held\n");
    } else if (!v->n_devices) {
        str_add(out, "budget    none is promised\n");
    }
    for (size_t i = 0; i < v->n_devices; i++) {
        const struct verified_device *one = &v->devices[i];
        str_addf(out, "device    %s holds %lld bytes", one->name, (long long)one->peak_bytes);
        if (one->memory_bytes != INT64_MAX)
            str_addf(out, " of %lld", (long long)one->memory_bytes);
        str_add_char(out, '\n');
    }
}

static void add_number(struct str *out, const char *key, int64_t x) {
    if (x >= 0 && x != INT64_MAX)
        str_addf(out, ",\"%s\":%lld", key, (long long)x);
    else
        str_addf(out, ",\"%s\":null", key);
}

void verify_plan_json(struct str *out, const struct verified *v) {
    str_addf(out, "{\"outputs\":%zu,\"nodes\":%zu,\"step_nodes\":%zu,\"ordered_nodes\":%zu",
             v->n_outputs, v->n_nodes, v->n_step, v->forced.n_heavy);
    str_addf(out, ",\"loose_bytes\":%lld,\"runtime\":", (long long)v->forced.loose_bytes);
    str_add_json(out, v->runtime);
    add_number(out, "fixed_bytes", v->persistent_bytes);
    add_number(out, "liveness_bytes", v->liveness_bytes);
    add_number(out, "peak_bytes", v->peak_bytes);
    add_number(out, "arena_bytes", v->arena_bytes);
    add_number(out, "budget_bytes", v->budget_bytes);
    str_add(out, ",\"devices\":[");
    for (size_t i = 0; i < v->n_devices; i++) {
        str_addf(out, "%s{\"name\":", i ? "," : "");
        str_add_json(out, v->devices[i].name);
        add_number(out, "peak_bytes", v->devices[i].peak_bytes);
        add_number(out, "memory_bytes", v->devices[i].memory_bytes);
        str_add_char(out, '}');
    }
    str_add(out, "]}");
}
