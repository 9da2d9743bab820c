// Schedules to and from mfc-schedule JSON (docs/solver.md). A schedule may have millions of steps,
// so it is written as a stream, without a JSON tree.
#include "solver/model/schedule.h"

#include <string.h>

#include "ir/json/json.h"

static const char *const outcome_names[] = {"unknown", "feasible", "optimal", "infeasible"};

const char *outcome_name(enum outcome o) {
    return outcome_names[o];
}

static void add_head(struct json_writer *w, const struct schedule *s, double seconds) {
    json_write_text(w, "status", outcome_name(s->outcome));
    json_write_text(w, "order", s->free_order ? "free" : "given");
    json_write_int(w, "budget_bytes", s->budget_bytes);
    if (s->steps.n > 0) {
        json_write_int(w, "peak_bytes", s->peak_bytes);
        json_write_int(w, "cost", s->cost);
    }
    json_write_int(w, "base_cost", s->base_cost);
    json_write_int_if(w, "bound", s->bound != BOUND_NONE, s->bound);
    json_write_int_if(w, "bound_any", s->bound_any != BOUND_NONE, s->bound_any);
    json_write_int(w, "least_bytes", s->min_bytes);
    if (s->known_bytes > 0)
        json_write_int(w, "known_bytes", s->known_bytes);
    if (seconds >= 0)
        json_write_fixed(w, "seconds", 3, seconds);
    if (s->n_forcing > 0) {
        json_write_array(w, "forcing");
        for (int32_t k = 0; k < s->n_forcing; k++)
            json_write_int(w, NULL, s->forcing[k]);
        json_write_end(w);
    }
}

void schedule_print(struct json_writer *w, const struct schedule *s, double seconds) {
    json_write_format(w, "mfc-schedule");
    add_head(w, s, seconds);
    json_write_line(w);
    json_write_array(w, "steps");
    for (int32_t k = 0; k < s->steps.n; k++) {
        if (k % 8 == 0)
            json_write_line(w);
        json_write_array(w, NULL);
        json_write_text(w, NULL, s->steps.at[k].kind == STEP_COMPUTE ? "compute" : "free");
        json_write_int(w, NULL, s->steps.at[k].node);
        json_write_end(w);
    }
    json_write_end(w);
}

status schedule_write(const struct schedule *s, double seconds, struct arena *a, struct diags *d,
                      const char *path) {
    struct arena scratch = arena_make(a->mem);
    struct str text = str_make(&scratch);
    struct json_writer w = json_write_begin(&text, JSON_WRITE_COMPACT);
    schedule_print(&w, s, seconds);
    json_write_finish(&w);
    status st = output_text(&scratch, d, path, &text);
    arena_free(&scratch);
    return st;
}

static status read_steps(struct arena *a, struct diags *d, const char *file, const json_t *list,
                         const struct problem *p, struct steps *out) {
    size_t n = json_array_size(list);
    if (n > INT32_MAX)
        return diag_error(d, DIAG_LIMIT, loc_file(file), "%zu steps are too many", n);
    *out = (struct steps){ARENA_ARRAY(a, struct step, n), (int32_t)n};
    if (!out->at)
        return diag_out_of_memory(d);
    for (size_t k = 0; k < n; k++) {
        const json_t *step = json_array_get(list, k);
        const char *kind = json_string_value(json_array_get(step, 0));
        int64_t node = -1;
        bool computes = kind && strcmp(kind, "compute") == 0;
        bool frees = kind && strcmp(kind, "free") == 0;
        if (json_array_size(step) != 2 || !(computes || frees) ||
            !json_as_int(json_array_get(step, 1), &node) || node < 0 || node >= p->n)
            return diag_error(d, DIAG_MALFORMED, loc_file(file),
                              "step %zu is not [\"compute\", node] or [\"free\", node] with a node "
                              "0 .. %d",
                              k, p->n - 1);
        out->at[k] = (struct step){computes ? STEP_COMPUTE : STEP_FREE, (int32_t)node};
    }
    return ST_OK;
}

static status read_words(struct diags *d, const char *file, const json_t *root,
                         struct schedule *out) {
    const char *outcome = json_string_value(json_object_get(root, "status"));
    const char *order = json_string_value(json_object_get(root, "order"));
    size_t k = 0;
    while (k < 4 && (!outcome || strcmp(outcome, outcome_names[k]) != 0))
        k++;
    if (k == 4)
        return diag_error(d, DIAG_MALFORMED, loc_file(file),
                          "\"status\" is not one of optimal, feasible, infeasible, unknown");
    out->outcome = (enum outcome)k;
    if (!order || (strcmp(order, "given") != 0 && strcmp(order, "free") != 0))
        return diag_error(d, DIAG_MALFORMED, loc_file(file), "\"order\" is not given or free");
    out->free_order = order[0] == 'f';
    return ST_OK;
}

static status read_root(struct arena *a, struct diags *d, const char *file, const json_t *root,
                        const struct problem *p, struct schedule *out) {
    struct loc where = loc_file(file);
    status st = json_check_format(d, file, root, "mfc-schedule");
    if (st == ST_OK)
        st = read_words(d, file, root, out);
    const struct {
        const char *key;
        int64_t *to;
    } numbers[] = {
        {"budget_bytes", &out->budget_bytes},
        {"peak_bytes", &out->peak_bytes},
        {"cost", &out->cost},
        {"base_cost", &out->base_cost},
        {"bound", &out->bound},
        {"bound_any", &out->bound_any},
        {"least_bytes", &out->min_bytes},
        {"known_bytes", &out->known_bytes},
    };
    for (size_t k = 0; st == ST_OK && k < sizeof numbers / sizeof *numbers; k++)
        st = json_get_int(d, where, root, numbers[k].key, numbers[k].to);
    const json_t *steps = json_object_get(root, "steps");
    if (st == ST_OK && steps && !json_is_array(steps))
        st = diag_error(d, DIAG_MALFORMED, where, "\"steps\" is not a list");
    return st == ST_OK ? read_steps(a, d, file, steps, p, &out->steps) : st;
}

status schedule_read(struct arena *a, struct diags *d, const struct source *json,
                     const struct problem *p, struct schedule *out) {
    *out = (struct schedule){.bound = BOUND_NONE, .bound_any = BOUND_NONE};
    struct arena scratch = arena_make(a->mem);
    json_t *root = NULL;
    status st = json_read(&scratch, d, json, &root);
    arena_free(&scratch);
    if (st == ST_OK)
        st = read_root(a, d, json->path, root, p, out);
    json_decref(root);
    return st;
}
