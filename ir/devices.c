// Devices of a model: see devices.h.
#include "ir/devices.h"

#include <assert.h>
#include <string.h>

#include "ir/base/options.h"
#include "ir/base/quantity.h"
#include "ir/keys.h"

uint32_t devices_add(struct model *m, const char *name) {
    assert(m && name);
    for (uint32_t i = 0; i < m->device_names.n; i++)
        if (strcmp(m->device_names.at[i], name) == 0)
            return i + 1;
    const char *interned = pool_intern(m->pool, name);
    if (!interned || !VEC_PUSH(m->arena, &m->device_names, interned))
        return 0;
    return (uint32_t)m->device_names.n;
}

// Adds the devices of the model's metadata first, so that they keep their numbers.
static bool add_listed(struct model *m) {
    const char *text = pairs_get(&m->metadata, KEY_DEVICES);
    while (text && *text) {
        size_t n = strcspn(text, "\n");
        const char *name = pool_intern_n(m->pool, text, n);
        if (!name || (n && !devices_add(m, name)))
            return false;
        text += n + (text[n] != 0);
    }
    return true;
}

static bool list_all(struct model *m) {
    struct str text = str_make(m->arena);
    for (size_t i = 0; i < m->device_names.n; i++)
        str_addf(&text, "%s%s", i ? "\n" : "", m->device_names.at[i]);
    return !text.failed && pairs_set(&m->metadata, m->arena, KEY_DEVICES, str_text(&text));
}

status devices_from_metadata(struct model *m, struct diags *d) {
    const struct graph *g = m->graph;
    if (!add_listed(m))
        return diag_out_of_memory(d);
    for (size_t i = 0; i < g->order.n; i++) {
        struct node *n = graph_node(g, g->order.at[i]);
        const char *name = n->device ? NULL : pairs_get(&n->metadata, KEY_DEVICE);
        if (name && !(n->device = devices_add(m, name)))
            return diag_out_of_memory(d);
    }
    return ST_OK;
}

status devices_to_metadata(struct model *m, struct diags *d) {
    const struct graph *g = m->graph;
    for (size_t i = 0; i < g->order.n; i++) {
        struct node *n = graph_node(g, g->order.at[i]);
        if (n->device &&
            !pairs_set(&n->metadata, m->arena, KEY_DEVICE, m->device_names.at[n->device - 1]))
            return diag_out_of_memory(d);
    }
    return !m->device_names.n || list_all(m) ? ST_OK : diag_out_of_memory(d);
}

value_id devices_send(struct graph *g, value_id v, uint32_t device) {
    struct model *m = g->model;
    uint32_t from = graph_node(g, graph_value(g, v)->def)->device;
    assert(from > 0 && from <= m->device_names.n);
    assert(device > 0 && device <= m->device_names.n);
    char *like =
        str_format(m->arena, "%s@%s", graph_value(g, v)->name, m->device_names.at[device - 1]);
    const char *name = like ? graph_fresh_name(g, like) : NULL;
    value_id copy = name ? graph_add_value(g, name, graph_value(g, v)->type) : VALUE_NONE;
    node_id id = copy.i ? graph_add_node(g, "", "Identity", (struct values){&v, 1},
                                         (struct values){&copy, 1})
                        : NODE_NONE;
    if (!id.i)
        return VALUE_NONE;
    graph_value(g, copy)->content = graph_value(g, v)->content;
    struct node *n = graph_node(g, id);
    n->name = name;
    n->device = device;
    n->cost = 0;
    bool ok = pairs_set(&n->metadata, m->arena, KEY_ROLE, "transfer") &&
              pairs_set(&n->metadata, m->arena, KEY_FROM, m->device_names.at[from - 1]);
    return ok ? copy : VALUE_NONE;
}

bool devices_resident(const struct graph *g, value_id v) {
    node_id def = graph_value(g, v)->def;
    return !def.i || graph_node(g, def)->op == OP_Constant;
}

status devices_set_memory(struct model *m, const int64_t *memory_bytes, struct diags *d) {
    struct str text = str_make(m->arena);
    for (size_t i = 0; i < m->device_names.n; i++) {
        if (i)
            str_add_char(&text, '\n');
        if (memory_bytes[i] != INT64_MAX)
            str_addf(&text, "%lld", (long long)memory_bytes[i]);
    }
    bool ok = !text.failed && pairs_set(&m->metadata, m->arena, KEY_DEVICE_MEMORY, str_text(&text));
    return ok ? ST_OK : diag_out_of_memory(d);
}

bool devices_memory(const struct model *m, int64_t *memory_bytes) {
    const char *text = pairs_get(&m->metadata, KEY_DEVICE_MEMORY);
    for (size_t i = 0; text && i < m->device_names.n; i++) {
        size_t n = strcspn(text, "\n");
        char number[24] = {0};
        if (n >= sizeof number || (!text[n] && i + 1 < m->device_names.n))
            return false;
        memcpy(number, text, n);
        memory_bytes[i] = INT64_MAX;
        if (n && !quantity_parse_bytes(number, &memory_bytes[i]))
            return false;
        text += n + (text[n] != 0);
    }
    return text && !*text;
}
