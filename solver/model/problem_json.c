// Problems from mfc-problem JSON (docs/solver.md): the members are read into plain arrays, and
// problem_link does all checks that do not depend on the file format.
#include "solver/model/problem_json.h"

// What a message about a node needs; the text is made only when there is something to say.
struct reader {
    struct arena *arena;
    struct diags *diags;
    const char *file;
    struct problem *p;
};

static status node_error(const struct reader *r, size_t i, const char *key, const char *what) {
    char path[32];
    snprintf(path, sizeof path, "node %zu", i);
    return diag_error(r->diags, DIAG_MALFORMED, loc_path(r->file, path), "\"%s\" %s", key, what);
}

static status node_int(const struct reader *r, size_t i, const json_t *node, const char *key,
                       bool required, int64_t *out) {
    const json_t *value = json_object_get(node, key);
    if (!value)
        return required ? node_error(r, i, key, "is missing") : ST_OK;
    if (!json_as_int(value, out))
        return node_error(r, i, key, "is not an integer that fits in 64 bits");
    return *out < 0 ? node_error(r, i, key, "is negative") : ST_OK;
}

bool problem_has_modes(const json_t *root) {
    const json_t *node;
    size_t k;
    json_array_foreach(json_object_get(root, "nodes"), k, node) {
        if (json_object_get(node, "modes"))
            return true;
    }
    return false;
}

// A plain cost, or one per kind of device, {"gpu": 3, "cpu": 40}: then the least of them.
static status node_cost(const struct reader *r, size_t i, const json_t *node, int64_t *out) {
    const json_t *by_kind = json_object_get(node, "cost");
    if (!json_is_object(by_kind))
        return node_int(r, i, node, "cost", !json_object_get(node, "modes"), out);
    status st = json_object_size(by_kind) > 0 ? ST_OK : node_error(r, i, "cost", "has no kinds");
    *out = INT64_MAX;
    const char *kind;
    const json_t *value;
    json_object_foreach((json_t *)by_kind, kind, value) {
        int64_t cost = 0;
        status one = node_int(r, i, by_kind, kind, true, &cost);
        st = one == ST_OK ? st : one;
        *out = cost < *out ? cost : *out;
    }
    return st;
}

static status node_bool(const struct reader *r, size_t i, const json_t *node, const char *key,
                        bool *out) {
    const json_t *value = json_object_get(node, key);
    if (!value)
        return ST_OK;
    if (!json_is_boolean(value))
        return node_error(r, i, key, "is neither true nor false");
    *out = json_is_true(value);
    return ST_OK;
}

static status read_node(const struct reader *r, const json_t *node, size_t i) {
    struct problem *p = r->p;
    if (!json_is_object(node))
        return node_error(r, i, "nodes", "has something here that is not an object");
    const json_t *name = json_object_get(node, "name");
    if (name && !json_is_string(name))
        return node_error(r, i, "name", "is not a string");
    if (name) {
        p->name[i] = arena_copy(r->arena, json_string_value(name), json_string_length(name) + 1);
        if (!p->name[i])
            return diag_out_of_memory(r->diags);
    }
    if (json_object_get(node, "backward"))
        p->has_forward = true;
    // Every field is looked at, so that one run shows all mistakes.
    status st[6] = {
        node_cost(r, i, node, &p->cost[i]),
        node_int(r, i, node, "bytes", !json_object_get(node, "modes"), &p->bytes[i]),
        node_int(r, i, node, "workspace", false, &p->workspace[i]),
        node_bool(r, i, node, "keep", &p->keep[i]),
        node_bool(r, i, node, "once", &p->once[i]),
        node_bool(r, i, node, "backward", &p->backward[i]),
    };
    for (size_t k = 0; k < sizeof st / sizeof *st; k++)
        if (st[k] != ST_OK)
            return st[k];
    return ST_OK;
}

static status read_nodes(const struct reader *r, const json_t *nodes) {
    status worst = ST_OK;
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        status st = read_node(r, json_array_get(nodes, i), i);
        if (st == ST_LIMIT)
            return st;
        if (st != ST_OK)
            worst = st;
    }
    return worst;
}

static status read_edges(const struct reader *r, const json_t *edges, struct problem_edge **out) {
    size_t n = json_array_size(edges);
    *out = ARENA_ARRAY(r->arena, struct problem_edge, n);
    if (!*out)
        return diag_out_of_memory(r->diags);
    for (size_t k = 0; k < n; k++) {
        const json_t *edge = json_array_get(edges, k);
        int64_t from = -1, to = -1;
        if (json_array_size(edge) != 2 || !json_as_int(json_array_get(edge, 0), &from) ||
            !json_as_int(json_array_get(edge, 1), &to) || from < 0 || to < 0 || from >= r->p->n ||
            to >= r->p->n)
            return diag_error(r->diags, DIAG_MALFORMED, loc_file(r->file),
                              "edge %zu is not a pair [producer, consumer] of node numbers 0 .. %d",
                              k, r->p->n - 1);
        (*out)[k] = (struct problem_edge){(int32_t)from, (int32_t)to};
    }
    return ST_OK;
}

static status read_keep(const struct reader *r, const json_t *keep) {
    if (keep && !json_is_array(keep))
        return diag_error(r->diags, DIAG_MALFORMED, loc_file(r->file),
                          "\"keep\" is not a list of node numbers");
    for (size_t k = 0; k < json_array_size(keep); k++) {
        int64_t i = -1;
        if (!json_as_int(json_array_get(keep, k), &i) || i < 0 || i >= r->p->n)
            return diag_error(r->diags, DIAG_MALFORMED, loc_file(r->file),
                              "entry %zu of \"keep\" is not a node number 0 .. %d", k, r->p->n - 1);
        r->p->keep[i] = true;
    }
    return ST_OK;
}

// "forward": k says that the nodes from number k on are the backward pass.
static status read_forward(const struct reader *r, const json_t *forward) {
    if (!forward)
        return ST_OK;
    int64_t k = -1;
    if (!json_as_int(forward, &k) || k < 0 || k > r->p->n)
        return diag_error(r->diags, DIAG_MALFORMED, loc_file(r->file),
                          "\"forward\" is not a count of nodes 0 .. %d", r->p->n);
    r->p->has_forward = true;
    for (int64_t i = k; i < r->p->n; i++)
        r->p->backward[i] = true;
    return ST_OK;
}

status problem_of_json(struct arena *a, struct diags *d, const char *file, const json_t *root,
                       struct problem *out) {
    status st = json_check_format(d, file, root, "mfc-problem");
    if (st != ST_OK)
        return st;
    const json_t *nodes = json_object_get(root, "nodes"), *edges = json_object_get(root, "edges");
    if (!json_is_array(nodes) || !json_is_array(edges))
        return diag_error(d, DIAG_MALFORMED, loc_file(file),
                          "\"nodes\" and \"edges\" must both be there, and be lists");
    st = problem_alloc(a, d, (int64_t)json_array_size(nodes), out);
    if (st != ST_OK)
        return st;
    struct reader r = {a, d, file, out};
    struct problem_edge *pairs = NULL;
    st = json_get_int(d, loc_file(file), root, "fixed_bytes", &out->persistent_bytes);
    if (st == ST_OK)
        st = read_nodes(&r, nodes);
    if (st == ST_OK)
        st = read_keep(&r, json_object_get(root, "keep"));
    if (st == ST_OK)
        st = read_forward(&r, json_object_get(root, "forward"));
    if (st == ST_OK)
        st = read_edges(&r, edges, &pairs);
    if (st == ST_OK)
        st = problem_link(a, d, pairs, (int64_t)json_array_size(edges), file, out);
    return st;
}

status problem_read_json(struct arena *a, struct diags *d, const struct source *json,
                         struct problem *out) {
    struct arena scratch = arena_make(a->mem);
    json_t *root = NULL;
    status st = json_read(&scratch, d, json, &root);
    arena_free(&scratch);
    if (st == ST_OK && problem_has_modes(root))
        st = diag_error(d, DIAG_UNSUPPORTED, loc_file(json->path),
                        "its nodes have modes: it is a problem for mfc place");
    if (st == ST_OK)
        st = problem_of_json(a, d, json->path, root, out);
    json_decref(root);
    return st;
}
