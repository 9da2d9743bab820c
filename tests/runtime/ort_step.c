// ONNX Runtime from C without its header: see ort_step.h. The interface is a table of functions
// that only grows at its end, so the places below hold for every version from 1.14 on.
#include "tests/runtime/ort_step.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    API_VERSION = 14,
    GET_ERROR_MESSAGE = 2,
    CREATE_ENV = 3,
    CREATE_SESSION = 7,
    RUN = 9,
    CREATE_SESSION_OPTIONS = 10,
    DISABLE_MEM_PATTERN = 17,
    DISABLE_CPU_MEM_ARENA = 19,
    SET_LEVEL = 23,
    SET_INTRA_OP_THREADS = 24,
    GET_INPUT_COUNT = 30,
    GET_OUTPUT_COUNT = 31,
    GET_INPUT_TYPE = 33,
    GET_INPUT_NAME = 36,
    GET_OUTPUT_NAME = 37,
    CREATE_TENSOR_WITH_DATA = 49,
    CAST_TYPE_TO_TENSOR = 55,
    GET_ELEMENT_TYPE = 60,
    GET_RANK = 61,
    GET_DIMS = 62,
    CREATE_CPU_MEMORY_INFO = 69,
    ALLOCATOR_ALLOC = 75,
    ALLOCATOR_FREE = 76,
    GET_DEFAULT_ALLOCATOR = 78,
    RELEASE_VALUE = 96,
    RELEASE_TYPE = 98,
    CREATE_ALLOCATOR = 131,
};

enum { MAX_RANK = 16, QUIET = 3, ARENA_ALLOCATOR = 1, ALL = 99 };

// Element types, as ONNX numbers them.
enum { FLOAT = 1, INT32 = 6, INT64 = 7, BOOL = 9, DOUBLE = 11 };

typedef ort_handle make_env(int, const char *, ort_handle *);
typedef ort_handle make_session(ort_handle, const char *, ort_handle, ort_handle *);
typedef ort_handle run_session(ort_handle, ort_handle, const char *const *, const ort_handle *,
                               size_t, const char *const *, size_t, ort_handle *);
typedef ort_handle make_options(ort_handle *);
typedef ort_handle set_flag(ort_handle);
typedef ort_handle set_int(ort_handle, int);
typedef ort_handle get_count(ort_handle, size_t *);
typedef ort_handle get_type(ort_handle, size_t, ort_handle *);
typedef ort_handle get_name(ort_handle, size_t, ort_handle, const char **);
typedef ort_handle get_handle(ort_handle, ort_handle *);
typedef ort_handle get_int(ort_handle, int *);
typedef ort_handle get_dims(ort_handle, int64_t *, size_t);
typedef ort_handle make_tensor(ort_handle, void *, size_t, const int64_t *, size_t, int,
                               ort_handle *);
typedef ort_handle make_info(int, int, ort_handle *);
typedef ort_handle make_allocator(ort_handle, ort_handle, ort_handle *);
typedef ort_handle allocate(ort_handle, size_t, void **);
typedef ort_handle free_memory(ort_handle, void *);
typedef void release_handle(ort_handle);
typedef const char *get_text(ort_handle);

struct base {
    void (*const *(*get_api)(uint32_t version))(void);
    const char *(*get_version)(void);
};

static void must(const struct ort_step *s, ort_handle error) {
    if (!error)
        return;
    fprintf(stderr, "%s\n", ((get_text *)s->api[GET_ERROR_MESSAGE])(error));
    exit(1);
}

void ort_step_load(struct ort_step *s, const char *path) {
    *s = (struct ort_step){0};
    void *library = dlopen(path, RTLD_NOW);
    struct base *(*base)(void) = NULL;
    if (library)
        *(void **)&base = dlsym(library, "OrtGetApiBase");
    if (!base) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    s->api = base()->get_api(API_VERSION);
    must(s, ((make_env *)s->api[CREATE_ENV])(QUIET, "", &s->env));
    must(s, ((make_info *)s->api[CREATE_CPU_MEMORY_INFO])(ARENA_ALLOCATOR, 0, &s->memory_info));
}

int ort_step_level(const char *name) {
    static const char *const names[] = {"disabled", "basic", "extended"};
    for (int i = 0; i < 3; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return ALL;
}

void ort_step_start(struct ort_step *s, const char *path, const struct ort_settings *how) {
    ort_handle options;
    must(s, ((make_options *)s->api[CREATE_SESSION_OPTIONS])(&options));
    must(s, ((set_int *)s->api[SET_LEVEL])(options, how->level));
    must(s, ((set_int *)s->api[SET_INTRA_OP_THREADS])(options, 1));
    if (!how->arena)
        must(s, ((set_flag *)s->api[DISABLE_CPU_MEM_ARENA])(options));
    if (!how->pattern)
        must(s, ((set_flag *)s->api[DISABLE_MEM_PATTERN])(options));
    must(s, ((make_session *)s->api[CREATE_SESSION])(s->env, path, options, &s->session));
}

void ort_step_open(struct ort_step *s, const char *library, const char *path,
                   const struct ort_settings *how) {
    ort_step_load(s, library);
    ort_step_start(s, path, how);
}

static size_t element_bytes(int type) {
    switch (type) {
    case BOOL:
        return 1;
    case FLOAT:
    case INT32:
        return 4;
    case INT64:
    case DOUBLE:
        return 8;
    default:
        fprintf(stderr, "an input has element type %d\n", type);
        exit(1);
    }
}

// Numbers from -0.5 to 0.5; labels and words from 0 to 9.
static void fill(void *data, size_t n, int type) {
    uint32_t x = 12345;
    for (size_t i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        double real = (double)(x >> 8) / (1 << 24) - 0.5;
        int64_t whole = (x >> 8) % 10;
        if (type == FLOAT)
            ((float *)data)[i] = (float)real;
        else if (type == DOUBLE)
            ((double *)data)[i] = real;
        else if (type == INT64)
            ((int64_t *)data)[i] = whole;
        else if (type == INT32)
            ((int32_t *)data)[i] = (int32_t)whole;
        else
            ((char *)data)[i] = (char)(whole & 1);
    }
}

static void *must_have(size_t n, size_t size) {
    void *p = calloc(n + 1, size);
    if (p)
        return p;
    fprintf(stderr, "out of memory\n");
    exit(1);
}

static void make_input(struct ort_step *s, size_t i) {
    ort_handle type, tensor;
    int elem;
    size_t rank, n = 1;
    int64_t dims[MAX_RANK];
    must(s, ((get_type *)s->api[GET_INPUT_TYPE])(s->session, i, &type));
    must(s, ((get_handle *)s->api[CAST_TYPE_TO_TENSOR])(type, &tensor));
    must(s, ((get_int *)s->api[GET_ELEMENT_TYPE])(tensor, &elem));
    must(s, ((get_count *)s->api[GET_RANK])(tensor, &rank));
    must(s, ((get_dims *)s->api[GET_DIMS])(tensor, dims, rank < MAX_RANK ? rank : MAX_RANK));
    ((release_handle *)s->api[RELEASE_TYPE])(type);
    for (size_t k = 0; k < rank && k < MAX_RANK; k++)
        n *= (size_t)dims[k];
    void *data = must_have(n, element_bytes(elem));
    fill(data, n, elem);
    s->input_bytes += (int64_t)(n * element_bytes(elem));
    must(s, ((make_tensor *)s->api[CREATE_TENSOR_WITH_DATA])(
                s->memory_info, data, n * element_bytes(elem), dims, rank, elem, &s->in[i]));
}

void ort_step_make_inputs(struct ort_step *s) {
    ort_handle names;
    must(s, ((make_options *)s->api[GET_DEFAULT_ALLOCATOR])(&names));
    must(s, ((get_count *)s->api[GET_INPUT_COUNT])(s->session, &s->n_in));
    must(s, ((get_count *)s->api[GET_OUTPUT_COUNT])(s->session, &s->n_out));
    s->in_name = must_have(s->n_in, sizeof *s->in_name);
    s->out_name = must_have(s->n_out, sizeof *s->out_name);
    s->in = must_have(s->n_in, sizeof *s->in);
    s->out = must_have(s->n_out, sizeof *s->out);
    for (size_t i = 0; i < s->n_in; i++) {
        must(s, ((get_name *)s->api[GET_INPUT_NAME])(s->session, i, names, &s->in_name[i]));
        make_input(s, i);
    }
    for (size_t i = 0; i < s->n_out; i++)
        must(s, ((get_name *)s->api[GET_OUTPUT_NAME])(s->session, i, names, &s->out_name[i]));
}

void ort_step_run(struct ort_step *s) {
    must(s, ((run_session *)s->api[RUN])(s->session, NULL, s->in_name, s->in, s->n_in, s->out_name,
                                         s->n_out, s->out));
}

void ort_step_release_outputs(struct ort_step *s) {
    for (size_t i = 0; i < s->n_out; i++) {
        ((release_handle *)s->api[RELEASE_VALUE])(s->out[i]);
        s->out[i] = NULL;
    }
}

ort_handle ort_step_allocator(struct ort_step *s) {
    ort_handle allocator;
    must(s, ((make_allocator *)s->api[CREATE_ALLOCATOR])(s->session, s->memory_info, &allocator));
    return allocator;
}

void *ort_step_alloc(struct ort_step *s, ort_handle allocator, size_t n_bytes) {
    void *out;
    must(s, ((allocate *)s->api[ALLOCATOR_ALLOC])(allocator, n_bytes, &out));
    return out;
}

void ort_step_free(struct ort_step *s, ort_handle allocator, void *p) {
    must(s, ((free_memory *)s->api[ALLOCATOR_FREE])(allocator, p));
}
