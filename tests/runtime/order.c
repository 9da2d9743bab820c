// The order in which the runtime model says that ONNX Runtime runs a written file: the names of the
// nodes, one a line, for comparison with a profile.
//
//     order MODEL.onnx
#include <stdio.h>

#include "frontend/load.h"
#include "ir/ort_order.h"

int main(int n_args, char **args) {
    struct mem mem = mem_make(MEM_UNLIMITED);
    struct arena a = arena_make(&mem);
    struct pool names = pool_make(&a);
    struct diags d = diags_make(&a);
    struct model *m;
    struct ort_order order;
    status st = n_args == 2 ? load_model(&a, &names, &d, args[1], &m) : ST_USAGE;
    if (!st)
        st = ort_order(m->graph, &a, &d, &order);
    for (size_t i = 0; !st && i < order.n; i++)
        puts(graph_node(m->graph, order.at[i])->name);
    if (!st)
        model_close(m);
    arena_free(&a);
    return st;
}
