// Parameters and constants of a model: see inspect_params.h. The roles are those that the pass grad
// takes (passes/param/param_roles.h), on the model as it is in its file.
#include "frontend/tools/inspect/inspect_params.h"

#include <string.h>

#include "passes/param/param_roles.h"
#include "passes/param/param_select.h"

enum { MAX_NAMES = 3 }; // of a group, in its line

static const char *const state_names[] = {"trained", "frozen", "constant"};

static bool matches(const struct options *o, const char *option, const char *name) {
    const struct option_value *v = o ? options_get(o, option) : NULL;
    for (size_t i = 0; v && i < v->list.n; i++)
        if (str_match(v->list.at[i], name))
            return true;
    return false;
}

static bool is_listed(const struct options *o, const char *option, const char *name) {
    const struct option_value *v = o ? options_get(o, option) : NULL;
    for (size_t i = 0; v && i < v->list.n; i++)
        if (strcmp(v->list.at[i], name) == 0)
            return true;
    return false;
}

// `selected`: by a word of --train that is no name.
static void set_state(struct param_entry *e, struct param_role role, bool selected,
                      const struct options *o) {
    bool named = is_listed(o, "train", e->name);
    bool all = selected || !o || !options_given(o, "train");
    e->reason = role.what;
    e->state = role.kind == PARAM_PARAMETER || named ? PARAM_TRAINED : PARAM_FIXED;
    if (e->state == PARAM_FIXED)
        return;
    if (matches(o, "freeze", e->name)) {
        e->state = PARAM_FROZEN;
        e->reason = "--freeze";
    } else if (!all && !matches(o, "train", e->name)) {
        e->state = PARAM_FROZEN;
        e->reason = "not among --train";
    }
}

static void list_graph(struct param_list *list, const struct graph *g, const struct options *o,
                       struct arena *a) {
    const struct param_role *roles = param_roles(g, a);
    bool *selected = ARENA_ARRAY(a, bool, g->values.n);
    struct diags ignored = diags_make(a); // planning reports a wrong word
    list->out_of_memory |= !roles || !selected;
    if (o && roles && selected)
        param_select(g, roles, options_get(o, "train"), &ignored, selected);
    for (uint32_t v = 1; roles && selected && v < g->values.n; v++) {
        const struct value *x = graph_value(g, (value_id){v});
        const struct tensor *t = param_roles_tensor(g, (value_id){v});
        struct param_entry e = {.name = x->name, .tensor = t, .is_init = x->init};
        if (!t || !roles[v].what)
            continue;
        if (!tensor_bytes(t, &e.n_bytes))
            e.n_bytes = -1;
        set_state(&e, roles[v], selected[v], o);
        list->out_of_memory |= !VEC_PUSH(a, &list->entries, e);
    }
    for (size_t i = 0; i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        const struct graph *inner;
        for (size_t k = 0; (inner = node_subgraph(n, k)); k++)
            list_graph(list, inner, o, a);
    }
}

struct param_list inspect_params(const struct model *m, const struct options *o, struct arena *a) {
    struct param_list list = {0};
    list_graph(&list, m->graph, o, a);
    for (size_t i = 0; i < m->functions.n; i++)
        list_graph(&list, m->functions.at[i].body, o, a);
    return list;
}

static bool is_same_group(const struct param_entry *a, const struct param_entry *b) {
    return a->state == b->state && strcmp(a->reason, b->reason) == 0;
}

static void print_each(struct str *out, const struct param_entry *e) {
    struct str type = str_make(out->arena);
    const struct type *t = tensor_type(out->arena, e->tensor);
    if (t)
        type_print(&type, t);
    str_addf(out, "  %-9s %-30s %-16s %s\n", state_names[e->state], e->name, str_text(&type),
             e->reason);
}

// The group that entry i is the first of.
static void print_group(struct str *out, const struct param_list *list, size_t i) {
    const struct param_entry *first = &list->entries.at[i];
    struct str names = str_make(out->arena);
    int64_t n = 0, n_bytes = 0;
    for (size_t k = 0; k < i; k++)
        if (is_same_group(first, &list->entries.at[k]))
            return;
    for (size_t k = i; k < list->entries.n; k++) {
        const struct param_entry *e = &list->entries.at[k];
        if (!is_same_group(first, e))
            continue;
        if (n < MAX_NAMES)
            str_addf(&names, "%s%s", n ? ", " : "", e->name);
        n_bytes += e->n_bytes > 0 && e->n_bytes < INT64_MAX - n_bytes ? e->n_bytes : 0;
        n++;
    }
    str_addf(out, "  %-9s %5lld  ", state_names[first->state], (long long)n);
    str_add_bytes(out, n_bytes);
    str_addf(out, "  %s: %s%s\n", first->reason, str_text(&names), n > MAX_NAMES ? ", …" : "");
}

void inspect_params_print(struct str *out, const struct param_list *list, bool each) {
    if (list->entries.n)
        str_add(out, "training (by default; --train and --freeze choose)\n");
    for (int state = PARAM_TRAINED; state <= PARAM_FIXED; state++)
        for (size_t i = 0; i < list->entries.n; i++)
            if ((int)list->entries.at[i].state == state && each)
                print_each(out, &list->entries.at[i]);
            else if ((int)list->entries.at[i].state == state)
                print_group(out, list, i);
}

void inspect_params_json(struct json_writer *w, const struct param_list *list) {
    json_write_line(w);
    json_write_array(w, "training");
    for (size_t i = 0; i < list->entries.n; i++) {
        const struct param_entry *e = &list->entries.at[i];
        json_write_line(w);
        json_write_object(w, NULL);
        json_write_text(w, "name", e->name);
        json_write_text(w, "state", state_names[e->state]);
        json_write_text(w, "reason", e->reason);
        json_write_int_if(w, "bytes", e->n_bytes >= 0, e->n_bytes);
        json_write_end(w);
    }
    json_write_end(w);
}
