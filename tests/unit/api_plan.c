// The results of a session: the plan as a struct, formats in files and in memory, the way back to
// inference.
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/mfc.h"

enum { LAYERS = 10 };

// A chain of layers whose activations are larger than their weights.
static size_t print_chain(char *to, size_t size) {
    size_t n = (size_t)snprintf(to, size,
                                "mfc 1\nopset 17\ngraph \"chain\" {\n  input %%a0 : f32[64,16]\n");
    for (int i = 0; i < LAYERS; i++)
        n += (size_t)snprintf(to + n, size - n, "  param %%w%d : f32[16,16]\n", i);
    for (int i = 0; i < LAYERS; i++)
        n += (size_t)snprintf(to + n, size - n,
                              "  %%m%d = MatMul(%%a%d, %%w%d) : f32[64,16]\n"
                              "  %%a%d = Sigmoid(%%m%d) : f32[64,16]\n",
                              i, i, i, i + 1, i);
    return n + (size_t)snprintf(to + n, size - n, "  output %%a%d\n}\n", LAYERS);
}

struct heard {
    char whole[512];
    int n_searches;
    struct mfc_search last;
};

static void listen(void *context, const struct mfc_message *m) {
    struct heard *h = context;
    if (m->severity == MFC_ERROR)
        snprintf(h->whole, sizeof h->whole, "%s", m->whole);
}

static void watch(void *context, const struct mfc_search *s) {
    struct heard *h = context;
    h->n_searches++;
    h->last = *s;
}

static struct mfc *open_chain(struct heard *h) {
    static char text[4096]; // must stay until the session ends
    *h = (struct heard){0};
    struct mfc *m = mfc_new(0);
    assert_non_null(m);
    mfc_on_message(m, listen, h);
    mfc_on_search(m, watch, h);
    assert_int_equal(mfc_load_memory(m, text, print_chain(text, sizeof text)), MFC_OK);
    assert_int_equal(mfc_set(m, "loss", "mse"), MFC_OK);
    assert_int_equal(mfc_set(m, "work", "2000"), MFC_OK);
    assert_int_equal(mfc_set(m, "runtime", "file-order"), MFC_OK);
    return m;
}

// No two tensors that are in memory at one time share an address.
static void addresses_are_disjoint(const struct mfc_plan *p) {
    int n_placed = 0;
    for (size_t i = 0; i < p->n_tensors; i++) {
        const struct mfc_plan_tensor *a = &p->tensors[i];
        assert_true(a->from < p->n_nodes && a->to >= a->from && a->to <= p->n_nodes);
        if (a->address == MFC_UNKNOWN)
            continue;
        n_placed++;
        assert_true(a->address >= 0 && a->address + a->bytes <= p->arena_bytes);
        for (size_t k = 0; k < i; k++) {
            const struct mfc_plan_tensor *b = &p->tensors[k];
            bool meet = a->from < b->to && b->from < a->to; // reuse in place meets at one node
            if (meet && b->address != MFC_UNKNOWN && b->address != a->address)
                assert_true(a->address >= b->address + b->bytes ||
                            b->address >= a->address + a->bytes);
        }
    }
    assert_true(n_placed > 2 * LAYERS);
}

static void a_plan_is_a_struct(void **state) {
    (void)state;
    struct heard h;
    const struct mfc_plan *p, *same;
    struct mfc *m = open_chain(&h);
    assert_int_equal(mfc_get_plan(m, &p), MFC_USAGE);
    assert_null(p);
    assert_int_equal(mfc_set(m, "budget", "80%"), MFC_OK);
    assert_int_equal(mfc_run(m, NULL), MFC_OK);
    assert_int_equal(mfc_get_plan(m, &p), MFC_OK);
    assert_int_equal(mfc_get_plan(m, &same), MFC_OK);
    assert_ptr_equal(p, same);

    assert_true(p->peak_bytes <= p->budget_bytes && p->peak_bytes < p->baseline_bytes);
    assert_true(p->cost > p->base_cost && p->n_recomputed > 0);
    assert_true(fabs(p->overhead - (double)(p->cost - p->base_cost) / (double)p->base_cost) < 1e-9);
    assert_string_equal(p->runtime, "file-order");
    assert_non_null(p->outcome);
    int64_t cost = 0, n_recomputed = 0;
    for (size_t i = 0; i < p->n_nodes; i++) {
        const struct mfc_plan_node *n = &p->nodes[i];
        cost += n->cost == MFC_UNKNOWN ? 0 : n->cost;
        n_recomputed += n->role == MFC_ROLE_RECOMPUTED;
        assert_true((n->role == MFC_ROLE_RECOMPUTED) == (strcmp(n->name, n->origin) != 0));
        assert_true(n->first_tensor + (size_t)n->n_tensors <= p->n_tensors);
    }
    assert_int_equal(cost, p->cost);
    assert_int_equal(n_recomputed, p->n_recomputed);
    addresses_are_disjoint(p);

    assert_true(h.n_searches > 0 && h.last.base_cost > 0);
    assert_true(h.last.cost >= h.last.bound && h.last.cost >= h.last.base_cost);
    mfc_free(m);
}

static void a_step_without_a_plan_has_figures(void **state) {
    (void)state;
    struct heard h;
    const struct mfc_plan *p;
    struct mfc *m = open_chain(&h);
    assert_int_equal(mfc_set(m, "budget", "none"), MFC_OK);
    assert_int_equal(mfc_run(m, NULL), MFC_OK);
    assert_int_equal(mfc_get_plan(m, &p), MFC_OK);
    assert_null(p->outcome);
    assert_true(p->peak_bytes > 0 && p->n_nodes > 4 * LAYERS);
    assert_int_equal(p->budget_bytes, MFC_UNKNOWN);
    mfc_free(m);
}

static void same_bytes(struct mfc *m, const char *format, const char *start) {
    char path[64];
    const void *bytes;
    size_t n;
    snprintf(path, sizeof path, "api-plan-%d", (int)getpid());
    assert_int_equal(mfc_write_as(m, format, path), MFC_OK);
    assert_int_equal(mfc_write_memory(m, format, &bytes, &n), MFC_OK);
    assert_true(n > strlen(start) && memcmp(bytes, start, strlen(start)) == 0);
    char *read = malloc(n + 1);
    FILE *f = fopen(path, "rb");
    assert_true(f && read);
    assert_int_equal(fread(read, 1, n + 1, f), n);
    assert_memory_equal(read, bytes, n);
    fclose(f);
    free(read);
    assert_int_equal(unlink(path), 0);
}

static void files_and_memory_hold_the_same(void **state) {
    (void)state;
    struct heard h;
    const void *bytes;
    size_t n;
    struct mfc *m = open_chain(&h);
    assert_int_equal(mfc_write_memory(m, "json", &bytes, &n), MFC_USAGE);
    assert_true(!bytes && !n);
    assert_int_equal(mfc_set(m, "weights", "inputs"), MFC_OK);
    assert_int_equal(mfc_run(m, NULL), MFC_OK);
    for (int i = 0; i < 2; i++) { // what is written leaves the model as it is
        same_bytes(m, "onnx", "\x08");
        same_bytes(m, "mfc", "mfc 1\n");
        same_bytes(m, "dot", "digraph");
        same_bytes(m, "json", "{");
        same_bytes(m, "html", "<!");
        same_bytes(m, "trace", "{");
    }
    assert_int_equal(mfc_write_memory(m, "pdf", &bytes, &n), MFC_USAGE);
    assert_non_null(strstr(h.whole, "pdf"));
    mfc_free(m);
}

static void options_need_each_other(void **state) {
    (void)state;
    struct heard h;
    struct mfc *m = open_chain(&h);
    assert_int_equal(mfc_set(m, "accumulate", "4"), MFC_OK);
    assert_int_equal(mfc_run(m, NULL), MFC_USAGE);
    assert_non_null(strstr(h.whole, "--update"));
    mfc_free(m);
}

static const char one_layer[] = "mfc 1\nopset 17\ngraph \"g\" {\n"
                                "  input %x : f32[2,2]\n"
                                "  param %w : f32[2,2] = {1.0,2.0,3.0,4.0}\n"
                                "  %y = MatMul(%x, %w) : f32[2,2]\n"
                                "  output %y\n}\n";

static void training_ends_with_the_model(void **state) {
    (void)state;
    struct heard h = {0};
    char path[64];
    const void *bytes;
    size_t n;
    snprintf(path, sizeof path, "api-state-%d.safetensors", (int)getpid());
    struct mfc *m = mfc_new(0);
    mfc_on_message(m, listen, &h);
    assert_int_equal(mfc_load_memory(m, one_layer, strlen(one_layer)), MFC_OK);
    assert_int_equal(mfc_write_state(m, NULL, path), MFC_MALFORMED); // it is no step
    assert_int_equal(mfc_set(m, "loss", "mse"), MFC_OK);
    assert_int_equal(mfc_set(m, "optimizer", "momentum"), MFC_OK);
    assert_int_equal(mfc_set(m, "budget", "none"), MFC_OK);
    assert_int_equal(mfc_run(m, NULL), MFC_OK);
    assert_int_equal(mfc_write_state(m, NULL, path), MFC_OK);

    // Trained weights: the last 16 bytes of the file are those of a tensor, w or its momentum.
    FILE *f = fopen(path, "rb");
    char state_bytes[1024];
    size_t n_state = fread(state_bytes, 1, sizeof state_bytes, f);
    fclose(f);
    const float before[] = {1, 2, 3, 4}, after[] = {5, 6, 7, 8};
    bool found = false;
    for (size_t i = 0; !found && i + 16 <= n_state; i++)
        if ((found = memcmp(state_bytes + i, before, 16) == 0))
            memcpy(state_bytes + i, after, 16);
    assert_true(found);
    f = fopen(path, "wb");
    assert_int_equal(fwrite(state_bytes, 1, n_state, f), n_state);
    fclose(f);

    assert_int_equal(mfc_load_memory(m, one_layer, strlen(one_layer)), MFC_OK);
    assert_int_equal(mfc_export(m, path), MFC_OK);
    assert_int_equal(mfc_export(m, path), MFC_USAGE); // once
    assert_int_equal(mfc_write_memory(m, "onnx", &bytes, &n), MFC_OK);
    found = false;
    for (size_t i = 0; i + 16 <= n; i++)
        found |= memcmp((const char *)bytes + i, after, 16) == 0;
    assert_true(found);

    // After a failed export there is no model: it could be half changed.
    assert_int_equal(mfc_load_memory(m, one_layer, strlen(one_layer)), MFC_OK);
    assert_int_equal(mfc_export(m, "no/such.safetensors"), MFC_IO);
    assert_int_equal(mfc_write_memory(m, "onnx", &bytes, &n), MFC_USAGE);
    mfc_free(m);
    assert_int_equal(unlink(path), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_is_a_struct),
        cmocka_unit_test(a_step_without_a_plan_has_figures),
        cmocka_unit_test(files_and_memory_hold_the_same),
        cmocka_unit_test(options_need_each_other),
        cmocka_unit_test(training_ends_with_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
