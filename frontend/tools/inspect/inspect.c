// The contents of a model: see inspect.h. One walk over all graphs, including the bodies of control
// flow and of functions, counts nodes by operator and adds up bytes; then they are printed.
#include "frontend/tools/inspect/inspect.h"

#include <stdlib.h>
#include <string.h>

#include "frontend/tools/inspect/inspect_params.h"
#include "frontend/tools/inspect/inspect_peaks.h"
#include "ir/base/checked.h"
#include "ir/base/file.h"
#include "ir/json/json_write.h"

struct operator_count {
    const char *domain, *type;
    int64_t n;
    bool known; // in mfc's table, or a function of the model
};

// A sum of sizes, some of which may be unknown.
struct tally {
    int64_t n_bytes;
    size_t n, n_unknown; // tensors; those without a size
    bool overflow;
};

struct inspection {
    struct arena *arena;
    const struct model *m;
    struct map index; // "domain\ntype" -> index in counts
    VEC(struct operator_count) counts;
    int64_t n_nodes, n_graphs;
    struct tally parameters, activations;
    struct param_list params;
    bool out_of_memory;
};

static void tally_add(struct tally *t, bool known, int64_t n_bytes) {
    t->n++;
    if (!known)
        t->n_unknown++;
    else if (!checked_add(t->n_bytes, n_bytes, &t->n_bytes))
        t->overflow = true;
}

static bool is_function(const struct model *m, const struct node *n) {
    for (size_t i = 0; i < m->functions.n; i++)
        if (strcmp(m->functions.at[i].domain, n->domain) == 0 &&
            strcmp(m->functions.at[i].name, n->type) == 0)
            return true;
    return false;
}

static void count_node(struct inspection *x, const struct node *n) {
    struct arena *a = x->arena;
    int64_t at;
    char *key = str_format(a, "%s\n%s", n->domain, n->type);
    x->n_nodes++;
    if (key && map_get_text(&x->index, key, &at)) {
        x->counts.at[at].n++;
        return;
    }
    struct operator_count fresh = {n->domain, n->type, 1,
                                   n->op != OP_UNKNOWN || is_function(x->m, n)};
    if (!key || !map_put_text(&x->index, key, (int64_t)x->counts.n) ||
        !VEC_PUSH(a, &x->counts, fresh))
        x->out_of_memory = true;
}

static void count_graph(struct inspection *x, const struct graph *g) {
    x->n_graphs++;
    for (size_t i = 0; i < x->params.entries.n && x->n_graphs == 1; i++) {
        const struct param_entry *e = &x->params.entries.at[i];
        if (!e->is_init && e->state != PARAM_FIXED) // weights in Constant nodes
            tally_add(&x->parameters, e->n_bytes >= 0, e->n_bytes);
    }
    for (size_t i = 0; i < g->inits.n; i++) {
        int64_t n_bytes = 0;
        bool known = tensor_bytes(graph_value(g, g->inits.at[i])->init, &n_bytes);
        tally_add(&x->parameters, known, n_bytes);
    }
    for (size_t i = 0; i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        count_node(x, n);
        for (uint32_t k = 0; k < n->n_out; k++) {
            int64_t n_bytes = 0;
            if (n->out[k].i == 0)
                continue;
            const struct type *t = graph_value(g, n->out[k])->type;
            bool known = t && type_bytes(t, &n_bytes);
            tally_add(&x->activations, known, n_bytes);
        }
        for (uint32_t k = 0; k < n->n_attrs; k++) {
            const struct attr *at = &n->attrs[k];
            if (at->kind == ATTR_GRAPH && at->g)
                count_graph(x, at->g);
            for (size_t j = 0; at->kind == ATTR_GRAPHS && j < at->n; j++)
                count_graph(x, at->graphs[j]);
        }
    }
}

static int by_count(const void *a, const void *b) {
    const struct operator_count *x = a, *y = b;
    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    int order = strcmp(x->domain, y->domain);
    return order ? order : strcmp(x->type, y->type);
}

static void print_operator(struct str *out, const struct operator_count *o) {
    struct str name = str_make(out->arena);
    if (*o->domain)
        str_addf(&name, "%s::", o->domain);
    str_add(&name, o->type);
    str_addf(out, "  %-30s %8lld\n", str_text(&name), (long long)o->n);
}

static void print_tally(struct str *out, const char *what, const struct tally *t) {
    str_addf(out, "  %-14s ", what);
    if (t->overflow)
        str_add(out, "more than 2^63 bytes");
    else
        str_add_bytes(out, t->n_bytes);
    str_addf(out, " in %zu tensor%s", t->n - t->n_unknown, t->n - t->n_unknown == 1 ? "" : "s");
    if (t->n_unknown)
        str_addf(out, "; %zu more without a declared size", t->n_unknown);
    str_add_char(out, '\n');
}

static void print_values(struct str *out, const char *what, const struct graph *g,
                         const value_id *at, size_t n) {
    str_addf(out, "%s\n", what);
    for (size_t i = 0; i < n; i++) {
        const struct value *v = graph_value(g, at[i]);
        if (v->init)
            continue; // has a default, which counts as a parameter
        str_addf(out, "  %-30s ", v->name);
        if (v->type)
            type_print(out, v->type);
        else
            str_add(out, "?");
        str_add_char(out, '\n');
    }
}

static void print_head(struct str *out, const struct model *m) {
    str_addf(out, "%s\n", m->path ? m->path : "model");
    if (m->ir_version > 0)
        str_addf(out, "  %-14s %lld\n", "IR version", (long long)m->ir_version);
    if (m->producer && *m->producer)
        str_addf(out, "  %-14s %s%s%s\n", "producer", m->producer, m->producer_version ? " " : "",
                 m->producer_version ? m->producer_version : "");
    for (size_t i = 0; i < m->opsets.n; i++) {
        const char *domain = m->opsets.at[i].domain;
        str_addf(out, "  %-14s %s %lld\n", "opset", domain && *domain ? domain : "ai.onnx",
                 (long long)m->opsets.at[i].version);
    }
    if (m->functions.n)
        str_addf(out, "  %-14s %zu\n", "functions", m->functions.n);
}

static void print_inspection(struct str *out, const struct inspection *x) {
    const struct graph *g = x->m->graph;
    size_t n_unknown = 0;
    print_head(out, x->m);
    print_values(out, "inputs", g, g->inputs.at, g->inputs.n);
    print_values(out, "outputs", g, g->outputs.at, g->outputs.n);
    str_addf(out, "nodes %35lld\n", (long long)x->n_nodes);
    for (size_t i = 0; i < x->counts.n; i++)
        print_operator(out, &x->counts.at[i]);
    str_add(out, "memory\n");
    print_tally(out, "parameters", &x->parameters);
    print_tally(out, "activations", &x->activations);
    for (size_t i = 0; i < x->counts.n; i++) {
        if (x->counts.at[i].known)
            continue;
        if (n_unknown++ == 0)
            str_add(out, "unknown operators (kept unchanged; not differentiable)\n");
        print_operator(out, &x->counts.at[i]);
    }
}

// ---- JSON ----

static void json_tally(struct json_writer *w, const char *what, const struct tally *t) {
    json_write_line(w);
    json_write_object(w, what);
    json_write_int_if(w, "bytes", !t->overflow, t->n_bytes);
    json_write_int(w, "tensors", (int64_t)t->n);
    json_write_int(w, "without_size", (int64_t)t->n_unknown);
    json_write_end(w);
}

static void json_values(struct json_writer *w, const char *what, const struct graph *g,
                        const value_id *at, size_t n) {
    json_write_line(w);
    json_write_array(w, what);
    for (size_t i = 0; i < n; i++) {
        const struct value *v = graph_value(g, at[i]);
        struct str type = str_make(w->out->arena);
        if (v->init)
            continue;
        if (v->type)
            type_print(&type, v->type);
        json_write_line(w);
        json_write_object(w, NULL);
        json_write_text(w, "name", v->name);
        json_write_text(w, "type", v->type ? str_text(&type) : "?");
        json_write_end(w);
    }
    json_write_end(w);
}

static void json_head(struct json_writer *w, const struct model *m) {
    json_write_line(w);
    json_write_text(w, "path", m->path ? m->path : "");
    json_write_line(w);
    json_write_int(w, "ir_version", m->ir_version);
    json_write_line(w);
    json_write_text(w, "producer", m->producer ? m->producer : "");
    json_write_line(w);
    json_write_array(w, "opsets");
    for (size_t i = 0; i < m->opsets.n; i++) {
        const char *domain = m->opsets.at[i].domain;
        json_write_object(w, NULL);
        json_write_text(w, "domain", domain && *domain ? domain : "ai.onnx");
        json_write_int(w, "version", m->opsets.at[i].version);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_line(w);
    json_write_int(w, "functions", (int64_t)m->functions.n);
}

static void json_operators(struct json_writer *w, const struct inspection *x) {
    json_write_line(w);
    json_write_int(w, "nodes", x->n_nodes);
    json_write_line(w);
    json_write_array(w, "operators");
    for (size_t i = 0; i < x->counts.n; i++) {
        const struct operator_count *o = &x->counts.at[i];
        json_write_line(w);
        json_write_object(w, NULL);
        json_write_text(w, "domain", *o->domain ? o->domain : "ai.onnx");
        json_write_text(w, "operator", o->type);
        json_write_int(w, "nodes", o->n);
        json_write_bool(w, "known", o->known);
        json_write_end(w);
    }
    json_write_end(w);
}

static void json_inspection(struct str *out, const struct inspection *x,
                            const struct inspect_peaks *peaks) {
    const struct graph *g = x->m->graph;
    struct json_writer w = json_write_document(out, JSON_WRITE_COMPACT, "mfc-inspection");
    json_head(&w, x->m);
    json_values(&w, "inputs", g, g->inputs.at, g->inputs.n);
    json_values(&w, "outputs", g, g->outputs.at, g->outputs.n);
    json_operators(&w, x);
    json_tally(&w, "parameters", &x->parameters);
    json_tally(&w, "activations", &x->activations);
    if (peaks)
        inspect_peaks_json(&w, peaks);
    inspect_params_json(&w, &x->params);
    json_write_finish(&w);
}

static status inspect(struct arena *a, struct diags *d, const struct model *m,
                      const struct options *o, struct inspection *x) {
    *x = (struct inspection){.arena = a, .m = m, .index = map_make(a)};
    x->params = inspect_params(m, o, a);
    x->out_of_memory = x->params.out_of_memory;
    count_graph(x, m->graph);
    for (size_t i = 0; i < m->functions.n; i++)
        count_graph(x, m->functions.at[i].body);
    if (x->counts.n)
        qsort(x->counts.at, x->counts.n, sizeof *x->counts.at, by_count);
    return x->out_of_memory ? diag_out_of_memory(d) : ST_OK;
}

status inspect_print(struct str *out, const struct model *m, const struct options *o,
                     struct diags *d) {
    struct inspection x;
    status st = inspect(out->arena, d, m, o, &x);
    if (st)
        return st;
    print_inspection(out, &x);
    inspect_params_print(out, &x.params, options_flag(o, "parameters"));
    return ST_OK;
}

status inspect_write(const struct model *m, const struct inspect_peaks *peaks, const char *path,
                     struct arena *a, struct diags *d) {
    struct inspection x;
    struct str json = str_make(a);
    status st = inspect(a, d, m, NULL, &x);
    if (st)
        return st;
    json_inspection(&json, &x, peaks);
    return output_text(a, d, path, &json);
}
