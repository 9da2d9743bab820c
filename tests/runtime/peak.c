// What a step needs in a process that does nothing else: the memory after loading it, and the peak
// of each run, over the memory of the loaded library. Outputs are released before the next run.
//
//     peak LIBRARY STEP.onnx default|lean LEVEL RUNS       LEVEL: disabled, basic, extended, all
//
// `default` are the default options of ONNX Runtime. `lean` switches off the arena and the memory
// patterns and makes malloc give tensors back (docs/runtime.md). Result: one JSON object, bytes.
// Pages of files, the code of kernels that run for the first time, are left out.
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/runtime/ort_step.h"

enum { LEAN_THRESHOLD = 32768 };

// A field of /proc/self/status, in bytes.
static long long field(const char *name) {
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    size_t n = strlen(name);
    long long kib = 0;
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, name, n) == 0 && line[n] == ':')
            kib = atoll(line + n + 1);
    if (f)
        fclose(f);
    return kib * 1024;
}

static long long used_now(void) {
    return field("RssAnon") + field("RssShmem");
}

static void reset_peak(void) {
    FILE *f = fopen("/proc/self/clear_refs", "w");
    if (!f || fputs("5", f) < 0 || fclose(f)) {
        fprintf(stderr, "cannot reset the peak of this process\n");
        exit(1);
    }
}

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
    struct ort_step s;
    if (argc != 6) {
        fprintf(stderr, "usage: peak LIBRARY STEP.onnx default|lean LEVEL RUNS\n");
        return 2;
    }
    bool lean = strcmp(argv[3], "lean") == 0;
    if (lean)
        mallopt(M_MMAP_THRESHOLD, LEAN_THRESHOLD);
    ort_step_load(&s, argv[1]);
    long long base = used_now();
    ort_step_start(
        &s, argv[2],
        &(struct ort_settings){.level = ort_step_level(argv[4]), .arena = !lean, .pattern = !lean});
    ort_step_make_inputs(&s);
    printf("{\"loaded\": %lld, \"inputs\": %lld, \"runs\": [", used_now() - base,
           (long long)s.input_bytes);
    double cpu[64];
    int n_runs = atoi(argv[5]);
    for (int i = 0; i < n_runs; i++) {
        reset_peak();
        double begin = cpu_seconds();
        ort_step_run(&s);
        cpu[i < 64 ? i : 63] = cpu_seconds() - begin;
        printf("%s%lld", i ? ", " : "", field("VmHWM") - field("RssFile") - base);
        ort_step_release_outputs(&s);
    }
    printf("], \"cpu_s\": [");
    for (int i = 0; i < n_runs && i < 64; i++)
        printf("%s%.3f", i ? ", " : "", cpu[i]);
    printf("]}\n");
    return 0;
}
