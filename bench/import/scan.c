// scan FILE...: how fast the wire guard goes over each file, and what reading it takes, in
// processor time, so that the load of the machine matters little. The guard does not look at
// weights, so its speed is that of the bytes that it did read.
#include <stdio.h>
#include <time.h>

#include "frontend/onnx/onnx_read.h"
#include "frontend/onnx/wire.h"
#include "third_party/onnx/onnx.pb-c.h"

enum { ROUNDS = 7 };

static int64_t cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

static void print_diags(const struct diags *d, struct arena *a) {
    for (size_t i = 0; i < d->list.n; i++) {
        struct str s = str_make(a);
        diag_print(&s, &d->list.at[i]);
        fprintf(stderr, "%s\n", str_text(&s));
    }
}

static status measure(const char *path) {
    struct mem mem = mem_make(MEM_UNLIMITED);
    struct arena a = arena_make(&mem);
    struct diags d = diags_make(&a);
    struct pool names = pool_make(&a);
    struct source *s;
    struct model *m;
    struct wire_scan scan = {0};
    int64_t best = INT64_MAX;
    status st = source_open(&a, &d, path, &s);
    for (int i = 0; !st && i < ROUNDS; i++) {
        struct arena scratch = arena_make(&mem);
        int64_t start = cpu_ns();
        st = wire_scan(s, &onnx__model_proto__descriptor, &scratch, &d, &scan);
        int64_t took = cpu_ns() - start;
        best = took < best ? took : best;
        arena_free(&scratch);
    }
    int64_t n_bytes = st ? 0 : s->n_bytes, start = cpu_ns();
    if (!st)
        st = onnx_read(s, &a, &names, &d, &m);
    double read_s = (double)(cpu_ns() - start) / 1e9;
    if (!st) {
        printf("%s: %lld bytes, %lld without weights; guard %.1f ms, %.0f MB/s; read %.3f s, %zu "
               "nodes, %.1f MiB\n",
               path, (long long)n_bytes, (long long)scan.slim_bytes, (double)best / 1e6,
               (double)scan.slim_bytes * 1e3 / (double)best, read_s, m->graph->order.n,
               (double)mem.peak_bytes / (1 << 20));
        model_close(m);
    }
    print_diags(&d, &a);
    arena_free(&a);
    return st;
}

int main(int argc, char **argv) {
    status worst = ST_OK;
    for (int i = 1; i < argc; i++) {
        status st = measure(argv[i]);
        worst = worst ? worst : st;
    }
    return (int)worst;
}
