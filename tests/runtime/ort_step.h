// The part of ONNX Runtime's C interface that the tests call: a session of a step, its allocator,
// and runs on inputs that are the same in every process. Errors end the program.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void *ort_handle;

struct ort_settings {
    int level; // 0: disabled, 1: basic, 2: extended, 99: all
    bool arena, pattern;
};

struct ort_step {
    void (*const *api)(void);
    ort_handle env, session, memory_info;
    size_t n_in, n_out;
    const char **in_name, **out_name;
    ort_handle *in, *out;
    int64_t input_bytes;
};

// The number of a level: "disabled", "basic", "extended" or "all".
int ort_step_level(const char *name);

void ort_step_load(struct ort_step *s, const char *library);
void ort_step_start(struct ort_step *s, const char *path, const struct ort_settings *how);
void ort_step_open(struct ort_step *s, const char *library, const char *path,
                   const struct ort_settings *how); // both
void ort_step_make_inputs(struct ort_step *s);
void ort_step_run(struct ort_step *s);             // the outputs are in s->out
void ort_step_release_outputs(struct ort_step *s); // before the next run

// The allocator of the session.
ort_handle ort_step_allocator(struct ort_step *s);
void *ort_step_alloc(struct ort_step *s, ort_handle allocator, size_t n_bytes);
void ort_step_free(struct ort_step *s, ort_handle allocator, void *p);
