// The graph. Nodes and values are identified by indices into its arrays; 0 is "none", so zeroed
// memory is empty. Ids stay valid for the life of the graph: a removed node keeps its id, and
// `order` lists the nodes that remain.
//
// A model owns everything, in one arena and one pool of names. Names, operator types and domains
// are interned in the pool: equal names are equal pointers.
#pragma once

#include <assert.h>

#include "ir/base/diag.h"
#include "ir/base/map.h"
#include "ir/base/mem.h"
#include "ir/base/str.h"
#include "ir/fact.h"
#include "ir/op.h"
#include "ir/tensor.h"
#include "ir/type.h"

typedef struct {
    uint32_t i;
} value_id;
typedef struct {
    uint32_t i;
} node_id;

#define VALUE_NONE ((value_id){0})
#define NODE_NONE  ((node_id){0})

struct graph;
struct model;

// The values are AttributeProto.AttributeType's.
enum attr_kind {
    ATTR_NONE = 0, // a reference to a function's attribute may leave its kind open
    ATTR_FLOAT = 1,
    ATTR_INT = 2,
    ATTR_STRING = 3,
    ATTR_TENSOR = 4,
    ATTR_GRAPH = 5,
    ATTR_FLOATS = 6,
    ATTR_INTS = 7,
    ATTR_STRINGS = 8,
    ATTR_TENSORS = 9,
    ATTR_GRAPHS = 10,
    ATTR_SPARSE = 11,
    ATTR_SPARSES = 12,
    ATTR_TYPE = 13,
    ATTR_TYPES = 14,
};

struct attr {
    const char *name, *doc;
    const char *ref; // inside a function: the attribute of the function that gives the value
    enum attr_kind kind;
    size_t n; // elements of a list; 1 if it is not a list
    union {
        float f;
        int64_t i;
        struct bytes s;
        struct tensor *t;
        struct graph *g;
        struct sparse *sparse;
        const struct type *type;
        float *floats;
        int64_t *ints;
        struct bytes *strings;
        struct tensor **tensors;
        struct graph **graphs;
        struct sparse **sparses;
        const struct type **types;
    };
    struct bytes extra;
};

// An element of a tensor of shape arithmetic: a number or a symbolic dimension.
struct term {
    int64_t x;
    bool known;
    const char *symbol; // if not known; NULL: unknown
};

struct value {
    const char *name;            // unique in its graph
    const struct type *type;     // NULL: unknown
    const struct type *declared; // with a shape that inference has found to be wrong, or NULL
    node_id def;                 // its producer; none for inputs, initializers and outer values
    uint32_t def_slot;           // index among the outputs of the producer
    struct tensor *init;         // the initializer, or NULL
    struct sparse *sparse_init;
    // Statically known elements of a small integer tensor, from shape arithmetic: as many as the
    // type has elements. NULL: unknown.
    const struct term *content;
    value_id outer;   // in a subgraph: the captured value of the enclosing graph
    bool is_captured; // by a subgraph, now or before
    bool is_constant; // an initializer that is not a parameter: never trained
    bool is_input;    // in graph.inputs (also an initializer that a caller may override)
    bool is_output;   // in graph.outputs
    bool has_info;    // in graph.infos: value_info declares its type
    const char *doc;  // of its ValueInfo
    struct pairs metadata;
    struct bytes extra;
};

struct node {
    enum op op;
    const char *type, *domain, *overload; // operator; domain "" is ai.onnx
    const char *name, *doc;               // name may be NULL or shared by several nodes
    value_id *in, *out;                   // VALUE_NONE: an omitted optional operand
    uint32_t n_in, n_out;
    struct attr *attrs;
    uint32_t n_attrs;
    struct pairs metadata;
    struct bytes devices; // device_configurations, as in the file
    struct bytes extra;
    // Added by planning.
    bool removed;
    node_id again; // the node that it recomputes, or none
    int64_t cost;  // time units; -1: unknown
    int64_t workspace_bytes;
    uint32_t device; // 0: not placed; else model.device_names[device - 1]
};

struct graph {
    struct model *model;
    struct graph *outer; // enclosing graph, or NULL
    const char *name, *doc;
    VEC(struct value) values; // [0] is unused
    VEC(struct node) nodes;   // [0] is unused
    VEC(node_id) order;       // the nodes without the removed ones, in execution order
    VEC(value_id) inputs;
    VEC(value_id) outputs;
    VEC(value_id) inits; // values with an initializer, in file order
    VEC(value_id) sparse_inits;
    VEC(value_id) infos;            // values with declared value_info, in file order
    struct map by_name;             // name -> value
    struct map fresh;               // stem -> last number that graph_fresh_name appended
    VEC(struct bytes) quantization; // annotations, each as in the file
    struct pairs metadata;
    struct bytes extra;
};

struct opset {
    const char *domain;
    int64_t version;
    struct bytes extra;
};

struct function {
    const char *name, *domain, *overload, *doc;
    const char **attrs; // names of the attributes without a default
    size_t n_attrs;
    struct attr *defaults;
    size_t n_defaults;
    struct opset *opsets;
    size_t n_opsets;
    struct graph *body; // its inputs and outputs are those of the function
    struct pairs metadata;
    struct bytes extra;
};

struct model {
    struct arena *arena;
    struct pool *pool;
    const char *path; // of its file, for messages; NULL: made in memory
    int64_t ir_version;
    const char *producer, *producer_version, *domain, *doc; // NULL when absent
    int64_t version;
    VEC(struct opset) opsets;
    VEC(struct function) functions;
    struct pairs metadata;
    struct graph *graph;
    VEC(struct span) training;        // training_info, each as in the file
    VEC(struct bytes) configurations; // device configurations, each as in the file
    VEC(const char *) device_names;
    struct bytes extra;
    VEC(struct source *) sources; // open files with the bytes of its spans; model_close closes them
    unsigned facts;
    bool is_wrapped; // in its file the graph is in a branch of an If (ir/wrapper/unwrap.h)
};

// An empty model with an empty graph; the caller sets ir_version and opsets. NULL: out of memory.
struct model *model_new(struct arena *a, struct pool *names);
void model_close(struct model *m); // closes its files; may be NULL; the caller frees the arena
struct graph *graph_new(struct model *m, struct graph *outer);
// Room for so many more, of a graph whose size is known. False: out of memory.
bool graph_reserve(struct graph *g, size_t n_values, size_t n_nodes);
int64_t model_opset(const struct model *m, const char *domain); // 0: not imported

static inline struct value *graph_value(const struct graph *g, value_id v) {
    assert(v.i < g->values.n);
    return &g->values.at[v.i];
}
static inline struct node *graph_node(const struct graph *g, node_id n) {
    assert(n.i < g->nodes.n);
    return &g->nodes.at[n.i];
}
static inline bool attr_is_list(enum attr_kind k) {
    return (k >= ATTR_FLOATS && k <= ATTR_GRAPHS) || k == ATTR_SPARSES || k == ATTR_TYPES;
}
static inline bool value_same(value_id a, value_id b) {
    return a.i == b.i;
}

// Lists of ids that belong to the caller.
struct values {
    const value_id *at;
    uint32_t n;
};

struct node_list {
    const node_id *at;
    size_t n;
};

// Construction. Each function returns none, NULL or false when it is out of memory; graph_add_value
// and graph_rename also if the name is taken (see graph_find).
value_id graph_add_value(struct graph *g, const char *name, const struct type *type);
// The value with this name in this graph, without the enclosing graphs.
value_id graph_find(const struct graph *g, const char *name);
// The same in this graph or an enclosing one; captures the value in all graphs in between.
value_id graph_resolve(struct graph *g, const char *name);
// Makes v of a subgraph the value of the enclosing graph that has its name.
void graph_capture(struct graph *sub, value_id v, value_id outer);
// Renames a value, also where subgraphs capture it.
bool graph_rename(struct graph *g, value_id v, const char *name);
// `like` if it is free in this graph and the enclosing ones, else `like` with a number appended.
const char *graph_fresh_name(struct graph *g, const char *like);
// Appends a node to the order. `in` and `out` are copied. The node becomes the producer of its
// outputs; model_verify reports a value with two producers.
node_id graph_add_node(struct graph *g, const char *domain, const char *type, struct values in,
                       struct values out);
bool graph_set_attr(struct graph *g, node_id n, struct attr a); // adds or replaces by name
bool graph_add_input(struct graph *g, value_id v);
bool graph_add_output(struct graph *g, value_id v);
void graph_remove_input(struct graph *g, value_id v); // the value stays, with what it is besides
bool graph_add_init(struct graph *g, value_id v, struct tensor *t);
// Removes the initializers of values v without kept[v].
void graph_keep_inits(struct graph *g, const bool *kept);
// Marks a node as removed; graph_sweep then takes all marked nodes out of the order at once.
void graph_remove_node(struct graph *g, node_id n);
void graph_sweep(struct graph *g);

// Queries. The value of an attribute is `otherwise` if it is absent or of another kind.
const struct attr *node_attr(const struct node *n, const char *name);
int64_t node_int(const struct node *n, const char *name, int64_t otherwise);
double node_real(const struct node *n, const char *name, double otherwise);
const char *node_text(const struct graph *g, const struct node *n, const char *name,
                      const char *otherwise);
// The name of a node, or else of its first output, or else of its operator.
const char *node_called(const struct graph *g, node_id n);
// "graph/node 17 (Conv conv1)", for messages.
const char *node_path(const struct graph *g, node_id n, struct arena *a);
// The subgraphs of a node, numbered from 0; NULL: it has no more.
struct graph *node_subgraph(const struct node *n, size_t k);
// Visits the values that the subgraphs of a node capture from its graph.
typedef void visit_use(void *to, value_id v, node_id user);
void node_captured(const struct graph *g, node_id user, visit_use *visit, void *to);

// Use lists: the users of v are node[start[v.i] .. start[v.i + 1] - 1], in execution order, once
// per operand. A node whose subgraph captures v is a user. Linear time; false: out of memory.
struct uses {
    uint32_t *start;
    node_id *node;
};
bool graph_uses(const struct graph *g, struct arena *a, struct uses *out);

// Sorts `order` topologically; an order that is topological already stays the same (topo.c). A
// cycle is an error that names its nodes.
status graph_sort(struct graph *g, struct diags *d);

// The structural verifier (verify.c): ids in range, unique names, single producers, topological
// order, arity by the operator table, including subgraphs and functions. Linear time; reports all
// errors.
status model_verify(const struct model *m, struct diags *d);
