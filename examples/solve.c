// The solver without ONNX: twelve layers forward and backward, in half of the memory that they take
// when everything is kept. Build it with
//
//     cc solve.c $(pkg-config --cflags --libs mfc) -o solve
#include <mfc/solve.h>

#include <stdio.h>

enum { LAYERS = 12, NODES = 2 * LAYERS, EDGES = 3 * LAYERS - 2 };

static void on_message(void *context, const struct mfc_message *message) {
    (void)context;
    fprintf(stderr, "%s\n", message->whole);
}

int main(void) {
    int64_t cost[NODES], bytes[NODES];
    int32_t edges[2 * EDGES], n = 0;
    for (int32_t i = 0; i < NODES; i++) { // forward 0 .. 11; node 23 - i is the backward of i
        cost[i] = i < LAYERS ? 100 : 200;
        bytes[i] = 1 << 20;
        if (i)
            edges[n++] = i - 1, edges[n++] = i;
        if (i < LAYERS - 1)
            edges[n++] = i, edges[n++] = NODES - 1 - i;
    }
    struct mfc_problem problem = {.size = sizeof problem,
                                  .n_nodes = NODES,
                                  .cost = cost,
                                  .bytes = bytes,
                                  .n_edges = n / 2,
                                  .edges = edges};
    struct mfc_solve_options options;
    mfc_solve_init(&options, sizeof options);
    options.budget_share = 0.5;

    struct mfc *m = mfc_new(0);
    const struct mfc_schedule *s = NULL;
    mfc_on_message(m, on_message, NULL);
    int status = mfc_solve(m, &problem, &options, &s);
    for (size_t i = 0; !status && i < s->n_steps; i++)
        printf("%s %d\n", s->steps[i].kind == MFC_COMPUTE ? "compute" : "free", s->steps[i].node);
    if (!status)
        printf("peak %lld of %lld bytes, cost %lld (at least %lld), %lld recomputed\n",
               (long long)s->peak_bytes, (long long)s->given_peak_bytes, (long long)s->cost,
               (long long)s->bound, (long long)s->n_recomputed);
    mfc_free(m);
    return status;
}
