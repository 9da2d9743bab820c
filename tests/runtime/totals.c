// The memory of sessions with ONNX Runtime's default settings, run by run, against the prediction:
// what is loaded (ort_loaded.h) and the arena (ort_session.h). Both may differ by 2 MiB or 1 %.
// Each step runs in a process of its own.
//
//     totals LIBRARY LEVEL STEP.onnx ...      LEVEL: disabled, basic, extended or all
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/runtime/ort_loaded.h"
#include "tests/runtime/ort_step.h"
#include "tests/runtime/predicted.h"

enum { MAPPED_BYTES = 128 << 10 };
enum { N_RUNS = 5, ALLOWED_BYTES = 2 << 20, ALLOWED_PERCENT = 1, KIB = 1024, MIB = 1 << 20 };

// A field of the process's status, in bytes.
static int64_t status_bytes(const char *name) {
    char line[256];
    long long kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, name, strlen(name)) == 0)
            sscanf(line + strlen(name), ": %lld", &kib);
    if (f)
        fclose(f);
    return kib * KIB;
}

// From here on the high-water mark is that of what follows.
static void reset_peak(void) {
    int f = open("/proc/self/clear_refs", O_WRONLY);
    if (f < 0 || write(f, "5", 1) != 1)
        exit(1);
    close(f);
}

struct prediction {
    int64_t loaded_bytes, run_bytes[ORT_SESSION_RUNS];
};

static bool predict(const char *path, const char *level, struct prediction *out) {
    struct mem mem = mem_make(MEM_UNLIMITED);
    struct arena a = arena_make(&mem);
    struct ort_events e;
    struct ort_session session;
    const struct model *m = predicted_events(path, level, &a, &e);
    if (ort_session_of(&e, !m->is_wrapped, &a, &session))
        return false;
    out->loaded_bytes = ort_loaded_bytes(m->graph, m->is_wrapped);
    memcpy(out->run_bytes, session.run_bytes, sizeof out->run_bytes);
    return true;
}

static bool print_figure(const char *what, int64_t predicted, int64_t measured) {
    int64_t error = llabs(predicted - measured);
    printf("  %s %.1f %.1f", what, (double)predicted / MIB, (double)measured / MIB);
    return error <= ALLOWED_BYTES || error * 100 <= ALLOWED_PERCENT * measured;
}

static bool compare(const char *library, const char *level, const char *path,
                    const struct prediction *p) {
    struct ort_step s;
    // glibc raises this threshold when large blocks are freed, as while a model is loaded. Regions
    // of the arena below it come from the heap then, and not each below the one before, as
    // predicted; their order decides between free chunks of one size.
    mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
    ort_step_load(&s, library);
    int64_t before = status_bytes("RssAnon");
    ort_step_start(&s, path, &(struct ort_settings){ort_step_level(level), true, true});
    printf("%s, %s, MiB predicted and measured:", path, level);
    bool same = print_figure("loaded", p->loaded_bytes, status_bytes("RssAnon") - before);
    ort_step_make_inputs(&s);
    for (int i = 0; i < N_RUNS; i++) {
        int last = i < ORT_SESSION_RUNS ? i : ORT_SESSION_RUNS - 1;
        reset_peak();
        ort_step_run(&s);
        int64_t peak = status_bytes("VmHWM") - status_bytes("RssFile") - before - s.input_bytes;
        ort_step_release_outputs(&s);
        same &= print_figure("run", p->loaded_bytes + p->run_bytes[last], peak);
    }
    puts(same ? "  ok" : "  FAIL");
    fflush(stdout);
    return same;
}

// The prediction is made in another process, too: it would leave its heap behind.
static bool check(char **args, const char *path, struct prediction *shared) {
    int code = 1;
    for (int part = 0; part < 2; part++) {
        pid_t child = fork();
        if (child == 0)
            _exit((part == 0 ? predict(path, args[2], shared)
                             : compare(args[1], args[2], path, shared))
                      ? 0
                      : 1);
        if (child < 0 || waitpid(child, &code, 0) != child || code != 0)
            return false;
    }
    return true;
}

int main(int n_args, char **args) {
    struct prediction *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool same = n_args > 3 && shared != MAP_FAILED;
    for (int i = 3; i < n_args && shared != MAP_FAILED; i++)
        same &= check(args, args[i], shared);
    return same ? 0 : 1;
}
