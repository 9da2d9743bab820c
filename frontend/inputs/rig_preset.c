// Rigs by name: a table of devices, and so many of one of them, each linked with the host over one
// bus and, where they have links of their own, with each other.
#include <stdlib.h>
#include <string.h>

#include "frontend/inputs/rig.h"

#define GiB           ((int64_t)1 << 30)
#define HOST_LATENCY  10000
#define OTHER_LATENCY 5000

// Single precision figures from the data sheets.
const struct rig_preset rig_presets[] = {
    {"cpu", "one core of a plain processor", 20, 10, 2000, 0, 0, 10},
    {"T4-16GB", "NVIDIA T4, PCIe 3", 8100, 320, 5000, 16 * GiB, 0, 12},
    {"V100-16GB", "NVIDIA V100, NVLink 2", 15700, 900, 5000, 16 * GiB, 50, 12},
    {"V100-32GB", "NVIDIA V100, NVLink 2", 15700, 900, 5000, 32 * GiB, 50, 12},
    {"A100-40GB", "NVIDIA A100, NVLink 3", 19500, 1555, 5000, 40 * GiB, 300, 24},
    {"A100-80GB", "NVIDIA A100, NVLink 3", 19500, 2039, 5000, 80 * GiB, 300, 24},
    {"H100-80GB", "NVIDIA H100, NVLink 4", 67000, 3350, 5000, 80 * GiB, 450, 50},
    {0}};

const struct rig_preset *rig_find_preset(const char *name, int64_t *count) {
    char *end;
    *count = strtoll(name, &end, 10);
    if (end != name && *end == 'x')
        name = end + 1;
    else
        *count = 1;
    for (const struct rig_preset *r = rig_presets; r->name; r++)
        if (strcmp(r->name, name) == 0 && *count >= 1 && *count <= RIG_MAX_DEVICES)
            return r;
    return NULL;
}

const char *rig_device_name(struct arena *a, const char *stem, int64_t k, int64_t count) {
    return count == 1 ? stem : str_format(a, "%s%lld", stem, (long long)k);
}

// "one-other". There are a million of them among a thousand devices: no format is read.
static const char *joined(struct arena *a, const char *one, const char *other) {
    struct str text = str_make(a);
    str_add(&text, one);
    str_add_char(&text, '-');
    str_add(&text, other);
    return text.failed ? NULL : text.at;
}

// The next link. `bus`: the resource that it shares; negative: it has one of its own each way.
static bool add_link(struct arena *a, struct placement *p, int32_t one, int32_t other,
                     const struct link *like) {
    const char *there = joined(a, p->place[one].name, p->place[other].name), *back = there;
    struct link *l = &p->link[p->n_links++];
    *l = *like;
    l->name = there;
    l->between[0] = one;
    l->between[1] = other;
    if (like->resource[0] < 0) {
        back = joined(a, p->place[other].name, p->place[one].name);
        p->resource_name[l->resource[0] = p->n_resources++] = there;
        p->resource_name[l->resource[1] = p->n_resources++] = back;
    }
    return there && back;
}

static bool add_links(struct arena *a, const struct rig_preset *of, struct placement *p) {
    struct link to_host = {
        .resource = {-1, -1}, .bandwidth = of->host_bandwidth, .latency_cost = HOST_LATENCY};
    struct link to_other = {
        .resource = {-1, -1}, .bandwidth = of->link_bandwidth, .latency_cost = OTHER_LATENCY};
    bool ok = true;
    if (p->n_devices > 1) {
        p->resource_name[p->n_resources] = "host";
        to_host.resource[0] = to_host.resource[1] = p->n_resources++;
    }
    for (int32_t i = 0; i < p->n_devices && ok; i++) {
        ok = add_link(a, p, i, p->host, &to_host);
        for (int32_t k = i + 1; k < p->n_devices && of->link_bandwidth > 0 && ok; k++)
            ok = add_link(a, p, i, k, &to_other);
    }
    return ok;
}

status rig_of_preset(struct arena *a, struct diags *d, const struct rig_preset *of, int64_t count,
                     struct rig *out) {
    struct placement *p = &out->places;
    const char *stem = strcmp(of->name, "cpu") == 0 ? "cpu" : "gpu";
    int32_t n = (int32_t)count;
    size_t n_links = (size_t)n + (of->link_bandwidth > 0 ? (size_t)n * (size_t)(n - 1) / 2 : 0);
    struct cost_device *cost = ARENA_ARRAY(a, struct cost_device, n);
    p->n_devices = p->host = n;
    p->n_places = n + 1;
    p->place = ARENA_ARRAY(a, struct placement_place, n + 1);
    p->link = ARENA_ARRAY(a, struct link, n_links);
    p->resource_name = ARENA_ARRAY(a, const char *, (size_t)n + 1 + 2 * n_links);
    bool ok = cost && p->place && p->link && p->resource_name;
    for (int32_t k = 0; k < n && ok; k++) {
        const char *name = rig_device_name(a, stem, k, count);
        p->place[k] = (struct placement_place){.name = name,
                                               .kind = of->name,
                                               .memory_bytes =
                                                   of->memory_bytes ? of->memory_bytes : INT64_MAX,
                                               .speed = 1};
        p->resource_name[p->n_resources++] = name;
        cost[k] = (struct cost_device){
            .rate = of->rate, .bandwidth = of->memory_bandwidth, .overhead = of->overhead};
        ok = name != NULL;
    }
    if (ok)
        p->place[n] =
            (struct placement_place){.name = "host", .memory_bytes = INT64_MAX, .speed = 1};
    if (!ok || !add_links(a, of, p))
        return diag_out_of_memory(d);
    out->cost = cost;
    return placement_make_routes(a, d, of->name, p);
}
