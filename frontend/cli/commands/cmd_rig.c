// `mfc rig`: rigs known by name, one of them as a file, or this machine as one.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "frontend/cli/cli.h"
#include "frontend/inputs/rig.h"
#include "ir/base/file.h"
#include "ir/json/json_write.h"

#define MEASURE_NS 200000000 // each speed is measured for so long

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

// Vectors, and independent sums, enough to keep the units of a core busy.
typedef float lanes __attribute__((vector_size(64)));
enum { N_LANES = sizeof(lanes) / sizeof(float), SUMS = 8, ROUNDS = 1 << 14 };

// Not with the thread sanitizer, which would instrument the resolver of the clones.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_THREAD__)
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
static float
multiply_add(float seed) {
    lanes sum[SUMS], x, y;
    for (int l = 0; l < N_LANES; l++)
        x[l] = seed, y[l] = 1e-9f;
    memset(sum, 0, sizeof sum);
    for (int r = 0; r < ROUNDS; r++)
        for (int k = 0; k < SUMS; k++)
            sum[k] = sum[k] * x + y;
    float all = 0;
    for (int k = 0; k < SUMS; k++)
        all += sum[k][0];
    return all;
}

static double measure_rate(void) {
    double start = now_ns(), flops = 0, passed;
    volatile float sink = 0;
    do {
        sink = multiply_add(0.5f + sink * 0);
        flops += 2.0 * ROUNDS * SUMS * N_LANES;
    } while ((passed = now_ns() - start) < MEASURE_NS);
    return flops / passed;
}

// Bytes read and written per nanosecond by copying more than fits in the caches; 0: out of memory.
static double measure_bandwidth(struct arena *a) {
    const size_t n = (size_t)64 << 20;
    char *from = arena_alloc(a, n), *to = arena_alloc(a, n);
    if (!from || !to)
        return 0;
    memset(from, 1, n);
    memcpy(to, from, n); // the pages are there from here on
    double start = now_ns(), bytes = 0, passed;
    do {
        memcpy(to, from, n);
        from[(size_t)bytes % n] = to[0];
        bytes += 2.0 * (double)n;
    } while ((passed = now_ns() - start) < MEASURE_NS);
    return bytes / passed;
}

// Measured figures are not known better, and print short.
static double in_eighths(double x) {
    return ceil(x * 8) / 8;
}

static status detect(struct cli *c, struct str *out) {
    struct arena scratch = arena_make(&c->mem);
    double bandwidth = measure_bandwidth(&scratch);
    arena_free(&scratch);
    if (bandwidth <= 0)
        return diag_out_of_memory(&c->diags);
    int64_t memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    struct rig_preset here = {.name = "cpu",
                              .rate = in_eighths(measure_rate()),
                              .memory_bandwidth = in_eighths(bandwidth),
                              .overhead = 2000,
                              .memory_bytes = memory,
                              .host_bandwidth = in_eighths(bandwidth)};
    struct rig rig = rig_empty();
    status st = rig_of_preset(&c->arena, &c->diags, &here, 1, &rig);
    if (!st)
        rig_print(out, &rig);
    return st;
}

static void list(struct str *out) {
    for (const struct rig_preset *r = rig_presets; r->name; r++)
        str_addf(out, "%-12s %s\n", r->name, r->summary);
    str_add(out, "Several of a kind: 4xV100-16GB. As a file to start from: mfc rig 4xV100-16GB\n");
}

static void list_json(struct str *out) {
    struct json_writer w = json_write_document(out, JSON_WRITE_COMPACT, "mfc-rigs");
    json_write_array(&w, "rigs");
    for (const struct rig_preset *r = rig_presets; r->name; r++) {
        json_write_line(&w);
        json_write_object(&w, NULL);
        json_write_text(&w, "name", r->name);
        json_write_int(&w, "memory_bytes", r->memory_bytes);
        json_write_text(&w, "summary", r->summary);
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_finish(&w);
}

static status run(struct cli *c) {
    const char *json = options_text(&c->options, "json");
    const char *target = json ? json : options_text(&c->options, "output");
    const char *name = c->n_arguments ? c->arguments[0] : NULL;
    struct str text = str_make(&c->arena);
    status st = ST_OK;
    if (options_flag(&c->options, "detect")) {
        st = detect(c, &text);
    } else if (!name && json) {
        list_json(&text);
    } else if (!name) {
        list(&text);
    } else {
        struct rig rig;
        st = rig_read(&c->arena, &c->diags, name, &rig);
        if (!st)
            rig_print(&text, &rig);
    }
    if (st || text.failed)
        return st ? st : diag_out_of_memory(&c->diags);
    if (target)
        return output_text(&c->arena, &c->diags, target, &text);
    str_add(&c->out, str_text(&text));
    return ST_OK;
}

static const struct option_spec rig_options[] = {
    {"detect", 0, OPTION_FLAG, NULL, NULL, 0, 0, "measure one core of this machine"},
    {"output", 'o', OPTION_TEXT, "FILE", NULL, 0, 0, "where the result goes; else stdout"},
    {"json", 0, OPTION_TEXT, "FILE", NULL, 0, 0, "the same, and the list as JSON too"},
    {0}};

const struct command cmd_rig = {
    .name = "rig",
    .summary = "show devices that plans can be made for, or measure this machine",
    .arguments = "[RIG]",
    .description = "Without an argument: the rigs known by name. RIG, a name or a file, is checked "
                   "and shown device by device as a file for --rig (docs/devices.md).",
    .min_arguments = 0,
    .max_arguments = 1,
    .options = rig_options,
    .run = run,
};
