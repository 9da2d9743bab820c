// Attributes: AttributeProto to struct attr.
#include "frontend/onnx/reader.h"

// Files older than IR version 3 have no type field: the kind follows from the field that is set.
static enum attr_kind infer_kind(const Onnx__AttributeProto *p) {
    return p->has_f              ? ATTR_FLOAT
           : p->has_i            ? ATTR_INT
           : p->has_s            ? ATTR_STRING
           : p->t                ? ATTR_TENSOR
           : p->g                ? ATTR_GRAPH
           : p->n_floats         ? ATTR_FLOATS
           : p->n_ints           ? ATTR_INTS
           : p->n_strings        ? ATTR_STRINGS
           : p->n_tensors        ? ATTR_TENSORS
           : p->n_graphs         ? ATTR_GRAPHS
           : p->sparse_tensor    ? ATTR_SPARSE
           : p->n_sparse_tensors ? ATTR_SPARSES
           : p->tp               ? ATTR_TYPE
           : p->n_type_protos    ? ATTR_TYPES
                                 : ATTR_NONE;
}

// The number of value fields that are set.
static int n_values(const Onnx__AttributeProto *p) {
    return (p->has_f != 0) + (p->has_i != 0) + (p->has_s != 0) + (p->t != NULL) + (p->g != NULL) +
           (p->n_floats > 0) + (p->n_ints > 0) + (p->n_strings > 0) + (p->n_tensors > 0) +
           (p->n_graphs > 0) + (p->sparse_tensor != NULL) + (p->n_sparse_tensors > 0) +
           (p->tp != NULL) + (p->n_type_protos > 0);
}

static struct graph *read_subgraph(struct reader *r, const struct reader_path *where,
                                   struct graph *outer, const Onnx__GraphProto *p) {
    struct graph *g = reader_require(r, graph_new(r->m, outer));
    if (g)
        reader_graph(r, where, g, p);
    return g;
}

static void read_single(struct reader *r, const struct reader_path *where, struct graph *g,
                        const Onnx__AttributeProto *p, struct attr *a) {
    a->n = 1;
    bool is_set = true;
    switch (a->kind) {
    case ATTR_FLOAT:
        a->f = p->f;
        break;
    case ATTR_INT:
        a->i = p->i;
        break;
    case ATTR_STRING:
        a->s = reader_bytes(r, p->s.data, p->s.len);
        break;
    case ATTR_TENSOR:
        if ((is_set = p->t))
            a->t = reader_tensor(r, where, p->t);
        break;
    case ATTR_GRAPH:
        if ((is_set = p->g))
            a->g = read_subgraph(r, where, g, p->g);
        break;
    case ATTR_SPARSE:
        if ((is_set = p->sparse_tensor))
            a->sparse = reader_sparse(r, where, p->sparse_tensor);
        break;
    default: // ATTR_TYPE
        if ((is_set = p->tp))
            a->type = reader_type(r, where, p->tp);
        break;
    }
    if (!is_set)
        reader_error(r, DIAG_MALFORMED, where, "the attribute has no value");
}

static void read_list(struct reader *r, const struct reader_path *where, struct graph *g,
                      const Onnx__AttributeProto *p, struct attr *a) {
    struct arena *to = r->a;
    size_t n = 0;
    switch (a->kind) {
    case ATTR_FLOATS:
        n = p->n_floats;
        a->floats = reader_require(r, arena_copy(to, p->floats, n * sizeof *p->floats));
        break;
    case ATTR_INTS:
        n = p->n_ints;
        a->ints = reader_require(r, arena_copy(to, p->ints, n * sizeof *p->ints));
        break;
    case ATTR_STRINGS:
        if ((a->strings = reader_require(r, ARENA_ARRAY(to, struct bytes, p->n_strings))))
            for (; n < p->n_strings; n++)
                a->strings[n] = reader_bytes(r, p->strings[n].data, p->strings[n].len);
        break;
    case ATTR_TENSORS:
        if ((a->tensors = reader_require(r, ARENA_ARRAY(to, struct tensor *, p->n_tensors))))
            for (; n < p->n_tensors; n++)
                a->tensors[n] = reader_tensor(r, where, p->tensors[n]);
        break;
    case ATTR_GRAPHS:
        if ((a->graphs = reader_require(r, ARENA_ARRAY(to, struct graph *, p->n_graphs))))
            for (; n < p->n_graphs; n++)
                a->graphs[n] = read_subgraph(r, where, g, p->graphs[n]);
        break;
    case ATTR_SPARSES:
        if ((a->sparses = reader_require(r, ARENA_ARRAY(to, struct sparse *, p->n_sparse_tensors))))
            for (; n < p->n_sparse_tensors; n++)
                a->sparses[n] = reader_sparse(r, where, p->sparse_tensors[n]);
        break;
    default: // ATTR_TYPES
        if ((a->types = reader_require(r, ARENA_ARRAY(to, const struct type *, p->n_type_protos))))
            for (; n < p->n_type_protos; n++)
                a->types[n] = reader_type(r, where, p->type_protos[n]);
        break;
    }
    a->n = n;
}

static struct attr read_attr(struct reader *r, const struct reader_path *where, struct graph *g,
                             const Onnx__AttributeProto *p) {
    struct attr a = {.name = reader_name(r, p->name),
                     .doc = reader_name(r, p->doc_string),
                     .ref = reader_name(r, p->ref_attr_name),
                     .kind = (enum attr_kind)p->type,
                     .extra = reader_extra(r, &p->base)};
    bool is_ref = a.ref && *a.ref;
    if (!p->name || !*p->name)
        reader_error(r, DIAG_MALFORMED, where, "the attribute has no name");
    if ((int)p->type < 0 || (int)p->type > ATTR_TYPES) {
        reader_error(r, DIAG_UNSUPPORTED, where, "mfc does not support attribute type %d",
                     (int)p->type);
        a.kind = ATTR_NONE;
        return a;
    }
    if (is_ref)
        return a;
    if (a.kind == ATTR_NONE)
        a.kind = infer_kind(p);
    if (a.kind == ATTR_NONE)
        reader_error(r, DIAG_MALFORMED, where, "the attribute has neither type nor value");
    else if (attr_is_list(a.kind))
        read_list(r, where, g, p, &a);
    else
        read_single(r, where, g, p, &a);
    // An empty list sets no field, so at most one field is set.
    if (n_values(p) > 1)
        reader_error(r, DIAG_MALFORMED, where, "the attribute has values of several types");
    return a;
}

struct attr *reader_attrs(struct reader *r, const struct reader_path *where, struct graph *g,
                          Onnx__AttributeProto *const *at, size_t n) {
    struct attr *attrs = reader_require(r, ARENA_ARRAY(r->a, struct attr, n));
    for (size_t i = 0; attrs && i < n; i++) {
        struct reader_path here = {.in = where, .what = "attribute", .name = at[i]->name};
        attrs[i] = read_attr(r, &here, g, at[i]);
    }
    return attrs;
}
