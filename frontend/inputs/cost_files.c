// The user's cost model:
//
//     {"format": "mfc-costs", "version": 1,
//      "nodes": {"conv1": 125000},
//      "patterns": [{"match": "grad/*", "cost": "1.1 * time"}],
//      "operators": {"Conv": "flops / 80 + 3000", "Relu": {"cost": "bytes / 12", "workspace": 0}}}
//
// All errors in the file are reported together.
#include "frontend/inputs/cost_files.h"

#include <string.h>

#include "ir/json/json.h"

static const char *const sections[COST_KINDS] = {"nodes", "patterns", "operators"};

struct cost_reader {
    struct arena *a;
    struct diags *d;
    struct cost_model *m;
};

static struct loc entry_loc(const struct cost_reader *r, enum cost_kind kind, const char *key) {
    const char *path = str_format(r->a, "%s: \"%s\"", sections[kind], key);
    return loc_path(r->m->path, path ? path : sections[kind]);
}

// A non-negative number or a formula; *out stays unchanged when `value` is NULL.
static status read_amount(const struct cost_reader *r, struct loc where, const json_t *value,
                          const struct formula **out) {
    const char *text = json_string_value(value);
    if (!value)
        return ST_OK;
    if (json_is_number(value) && json_number_value(value) >= 0)
        text = str_format(r->a, "%.17g", json_number_value(value));
    else if (!text)
        return diag_error(r->d, DIAG_COSTS, where,
                          "the value must be a number of nanoseconds or bytes, or a formula in "
                          "quotes");
    struct formula *f = NULL;
    status st = text ? formula_parse((struct formula_text){text, cost_variables, DIAG_COSTS, where},
                                     r->a, r->d, &f)
                     : diag_out_of_memory(r->d);
    *out = f;
    return st;
}

static status read_entry(const struct cost_reader *r, enum cost_kind kind, const char *key,
                         const json_t *value, struct cost_entry *e) {
    struct loc where = entry_loc(r, kind, key);
    const char *member;
    json_t *unused;
    if (!(e->key = str_format(r->a, "%s", key)))
        return diag_out_of_memory(r->d);
    if (!json_is_object(value))
        return read_amount(r, where, value, &e->time);
    json_object_foreach((json_t *)value, member, unused) {
        bool known = strcmp(member, "cost") == 0 || strcmp(member, "workspace") == 0 ||
                     (kind == COST_BY_PATTERN && strcmp(member, "match") == 0);
        if (!known)
            return diag_error(r->d, DIAG_COSTS, where,
                              "unknown member \"%s\"; known members: cost, workspace", member);
    }
    status st = read_amount(r, where, json_object_get(value, "cost"), &e->time);
    if (!st)
        st = read_amount(r, where, json_object_get(value, "workspace"), &e->workspace);
    if (!st && !e->time && !e->workspace)
        st = diag_error(r->d, DIAG_COSTS, where, "the entry needs \"cost\" or \"workspace\"");
    return st;
}

static status read_object(const struct cost_reader *r, enum cost_kind kind, json_t *from) {
    struct cost_model *m = r->m;
    const char *key;
    json_t *value;
    status first = ST_OK;
    if (!json_is_object(from))
        return diag_error(r->d, DIAG_COSTS, loc_file(m->path), "\"%s\" is not an object",
                          sections[kind]);
    if (!(m->at[kind] = ARENA_ARRAY(r->a, struct cost_entry, json_object_size(from))))
        return diag_out_of_memory(r->d);
    json_object_foreach(from, key, value) {
        status st = read_entry(r, kind, key, value, &m->at[kind][m->n[kind]++]);
        first = first ? first : st;
    }
    return first;
}

static status read_list(const struct cost_reader *r, enum cost_kind kind, json_t *from) {
    struct cost_model *m = r->m;
    status first = ST_OK;
    size_t i;
    json_t *value;
    if (!json_is_array(from))
        return diag_error(r->d, DIAG_COSTS, loc_file(m->path), "\"%s\" is not a list",
                          sections[kind]);
    if (!(m->at[kind] = ARENA_ARRAY(r->a, struct cost_entry, json_array_size(from))))
        return diag_out_of_memory(r->d);
    json_array_foreach(from, i, value) {
        const char *key = json_string_value(json_object_get(value, "match"));
        status st =
            key ? read_entry(r, kind, key, value, &m->at[kind][m->n[kind]++])
                : diag_error(r->d, DIAG_COSTS, loc_file(m->path),
                             "%s: entry %zu is not an object with a \"match\"", sections[kind], i);
        first = first ? first : st;
    }
    return first;
}

static status read_members(const struct cost_reader *r, json_t *root) {
    const char *key;
    json_t *value;
    status first = json_check_format(r->d, r->m->path, root, "mfc-costs");
    if (first)
        return first;
    json_object_foreach(root, key, value) {
        status st = ST_OK;
        enum cost_kind kind = 0;
        while (kind < COST_KINDS && strcmp(key, sections[kind]) != 0)
            kind++;
        if (kind < COST_KINDS)
            st = kind == COST_BY_PATTERN ? read_list(r, kind, value) : read_object(r, kind, value);
        else if (strcmp(key, "format") != 0 && strcmp(key, "version") != 0)
            st =
                diag_error(r->d, DIAG_COSTS, loc_file(r->m->path),
                           "unknown member \"%s\"; known members: nodes, patterns, operators", key);
        first = first ? first : st;
    }
    return first;
}

static status model_read(struct arena *a, struct diags *d, const char *path,
                         struct cost_model *out) {
    struct source *s;
    struct arena scratch = arena_make(a->mem);
    json_t *root = NULL;
    status st = source_open(a, d, path, &s);
    if (st)
        return st;
    out->path = s->path;
    st = json_read(&scratch, d, s, &root);
    if (!st)
        st = read_members(&(struct cost_reader){a, d, out}, root);
    json_decref(root);
    arena_free(&scratch);
    source_close(s);
    return st;
}

status cost_files_read(struct arena *a, struct diags *d, const struct options *o,
                       const struct cost_sources **out) {
    const char *profile = options_text(o, "profile"), *model = options_text(o, "costs");
    struct cost_sources *s = ARENA_NEW(a, struct cost_sources);
    struct cost_profile *p = ARENA_NEW(a, struct cost_profile);
    struct cost_model *m = ARENA_NEW(a, struct cost_model);
    double *share = ARENA_NEW(a, double);
    if (!s || !p || !m || !share)
        return diag_out_of_memory(d);
    *out = s;
    s->measured_share = share;
    s->profile = profile ? p : NULL;
    s->model = model ? m : NULL;
    status st = profile ? profile_read(a, d, profile, p) : ST_OK;
    return !st && model ? model_read(a, d, model, m) : st;
}

static void add_speed(struct str *out, const struct cost_device *speed) {
    str_addf(out, "%g GFLOP/s, %g GB/s, %g µs a node", speed->rate, speed->bandwidth,
             speed->overhead * 1e-3);
}

static bool is_equal(const struct cost_device *a, const struct cost_device *b) {
    return a->rate == b->rate && a->bandwidth == b->bandwidth && a->overhead == b->overhead;
}

// The speed of each device; devices of one kind that follow each other together.
static void add_speeds(struct str *out, const struct rig *rig) {
    const struct placement *p = &rig->places;
    for (int32_t first = 0, last; first < p->n_devices; first = last + 1) {
        last = first;
        while (last + 1 < p->n_devices && is_equal(&rig->cost[first], &rig->cost[last + 1]))
            last++;
        str_addf(out, "%s%s", first ? "; " : "", p->place[first].name);
        if (last > first)
            str_addf(out, " to %s", p->place[last].name);
        str_add(out, ": ");
        add_speed(out, &rig->cost[first]);
    }
}

const char *cost_files_describe(struct arena *a, const struct options *o,
                                const struct cost_sources *s, const struct rig *rig) {
    struct str out = str_make(a);
    struct cost_device own = {options_real(o, "rate"), options_real(o, "bandwidth"),
                              options_real(o, "node-overhead") * 1e3};
    if (s->model)
        str_addf(&out, "formulas of %s, else ", file_name(s->model->path));
    if (s->profile)
        str_addf(&out, "measured times of %s, else scaled ", file_name(s->profile->path));
    str_add(&out, "estimates");
    if (rig && (s->model || s->profile))
        str_add(&out, "; all scaled to the speed of the devices");
    str_add(&out, rig ? "; " : ": ");
    if (rig)
        add_speeds(&out, rig);
    else
        add_speed(&out, &own);
    return str_text(&out);
}
