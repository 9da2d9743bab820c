// What every unit test starts with.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/base/diag.h"
#include "ir/base/mem.h"

// The first argument of the program, the name of a test file or WORKER_COMMAND; or NULL.
extern const char *unit_command;

// An arena, its gate and a list of diagnostics, ready for use.
struct scene {
    struct mem mem;
    struct arena arena;
    struct diags diags;
};

static inline void scene_open(struct scene *s) {
    s->mem = mem_make(MEM_UNLIMITED);
    s->arena = arena_make(&s->mem);
    s->diags = diags_make(&s->arena);
}

// Everything must be given back: a leak shows as bytes still in use.
static inline void scene_close(struct scene *s) {
    arena_free(&s->arena);
    assert_int_equal(s->mem.used_bytes, 0);
}
