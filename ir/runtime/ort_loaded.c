// Memory of a loaded model: see ort_loaded.h.
//
// The weights below were fitted (least squares, none negative) to the memory of sessions of ONNX
// Runtime 1.30 after they were made, at the levels disabled, basic and all: baseline steps and
// three plans each, wrapped and not, of sixteen networks with 90 to 15,000 nodes, 78 files; 2 to 87
// MiB without initializers. The error of a network that was left out of the fit is below 1.5 MiB,
// except for the two largest: 2.7 MiB of 62 to 73 and 2.3 MiB of 79. Optimization levels differ by
// less than that. Not counted: what ONNX Runtime folds into new initializers where it knows shapes,
// which is up to 40 MiB in baseline steps at levels above disabled.
#include "ir/runtime/ort_loaded.h"

#include <assert.h>
#include <string.h>

enum {
    SESSION_BYTES = 1591000,
    NODE_BYTES = 1750,
    OPERAND_BYTES = 526,    // per input and output of a node
    INFO_BYTES = 1940,      // per declared type
    INTERFACE_BYTES = 4450, // per input and output of the graph
    PACKED_COLUMNS = 16
};

// Per byte of the names of values; a branch is held in more forms.
#define NAME_FACTOR        11.8
#define BRANCH_NAME_FACTOR 29.7

enum { INLINE_LENGTH = 15, HEAP_UNIT_BYTES = 16, HEAP_HEADER_BYTES = 8, MIN_HEAP_BYTES = 32 };

// The heap memory of a string.
static int64_t text_bytes(const char *text) {
    int64_t n = (int64_t)strlen(text);
    if (n <= INLINE_LENGTH)
        return 0;
    n += 1 + HEAP_HEADER_BYTES;
    n = (n + HEAP_UNIT_BYTES - 1) / HEAP_UNIT_BYTES * HEAP_UNIT_BYTES;
    return n > MIN_HEAP_BYTES ? n : MIN_HEAP_BYTES;
}

// The matrix has a whole number of columns of registers then. The constant itself stays.
bool ort_packs(const struct graph *g, const struct node *n, int64_t *n_bytes) {
    bool is_product = n->op == OP_Gemm || n->op == OP_MatMul;
    const struct value *b =
        is_product && n->n_in > 1 && n->in[1].i ? graph_value(g, n->in[1]) : NULL;
    const struct tensor *t = b && !b->is_input ? b->init : NULL;
    if (!t || t->rank != 2 || t->elem != ELEM_F32 || !tensor_bytes(t, n_bytes))
        return false;
    const struct attr *transposes = n->op == OP_Gemm ? node_attr(n, "transB") : NULL;
    bool is_transposed = transposes && transposes->kind == ATTR_INT && transposes->i != 0;
    int64_t columns = t->dims[is_transposed ? 0 : 1];
    int64_t width = (columns + PACKED_COLUMNS - 1) / PACKED_COLUMNS * PACKED_COLUMNS;
    *n_bytes = columns > 0 ? *n_bytes / columns * width : 0;
    return true;
}

int64_t ort_loaded_graph_bytes(const struct graph *g, bool is_wrapped) {
    assert(g);
    int64_t n_interface = (int64_t)(g->inputs.n + g->outputs.n), n_operands = 0, names = 0;
    int64_t packed = 0, one;
    for (size_t i = 0; i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        n_operands += n->n_in + n->n_out;
        packed += ort_packs(g, n, &one) ? one : 0;
    }
    for (size_t v = 1; v < g->values.n; v++) {
        const struct value *x = &g->values.at[v];
        if (x->def.i || x->is_input || x->init)
            names += text_bytes(x->name);
    }
    double factor = is_wrapped ? BRANCH_NAME_FACTOR : NAME_FACTOR;
    return SESSION_BYTES + NODE_BYTES * (int64_t)g->order.n + OPERAND_BYTES * n_operands +
           INFO_BYTES * (int64_t)g->infos.n + INTERFACE_BYTES * n_interface +
           (int64_t)(factor * (double)names) + packed;
}

int64_t ort_loaded_least_bytes(const struct graph *g) {
    assert(g);
    return SESSION_BYTES + INTERFACE_BYTES * (int64_t)(g->inputs.n + g->outputs.n);
}

int64_t ort_loaded_bytes(const struct graph *g, bool is_wrapped) {
    assert(g);
    int64_t initializers = 0;
    for (size_t v = 1; v < g->values.n; v++) {
        int64_t n_bytes;
        if (g->values.at[v].init && tensor_bytes(g->values.at[v].init, &n_bytes))
            initializers += n_bytes;
    }
    return ort_loaded_graph_bytes(g, is_wrapped) + initializers;
}
