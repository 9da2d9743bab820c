// The part of ONNX Runtime's C interface that the tests call. Its table of functions only grows at
// the end, so the places below hold for every version from 1.14 on.
#pragma once

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef void *ort_handle;

enum ort_function {
    ORT_GET_ERROR_MESSAGE = 2,
    ORT_CREATE_ENV = 3,
    ORT_CREATE_SESSION = 7,
    ORT_CREATE_SESSION_OPTIONS = 10,
    ORT_CREATE_CPU_MEMORY_INFO = 69,
    ORT_ALLOCATOR_ALLOC = 75,
    ORT_ALLOCATOR_FREE = 76,
    ORT_CREATE_ALLOCATOR = 131,
};

typedef void (*const *ort_table)(void);

struct ort_base {
    ort_table (*get_api)(uint32_t version);
    const char *(*get_version)(void);
};

// Ends the program when the library is not there.
static inline ort_table ort_load(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    struct ort_base *(*base)(void) = NULL;
    if (library)
        *(void **)&base = dlsym(library, "OrtGetApiBase");
    if (!base) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return base()->get_api(14);
}

// Ends the program with the message of an error.
static inline void ort_must(ort_table ort, ort_handle error) {
    if (!error)
        return;
    const char *(*text)(ort_handle) = (const char *(*)(ort_handle))ort[ORT_GET_ERROR_MESSAGE];
    fprintf(stderr, "%s\n", text(error));
    exit(1);
}

// The allocator of a new session of the model, with default options.
static inline ort_handle ort_session_allocator(ort_table ort, const char *path) {
    ort_handle env, options, session, info, allocator;
    ort_must(ort,
             ((ort_handle(*)(int, const char *, ort_handle *))ort[ORT_CREATE_ENV])(3, "", &env));
    ort_must(ort, ((ort_handle(*)(ort_handle *))ort[ORT_CREATE_SESSION_OPTIONS])(&options));
    ort_must(ort,
             ((ort_handle(*)(ort_handle, const char *, ort_handle,
                             ort_handle *))ort[ORT_CREATE_SESSION])(env, path, options, &session));
    ort_must(ort,
             ((ort_handle(*)(int, int, ort_handle *))ort[ORT_CREATE_CPU_MEMORY_INFO])(1, 0, &info));
    ort_must(ort, ((ort_handle(*)(ort_handle, ort_handle, ort_handle *))ort[ORT_CREATE_ALLOCATOR])(
                      session, info, &allocator));
    return allocator;
}

static inline void *ort_alloc(ort_table ort, ort_handle allocator, size_t n_bytes) {
    void *out;
    ort_must(ort, ((ort_handle(*)(ort_handle, size_t, void **))ort[ORT_ALLOCATOR_ALLOC])(
                      allocator, n_bytes, &out));
    return out;
}

static inline void ort_free(ort_table ort, ort_handle allocator, void *p) {
    ort_must(ort, ((ort_handle(*)(ort_handle, void *))ort[ORT_ALLOCATOR_FREE])(allocator, p));
}
