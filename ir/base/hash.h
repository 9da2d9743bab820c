// uthash, set up for mfc: nodes and tables come from the arena named `uthash_arena` in scope,
// failure is reported instead of exiting, and xxHash does the hashing. Included by map.c and str.c
// only.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "ir/base/mem.h"

#define HASH_NONFATAL_OOM      1
#define uthash_malloc(sz)      arena_alloc(uthash_arena, (sz))
#define uthash_free(ptr, sz)   ((void)(ptr), (void)(sz))
#define HASH_FUNCTION(k, n, h) ((h) = (unsigned)XXH3_64bits((k), (n)))
#include <uthash.h>
