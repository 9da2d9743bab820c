// The graph. Nodes and values are small integers into its arrays; 0 is "none", so zeroed memory is
// empty. Ids stay valid for the life of the graph: what is removed leaves a hole (`order` lists
// what is there).
//
// A model owns everything: one arena, one pool of names. Names, operator types and domains are
// interned in it, so equal names are equal pointers.
#pragma once

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
    const char *ref; // inside a function: the name of the function's attribute that it stands for
    enum attr_kind kind;
    size_t n; // of a list; 1 for a single one
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

// An element of a tensor that shape arithmetic computes: a number, or the size that a symbol stands
// for.
struct term {
    int64_t x;
    bool known;
    const char *symbol; // when not known; NULL: nothing is known
};

struct value {
    const char *name;        // unique in its graph
    const struct type *type; // NULL: nothing is known
    node_id def;             // the node that makes it; none for inputs, constants and outer values
    uint32_t def_slot;       // which of that node's outputs
    struct tensor *init;     // the initializer, or NULL
    struct sparse *sparse_init;
    // The elements of a small integer tensor as far as they are known before anything runs: what
    // shape arithmetic computes. As many as the type has elements; NULL: unknown.
    const struct term *content;
    value_id outer;   // in a subgraph: the value of the enclosing graph that this one stands for
    bool is_constant; // an initializer that is no parameter: never trained
    bool is_input;    // listed in graph.inputs (an initializer that is one too can be overridden)
    bool is_output;   // listed in graph.outputs
    bool has_info;    // listed in graph.infos: the type was declared in value_info
    const char *doc;  // of its ValueInfo
    struct pairs metadata;
    struct bytes extra;
};

struct node {
    enum op op;
    const char *type, *domain, *overload; // operator; domain "" is ai.onnx
    const char *name, *doc;               // name may be NULL or shared by several nodes
    value_id *in, *out;                   // VALUE_NONE where an optional one is left out
    uint32_t n_in, n_out;
    struct attr *attrs;
    uint32_t n_attrs;
    struct pairs metadata;
    struct bytes devices; // device_configurations, as in the file
    struct bytes extra;
    // What planning adds.
    bool removed;
    node_id again; // recomputes that node
    int64_t cost;  // time units; -1: not known
    int64_t workspace_bytes;
    uint32_t device; // 0: not placed; else model.device_names[device - 1]
};

struct graph {
    struct model *model;
    struct graph *outer; // enclosing graph, or NULL
    const char *name, *doc;
    VEC(struct value) values; // [0] is unused
    VEC(struct node) nodes;   // [0] is unused
    VEC(node_id) order;       // the nodes that are there, in the order in which they run
    VEC(value_id) inputs;
    VEC(value_id) outputs;
    VEC(value_id) inits; // values with an initializer, in file order
    VEC(value_id) sparse_inits;
    VEC(value_id) infos;            // values with declared value_info, in file order
    struct map by_name;             // name -> value
    struct map fresh;               // stem -> the last number that graph_fresh_name gave it
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
    const char **attrs; // names of its parameters without a default
    size_t n_attrs;
    struct attr *defaults;
    size_t n_defaults;
    struct opset *opsets;
    size_t n_opsets;
    struct graph *body; // inputs and outputs are the function's
    struct pairs metadata;
    struct bytes extra;
};

struct model {
    struct arena *arena;
    struct pool *pool;
    const char *path; // where it came from, for messages; NULL: made in memory
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
    VEC(struct source *) sources; // the open files that its spans point into; model_close ends them
    unsigned facts;
};

// An empty model with an empty graph; ir_version and opsets are the caller's to set. NULL: no room.
struct model *model_new(struct arena *a, struct pool *names);
void model_close(struct model *m); // closes its files; may be NULL; the arena is the caller's
struct graph *graph_new(struct model *m, struct graph *outer);
int64_t model_opset(const struct model *m, const char *domain); // 0: not imported

static inline struct value *graph_value(const struct graph *g, value_id v) {
    return &g->values.at[v.i];
}
static inline struct node *graph_node(const struct graph *g, node_id n) {
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

// Adding. Each returns none when there is no room, or the name is taken (graph_add_value; ask
// graph_find first).
value_id graph_add_value(struct graph *g, const char *name, const struct type *type);
value_id graph_find(const struct graph *g, const char *name); // in this graph only
value_id graph_resolve(struct graph *g,
                       const char *name); // also through the enclosing graphs: makes an outer value
bool graph_rename(struct graph *g, value_id v,
                  const char *name); // false: the name is taken, or no room
const char *graph_fresh_name(struct graph *g,
                             const char *like); // `like`, or `like` with a number behind it
// A node at the end of the order. `in` and `out` are copied; the outputs must have no producer yet.
node_id graph_add_node(struct graph *g, const char *domain, const char *type, struct values in,
                       struct values out);
bool graph_set_attr(struct graph *g, node_id n, struct attr a); // adds or replaces by name
bool graph_add_input(struct graph *g, value_id v);
bool graph_add_output(struct graph *g, value_id v);
bool graph_add_init(struct graph *g, value_id v, struct tensor *t);
// Initializers of values that are not among `kept` go.
void graph_keep_inits(struct graph *g, const bool *kept);
// Marks it removed and takes it out of the order (graph_sweep drops all marked ones from the order
// at once).
void graph_remove_node(struct graph *g, node_id n);
void graph_sweep(struct graph *g);

// Looking.
const struct attr *node_attr(const struct node *n, const char *name);
int64_t node_int(const struct node *n, const char *name, int64_t otherwise);
double node_real(const struct node *n, const char *name, double otherwise);
const char *node_text(const struct graph *g, const struct node *n, const char *name,
                      const char *otherwise);
// What it is called: its name, or that of its first result, or its operator.
const char *node_called(const struct graph *g, node_id n);
// "graph/node 17 (Conv conv1)", for messages
const char *node_path(const struct graph *g, node_id n, struct arena *a);
// Visits what the subgraphs of a node take from the graph that the node is in.
typedef void visit_use(void *to, value_id v, node_id user);
void node_captured(const struct graph *g, node_id user, visit_use *visit, void *to);

// Who reads what: users of v are use.node[use.start[v.i] .. use.start[v.i + 1] - 1], in order of
// execution, once per operand. Nodes whose subgraphs read v are among them. Linear time; false: no
// room.
struct uses {
    uint32_t *start;
    node_id *node;
};
bool graph_uses(const struct graph *g, struct arena *a, struct uses *out);

// Puts `order` into a topological order, keeping the present one where it is one (topo.c). A cycle
// is an error that names its nodes.
status graph_sort(struct graph *g, struct diags *d);

// The structural verifier (verify.c): ids in range, names unique, single producer, topological
// order, arity by the op table, subgraphs and functions too. Linear time; reports everything it
// finds.
status model_verify(const struct model *m, struct diags *d);
