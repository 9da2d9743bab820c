// A value of the baseline step that the plan computes in parts (passes/shard): what they are, on
// which devices, and what the step would cost in the other divisions that the search evaluated. The
// parts of NAME are NAME/part1, NAME/part2, …
#include "frontend/tools/why.h"
#include "ir/keys.h"

static bool add_part(const struct timeline *t, value_id v, struct arena *a, struct why *w) {
    const struct graph *g = t->graph;
    node_id def = graph_value(g, v)->def;
    uint32_t step = def.i ? t->step_of[def.i] : 0, s = t->storage.of[v.i];
    struct str type = str_make(a);
    type_print(&type, graph_value(g, v)->type);
    struct why_part p = {.name = graph_value(g, v)->name,
                         .type = str_text(&type),
                         .device = def.i ? t->device_name[t->device[step]] : "",
                         .bytes = s ? t->storage.bytes[s] : 0};
    if (!w->type && def.i)
        w->type = graph_node(g, def)->type;
    return !type.failed && VEC_PUSH(a, &w->parts, p);
}

status why_find_parts(const struct timeline *t, const char *name, struct arena *a, struct diags *d,
                      struct why *w) {
    for (uint32_t k = 1;; k++) {
        char *part = str_format(a, "%s/part%u", name, k);
        if (!part)
            return diag_out_of_memory(d);
        value_id v = graph_find(t->graph, part);
        if (!v.i)
            break;
        if (!add_part(t, v, a, w))
            return diag_out_of_memory(d);
    }
    if (w->parts.n)
        w->divisions = pairs_get(&t->graph->model->metadata, KEY_DIVISIONS);
    return ST_OK;
}

void why_print_parts(struct str *out, const struct why *w) {
    if (!w->parts.n)
        return;
    str_addf(out, "%s (%s) is computed in %zu parts\n", w->name, w->type ? w->type : "input",
             w->parts.n);
    for (size_t k = 0; k < w->parts.n; k++) {
        const struct why_part *p = &w->parts.at[k];
        str_addf(out, "part%-7zu%s, ", k + 1, p->type);
        str_add_bytes(out, p->bytes);
        if (*p->device)
            str_addf(out, ", on %s", p->device);
        str_addf(out, "; see mfc why PLAN '%s'\n", p->name);
    }
    if (w->divisions)
        str_addf(out, "divisions  of the step, before the search: %s\n", w->divisions);
}
