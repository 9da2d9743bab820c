// Rigs: see rig.h. Stages: a preset is known (rig_preset.c); of a file, expand devices with a
// count; read devices, host and links as in any placement problem; find the routes.
#include "frontend/inputs/rig.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "ir/base/file.h"
#include "ir/json/json_write.h"
#include "solver/model/placement_json.h"

static status unknown_rig(struct arena *a, struct diags *d, const char *name) {
    struct str known = str_make(a);
    for (const struct rig_preset *r = rig_presets; r->name; r++)
        str_addf(&known, "%s%s", known.n ? ", " : "", r->name);
    return diag_error(d, DIAG_RIG, loc_none(),
                      "there is neither a file nor a preset \"%s\"; presets are NxDEVICE, such as "
                      "4xV100-16GB, with DEVICE one of %s",
                      name, str_text(&known));
}

// Expands each device with a count into that many devices: name0, name1, … NULL: out of memory.
static json_t *expand(struct arena *a, const json_t *list) {
    json_t *out = json_array();
    bool ok = out != NULL;
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *device = json_array_get(list, i);
        json_int_t count = 1;
        if (json_object_get(device, "count"))
            count = json_integer_value(json_object_get(device, "count"));
        const char *stem = json_string_value(json_object_get(device, "name"));
        for (json_int_t k = 0; k < count && stem; k++) {
            json_t *one = json_copy(device);
            const char *name = rig_device_name(a, stem, k, count);
            // A copy that ran out of memory lacks members.
            ok = ok && name && json_object_size(one) == json_object_size(device) &&
                 json_object_set_new(one, "name", json_string(name)) == 0;
            ok = json_array_append_new(out, one) == 0 && ok;
        }
        if (!stem) // kept: the error message gives its index
            ok = json_array_append(out, device) == 0 && ok;
    }
    if (!ok)
        json_decref(out);
    return ok ? out : NULL;
}

static status check_counts(struct diags *d, const char *file, const json_t *list) {
    json_int_t sum = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *count = json_object_get(json_array_get(list, i), "count");
        json_int_t n = count ? json_integer_value(count) : 1;
        if (n < 1 || n > RIG_MAX_DEVICES || (sum += n) > RIG_MAX_DEVICES)
            return diag_error(
                d, DIAG_RIG, loc_file(file),
                "device %zu: \"count\" must be 1 or more, and the sum of all at most %d", i,
                RIG_MAX_DEVICES);
    }
    return ST_OK;
}

static status read_speed(struct diags *d, struct loc at, const json_t *device,
                         struct cost_device *out) {
    status st = json_get_real(d, at, device, "rate", &out->rate);
    if (!st)
        st = json_get_real(d, at, device, "memory_bandwidth", &out->bandwidth);
    if (!st)
        st = json_get_real(d, at, device, "overhead", &out->overhead);
    bool good = isfinite(out->rate) && out->rate > 0 && isfinite(out->bandwidth) &&
                out->bandwidth > 0 && isfinite(out->overhead) && out->overhead >= 0;
    if (!st && !good)
        st = diag_error(d, DIAG_RIG, at,
                        "\"rate\" and \"memory_bandwidth\" must be given and positive, "
                        "\"overhead\" must not be negative");
    return st;
}

static status read_root(struct arena *a, struct diags *d, const char *file, json_t *root,
                        struct rig *out) {
    status st = json_check_format(d, file, root, "mfc-rig");
    const json_t *list = json_object_get(root, "devices");
    if (!st)
        st = check_counts(d, file, list);
    if (st)
        return st;
    json_t *expanded = expand(a, list);
    if (!expanded || json_object_set_new(root, "devices", expanded) != 0)
        return diag_out_of_memory(d);
    list = json_object_get(root, "devices");
    st = placement_places_of_json(a, d, file, root, &out->places);
    if (st)
        return st;
    struct cost_device *cost = ARENA_ARRAY(a, struct cost_device, out->places.n_devices);
    if (!cost)
        return diag_out_of_memory(d);
    for (int32_t k = 0; k < out->places.n_devices && !st; k++)
        st = read_speed(d, loc_path(file, out->places.place[k].name),
                        json_array_get(list, (size_t)k), &cost[k]);
    out->cost = cost;
    return st ? st : placement_make_routes(a, d, file, &out->places);
}

static status read_text(struct arena *a, struct diags *d, const struct source *s, struct rig *out) {
    struct arena scratch = arena_make(a->mem);
    json_t *root = NULL;
    status st = json_read(&scratch, d, s, &root);
    if (!st)
        st = read_root(a, d, s->path, root, out);
    json_decref(root);
    arena_free(&scratch);
    return st;
}

struct rig rig_empty(void) {
    return (struct rig){.places = {.ticks = 1000000, .time_unit = "ms"}};
}

status rig_read(struct arena *a, struct diags *d, const char *name, struct rig *out) {
    assert(name && out);
    *out = rig_empty();
    int64_t count;
    const struct rig_preset *known = rig_find_preset(name, &count);
    bool is_file = str_ends_with(name, ".json") || access(name, F_OK) == 0;
    if (!is_file)
        return known ? rig_of_preset(a, d, known, count, out) : unknown_rig(a, d, name);
    struct source *s;
    status st = source_open(a, d, name, &s);
    if (st)
        return st;
    st = read_text(a, d, s, out);
    source_close(s);
    return st;
}

void rig_print(struct str *out, const struct rig *r) {
    const struct placement *p = &r->places;
    struct json_writer w = json_write_document(out, JSON_WRITE_SPACED, "mfc-rig");
    json_write_line(&w);
    json_write_array(&w, "devices");
    for (int32_t k = 0; k < p->n_places; k++) {
        const struct placement_place *at = &p->place[k];
        bool is_host = k == p->host; // the last place
        if (is_host)
            json_write_end(&w);
        json_write_line(&w);
        json_write_object(&w, is_host ? "host" : NULL);
        json_write_text(&w, "name", at->name);
        if (!is_host)
            json_write_text(&w, "kind", at->kind);
        if (at->memory_bytes != INT64_MAX)
            json_write_int(&w, "memory", at->memory_bytes);
        if (at->power)
            json_write_int(&w, "power", at->power);
        if (!is_host) {
            json_write_real(&w, "rate", 17, r->cost[k].rate);
            json_write_real(&w, "memory_bandwidth", 17, r->cost[k].bandwidth);
            json_write_real(&w, "overhead", 17, r->cost[k].overhead);
        }
        json_write_end(&w);
    }
    placement_print_links(&w, p);
    json_write_finish(&w);
}

status rig_from_options(struct arena *a, struct diags *d, const struct options *o,
                        struct rig **out) {
    *out = NULL;
    if (!options_given(o, "rig"))
        return ST_OK;
    *out = ARENA_NEW(a, struct rig);
    return *out ? rig_read(a, d, options_text(o, "rig"), *out) : diag_out_of_memory(d);
}
